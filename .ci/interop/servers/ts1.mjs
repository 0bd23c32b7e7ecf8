// A server of the TypeScript SDK 1.x: the legacy era. `ts1.mjs [--http PORT]`.

import { randomUUID } from "node:crypto";
import { createServer } from "node:http";

import { completable } from "@modelcontextprotocol/sdk/server/completable.js";
import { McpServer, ResourceTemplate } from "@modelcontextprotocol/sdk/server/mcp.js";
import { StdioServerTransport } from "@modelcontextprotocol/sdk/server/stdio.js";
import { StreamableHTTPServerTransport } from "@modelcontextprotocol/sdk/server/streamableHttp.js";
import { CreateMessageResultSchema, ElicitResultSchema } from "@modelcontextprotocol/sdk/types.js";

import { QUESTION, SAMPLING, answered, offer, run, sampled } from "./offered.mjs";

function server() {
  const server = new McpServer({ name: "ts1", version: "1.0.0" });
  offer(server, {
    completable,
    ResourceTemplate,
    shape: (fields) => fields,
    signal: (context) => context.signal,
    progress: async (context, params) => {
      const progressToken = context._meta?.progressToken;
      if (progressToken === undefined) return;
      await context.sendNotification({ method: "notifications/progress", params: { ...params, progressToken } });
    },
    // As part of the call, so that over HTTP it goes to the call's own stream.
    ask: async (_, context) =>
      answered(await context.sendRequest({ method: "elicitation/create", params: QUESTION }, ElicitResultSchema)),
    sample: async (_, context) =>
      sampled(await context.sendRequest({ method: "sampling/createMessage", params: SAMPLING }, CreateMessageResultSchema)),
    changed: (server) => server.server.sendToolListChanged(),
  });
  return server;
}

const sessions = new Map();

async function handle(request, response) {
  const id = request.headers["mcp-session-id"];
  let transport = sessions.get(id);
  if (id !== undefined && transport === undefined) {
    response.writeHead(404).end();
    return;
  }
  if (transport === undefined) {
    transport = new StreamableHTTPServerTransport({
      sessionIdGenerator: randomUUID,
      onsessioninitialized: (id) => sessions.set(id, transport),
    });
    transport.onclose = () => sessions.delete(transport.sessionId);
    await server().connect(transport);
  }
  await transport.handleRequest(request, response);
}

await run({
  stdio: () => server().connect(new StdioServerTransport()),
  http: (port) => createServer(handle).listen(port, "127.0.0.1"),
});
