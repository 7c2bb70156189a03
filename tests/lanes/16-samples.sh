#!/usr/bin/env bash
# What other people wrote: the updates that a Telegram library tests itself with, the payloads that a
# GitHub library documents, WhatsApp chats that their readers ship, reports that a WhatsApp library tests
# itself with, messages of a Slack library.
set -euo pipefail
cd "$(dirname "$0")/../.."

samples=tests/samples/Cargo.toml
cargo fetch --quiet --locked --manifest-path "$samples"
folder_of() {
    cargo metadata --quiet --locked --format-version 1 --manifest-path "$samples" |
        python3 -c "import json, os, sys
found = [p['manifest_path'] for p in json.load(sys.stdin)['packages'] if p['name'] == '$1']
print(os.path.dirname(found[0]))"
}
cargo run --quiet --package waystation-connectors --example telegram_samples -- "$(folder_of tgbot)/tests/data"
cargo run --quiet --package waystation-connectors --example whatsapp_samples -- \
    "$(folder_of whatsapp-business-rs)/src/rest/server.rs" 13

payloads=.cache/payloads
if ! cmp --silent tests/samples/package-lock.json "$payloads/fetched"; then
    rm -rf "$payloads" && mkdir -p "$payloads"
    cp tests/samples/package.json tests/samples/package-lock.json "$payloads/"
    again=$PWD/scripts/again
    (cd "$payloads" && "$again" npm ci --loglevel=error --no-audit --no-fund --ignore-scripts)
    cp tests/samples/package-lock.json "$payloads/fetched"
fi
cargo run --quiet --package waystation-connectors --example github_samples -- \
    "$payloads/node_modules/@octokit/webhooks-examples" 329

fetched=.cache/samples
if ! cmp --silent tests/samples/requirements.txt "$fetched/requirements.txt"; then
    rm -rf "$fetched" && mkdir -p "$fetched"
    scripts/again .cache/venv/bin/pip download --quiet --no-deps --no-binary :all: --require-hashes \
        --dest "$fetched" --requirement tests/samples/requirements.txt
    for archive in "$fetched"/*.tar.gz; do
        tar --extract --gzip --file "$archive" --directory "$fetched"
    done
    cp tests/samples/requirements.txt "$fetched/"
fi
cargo build --quiet --package waystation
python3 tests/samples/imports.py target/debug/waystation \
    "$fetched"/whatstk-*/chats/whatsapp "$fetched"/whatsapp_chat_analyzer-*/tests/fixtures \
    --slack "$(folder_of slack-bk)/tests/data"
