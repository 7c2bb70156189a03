"""Imports chats that other people wrote with the real program, and looks for every message of them.

    imports.py PROGRAM WHATSAPP_FOLDER... --slack FOLDER
"""

import argparse
import json
import pathlib
import re
import subprocess
import tempfile
import zipfile

# How a message of a WhatsApp export begins, said once more and without knowing how we read it.
BEGINNING = re.compile(r"^\u200e?\[?\d{1,4}[-./]\d{1,2}[-./]\d{1,4},? \d{1,2}:\d{2}")
DAY = "2025-01-13"
FIRST_TS = 1_736_769_600


class Hub:
    def __init__(self, program, folder):
        self.command = [program, "--data", folder, "--json"]

    def run(self, *words):
        done = subprocess.run([*self.command, *words], capture_output=True, text=True, check=False)
        assert done.returncode == 0, (words, done.stderr)
        return json.loads(done.stdout or "null")

    def stop(self):
        subprocess.run([*self.command, "down"], capture_output=True, check=True)


def whatsapp(hub, file):
    lines = file.read_text(encoding="utf-8").splitlines()
    expected = sum(1 for line in lines if BEGINNING.match(line))
    taken = hub.run("import", str(file))
    assert taken["messages_added"] == taken["messages_read"] == expected, (file, expected, taken)
    assert taken["skipped"] == 0, taken
    again = hub.run("import", str(file))
    assert again["messages_added"] == 0, again
    print(f"{expected:>5} WhatsApp messages in {file.name}")
    return expected


def words_of(value):
    """Every word in the blocks of a message that a reader sees; what buttons are called is not said."""
    if isinstance(value, list):
        return [word for item in value for word in words_of(item)]
    if not isinstance(value, dict) or value.get("type") == "actions":
        return []
    if value.get("type") in ("mrkdwn", "plain_text"):
        return re.findall(r"[A-Za-z]{4,}", re.sub(r"<[^>]*>|:[a-z_0-9+-]+:", " ", value["text"]))
    return [word for key, item in value.items() if key in ("text", "fields", "elements") for word in words_of(item)]


def slack(hub, folder, scratch):
    files = sorted(folder.glob("message*.json"))
    assert files, f"{folder} holds no messages"
    messages = [
        {"type": "message", "user": "U1", "ts": f"{FIRST_TS + n}.000100", "text": "", **json.loads(file.read_text())}
        for n, file in enumerate(files)
    ]
    export = scratch / "samples Slack export.zip"
    with zipfile.ZipFile(export, "w") as archive:
        archive.writestr("users.json", json.dumps([{"id": "U1", "name": "ada", "profile": {"real_name": "Ada"}}]))
        archive.writestr("channels.json", json.dumps([{"id": "C1", "name": "samples", "members": ["U1"]}]))
        archive.writestr(f"samples/{DAY}.json", json.dumps(messages))
    taken = hub.run("import", str(export))
    assert taken["messages_added"] == len(files) and taken["skipped"] == 0, taken
    shown = hub.run("chat", "slack", "samples", "--limit", "50")["messages"]
    for message, found in zip(messages, sorted(shown, key=lambda one: one["timestamp"]), strict=True):
        missing = [word for word in words_of(message["blocks"]) if word not in found["content"]]
        assert not missing, (missing, found)
    print(f"{len(files):>5} Slack messages of blocks alone, each with its words")
    return len(files)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("program")
    parser.add_argument("folders", nargs="+", type=pathlib.Path)
    parser.add_argument("--slack", type=pathlib.Path, required=True)
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        hub = Hub(asked.program, f"{scratch}/hub")
        try:
            files = [file for folder in asked.folders for file in sorted(folder.glob("*.txt"))]
            assert files, "no samples were found"
            total = sum(whatsapp(hub, file) for file in files)
            total += slack(hub, asked.slack, pathlib.Path(scratch))
        finally:
            hub.stop()
    print(f"{total} messages of somebody else were imported without a loss")


if __name__ == "__main__":
    main()
