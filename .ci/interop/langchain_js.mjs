// The LangChain adapter for JavaScript (`@langchain/mcp-adapters`), over the
// TypeScript SDK 1.x: legacy era. Its tools are called the way an agent calls
// them, with the message of a model.

import assert from "node:assert/strict";

import { MultiServerMCPClient } from "@langchain/mcp-adapters";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";

import { CHECKS, main, notOffered, TOOL_NAMES } from "./harness.mjs";
import { offering } from "./offering.mjs";

// The adapter builds its transports itself, so each is caught when it starts.
let wanted, negotiated;
for (const Transport of [StdioClientTransport, StreamableHTTPClientTransport]) {
  const start = Transport.prototype.start;
  Transport.prototype.start = function () {
    negotiated = offering(this, wanted);
    return start.call(this);
  };
}

await main("langchain_js", connect, {
  ...CHECKS,
  list: checkList,
  "wrong arguments": checkWrongArguments,
  "unknown tool": notOffered,
  "structured output": checkStructuredOutput,
  "content blocks": checkContentBlocks,
  audio: checkAudio,
});

async function connect(kind, target, revision) {
  wanted = revision;
  let onprogress, onlistchange;
  const client = new MultiServerMCPClient({
    mcpServers: {
      everything: kind === "http" ? { transport: "http", url: target } : { transport: "stdio", command: target, args: [], stderr: "ignore" },
    },
    onProgress: (event) => onprogress?.(event),
    onToolsListChanged: () => onlistchange?.(),
  });
  const tools = Object.fromEntries((await client.getTools()).map((tool) => [tool.name, tool]));
  return {
    revision,
    negotiated,
    tools,
    call: async (name, args, options = {}) => {
      onprogress = options.onprogress;
      try {
        const request = { type: "tool_call", id: "1", name, args };
        const { content, artifact } = await tools[name].invoke(request, { signal: options.signal });
        return { content: typeof content === "string" ? [textBlock(content)] : content, artifact };
      } catch (error) {
        // The adapter throws what the model should read.
        if (error.name !== "ToolException" || options.signal?.aborted) {
          throw error;
        }
        return { content: [{ type: "text", text: error.message }], isError: true };
      }
    },
    onToolsChanged: (heard) => void (onlistchange = heard),
    close: () => client.close(),
  };
}

/// A single text reaches the model as a string; together with structured
/// content, as the JSON of the block and it.
function textBlock(content) {
  const block = content.startsWith("{") ? JSON.parse(content) : {};
  return block.type === "text" ? block : { type: "text", text: content };
}

async function checkList(session) {
  assert.deepEqual(Object.keys(session.tools), TOOL_NAMES);
  assert.equal(session.tools.add.description, "Adds two numbers.");
  assert.deepEqual(Object.keys(session.tools.add.schema.properties), ["a", "b"]);
  assert.deepEqual(session.tools.test_simple_text.schema.properties, {});
}

/// The adapter judges the arguments itself, by the schema in the list.
async function checkWrongArguments(session) {
  await assert.rejects(session.call("add", { a: "two" }), /schema/i);
}

async function checkStructuredOutput(session) {
  const { content, artifact } = await session.call("add", { a: -7, b: 7 });
  const expected = session.revision < "2025-06-18" ? undefined : { sum: 0 };
  assert.deepEqual(content[0].structuredContent, expected);
  assert.deepEqual(artifact.find((part) => part.type === "mcp_structured_content")?.data, expected);
}

/// The adapter shows the model the image as a data URL, and keeps the resource
/// for the program.
async function checkContentBlocks(session) {
  const { content, artifact } = await session.call("test_multiple_content_types", {});
  const [text, image] = content;
  assert.deepEqual(text, { type: "text", text: "Multiple content types test:" });
  assert.equal(image.type, "image_url");
  assert.match(image.image_url.url, /^data:image\/png;base64,iVBORw0KGgo/);
  assert.equal(content.length, 2);
  assert.deepEqual(artifact.map((part) => part.resource), [
    { uri: "test://mixed-content-resource", mimeType: "application/json", text: '{"test":"data","value":123}' },
  ]);
}

async function checkAudio(session) {
  const { content, artifact } = await session.call("test_audio_content", {});
  // 2024-11-05 has no audio block: it travels there as an embedded blob.
  const [data, mimeType] =
    session.revision < "2025-03-26"
      ? [artifact[0].resource.blob, artifact[0].resource.mimeType]
      : [content[0].data, content[0].mime_type];
  assert.equal(mimeType, "audio/wav");
  assert.equal(Buffer.from(data, "base64").subarray(0, 4).toString(), "RIFF");
}
