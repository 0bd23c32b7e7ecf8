// The AI SDK's client 1.0.50 (`@ai-sdk/mcp`): legacy era. The last that drops
// events without `event: message`.

import { createMCPClient } from "ai-sdk-mcp-1-old";
import { Experimental_StdioMCPTransport as StdioMCPTransport } from "ai-sdk-mcp-1-old/mcp-stdio";

import { checkAudioBefore2, run } from "./ai_sdk.mjs";
import { notOffered } from "./harness.mjs";

await run("ai1_old", createMCPClient, StdioMCPTransport, {
  audio: checkAudioBefore2,
  // It looks at the abort signal only when the answer arrives.
  cancellation: notOffered,
});
