"""Records a chapter of the README: types the commands that it prints, in real terminals, with the real agents
and a model that thinks nothing, and writes down what every terminal showed and when.

    record.py STORY PROGRAMS RECORDED

STORY is `review` or `chats`. PROGRAMS is the folder of the built programs; `cargo xtask recording` makes pictures of RECORDED. All of it
happens in a machine of its own, as far as Linux has such: other folders, another name, other processes.
"""

import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import threading
import time

from place import AGENTS, ROOT, until
from terminal import Terminal

HERE = pathlib.Path(__file__).resolve().parent
CHAPTERS = {"review": "## Three minutes", "chats": "## People's chats"}
COLUMNS = 100
# A shell that fills the picture, or a third of it beside two agents.
FULL, SHELL, AGENT = 44, 10, 16
# A shell in which somebody asks about chats.
CHATS = 30
# How long the model thinks about each answer: as long as somebody needs to see that it does.
THINKING_MS = 700
# A human who pressed a key is left alone for so long.
QUIET_S = 21
TOKEN = re.compile(rb"(eyJ[A-Za-z0-9_-]{12})([A-Za-z0-9_.-]+)")


def commands(story: str) -> list[str]:
    """What the README prints behind `$`, without what it says of it."""
    chapter = (ROOT / "README.md").read_text().split(f"\n{CHAPTERS[story]}", 1)[1].split("\n## ", 1)[0]
    printed = [line.removeprefix("$ ").split(" # ")[0].rstrip() for line in chapter.splitlines() if line.startswith("$ ")]
    return [command for command in printed if not command.startswith("cargo install")]


class Recorder:
    """Terminals, and what they showed."""

    def __init__(self, env: dict[str, str], cwd: pathlib.Path) -> None:
        self.env, self.cwd = env, cwd
        self.began = time.monotonic()
        self.lock = threading.Lock()
        self.events: list[dict] = []
        self.panes: dict[str, dict] = {}
        self.terminals: dict[str, Terminal] = {}

    def note(self, **event) -> None:
        with self.lock:
            self.events.append({"at": round(time.monotonic() - self.began, 4), **event})

    def open(self, name: str, title: str, rows: int, columns: int = COLUMNS) -> None:
        self.panes[name] = {"title": title, "size": [rows, columns]}
        heard = lambda data: self.note(pane=name, printed=data.decode("latin-1"))
        command = ["bash", "--norc", "--noprofile"]
        self.terminals[name] = Terminal(command, self.env, str(self.cwd), size=(rows, columns), heard=heard)
        self.wait(name, "$ ", 10)

    def view(self, *names: str) -> None:
        self.note(in_view=list(names))

    def hold(self, seconds: float) -> None:
        """There is something to read."""
        self.note(hold=seconds)

    def type(self, name: str, command: str) -> int:
        """Types a command and sends it; where its output begins."""
        self.note(typed=command)
        self.terminals[name].type(command, pause_s=0.035)
        time.sleep(0.3)
        begin = len(self.terminals[name].text())
        self.terminals[name].press(b"\r")
        return begin

    def wait(self, name: str, words: str, seconds: float, begin: int = 0) -> str:
        """Waits until a terminal shows something; everything that it showed from there on."""
        shown = lambda: self.terminals[name].text()[begin:]
        try:
            until(f"{name} shows {words!r}", seconds, lambda: words in shown())
        except AssertionError:
            print(shown(), file=sys.stderr)
            raise
        return shown()

    def wait_prompt(self, name: str, seconds: float, begin: int) -> str:
        """Waits until the shell is back."""
        shown = lambda: re.sub(r"\s+$", "", self.terminals[name].text()[begin:])
        until(f"{name} is back", seconds, lambda: shown().endswith("\n$") or re.search(r"\n\s*\$$", shown()))
        return shown()

    def answer(self, name: str, key: str) -> None:
        """Answers a question."""
        time.sleep(0.8)
        self.terminals[name].type(key)
        time.sleep(0.3)
        self.terminals[name].press(b"\r")

    def written(self, title: str, rows: int) -> dict:
        """All of it. Tokens are crossed out: the hub that they are for is gone, but who knows that."""
        for name in self.panes:
            events = [event for event in self.events if event.get("pane") == name]
            whole = "".join(event["printed"] for event in events).encode("latin-1")
            whole = TOKEN.sub(lambda found: found[1] + b"*" * len(found[2]), whole).decode("latin-1")
            at = 0
            for event in events:
                at, event["printed"] = at + len(event["printed"]), whole[at : at + len(event["printed"])]
        return {"title": title, "size": [rows, COLUMNS], "panes": self.panes, "events": self.events}


def isolated() -> None:
    """Goes on in a machine of its own: a person called dev, a machine called desk, and its own processes."""
    inner = [sys.executable, str(HERE / "record.py"), *sys.argv[1:]]
    outer = ["unshare", "--mount", "--uts", "--pid", "--fork", "--kill-child", "--mount-proc"]
    if os.geteuid() != 0:
        outer.append("--map-root-user")
    os.execvpe("unshare", [*outer, *inner], os.environ | {"RECORDING": "1"})


def furnish(programs: pathlib.Path) -> dict[str, str]:
    """Folders as a person has them; nothing of it is seen from outside."""
    mount = lambda *words: subprocess.run(["mount", *map(str, words)], check=True)
    base = pathlib.Path("/home" if not str(ROOT).startswith("/home/") else "/srv")
    kept = {name: pathlib.Path(path).resolve() for name, path in (("waystation", programs / "waystation"), ("codex", AGENTS / "codex"), ("claude", AGENTS / "claude"))}
    bin_folder = pathlib.Path("/usr/local/bin")
    for folder in (base, bin_folder):
        mount("-t", "tmpfs", "none", folder)
    for name, file in kept.items():
        (bin_folder / name).touch()
        mount("--bind", file, bin_folder / name)
    subprocess.run(["hostname", "desk"], check=True)
    home = base / "dev"
    home.mkdir()
    return {"PATH": "/usr/local/bin:/usr/bin:/bin", "HOME": str(home), "USER": "dev", "LANG": "C.UTF-8", "TERM": "xterm-256color", "COLORTERM": "truecolor", "PS1": "$ "}


def call(env: dict[str, str], operation: str, **fields):
    done = subprocess.run(["waystation", "--json", "call", operation, json.dumps(fields)], env=env, capture_output=True, text=True, check=True)
    return json.loads(done.stdout)


def tell_chats(recorder: Recorder, env: dict[str, str]) -> dict:
    """An export is imported, looked at, and an agent is asked about it."""
    imported, chat, search, connect, ask = commands("chats")
    shutil.copy(HERE.parent / "chats" / "result.json", recorder.cwd)
    recorder.open("shell", "terminal", CHATS)
    recorder.view("shell")
    for command, expected in (
        (imported, "4 new messages"),
        (chat, "Are you coming to the meeting?"),
        (search, "Are you coming to the meeting?"),
        (connect, "waystation"),
        (ask, "At two"),
    ):
        begin = recorder.type("shell", command)
        said = recorder.wait_prompt("shell", 90, begin)
        assert expected in said, said
        recorder.hold(2.5)
    asked = [entry for entry in call(env, "read_audit", limit=50)["entries"] if entry["operation"] == "get_messages"]
    assert len({entry["agent_id"] for entry in asked}) == 2, "a person and an agent asked"
    return recorder.written("An export is imported, and an agent answers from it", CHATS + 1)


def tell_review(recorder: Recorder, env: dict[str, str]) -> dict:
    """The three minutes."""
    up, connect, doctor, coder, reviewer, start, show = commands("review")
    recorder.open("hub", "terminal 1", FULL)
    recorder.view("hub")
    recorder.type("hub", up)
    recorder.wait("hub", "Stop with", 30)
    recorder.hold(2.5)
    recorder.open("shell", "terminal 2", FULL)
    recorder.view("shell")
    begin = recorder.type("shell", connect)
    recorder.wait("shell", "[y/N]", 30, begin)
    recorder.hold(2.5)
    recorder.answer("shell", "y")
    recorder.wait_prompt("shell", 30, begin)
    recorder.hold(2.5)
    begin = recorder.type("shell", doctor)
    recorder.wait("shell", "[y/N]", 30, begin)
    recorder.answer("shell", "y")
    said = recorder.wait_prompt("shell", 120, begin)
    assert said.count("it was woken just now") == 2, said
    recorder.hold(4)
    time.sleep(0.5)
    for name, title in (("coder", "terminal 3"), ("reviewer", "terminal 4")):
        recorder.open(name, title, AGENT)
    recorder.open("desk", "terminal 5", SHELL)
    recorder.view("coder", "reviewer", "desk")
    recorder.type("coder", coder)
    recorder.wait("coder", "Hooks need review", 60)
    recorder.hold(1.5)
    time.sleep(0.8)
    recorder.terminals["coder"].press(b"\x1b[B")
    time.sleep(0.5)
    recorder.terminals["coder"].press(b"\r")
    recorder.type("reviewer", reviewer)
    pressed = time.monotonic()
    idle = lambda name: any(s["agent_id"] == name and s["status"] == "idle" for s in call(env, "list_sessions")["sessions"])
    for name in ("coder", "reviewer"):
        until(f"{name} has nothing to do", 90, lambda: idle(name))
    time.sleep(max(0.0, pressed + QUIET_S - time.monotonic()))
    recorder.hold(1)
    begin = recorder.type("desk", start)
    said = recorder.wait_prompt("desk", 30, begin)
    thread = re.search(r"th_[0-9A-Z]{26}", said)[0]
    recorder.hold(3)
    until("the thread is resolved", 180, lambda: call(env, "get_thread", thread_id=thread)["status"] == "resolved")
    until("every wake has ended", 60, lambda: not call(env, "list_wakes", thread_id=thread, open_only=True)["wakes"])
    time.sleep(1.5)
    recorder.open("end", "terminal 6", FULL, 80)
    recorder.hold(2)
    recorder.view("end")
    begin = recorder.type("end", re.sub(r"th_[0-9A-Z]+", thread, show))
    recorder.wait_prompt("end", 30, begin)
    return recorder.written("Two agents review each other's work", max(FULL + 1, 2 * (AGENT + 1) + SHELL + 1))


def check(recorder: Recorder) -> None:
    """Nothing of the machine underneath was shown."""
    shown = "".join(event.get("printed", "") for event in recorder.events)
    for word in (str(ROOT), "/tmp/", "/root/", os.environ.get("HOST_NAME_OUTSIDE", "")):
        assert not word or word not in shown, f"{word} was recorded"


def main() -> None:
    if "RECORDING" not in os.environ:
        os.environ["HOST_NAME_OUTSIDE"] = os.uname().nodename
        isolated()
    story = sys.argv[1]
    programs, recorded = (pathlib.Path(word).resolve() for word in sys.argv[2:4])
    env = furnish(programs)
    work = pathlib.Path(env["HOME"]) / ("profile-mapper" if story == "review" else "chats")
    kept = pathlib.Path(env["HOME"]).parent / "model"
    kept.mkdir()
    script = json.loads((HERE / f"{story}.json").read_text()) | {"delay_ms": THINKING_MS}
    (kept / "script.json").write_text(json.dumps(script))
    model = subprocess.Popen([programs / "fake-model", kept / "script.json", kept / "journal"], stdout=subprocess.PIPE, text=True)
    url = model.stdout.readline().strip()
    for cli in ("codex", "claude"):
        made = subprocess.run([programs / "agent-home", cli, env["HOME"], work, url], check=True, capture_output=True, text=True)
        env |= dict(line.split("=", 1) for line in made.stdout.splitlines())
    recorder = Recorder(env, work)
    tell = {"review": tell_review, "chats": tell_chats}[story]
    written = tell(recorder, env)
    check(recorder)
    recorded.parent.mkdir(parents=True, exist_ok=True)
    recorded.write_text(json.dumps(written))
    for name in ("hub", "shell", "desk", "end"):
        if name in recorder.terminals:
            print(f"--- {name}\n{recorder.terminals[name].text()}")
    shutil.rmtree(kept, ignore_errors=True)


if __name__ == "__main__":
    main()
