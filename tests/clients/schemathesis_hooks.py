"""What schemathesis does differently here: it never waits long.

What may wait may be asked to wait for a minute, and waits for half of one when it is not told how long.
Whatever else is asked stays as it was generated; a time that is refused is left as it is, and so is one that
is none."""

import schemathesis
from schemathesis.core import NOT_SET

# The field that says how long, by operation.
WAITS = {
    "wait_for_messages": "timeout_ms",
    "wait_for_wake": "timeout_ms",
    "claim_wakes": "wait_ms",
    "pull_work": "wait_ms",
}
LONGEST_MS = 55_000
SHORT_MS = 1


def is_long(value):
    if value is None or value == "null":
        return True
    if isinstance(value, str) and value.isascii() and value.isdigit():
        value = int(value)
    return isinstance(value, (int, float)) and not isinstance(value, bool) and SHORT_MS < value <= LONGEST_MS


@schemathesis.hook
def before_call(context, case, kwargs):
    field = WAITS.get(case.operation.definition.raw.get("operationId"))
    if field is None:
        return
    in_query = any(parameter.name == field for parameter in case.operation.query)
    if not in_query and case.body is NOT_SET:
        # Nothing at all means the same as an empty object.
        case.body, case.media_type = {}, "application/json"
    asked = case.query if in_query else case.body
    if isinstance(asked, dict) and is_long(asked.get(field)):
        asked[field] = SHORT_MS
