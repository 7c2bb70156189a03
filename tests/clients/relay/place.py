"""A hub that can be killed, fakes of the services it relays, and the reference agent with a model that thinks
nothing. Nothing of it touches the person's own files, and nothing is left running."""

import json
import pathlib
import random
import signal
import socket
import subprocess
import tempfile
import time
import urllib.error
import urllib.request

ROOT = pathlib.Path(__file__).resolve().parents[3]
APPROVER = "U0APPROVER"
ISSUE = "https://github.com/acme/shop/issues/12"

CONFIG = f"""
[relay.approvals]
approvers = ["{APPROVER}"]
"""

# What the model does about the command: it summarises the issue, and proposes a comment on it.
SCRIPT = {
    "rules": [
        {
            "when": f"prompt:{ISSUE}",
            "steps": [
                {"call": "SummarizeIssue", "with": {"issue_url": ISSUE}},
                {"call": "propose", "with": {"text": "Draft: the cart needs a price.", "to": ISSUE, "why": "asked"}},
            ],
            "say": "I have proposed a comment.",
        }
    ]
}


def until(what: str, seconds: float, question):
    """Asks again until the answer is something; that answer."""
    deadline = time.monotonic() + seconds
    while True:
        answer = question()
        if answer:
            return answer
        if time.monotonic() > deadline:
            raise AssertionError(f"{what}: not within {seconds} s")
        time.sleep(0.05)


def free_port() -> int:
    """A port that nobody listens on, and that the system gives to nobody by itself until the hub does."""
    while True:
        port = random.randrange(20_000, 32_000)
        with socket.socket() as free:
            try:
                free.bind(("127.0.0.1", port))
            except OSError:
                continue
            return port


def post(url: str, body: dict, token: str = ""):
    request = urllib.request.Request(url, json.dumps(body).encode(), {"content-type": "application/json"})
    if token:
        request.add_header("authorization", f"Bearer {token}")
    with urllib.request.urlopen(request, timeout=60) as answer:
        return json.loads(answer.read() or b"null")


class Place:
    def __init__(self, programs: pathlib.Path) -> None:
        self.programs = programs
        self.holder = tempfile.TemporaryDirectory(prefix="waystation-relay-", ignore_cleanup_errors=True)
        self.folder = pathlib.Path(self.holder.name).resolve()
        self.data = self.folder / "data"
        self.data.mkdir(mode=0o700)
        (self.data / "config.toml").write_text(CONFIG)
        self.env = {"PATH": "/usr/local/bin:/usr/bin:/bin", "LANG": "C.UTF-8", "HOME": str(self.folder)}
        self.processes: list[subprocess.Popen] = []
        self.hub: subprocess.Popen | None = None
        self.port = free_port()
        self.url = f"http://127.0.0.1:{self.port}"
        services = self.start([programs / "fake-services"])
        self.services = json.loads(services.stdout.readline())
        script = self.folder / "script.json"
        script.write_text(json.dumps(SCRIPT))
        model = self.start([programs / "fake-model", script, self.folder / "journal.jsonl"])
        self.model = model.stdout.readline().strip()

    def __enter__(self) -> "Place":
        return self

    def __exit__(self, *_) -> None:
        for process in self.processes:
            process.kill()
        for process in self.processes:
            process.wait()
        self.holder.cleanup()

    def start(self, command: list, **more: str) -> subprocess.Popen:
        log = open(self.folder / "log", "ab")
        words = [str(word) for word in command]
        process = subprocess.Popen(words, stdout=subprocess.PIPE, stderr=log, env={**self.env, **more}, text=True)
        self.processes.append(process)
        return process

    def start_hub(self) -> None:
        listen = f"127.0.0.1:{self.port}"
        self.hub = self.start([self.programs / "waystation", "--data", self.data, "up", "--listen", listen])
        for line in self.hub.stdout:
            if "Stop with" in line:
                return
        raise AssertionError(self.log())

    def kill_hub(self) -> None:
        """The hub is gone in the middle of whatever it does, and comes back."""
        self.hub.send_signal(signal.SIGKILL)
        self.hub.wait()
        self.start_hub()

    def log(self) -> str:
        return (self.folder / "log").read_text()[-4000:]

    def command(self, *words: str) -> str:
        """Runs the program as the person."""
        program = [self.programs / "waystation", "--data", self.data, *words]
        done = subprocess.run(program, env=self.env, capture_output=True, text=True, timeout=60)
        assert done.returncode == 0, f"{words}: {done.stdout}{done.stderr}"
        return done.stdout.strip()

    def call(self, operation: str, **fields):
        return json.loads(self.command("--json", "call", operation, json.dumps(fields)))

    def tell(self, service: str, what: str, **fields):
        """Tells a fake to do something."""
        return post(f"{self.services['control']}/{service}/{what}", fields)

    def link(self, service: str) -> str:
        """Links a service; where it calls the hub."""
        settings = {name: str(value) for name, value in self.services[service].items()}
        token = self.command("token", "issue", "--agent", "owner", "--role", "operator")
        answer = post(f"{self.url}/v1/links", {"service": service, "settings": settings}, token)
        return f"{self.url}{answer['hook_path']}"

    def start_agent(self) -> None:
        token = self.folder / "agent.token"
        token.write_text(self.command("token", "issue", "--agent", "triage", "--role", "worker"))
        token.chmod(0o600)
        settings = {
            "WAYSTATION_URL": self.url,
            "WAYSTATION_TOKEN_FILE": str(token),
            "MODEL_URL": self.model,
            "LEASE_MS": "4000",
            "WAIT_MS": "2000",
        }
        self.start(["python3", ROOT / "examples" / "relay-agent" / "agent.py"], **settings)

    def slack(self, **narrow) -> list[dict]:
        return self.tell("slack", "posted", channel="C1", **narrow)

    def question(self) -> dict | None:
        """The message in Slack that asks a human, while it can be answered."""
        with_buttons = [one for one in self.slack() if "waystation_approve" in json.dumps(one.get("blocks"))]
        return with_buttons[-1] if with_buttons else None

    def comments(self) -> list[dict]:
        return self.tell("github", "posted")


def refused(error: Exception) -> bool:
    return isinstance(error, (urllib.error.URLError, ConnectionError, TimeoutError))
