// The TypeScript client 2.x (`@modelcontextprotocol/client`): both eras.

import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";

import { ASK_CHECKS, CAPABILITIES, User } from "./asks.mjs";
import { CHECKS, FIRST_MODERN, main, notOffered } from "./harness.mjs";
import { MORE_CHECKS, PAGE_SIZE } from "./more.mjs";
import { OFFER_CHECKS } from "./offers.mjs";

await main("ts2", connect, {
  ...CHECKS,
  ...OFFER_CHECKS,
  ...ASK_CHECKS,
  ...MORE_CHECKS,
  // Its client has neither the methods of the core tasks nor the extension.
  "task": notOffered,
});

// With `paged` the server has pages of a few items.
async function connect(kind, target, revision, paged = false) {
  const modern = revision >= FIRST_MODERN;
  const transport =
    kind === "http"
      ? new StreamableHTTPClientTransport(new URL(paged ? process.env.PAGED_URL : target))
      : new StdioClientTransport({ command: target, args: paged ? ["--page-size", String(PAGE_SIZE)] : [], stderr: "ignore" });
  const client = new Client(
    { name: "trueform-ci", version: "1.0.0" },
    {
      capabilities: CAPABILITIES,
      supportedProtocolVersions: [revision],
      versionNegotiation: { mode: modern ? { pin: revision } : "legacy" },
    },
  );
  const user = new User();
  client.setRequestHandler("elicitation/create", (request) => user.fillIn(request));
  client.setRequestHandler("sampling/createMessage", (request) => user.say(request));
  client.setRequestHandler("roots/list", () => user.listRoots());
  await client.connect(transport);
  return {
    client,
    user,
    revision,
    negotiated: () => client.getNegotiatedProtocolVersion(),
    listTools: async () => (await client.listTools()).tools,
    call: (name, args, options) => client.callTool({ name, arguments: args }, options),
    errorCode: (error) => error.code,
    onToolsChanged: async (heard) => {
      client.setNotificationHandler("notifications/tools/list_changed", heard);
      if (!modern) {
        return undefined;
      }
      const subscription = await client.listen({ toolsListChanged: true });
      return () => subscription.close();
    },
    again: (paged) => connect(kind, target, revision, paged),
    listRequest: (method, cursor) => [{ method, params: { cursor } }],
    onUpdated: async (uri, heard) => {
      client.setNotificationHandler("notifications/resources/updated", ({ params }) => heard(params.uri));
      if (modern) {
        const subscription = await client.listen({ resourceSubscriptions: [uri] });
        return () => subscription.close();
      }
      await client.subscribeResource({ uri });
      return () => client.unsubscribeResource({ uri });
    },
    close: async () => {
      if (kind === "http" && !modern) {
        await transport.terminateSession();
      }
      await client.close();
    },
  };
}
