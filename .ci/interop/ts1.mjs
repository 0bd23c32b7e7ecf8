// The TypeScript SDK 1.x (`@modelcontextprotocol/sdk`) as a client: legacy era.

import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import {
  CreateMessageRequestSchema,
  ElicitRequestSchema,
  ListRootsRequestSchema,
  ListToolsResultSchema,
  ResourceUpdatedNotificationSchema,
  ToolListChangedNotificationSchema,
} from "@modelcontextprotocol/sdk/types.js";

import { ASK_CHECKS, CAPABILITIES, User } from "./asks.mjs";
import { CHECKS, main } from "./harness.mjs";
import { MORE_CHECKS, PAGE_SIZE } from "./more.mjs";
import { offering } from "./offering.mjs";
import { OFFER_CHECKS } from "./offers.mjs";
import { TASK_CHECKS } from "./tasks.mjs";

await main("ts1", connect, { ...CHECKS, ...OFFER_CHECKS, ...ASK_CHECKS, ...MORE_CHECKS, ...TASK_CHECKS });

// With `paged` the server has pages of a few items.
async function connect(kind, target, revision, paged = false) {
  const transport =
    kind === "http"
      ? new StreamableHTTPClientTransport(new URL(paged ? process.env.PAGED_URL : target))
      : new StdioClientTransport({ command: target, args: paged ? ["--page-size", String(PAGE_SIZE)] : [], stderr: "ignore" });
  const negotiated = offering(transport, revision);
  const client = new Client({ name: "trueform-ci", version: "1.0.0" }, { capabilities: CAPABILITIES });
  const user = new User();
  client.setRequestHandler(ElicitRequestSchema, (request) => user.fillIn(request));
  client.setRequestHandler(CreateMessageRequestSchema, (request) => user.say(request));
  client.setRequestHandler(ListRootsRequestSchema, () => user.listRoots());
  await client.connect(transport);
  return {
    client,
    user,
    revision,
    negotiated,
    listTools: async () => (await client.listTools()).tools,
    call: (name, args, options) => client.callTool({ name, arguments: args }, undefined, options),
    errorCode: (error) => error.code,
    onToolsChanged: (heard) => client.setNotificationHandler(ToolListChangedNotificationSchema, heard),
    again: (paged) => connect(kind, target, revision, paged),
    listRequest: (method, cursor) => [{ method, params: { cursor } }, ListToolsResultSchema],
    onUpdated: async (uri, heard) => {
      client.setNotificationHandler(ResourceUpdatedNotificationSchema, ({ params }) => heard(params.uri));
      await client.subscribeResource({ uri });
      return () => client.unsubscribeResource({ uri });
    },
    close: async () => {
      if (kind === "http") {
        await transport.terminateSession();
      }
      await client.close();
    },
  };
}
