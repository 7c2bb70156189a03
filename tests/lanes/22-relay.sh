#!/usr/bin/env bash
# The relay from a slash command to one comment, with the reference agent, against fakes that sign, lose
# answers and say everything again; and again with the hub killed after each step.
set -euo pipefail
cd "$(dirname "$0")/../.."

target=${CARGO_TARGET_DIR:-target}
[[ $target = /* ]] || target=$PWD/$target
cargo build --quiet --package waystation --package waystation-testkit --bins

python3 tests/clients/relay/flow.py "$target/debug"
echo "one command, one comment, whatever was killed"
