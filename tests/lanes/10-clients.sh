#!/usr/bin/env bash
# The official Python and TypeScript clients and the Inspector against the real program, over HTTP and
# over stdio: two agents open a thread, post, read, acknowledge, wait and summarise.
set -euo pipefail
cd "$(dirname "$0")/../.."
export PATH="$PWD/.cache/node/node_modules/node/bin:$PATH"

target=${CARGO_TARGET_DIR:-target}
program=$PWD/$target/debug/waystation
[[ $target = /* ]] && program=$target/debug/waystation
cargo build --quiet --package waystation

folder=$(mktemp -d)
hub=
cleanup() {
    [[ -z $hub ]] || kill "$hub" 2>/dev/null || true
    "$program" --data "$folder/stdio" down >/dev/null 2>&1 || true
    rm -rf "$folder"
}
trap cleanup EXIT

"$program" --data "$folder/http" up --listen 127.0.0.1:0 >"$folder/out" 2>"$folder/log" &
hub=$!
for _ in $(seq 100); do
    grep -q 'Stop with' "$folder/out" && break
    kill -0 "$hub"
    sleep 0.1
done
url=$(sed -nE 's/^ *MCP +(.*)$/\1/p' "$folder/out")
issue() { "$program" --data "$folder/http" token issue --agent "$1"; }
tokens=$(issue ada),$(issue ben)

echo "Python client, HTTP, newest revision"
python3 tests/clients/drive.py --agents ada,ben --url "$url" --tokens "$tokens"
echo "Python client, HTTP, with initialize"
python3 tests/clients/drive.py --agents ada,ben --url "$url" --tokens "$tokens" --mode legacy
echo "TypeScript client, HTTP"
node tests/clients/drive.mjs --agents ada,ben --url "$url" --tokens "$tokens"

stdio() { echo "env WAYSTATION_AGENT=$1 $program --data $folder/stdio mcp"; }
echo "Python client, stdio"
python3 tests/clients/drive.py --agents ada,ben --stdio "$(stdio ada)" --stdio "$(stdio ben)"
echo "Python client, stdio, with initialize"
python3 tests/clients/drive.py --agents ada,ben --stdio "$(stdio ada)" --stdio "$(stdio ben)" --mode legacy
echo "TypeScript client, stdio"
node tests/clients/drive.mjs --agents ada,ben --stdio "$(stdio ada)" --stdio "$(stdio ben)"

# call <server arguments…> -- <tool> <name=value…>: the Inspector's answer.
inspect() { node .cache/node/node_modules/.bin/mcp-inspector --cli "$@"; }
inspector() {
    local thread
    inspect "$@" --method tools/list | grep -q '"post_message"'
    thread=$(inspect "$@" --method tools/call --tool-name create_thread --tool-arg title=Inspected |
        grep -oE 'th_[0-9A-Z]{26}' | head -n 1)
    local call=(--method tools/call --tool-name)
    inspect "$@" "${call[@]}" post_message --tool-arg "thread_id=$thread" body=hello | grep -q 'posted msg_'
    inspect "$@" "${call[@]}" read_messages --tool-arg "thread_id=$thread" since_seq=0 | grep -q hello
    inspect "$@" "${call[@]}" ack_read --tool-arg "thread_id=$thread" last_read_seq=1 | grep -q acknowledged
    inspect "$@" "${call[@]}" wait_for_messages --tool-arg "thread_id=$thread" timeout_ms=1 | grep -q 'nothing new'
    inspect "$@" "${call[@]}" summarize_thread --tool-arg "thread_id=$thread" | grep -q '1 message from 1 participant'
    inspect "$@" --method resources/read --uri "threads://$thread" | grep -q hello
}
echo "Inspector, HTTP"
inspector "$url" --transport http --header "Authorization: Bearer ${tokens%%,*}"
echo "Inspector, stdio"
WAYSTATION_AGENT=ada inspector "$program" --data "$folder/stdio" mcp
echo "every client got through"
