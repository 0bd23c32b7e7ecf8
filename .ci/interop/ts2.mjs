// The TypeScript client 2.x (`@modelcontextprotocol/client`): both eras.

import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";

import { ASK_CHECKS, CAPABILITIES, User } from "./asks.mjs";
import { CHECKS, FIRST_MODERN, main } from "./harness.mjs";
import { OFFER_CHECKS } from "./offers.mjs";

await main("ts2", connect, { ...CHECKS, ...OFFER_CHECKS, ...ASK_CHECKS });

async function connect(kind, target, revision) {
  const modern = revision >= FIRST_MODERN;
  const transport =
    kind === "http" ? new StreamableHTTPClientTransport(new URL(target)) : new StdioClientTransport({ command: target, stderr: "ignore" });
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
  client.setRequestHandler("sampling/createMessage", () => user.say());
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
    close: async () => {
      if (kind === "http" && !modern) {
        await transport.terminateSession();
      }
      await client.close();
    },
  };
}
