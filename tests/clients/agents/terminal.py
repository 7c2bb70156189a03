"""A terminal without anybody in front of it: gives a program a pseudo-terminal, answers what programs
ask a terminal, keeps every byte the program wrote, and types."""

import fcntl
import os
import pty
import re
import select
import signal
import struct
import termios
import threading
import time

# What programs ask, and what a plain terminal answers.
QUESTIONS = [
    (re.compile(rb"\x1b\[6n"), b"\x1b[1;1R"),
    (re.compile(rb"\x1b\[0?c"), b"\x1b[?62;22c"),
    (re.compile(rb"\x1b\]10;\?(?:\x07|\x1b\\)"), b"\x1b]10;rgb:ffff/ffff/ffff\x1b\\"),
    (re.compile(rb"\x1b\]11;\?(?:\x07|\x1b\\)"), b"\x1b]11;rgb:0000/0000/0000\x1b\\"),
]


class Terminal:
    """A program with a terminal of its own."""

    def __init__(self, command: list[str], env: dict[str, str], cwd: str, *, size=(40, 120), heard=None) -> None:
        """`size` is rows and columns; `heard` is called with whatever the program writes."""
        self.output = bytearray()
        self.heard = heard
        self.process, self.side = pty.fork()
        if self.process == 0:
            fcntl.ioctl(0, termios.TIOCSWINSZ, struct.pack("HHHH", *size, 0, 0))
            os.chdir(cwd)
            os.execvpe(command[0], command, env)
        self.reader = threading.Thread(target=self.read, daemon=True)
        self.reader.start()

    def read(self) -> None:
        answered = 0
        while True:
            try:
                select.select([self.side], [], [])
                data = os.read(self.side, 65536)
            except OSError:
                return
            if not data:
                return
            self.output += data
            if self.heard:
                self.heard(data)
            # The last bytes may be the beginning of a question.
            window = bytes(self.output[answered:])
            questions = [(m.end(), answer) for ask, answer in QUESTIONS for m in ask.finditer(window)]
            for _, answer in sorted(questions):
                os.write(self.side, answer)
            answered += max([end for end, _ in questions], default=max(0, len(window) - 32))

    def type(self, text: str, *, pause_s: float = 0.02) -> None:
        """Presses keys one after another, as a person does."""
        for key in text:
            os.write(self.side, key.encode())
            time.sleep(pause_s)

    def press(self, keys: bytes) -> None:
        """Presses a key that is more than one byte."""
        os.write(self.side, keys)

    def enter(self) -> None:
        """Sends the line. CLIs take a quick Enter for a part of a paste."""
        time.sleep(0.4)
        os.write(self.side, b"\r")

    def text(self) -> str:
        """What was written, without what moves cursors and colours."""
        plain = re.sub(rb"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)|[()][0-9A-Z]|[=>78M])", b" ", bytes(self.output))
        return plain.decode(errors="replace")

    def hang_up(self) -> None:
        """Closes the window."""
        try:
            os.kill(self.process, signal.SIGHUP)
            os.close(self.side)
        except OSError:
            pass
        for _ in range(50):
            if os.waitpid(self.process, os.WNOHANG)[0]:
                return
            time.sleep(0.1)
        os.kill(self.process, signal.SIGKILL)
        os.waitpid(self.process, 0)
