// The AI SDK's client 1.x (`@ai-sdk/mcp`): legacy era.

import { createMCPClient } from "ai-sdk-mcp-1";
import { Experimental_StdioMCPTransport as StdioMCPTransport } from "ai-sdk-mcp-1/mcp-stdio";

import { checkAudioBefore2, run } from "./ai_sdk.mjs";

await run("ai1", createMCPClient, StdioMCPTransport, { audio: checkAudioBefore2 });
