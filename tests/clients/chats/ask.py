"""An agent asks about chats through the official Python client of MCP: it lists, searches, reads a
resource, gets the prompt, and is told of a message as it is said.

    ask.py --stdio 'waystation mcp' --telegram http://127.0.0.1:8081
    ask.py --url http://127.0.0.1:7788/mcp --token TOKEN --telegram http://127.0.0.1:8081
"""

import argparse
import asyncio
import contextlib
import json
import os
import shlex
import urllib.request

import httpx2
from mcp import Client, StdioServerParameters
from mcp.client.streamable_http import streamable_http_client


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--url")
    parser.add_argument("--token")
    parser.add_argument("--stdio")
    parser.add_argument("--telegram", required=True, help="the service at which something is said")
    parser.add_argument("--mode", default="auto", choices=["auto", "legacy"])
    return parser.parse_args()


@contextlib.asynccontextmanager
async def connected(args: argparse.Namespace):
    async with contextlib.AsyncExitStack() as stack:
        if args.url:
            headers = {"Authorization": f"Bearer {args.token}"}
            http = await stack.enter_async_context(httpx2.AsyncClient(headers=headers, timeout=90))
            server = streamable_http_client(args.url, http_client=http)
        else:
            command, *rest = shlex.split(args.stdio)
            server = StdioServerParameters(command=command, args=rest, env=dict(os.environ))
        yield await stack.enter_async_context(Client(server, mode=args.mode))


async def tool(client: Client, name: str, **fields):
    result = await client.call_tool(name, fields)
    assert not result.is_error, f"{name}: {result.content}"
    return result.structured_content


def say(telegram: str, text: str) -> None:
    body = {"chat": {"id": 99, "type": "private", "first_name": "Mother"},
            "from": {"id": 99, "is_bot": False, "first_name": "Mother"}, "text": text}
    request = urllib.request.Request(f"{telegram}/say", json.dumps(body).encode(), method="POST")
    urllib.request.urlopen(request).read()


async def archive(client: Client) -> None:
    sources = await tool(client, "list_sources")
    assert {s["id"] for s in sources["sources"]} == {"telegram", "bot"}, sources
    chats = await tool(client, "list_chats", source="telegram", filter={"name_pattern": "ant"})
    assert [c["name"] for c in chats["chats"]] == ["Antti"], chats
    found = await tool(client, "get_messages", source="telegram", search="EETIN")
    assert [m["sender"] for m in found["messages"]] == ["Alice"], found
    found = await tool(client, "get_messages", search="会議")
    assert found["messages"][0]["trust"] == "external", found

    templates = (await client.list_resource_templates()).resource_templates
    assert any(t.uri_template.startswith("messages://{source}/{chat}") for t in templates), templates
    text = (await client.read_resource("messages://telegram/Antti?limit=3")).contents[0].text
    heads = [line for line in text.splitlines() if line.startswith("[")]
    assert len(heads) == 3, text
    assert heads[0].startswith("[2025-01-13T10:01:00Z] Alice: Are you coming"), text
    assert not any("] Antti: I resign" in head and "Alice" not in head for head in heads), text

    prompts = [prompt.name for prompt in (await client.list_prompts()).prompts]
    assert "analyze_conversation" in prompts, prompts
    prompt = await client.get_prompt("analyze_conversation", {"source": "telegram", "chat": "Antti"})
    assert "Are you coming to the meeting?" in prompt.model_dump_json(), prompt

    refused = await client.call_tool("get_messages", {"source": "telegram", "chat": "Invalid"})
    error = refused.structured_content["error"]
    assert error["message"] == "Chat 'Invalid' not found in source 'telegram'", error


async def live(client: Client, telegram: str, is_modern: bool) -> None:
    start = await tool(client, "wait_for_messages", source="bot", timeout_ms=0)
    waiting = asyncio.create_task(
        tool(client, "wait_for_messages", source="bot", after=start["cursor"], timeout_ms=20_000)
    )
    async with contextlib.AsyncExitStack() as stack:
        if is_modern:
            listening = client.listen(resource_subscriptions=["messages://bot/*"])
            events = await stack.enter_async_context(listening)
        say(telegram, "Dinner at seven")
        waited = await waiting
        assert [m["content"] for m in waited["chat_messages"]] == ["Dinner at seven"], waited
        if is_modern:
            # A subscription begins with one notice that says: look. The concrete chat follows.
            async with asyncio.timeout(20):
                async for event in events:
                    if event.uri == "messages://bot/99":
                        break


async def main() -> None:
    args = arguments()
    async with connected(args) as client:
        await archive(client)
        is_modern = client.protocol_version >= "2026-07-28"
        await live(client, args.telegram, is_modern)
        told = "subscribed, " if is_modern else ""
        print(f"python client: {client.protocol_version}: listed, searched, read, prompted, {told}waited")


asyncio.run(main())
