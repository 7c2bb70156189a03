#!/usr/bin/env bash
# Real Codex and real Claude Code, against a model that thinks nothing: the hub wakes each as the other has
# written, through a whole review, and nothing that stands in a message reaches a prompt or a terminal. Then
# every other lane: a child that speaks JSON, new sessions, plain windows, and another machine.
set -euo pipefail
cd "$(dirname "$0")/../.."

target=${CARGO_TARGET_DIR:-target}
[[ $target = /* ]] || target=$PWD/$target
cargo build --quiet --package waystation --package waystation-testkit --bins

# Side by side: both spend their time waiting for programs to start.
python3 tests/clients/agents/lanes.py "$target/debug" &
lanes=$!
trap 'kill "$lanes" 2>/dev/null || true' EXIT
python3 tests/clients/agents/review.py "$target/debug"
echo "two agents reviewed each other's work"
wait "$lanes"
trap - EXIT
echo "every other lane leads to a real agent"
