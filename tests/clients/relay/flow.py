"""The relay's whole way, against fakes that sign, lose answers and say everything again: a slash command in Slack,
an agent that summarises the issue and proposes, a human who edits and approves by click, one comment on GitHub.
Once undisturbed, and once for each step with the hub killed right after it."""

import concurrent.futures
import json
import pathlib
import sys
import time

from place import APPROVER, ISSUE, Place, until

EDITED = "The cart breaks when an item has no price; see the steps above. Thank you, anna."
STEPS = ("command", "pull", "tool", "proposal", "editor", "approval", "comment")


def wait_for_work(place: Place, states: set[str]):
    works = place.call("list_work")["work"]
    return [work for work in works if work["state"] in states]


def thread_of(place: Place) -> str:
    return place.call("list_work")["work"][0]["thread_id"]


def tools_of(place: Place) -> list[dict]:
    page = place.call("read_envelopes", thread_id=thread_of(place))
    return [one for one in page["envelopes"] if one["role"] == "tool"]


def walk(programs: pathlib.Path, killed_after: str) -> None:
    def step(name: str) -> None:
        if name == killed_after:
            place.kill_hub()

    with Place(programs) as place:
        place.start_hub()
        to_slack = place.link("slack")
        place.link("github")
        # GitHub takes the comment, loses its answer, and does not list it at once.
        place.tell("github", "drop_answers", count=1)
        place.tell("github", "hide_for_looks", count=2)

        command = {"to": to_slack, "channel": "C1", "user": "U0ANNA", "command": "/triage", "text": ISSUE}
        answers = until("the command is taken", 20, lambda: place.tell("slack", "command", **command, times=3))
        assert [answer["status"] for answer in answers] == [200, 200, 200], answers
        assert len(place.call("list_work")["work"]) == 1, "said three times, it is one piece of work"
        step("command")

        place.start_agent()
        until("the agent takes the work", 30, lambda: wait_for_work(place, {"leased", "done"}))
        step("pull")
        answered = until("the tool answers", 60, lambda: tools_of(place))
        assert answered[0]["tool_call"]["result"]["summary"], answered
        step("tool")

        until("people are asked in Slack", 90, place.question)
        step("proposal")
        assert not place.comments(), "nothing leaves before a human has said yes"

        click = {"to": to_slack, "channel": "C1", "ts": place.question()["ts"]}
        stranger = place.tell("slack", "click", **click, user="U0STRANGER", action_id="waystation_approve")
        assert stranger[0]["status"] == 200, stranger
        place.tell("slack", "click", **click, user=APPROVER, action_id="waystation_edit", times=2)
        view = until("the editor opens", 20, lambda: place.tell("slack", "views"))[-1]
        assert "Draft: the cart needs a price." in json.dumps(view), view
        step("editor")
        sent = place.tell("slack", "submit", to=to_slack, user=APPROVER, text=EDITED, times=2)
        assert sent[0]["status"] == 200, sent
        step("approval")

        until("the comment stands on GitHub", 90, place.comments)
        step("comment")
        # Whoever clicks again changes nothing.
        until("the question is locked", 90, lambda: not place.question())
        done = lambda: place.call("list_outbox", limit=50)["actions"]
        until("everything has left", 120, lambda: all(one["state"] in ("sent", "cancelled") for one in done()))

        comments = place.comments()
        assert len(comments) == 1, f"killed after {killed_after}: {len(comments)} comments: {comments}"
        assert EDITED.split(";")[0] in comments[0]["body"], comments
        assert "Draft:" not in comments[0]["body"], "what was approved is what is sent"
        proposals = place.call("list_proposals", state="edited")["proposals"]
        assert len(proposals) == 1, proposals
        verified = place.command("audit", "verify")
        assert verified, "the audit trail holds"


def main() -> None:
    programs = pathlib.Path(sys.argv[1])
    wanted = sys.argv[2:] or ["nothing", *STEPS]

    def timed(killed_after: str) -> str:
        began = time.monotonic()
        walk(programs, killed_after)
        return f"killed after {killed_after}: one comment, in {time.monotonic() - began:.1f} s"

    # They mostly wait for a GitHub that hides what it was given, each in a place of its own.
    with concurrent.futures.ThreadPoolExecutor(max_workers=4) as side_by_side:
        for said in side_by_side.map(timed, wanted):
            print(said, flush=True)


if __name__ == "__main__":
    main()
