"""The ways into real agents that a review does not take: a child that speaks JSON, a new session, plain
windows that nobody supervises, and agents on another machine whose hub goes away and comes back.

    lanes.py PROGRAMS

PROGRAMS is the folder of the built programs.
"""

import json
import pathlib
import signal
import subprocess
import sys

from place import Place, until

HERE = pathlib.Path(__file__).resolve().parent
PREFACE = "You start fresh on this thread."


def a_dead_process() -> dict:
    """A process that is proven to be gone, as the registry knows it."""
    child = subprocess.Popen(["sleep", "60"])
    started = pathlib.Path(f"/proc/{child.pid}/stat").read_text().rsplit(")", 1)[1].split()[19]
    child.kill()
    child.wait()
    boot = pathlib.Path("/proc/sys/kernel/random/boot_id").read_text().strip()
    return {"pid": child.pid, "pid_started": int(started), "boot_id": boot}


def check(place: Place, wakes: dict[str, dict], **lanes: set[str]) -> None:
    """Each agent was woken on one of these lanes, and began one turn."""
    for agent, allowed in lanes.items():
        wake = wakes[agent]
        began = [heard for heard in place.heard() if heard["wake"] == wake["wake_id"] and heard["calls"] == 0 and not heard["aside"]]
        print(f"{agent:9} {wake['lane']:14} {wake['state']}, turns {len(began)}")
        assert wake["lane"] in allowed, wake
        assert len(began) == 1, (wake, began)


def new_sessions(place: Place) -> str:
    """Two agents with nobody to resume, whose policy allows a new session; a message wakes them."""
    host = (place.data / "host.id").read_text().strip()
    for agent, runtime in (("newcodex", "codex_cli"), ("newclaude", "claude_code")):
        cwd = place.folder / agent
        cwd.mkdir(exist_ok=True)
        place.call("open_session", agent_id=agent, runtime=runtime, host=host, cwd=str(cwd), **a_dead_process())
        place.call("set_wake_policy", agent_id=agent, policy={"new_session": "always"})
    thread = place.open("newcodex", "newclaude")
    place.post(thread)
    return thread


def check_preface(place: Place, wakes: dict[str, dict]) -> None:
    for wake in wakes.values():
        told = [text for heard in place.heard() if heard["wake"] == wake["wake_id"] for text in heard["texts"]]
        assert any(PREFACE in text for text in told), (wake, told)


def plain(place: Place) -> None:
    """Windows that a person opened by themselves, after `waystation connect`."""
    place.show("codex", ["codex"])
    place.show("claude", ["claude"])
    place.trust_hooks("codex")
    # The hub hears of a plain Codex with its first turn.
    until("Codex takes words", 30, lambda: "Ask Codex to do anything" in place.terminals["codex"].text())
    place.terminals["codex"].type("hello")
    place.terminals["codex"].enter()


def check_unmanaged(place: Place) -> None:
    sessions = {session["agent_id"]: session for session in place.call("list_sessions")["sessions"]}
    for agent in ("codex", "claude"):
        assert sessions[agent]["management_mode"] == "unmanaged", sessions[agent]
    # One of which nothing is known but that it was there: no lane leads to it, and nothing is started.
    token = place.command("token", "issue", "--agent", "stranger").strip()
    beat = json.dumps({"runtime": "some_cli", "status": "idle"})
    place.command("call", "heartbeat_session", beat, WAYSTATION_TOKEN=token)
    thread = place.open("stranger")
    place.post(thread)
    wish = json.dumps({"thread_id": thread, "target_agent_id": "stranger", "reason": "new_unread_messages"})
    refused = place.attempt("call", "trigger_participant", wish)
    assert refused.returncode != 0 and "UNMANAGED_RUNTIME" in refused.stderr, refused
    print("stranger  UNMANAGED_RUNTIME")


def start_agentd(hub: Place, there: Place) -> subprocess.Popen:
    token = there.folder / "token"
    token.write_text(hub.command("token", "issue", "--agent", "there", "--role", "service", "--scope", "agents:host"))
    command = [there.programs / "waystation", "agentd", "--hub", hub.url, "--ca", hub.data / "tls" / "ca.pem", "--token-file", token]
    agentd = there.start(command)
    assert agentd.stdout.readline().startswith("agentd serves"), (there.folder / "log").read_text()
    return agentd


def session_name(hub: Place, agent: str) -> str | None:
    """By what name an agent's program knows its session."""
    sessions = hub.call("list_sessions")["sessions"]
    return next(session.get("vendor_session_id") for session in sessions if session["agent_id"] == agent)


def begin_anew(hub: Place, there: Place, thread: str) -> None:
    """A person clears the conversation of a live Codex: its next turn is in another thread of Codex, and
    that is the one to take up later."""
    before = session_name(hub, "farcodex")
    terminal = there.terminals["farcodex"]
    begin = len(terminal.text())
    terminal.type("/new")
    terminal.enter()
    until("Codex begins anew", 30, lambda: "OpenAI Codex" in terminal.text()[begin:])
    seq = hub.post(thread, "a clean table?")
    check(hub, hub.until_read(thread, 2, seq), farcodex={"codex_socket"})
    after = session_name(hub, "farcodex")
    assert before and after and before != after, (before, after)


def elsewhere(hub: Place, there: Place, process: subprocess.Popen) -> None:
    """Wakes agents of another machine, before and after the hub was killed."""
    thread = hub.open("farcodex", "farclaude")
    for agent in ("farcodex", "farclaude"):
        until(f"{agent} has nothing to do", 60, lambda: hub.is_idle(agent))
    hub.post(thread)
    check(hub, hub.until_read(thread, 2), farcodex={"codex_socket"}, farclaude={"claude_rewake"})
    begin_anew(hub, there, thread)
    process.send_signal(signal.SIGKILL)
    process.wait()
    # Nobody there notices: what is typed is shown. Programs draw only what is new, so one sign must do.
    for agent in ("farcodex", "farclaude"):
        terminal = there.terminals[agent]
        begin = len(terminal.text())
        terminal.type("^^^")
        until(f"{agent} shows what is typed", 30, lambda: "^" in terminal.text()[begin:])
        terminal.press(b"\x7f" * 3)
    hub.start_hub(hub.url.removeprefix("https://"))
    again = hub.post(thread, "are you still there?")
    check(hub, hub.until_read(thread, 2, again), farcodex={"codex_socket"}, farclaude={"claude_rewake"})


def main() -> None:
    # Whoever is told to end tidies up first.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    programs = pathlib.Path(sys.argv[1]).resolve()
    hub = Place(programs, HERE / "lanes.json")
    there = Place(programs, model=hub)
    try:
        hub.env["WAYSTATION_TLS__MODE"] = "local"
        hub.move_in("codex", "codex")
        hub.move_in("claude", "claude")
        process = hub.start_hub()
        assert hub.url.startswith("https://"), hub.url
        start_agentd(hub, there)
        there.move_in("farcodex", "codex")
        there.move_in("farclaude", "claude")
        plain(hub)
        there.run("farcodex", "codex")
        there.run("farclaude", "claude")
        streamer = hub.folder / "streamer"
        streamer.mkdir()
        hub.command("run", "streamer", "--headless", "--", "claude", cwd=streamer)
        there.trust_hooks("farcodex")

        anew = new_sessions(hub)
        stream = hub.open("streamer")
        hub.post(stream)
        wakes = hub.until_read(anew, 2)
        check(hub, wakes, newcodex={"codex_new"}, newclaude={"claude_new"})
        check_preface(hub, wakes)
        check(hub, hub.until_read(stream, 1), streamer={"claude_stream"})

        windows = hub.open("codex", "claude")
        for agent in ("codex", "claude"):
            until(f"{agent} has nothing to do", 60, lambda: hub.is_idle(agent))
        check_unmanaged(hub)
        hub.post(windows)
        check(hub, hub.until_read(windows, 2), codex={"codex_socket"}, claude={"claude_rewake"})
        # Closed, they are taken up where they were; Codex' shared server keeps a thread for a minute.
        hub.terminals.pop("claude").hang_up()
        until("claude is gone", 30, lambda: not hub.is_idle("claude"))
        closed = hub.open("claude")
        hub.post(closed)
        check(hub, hub.until_read(closed, 1), claude={"claude_resume"})

        elsewhere(hub, there, process)
    except BaseException:
        for place in (hub, there):
            place.explain()
        raise
    finally:
        there.close()
        hub.close()


if __name__ == "__main__":
    main()
