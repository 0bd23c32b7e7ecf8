// A server of the TypeScript SDK 2.x: both eras. `ts2.mjs [--http PORT]`.

import { randomUUID } from "node:crypto";
import { createServer } from "node:http";

import { NodeStreamableHTTPServerTransport, toNodeHandler, toWebRequest } from "@modelcontextprotocol/node";
import {
  McpServer,
  ResourceTemplate,
  acceptedContent,
  completable,
  createMcpHandler,
  inputRequired,
  inputResponse,
  isLegacyRequest,
} from "@modelcontextprotocol/server";
import { serveStdio } from "@modelcontextprotocol/server/stdio";
import { z } from "zod";

import { QUESTION, SAMPLING, answered, offer, run, sampled } from "./offered.mjs";

function server() {
  // Without this the server declares no `listChanged`.
  const server = new McpServer({ name: "ts2", version: "1.0.0" }, { capabilities: { tools: { listChanged: true } } });
  offer(server, {
    completable,
    ResourceTemplate,
    shape: (fields) => z.object(fields),
    signal: (context) => context.mcpReq.signal,
    progress: async (context, params) => {
      const progressToken = context.mcpReq._meta?.progressToken;
      if (progressToken === undefined) return;
      await context.mcpReq.notify({ method: "notifications/progress", params: { ...params, progressToken } });
    },
    // The SDK sends what is returned as requests to clients of the legacy era.
    ask: (_, context) => {
      const content = acceptedContent(context.mcpReq.inputResponses, "name");
      if (content === undefined) {
        return inputRequired({ inputRequests: { name: inputRequired.elicit(QUESTION) } });
      }
      return answered({ action: "accept", content });
    },
    sample: (_, context) => {
      const view = inputResponse(context.mcpReq.inputResponses, "said");
      if (view.kind === "missing") {
        return inputRequired({ inputRequests: { said: inputRequired.createMessage(SAMPLING) } });
      }
      return sampled(view.result ?? context.mcpReq.inputResponses.said);
    },
    changed: (server) => (modern === undefined ? server.sendToolListChanged() : (modern.notify.toolsChanged(), server.sendToolListChanged())),
  });
  return server;
}

let modern;
const sessions = new Map();

async function legacy(request, response) {
  const id = request.headers["mcp-session-id"];
  let transport = sessions.get(id);
  if (id !== undefined && transport === undefined) {
    response.writeHead(404).end();
    return;
  }
  if (transport === undefined) {
    transport = new NodeStreamableHTTPServerTransport({
      sessionIdGenerator: randomUUID,
      onsessioninitialized: (id) => sessions.set(id, transport),
    });
    transport.onclose = () => sessions.delete(transport.sessionId);
    await server().connect(transport);
  }
  await transport.handleRequest(request, response, request.body);
}

async function body(request) {
  let text = "";
  for await (const chunk of request) text += chunk;
  return text === "" ? undefined : JSON.parse(text);
}

await run({
  stdio: () => serveStdio(server),
  http: (port) => {
    modern = createMcpHandler(server, { legacy: "reject" });
    const handle = toNodeHandler(modern);
    createServer(async (request, response) => {
      request.body = await body(request);
      if (await isLegacyRequest(await toWebRequest(request, request.body))) {
        await legacy(request, response);
      } else {
        await handle(request, response, request.body);
      }
    }).listen(port, "127.0.0.1");
  },
});
