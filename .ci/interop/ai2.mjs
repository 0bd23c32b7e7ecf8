// The AI SDK's client 2.x (`@ai-sdk/mcp`): both eras.

import { createMCPClient } from "ai-sdk-mcp-2";
import { StdioMCPTransport } from "ai-sdk-mcp-2/mcp-stdio";

import { run } from "./ai_sdk.mjs";

await run("ai2", createMCPClient, StdioMCPTransport);
