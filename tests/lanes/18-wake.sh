#!/usr/bin/env bash
# Real Codex and real Claude Code, against a model that thinks nothing: the hub wakes each as the other has
# written, through a whole review, and nothing that stands in a message reaches a prompt or a terminal.
set -euo pipefail
cd "$(dirname "$0")/../.."

target=${CARGO_TARGET_DIR:-target}
[[ $target = /* ]] || target=$PWD/$target
cargo build --quiet --package waystation --package waystation-testkit --bins

python3 tests/clients/agents/review.py "$target/debug"
echo "two agents reviewed each other's work"
