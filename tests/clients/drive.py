"""Two agents work a thread through the official Python client of MCP.

    drive.py --agents ada,ben --url http://127.0.0.1:4880/mcp --tokens TOKEN_A,TOKEN_B
    drive.py --agents ada,ben --stdio 'waystation --agent ada' --stdio 'waystation --agent ben'

Both identities must belong to one workspace. --mode legacy says `initialize`, as older clients do.
Ends with 0 when everything was as it should be.
"""

import argparse
import asyncio
import contextlib
import os
import shlex
import uuid
from typing import Any

import httpx2
from mcp import Client, StdioServerParameters
from mcp.client.streamable_http import streamable_http_client


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--agents", required=True, help="the two agents' names, with a comma between")
    parser.add_argument("--url", help="the hub's MCP address")
    parser.add_argument("--tokens", help="their two tokens, with a comma between")
    parser.add_argument("--stdio", action="append", default=[], help="a command for each agent")
    parser.add_argument("--mode", default="auto", choices=["auto", "legacy", "2026-07-28"])
    return parser.parse_args()


@contextlib.asynccontextmanager
async def connected(args: argparse.Namespace, number: int):
    async with contextlib.AsyncExitStack() as stack:
        if args.url:
            token = args.tokens.split(",")[number]
            headers = {"Authorization": f"Bearer {token}"}
            http = await stack.enter_async_context(httpx2.AsyncClient(headers=headers, timeout=90))
            server = streamable_http_client(args.url, http_client=http)
        else:
            command, *rest = shlex.split(args.stdio[number])
            server = StdioServerParameters(command=command, args=rest, env=dict(os.environ))
        yield await stack.enter_async_context(Client(server, mode=args.mode))


async def tool(client: Client, name: str, **fields: Any) -> dict[str, Any]:
    result = await client.call_tool(name, fields)
    assert not result.is_error, f"{name}: {result.content}"
    assert result.content, f"{name} said nothing"
    return result.structured_content


async def story(ada: Client, ben: Client, names: list[str]) -> None:
    listed = {tool.name for tool in (await ada.list_tools()).tools}
    assert {"create_thread", "post_message", "read_messages", "ack_read"} <= listed, listed

    thread = await tool(ada, "create_thread", title="Driven from Python", participants=[names[1]])
    thread_id = thread["thread_id"]

    # Ben waits before there is anything, and is woken by the post.
    waiting = asyncio.create_task(tool(ben, "wait_for_messages", thread_id=thread_id, timeout_ms=20_000))
    key = str(uuid.uuid4())
    post = {"thread_id": thread_id, "kind": "chat", "body": "Who reviews?", "idempotency_key": key}
    posted = await tool(ada, "post_message", **post)
    again = await tool(ada, "post_message", **post)
    assert again["message_id"] == posted["message_id"], "a retry must not post twice"
    waited = await waiting
    assert [m["body"] for m in waited["messages"]] == ["Who reviews?"], waited

    read = await tool(ben, "read_messages", thread_id=thread_id, since_seq=0)
    assert [m["seq"] for m in read["messages"]] == [1], read
    await tool(ben, "ack_read", thread_id=thread_id, last_read_seq=1)
    nothing = await tool(ben, "wait_for_messages", thread_id=thread_id, timeout_ms=0)
    assert nothing["messages"] == [] and nothing["timed_out"], nothing
    summary = await tool(ben, "summarize_thread", thread_id=thread_id)
    assert summary["through_seq"] == 1, summary

    resource = await ben.read_resource(f"threads://{thread_id}")
    assert "Who reviews?" in resource.contents[0].text
    assert resource.contents[1].mime_type == "application/json"

    refused = await ada.call_tool("post_message", {**post, "body": "something else"})
    assert refused.is_error
    assert refused.structured_content["error"]["code"] == "IDEMPOTENCY_CONFLICT", refused


async def subscribed(ada: Client, ben: Client, names: list[str]) -> None:
    """Only in the newer era; the older one's client has no handy way to wait for a notification."""
    thread = await tool(ada, "create_thread", title="Watched from Python", participants=[names[1]])
    uri = f"threads://{thread['thread_id']}"
    async with ben.listen(resource_subscriptions=[uri]) as events:
        post = {"thread_id": thread["thread_id"], "kind": "chat", "body": "Look."}
        await tool(ada, "post_message", **post, idempotency_key=str(uuid.uuid4()))
        event = await asyncio.wait_for(anext(aiter(events)), 20)
        assert event.uri == uri, event


async def main() -> None:
    args = arguments()
    names = args.agents.split(",")
    async with connected(args, 0) as ada, connected(args, 1) as ben:
        await story(ada, ben, names)
        modern = ada.protocol_version >= "2026-07-28"
        if modern:
            await subscribed(ada, ben, names)
        told = "told of changes, " if modern else ""
        print(f"python client: {ada.protocol_version}: created, posted, waited, read, acked, {told}summarised")


asyncio.run(main())
