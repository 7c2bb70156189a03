// Two agents work a thread through the official TypeScript client of MCP.
//
//   drive.mjs --agents ada,ben --url http://127.0.0.1:4880/mcp --tokens TOKEN_A,TOKEN_B
//   drive.mjs --agents ada,ben --stdio 'waystation --agent ada' --stdio 'waystation --agent ben'
//
// Both identities must belong to one workspace. Commands are split at spaces. Node finds the client
// beside this file or where NODE_PATH points. Ends with 0 when everything was as it should be.

import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { createRequire } from "node:module";
import path from "node:path";
import process from "node:process";
import { pathToFileURL } from "node:url";
import { parseArgs } from "node:util";

// Modules are not looked up in NODE_PATH, scripts are: so ask as a script would.
const require = createRequire(import.meta.url);
const find = (name) => import(pathToFileURL(require.resolve(name)));
const { Client, StreamableHTTPClientTransport } = await find("@modelcontextprotocol/client");
const { StdioClientTransport } = await find("@modelcontextprotocol/client/stdio");

const { values: args } = parseArgs({
    options: {
        agents: { type: "string" },
        url: { type: "string" },
        tokens: { type: "string" },
        stdio: { type: "string", multiple: true },
    },
});

async function connected(number) {
    const client = new Client({ name: `drive-${number}`, version: "1.0.0" });
    let transport;
    if (args.url) {
        const headers = { Authorization: `Bearer ${args.tokens.split(",")[number]}` };
        transport = new StreamableHTTPClientTransport(new URL(args.url), { requestInit: { headers } });
    } else {
        const [command, ...rest] = args.stdio[number].split(" ");
        transport = new StdioClientTransport({ command, args: rest, env: process.env });
    }
    await client.connect(transport);
    return client;
}

async function tool(client, name, fields) {
    const result = await client.callTool({ name, arguments: fields });
    assert.ok(!result.isError, `${name}: ${JSON.stringify(result.content)}`);
    assert.ok(result.content.length > 0, `${name} said nothing`);
    return result.structuredContent;
}

async function story(ada, ben, names) {
    const listed = (await ada.listTools()).tools.map((tool) => tool.name);
    for (const name of ["create_thread", "post_message", "read_messages", "ack_read"]) {
        assert.ok(listed.includes(name), `${name} is not among ${listed}`);
    }
    const { thread_id } = await tool(ada, "create_thread", {
        title: "Driven from TypeScript",
        participants: [names[1]],
    });
    const uri = `threads://${thread_id}`;

    // Ben listens and waits before there is anything, and is told by both.
    const told = new Promise((resolve) => {
        ben.setNotificationHandler("notifications/resources/updated", ({ params }) => resolve(params.uri));
    });
    await ben.subscribeResource({ uri });
    const waiting = tool(ben, "wait_for_messages", { thread_id, timeout_ms: 20_000 });
    const post = { thread_id, kind: "chat", body: "Who reviews?", idempotency_key: randomUUID() };
    const posted = await tool(ada, "post_message", post);
    const again = await tool(ada, "post_message", post);
    assert.equal(again.message_id, posted.message_id, "a retry must not post twice");
    const waited = await waiting;
    assert.deepEqual(waited.messages.map((message) => message.body), ["Who reviews?"]);
    assert.equal(await told, uri);

    const read = await tool(ben, "read_messages", { thread_id, since_seq: 0 });
    assert.deepEqual(read.messages.map((message) => message.seq), [1]);
    await tool(ben, "ack_read", { thread_id, last_read_seq: 1 });
    const nothing = await tool(ben, "wait_for_messages", { thread_id, timeout_ms: 0 });
    assert.deepEqual([nothing.messages, nothing.timed_out], [[], true]);
    const summary = await tool(ben, "summarize_thread", { thread_id });
    assert.equal(summary.through_seq, 1);

    const resource = await ben.readResource({ uri });
    assert.match(resource.contents[0].text, /Who reviews\?/);
    assert.equal(resource.contents[1].mimeType, "application/json");

    const refused = await ada.callTool({ name: "post_message", arguments: { ...post, body: "other" } });
    assert.equal(refused.isError, true);
    assert.equal(refused.structuredContent.error.code, "IDEMPOTENCY_CONFLICT");
}

const names = args.agents.split(",");
const [ada, ben] = [await connected(0), await connected(1)];
await story(ada, ben, names);
await ada.close();
await ben.close();
console.log("typescript client: created, posted, waited, told of changes, read, acked, summarised");
