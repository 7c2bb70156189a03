"""A Telegram bot service on a free port, as small as it can be: it answers getMe, holds a poll open
until there is something to tell, and tells what POST /say is given. Prints its address and serves."""

import http.server
import json
import threading
import time

updates: list[dict] = []
changed = threading.Condition()


class Bot(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers.get("content-length", 0)))
        given = json.loads(body or b"{}")
        if self.path == "/say":
            with changed:
                number = len(updates) + 1
                message = {"message_id": 1000 + number, "date": int(time.time()), **given}
                updates.append({"update_id": number, "message": message})
                changed.notify_all()
            return self.answer({"ok": True})
        method = self.path.rsplit("/", 1)[-1]
        self.answer({"ok": True, "result": getattr(self, method, self.nothing)(given)})

    do_GET = do_POST

    def getMe(self, _: dict) -> dict:
        return {"id": 7, "is_bot": True, "first_name": "Bot", "username": "test_bot",
                "can_read_all_group_messages": True}

    def getWebhookInfo(self, _: dict) -> dict:
        return {"url": "", "has_custom_certificate": False, "pending_update_count": 0}

    def getUpdates(self, given: dict) -> list[dict]:
        offset = int(given.get("offset") or 0)
        fresh = lambda: [update for update in updates if update["update_id"] >= offset]
        with changed:
            changed.wait_for(fresh, timeout=min(float(given.get("timeout") or 0), 20))
            return fresh()

    def nothing(self, _: dict) -> bool:
        return True

    def answer(self, value: dict) -> None:
        text = json.dumps(value).encode()
        self.send_response(200)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(text)))
        self.end_headers()
        self.wfile.write(text)

    def log_message(self, *_: object) -> None:
        pass


if __name__ == "__main__":
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Bot)
    print(f"http://127.0.0.1:{server.server_port}", flush=True)
    server.serve_forever()
