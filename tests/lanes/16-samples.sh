#!/usr/bin/env bash
# Payloads that other people wrote: the updates that a Telegram library tests itself with.
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
