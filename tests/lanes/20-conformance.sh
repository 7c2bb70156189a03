#!/usr/bin/env bash
# The protocol's own conformance suite against our MCP transport, in both eras.
# The suite wants fixtures that no product has, so it meets crates/edge/examples/conformance, which
# serves them by the same HTTP server and behind the same layers as the hub. Nothing is expected to fail.
set -euo pipefail
# The suite marks its lines with characters beyond ASCII.
export LC_ALL=C.UTF-8
cd "$(dirname "$0")/../.."

suite=.cache/node/node_modules/@modelcontextprotocol/conformance/dist/index.js
[[ -f $suite ]] || { echo "run \`make deps-clients\` first" >&2; exit 1; }
export PATH="$PWD/.cache/node/node_modules/node/bin:$PATH"

results=$(mktemp -d)
server=
product=
cleanup() {
    [[ -z $server ]] || kill "$server" 2>/dev/null || true
    [[ -z $product ]] || kill "$product" 2>/dev/null || true
    rm -rf "$results"
}
trap cleanup EXIT

target=${CARGO_TARGET_DIR:-target}
cargo build --quiet --package waystation-edge --example conformance
"$target/debug/examples/conformance" 127.0.0.1:0 >"$results/address" &
server=$!
for _ in $(seq 100); do
    [[ -s $results/address ]] && break
    kill -0 "$server"
    sleep 0.1
done
read -r url <"$results/address"

# run <revision> <scored>: all scenarios that the revision scores must be there, and pass.
run() {
    local revision=$1 scored_least=$2 log=$results/$1.log ended=0
    node "$suite" server --url "$url" --requirements "$revision" -o "$results/$revision" \
        >"$log" 2>&1 || ended=$?
    # The summary names every scenario, and then again, indented, those that are not scored.
    local summary unscored scored passed
    summary=$(sed -n '/=== SUMMARY ===/,$p' "$log")
    unscored=$(sed -nE 's/^  [✓✗] ([^ ]+) .*/\1/p' <<<"$summary")
    scored=$(grep -E '^[✓✗] ' <<<"$summary" | grep -vwFf <(printf '%s\n' "${unscored:-none}") || true)
    passed=$(grep -c '^✓ ' <<<"$scored" || true)
    echo "$revision: $passed of $(grep -c . <<<"$scored" || true) scored scenarios pass"
    grep '^✗ ' <<<"$scored" && ended=1
    if [[ $ended -ne 0 || $passed -lt $scored_least ]]; then
        tail -n 100 "$log"
        return 1
    fi
}

failed=0
run 2026-07-28 37 || failed=1
run 2025-11-25 30 || failed=1

# What needs no fixtures, against the program itself. The suite cannot send a token.
cargo build --quiet --package waystation
"$target/debug/waystation" --data "$results/data" up --no-auth --listen 127.0.0.1:0 \
    >"$results/banner" 2>"$results/product.log" &
product=$!
for _ in $(seq 100); do
    grep -q 'Stop with' "$results/banner" && break
    kill -0 "$product"
    sleep 0.1
done
url=$(sed -nE 's/^ *MCP +(.*)$/\1/p' "$results/banner")
for scenario in dns-rebinding-protection caching http-header-validation server-sse-multiple-streams \
    tools-list resources-list prompts-list sep-2164-resource-not-found server-initialize ping; do
    if node "$suite" server --url "$url" --scenario "$scenario" -o "$results/product" \
        >"$results/$scenario.log" 2>&1; then
        echo "the program itself: $scenario passes"
    else
        tail -n 40 "$results/$scenario.log"
        failed=1
    fi
done
[[ $failed -eq 0 ]]
