"""A hub, a model that thinks nothing, and real agent CLIs in homes of their own, for as long as a lane
takes. Nothing of it touches the person's own files, and nothing is left running."""

import json
import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import time

from terminal import Terminal

ROOT = pathlib.Path(__file__).resolve().parents[3]
AGENTS = ROOT / ".cache" / "agents" / "bin"

# A human's pause is as short as it can be, so that a lane need not wait for it.
CONFIG = """
[wake]
recheck_seconds = 1
quiet_seconds = 1
defer_max_seconds = 3

[host]
codex = {codex}
claude = {claude}
"""


def until(what: str, seconds: float, question):
    """Asks again until the answer is something; that answer."""
    deadline = time.monotonic() + seconds
    while True:
        answer = question()
        if answer:
            return answer
        if time.monotonic() > deadline:
            raise AssertionError(f"{what}: not within {seconds} s")
        time.sleep(0.1)


class Place:
    """A machine: its data folder, its agents' home, and what runs there."""

    def __init__(self, programs: pathlib.Path, script: pathlib.Path | None = None, model: "Place | None" = None) -> None:
        self.programs = programs
        self.holder = tempfile.TemporaryDirectory(prefix="waystation-wake-", ignore_cleanup_errors=True)
        self.folder = pathlib.Path(self.holder.name).resolve()
        self.data = self.folder / "data"
        self.data.mkdir(mode=0o700)
        quoted = {name: json.dumps(str(AGENTS / name)) for name in ("codex", "claude")}
        (self.data / "config.toml").write_text(CONFIG.format(**quoted))
        self.journal = model.journal if model else self.folder / "journal.jsonl"
        self.processes: list[subprocess.Popen] = []
        self.terminals: dict[str, Terminal] = {}
        path = f"{AGENTS}:{programs}:/usr/local/bin:/usr/bin:/bin"
        self.env = {"PATH": path, "TERM": "xterm-256color", "LANG": "C.UTF-8", "WAYSTATION_DATA": str(self.data)}
        if model:
            self.model = model.model
        else:
            self.model = self.start([programs / "fake-model", script, self.journal]).stdout.readline().strip()

    def start(self, command: list) -> subprocess.Popen:
        log = open(self.folder / "log", "ab")
        process = subprocess.Popen([str(part) for part in command], stdout=subprocess.PIPE, stderr=log, env=self.env, text=True)
        self.processes.append(process)
        return process

    def start_hub(self, listen: str = "127.0.0.1:0") -> subprocess.Popen:
        hub = self.start([self.programs / "waystation", "--data", self.data, "up", "--listen", listen])
        for line in hub.stdout:
            if line.split()[:1] == ["MCP"]:
                self.url = line.split()[1].removesuffix("/mcp")
            if "Stop with" in line:
                return hub
        raise AssertionError((self.folder / "log").read_text())

    def attempt(self, *words: str, cwd: pathlib.Path | None = None, **env: str) -> subprocess.CompletedProcess:
        """Runs the program as the person, whatever comes of it."""
        command = [self.programs / "waystation", *words]
        return subprocess.run(command, env=self.env | env, cwd=cwd, capture_output=True, text=True, timeout=60)

    def command(self, *words: str, **more) -> str:
        """Runs the program as the person; it must succeed."""
        done = self.attempt(*words, **more)
        assert done.returncode == 0, f"{words}: {done.stdout}{done.stderr}"
        return done.stdout

    def call(self, operation: str, **fields):
        return json.loads(self.command("--json", "call", operation, json.dumps(fields)))

    def open(self, *agents: str) -> str:
        """A thread with these."""
        return self.call("create_thread", title="A thread", participants=list(agents))["thread_id"]

    def post(self, thread: str, body: str = "please look") -> int:
        """Says something in a thread; which message that is."""
        return self.call("post_message", thread_id=thread, body=body)["seq"]

    def wakes(self, thread: str) -> list[dict]:
        return self.call("list_wakes", thread_id=thread, limit=50)["wakes"]

    def until_read(self, thread: str, agents: int, seq: int = 1, seconds: float = 60) -> dict[str, dict]:
        """Waits until so many agents have read a message; how each was woken last."""

        def question():
            last = {wake["agent_id"]: wake for wake in reversed(self.wakes(thread))}
            is_read = lambda wake: wake["state"] == "read" and wake["through_seq"] >= seq
            return last if len(last) == agents and all(map(is_read, last.values())) else None

        return until(f"{thread} is read", seconds, question)

    def move_in(self, agent: str, cli: str) -> None:
        """Lets an agent's CLI know the model and the hub, in the one home of this place."""
        command = [self.programs / "agent-home", cli, self.folder / "home", self.folder / agent, self.model]
        made = subprocess.run(command, check=True, capture_output=True, text=True)
        self.env |= dict(line.split("=", 1) for line in made.stdout.splitlines())
        self.command("connect", cli, "--yes")

    def run(self, agent: str, *words: str) -> Terminal:
        """Starts an agent's CLI under supervision, with a terminal in front of it."""
        return self.show(agent, [str(self.programs / "waystation"), "run", agent, "--", *words])

    def show(self, agent: str, command: list[str]) -> Terminal:
        """Starts a program in an agent's folder, with a terminal in front of it."""
        terminal = Terminal(command, self.env, str(self.folder / agent))
        self.terminals[agent] = terminal
        return terminal

    def trust_hooks(self, agent: str) -> None:
        """Does what Codex asks a person once, before it runs hooks that it has not seen."""
        terminal = self.terminals[agent]
        until("Codex asks about its hooks", 60, lambda: "Hooks need review" in terminal.text())
        # A dialog that has just come takes no keys yet.
        time.sleep(0.4)
        terminal.press(b"\x1b[B")
        terminal.enter()

    def is_idle(self, agent: str) -> bool:
        sessions = self.call("list_sessions")["sessions"]
        return any(session["agent_id"] == agent and session["status"] == "idle" for session in sessions)

    def heard(self) -> list[dict]:
        lines = self.journal.read_text().splitlines() if self.journal.exists() else []
        return [json.loads(line) for line in lines]

    def explain(self) -> None:
        """Says all there is to know about what went wrong."""
        for name in ("list_wakes", "list_sessions"):
            done = self.attempt("--json", "call", name, "{}")
            print(f"--- {name}\n{done.stdout}{done.stderr}", file=sys.stderr)
        for agent, terminal in self.terminals.items():
            print(f"--- {agent}'s terminal\n{terminal.text()[-1500:]}", file=sys.stderr)
        print(f"--- log\n{(self.folder / 'log').read_text()[-4000:]}", file=sys.stderr)

    def close(self) -> None:
        for terminal in self.terminals.values():
            terminal.hang_up()
        # Keepers outlive their terminals, and Codex' server outlives Codex: that is what they are for.
        for process in self.of_this_place():
            try:
                os.kill(process, signal.SIGKILL)
            except ProcessLookupError:
                pass
        for process in self.processes:
            process.kill()
            process.wait()
        self.holder.cleanup()

    def of_this_place(self) -> list[int]:
        """Processes that work for this place: its folder stands in their environment."""
        found = []
        for entry in pathlib.Path("/proc").iterdir():
            if entry.name.isdigit() and int(entry.name) != os.getpid():
                try:
                    if str(self.folder).encode() in (entry / "environ").read_bytes():
                        found.append(int(entry.name))
                except OSError:
                    pass
        return found
