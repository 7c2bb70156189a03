#!/usr/bin/env bash
# Sends the running hub whatever its own OpenAPI document allows, and much that it does not: no answer
# is a 5xx, and every answer is one that the document describes. Once as a worker, once as an operator.
set -euo pipefail
cd "$(dirname "$0")/../.."

program=${WAYSTATION:-target/debug/waystation}
[[ -x $program ]] || cargo build --package waystation
program=$(realpath "$program")
examples=${SCHEMATHESIS_EXAMPLES:-50}

home=$(mktemp -d /tmp/wst.XXXXXX)
hub=
worker=
cleanup() {
    [[ -z $worker ]] || kill "$worker" 2>/dev/null || true
    [[ -z $hub ]] || kill "$hub" 2>/dev/null || true
    [[ -z $hub ]] || wait "$hub" 2>/dev/null || true
    rm -rf "$home"
}
trap cleanup EXIT

# The hub's settings must be these and no others.
run() {
    env -i PATH="$PATH" HOME="$home" \
        WAYSTATION_LIMITS__POSTS_PER_SECOND=1000000 WAYSTATION_LIMITS__POSTS_BURST=1000000 \
        WAYSTATION_LIMITS__CALLS_PER_SECOND=1000000 WAYSTATION_LIMITS__CALLS_BURST=1000000 \
        "$program" "$@"
}

env -i PATH="$PATH" HOME="$home" \
    WAYSTATION_LIMITS__POSTS_PER_SECOND=1000000 WAYSTATION_LIMITS__POSTS_BURST=1000000 \
    WAYSTATION_LIMITS__CALLS_PER_SECOND=1000000 WAYSTATION_LIMITS__CALLS_BURST=1000000 \
    "$program" up --listen 127.0.0.1:0 >"$home/stdout" 2>"$home/stderr" &
hub=$!
# The hub says when it is ready; it is dead or ready soon.
for _ in $(seq 300); do
    grep -q 'Stop with' "$home/stdout" && break
    kill -0 "$hub" || { cat "$home/stderr"; exit 1; }
    sleep 0.1
done
url=$(sed -n 's|^ *REST *\(http[^ ]*\)/v1.*|\1|p' "$home/stdout")

# Conformance, not taste: a title of blanks fits the schema and is refused all the same.
checks=not_a_server_error,status_code_conformance,content_type_conformance
checks+=,response_headers_conformance,response_schema_conformance,negative_data_rejection
checks+=,unsupported_method,allow_header_conformance,ignored_auth

# A text beyond its limit may make the whole request too large; that is a refusal too. What may wait is
# asked like everything else, but not for long.
cat >"$home/schemathesis.toml" <<TOML
hooks = "$PWD/tests/clients/schemathesis_hooks.py"

[checks.negative_data_rejection]
expected-statuses = [400, 401, 403, 404, 405, 406, 409, 413, 415, 422, 428, 429, "5xx"]
TOML

attack() {
    local role=$1 token
    shift
    token=$(run token issue --agent "schemathesis_$role" --role "$role") || return 1
    mkdir -p "$home/$role"
    (cd "$home/$role" && schemathesis --config-file "$home/schemathesis.toml" run "$url/v1/openapi.json" \
        --header "Authorization: Bearer $token" \
        --checks "$checks" --phases examples,coverage,fuzzing --max-examples "$examples" \
        --seed 1 --workers 1 --request-timeout 20 --continue-on-failure --no-color "$@")
}

# Revoking could end the very token that asks; it has its own turn, with a token of its own.
attack_as() {
    echo "as $1"
    attack "$1" --exclude-operation-id revoke_token || return 1
    echo "as $1, revoking"
    attack "$1" --include-operation-id revoke_token || return 1
}

# Both at once: most of the time somebody waits for a disk.
attack_as worker >"$home/worker.log" 2>&1 &
worker=$!
failed=
attack_as operator || failed=operator
wait "$worker" || failed="worker $failed"
cat "$home/worker.log"
[[ -z $failed ]] || { echo "answers that the document does not describe, as: $failed"; exit 1; }

kill -0 "$hub" || { echo "the hub is gone"; exit 1; }
if grep -i 'panicked\|ERROR' "$home/stderr"; then
    echo "the hub complained"
    exit 1
fi
