"""A peer to compare with: FastMCP with sqlite3 behind it, every post durable before it is answered.

usage: fastmcp_sqlite.py PORT DATABASE
"""

import json
import sqlite3
import sys
import time

from fastmcp import FastMCP

port, path = int(sys.argv[1]), sys.argv[2]

database = sqlite3.connect(path, isolation_level=None, check_same_thread=False)
database.executescript(
    """
    PRAGMA journal_mode = WAL;
    PRAGMA synchronous = FULL;
    CREATE TABLE IF NOT EXISTS thread (id TEXT PRIMARY KEY, head INTEGER NOT NULL);
    CREATE TABLE IF NOT EXISTS message (
        id INTEGER PRIMARY KEY, thread TEXT NOT NULL, seq INTEGER NOT NULL, sender TEXT NOT NULL,
        body TEXT NOT NULL, metadata TEXT, idem TEXT UNIQUE, at REAL NOT NULL, UNIQUE (thread, seq));
    CREATE TABLE IF NOT EXISTS audit (
        id INTEGER PRIMARY KEY, at REAL NOT NULL, actor TEXT NOT NULL, action TEXT NOT NULL);
    """
)

server = FastMCP("peer")


@server.tool
async def post_message(thread_id: str, body: str, idempotency_key: str, metadata: dict) -> dict:
    """Post a message to a thread."""
    now = time.time()
    database.execute("BEGIN IMMEDIATE")
    found = database.execute(
        "SELECT seq FROM message WHERE idem = ?", (idempotency_key,)
    ).fetchone()
    if found is None:
        (seq,) = database.execute(
            "INSERT INTO thread (id, head) VALUES (?, 1)"
            " ON CONFLICT (id) DO UPDATE SET head = head + 1 RETURNING head",
            (thread_id,),
        ).fetchone()
        database.execute(
            "INSERT INTO message (thread, seq, sender, body, metadata, idem, at)"
            " VALUES (?, ?, 'agent', ?, ?, ?, ?)",
            (thread_id, seq, body, json.dumps(metadata), idempotency_key, now),
        )
        database.execute(
            "INSERT INTO audit (at, actor, action) VALUES (?, 'agent', 'post_message')", (now,)
        )
    else:
        (seq,) = found
    database.execute("COMMIT")
    return {"seq": seq}


if __name__ == "__main__":
    server.run(
        transport="http",
        host="127.0.0.1",
        port=port,
        path="/mcp",
        stateless_http=True,
        json_response=True,
        log_level="error",
        show_banner=False,
        uvicorn_config={"access_log": False, "loop": "uvloop"},
    )
