#!/usr/bin/env bash
# A person imports a Telegram export and links a bot; an agent with the official Python client lists,
# searches, reads, gets the prompt, and is told what is said: over stdio and over HTTP, in both eras.
set -euo pipefail
cd "$(dirname "$0")/../.."

target=${CARGO_TARGET_DIR:-target}
program=$PWD/$target/debug/waystation
[[ $target = /* ]] && program=$target/debug/waystation
cargo build --quiet --package waystation

folder=$(mktemp -d)
hub=
telegram=
cleanup() {
    [[ -z $hub ]] || kill "$hub" 2>/dev/null || true
    [[ -z $telegram ]] || kill "$telegram" 2>/dev/null || true
    "$program" --data "$folder/stdio" down >/dev/null 2>&1 || true
    rm -rf "$folder"
}
trap cleanup EXIT

serve() {
    python3 tests/clients/chats/telegram.py >"$folder/$1.telegram" &
    telegram=$!
    for _ in $(seq 100); do
        [[ -s $folder/$1.telegram ]] && break
        sleep 0.1
    done
    service=$(cat "$folder/$1.telegram")
}
prepare() {
    "$program" --data "$1" import tests/clients/chats/result.json | grep -q 4
    "$program" --data "$1" import tests/clients/chats/result.json >/dev/null
    echo "7:token" | "$program" --data "$1" link add telegram --name bot --set "base_url=$service" --secret-stdin bot_token
    "$program" --data "$1" link list | grep -q bot
}

serve stdio
prepare "$folder/stdio"
echo "Python client, stdio"
python3 tests/clients/chats/ask.py --stdio "$program --data $folder/stdio mcp" --telegram "$service"
echo "Python client, stdio, with initialize"
python3 tests/clients/chats/ask.py --stdio "$program --data $folder/stdio mcp" --telegram "$service" --mode legacy
kill "$telegram"

serve http
"$program" --data "$folder/http" up --listen 127.0.0.1:0 >"$folder/out" 2>"$folder/log" &
hub=$!
for _ in $(seq 100); do
    grep -q 'Stop with' "$folder/out" && break
    kill -0 "$hub"
    sleep 0.1
done
prepare "$folder/http"
url=$(sed -nE 's/^ *MCP +(.*)$/\1/p' "$folder/out")
token=$("$program" --data "$folder/http" token issue --agent reader --chats 'telegram/*' --chats 'bot/*')
echo "Python client, HTTP"
python3 tests/clients/chats/ask.py --url "$url" --token "$token" --telegram "$service"
echo "Python client, HTTP, with initialize"
python3 tests/clients/chats/ask.py --url "$url" --token "$token" --telegram "$service" --mode legacy
if grep -q '7:token' "$folder/log" "$folder/out"; then
    echo "the bot's token was printed" >&2
    exit 1
fi
echo "an agent reads and follows chats"
