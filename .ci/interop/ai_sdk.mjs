// What both generations of the client of the AI SDK (`@ai-sdk/mcp`) have in
// common. Its tools are called the way the SDK calls them for a model.

import assert from "node:assert/strict";

import { cancelledCalls, CHECKS, eventually, FIRST_MODERN, main, notOffered, onlyText } from "./harness.mjs";
import { offering, offeringFetch } from "./offering.mjs";

export async function run(name, createMCPClient, StdioTransport, ownChecks) {
  const connect = async (kind, target, revision) => {
    const modern = revision >= FIRST_MODERN;
    let transport, negotiated;
    if (kind === "http") {
      const [rewriting, named] = offeringFetch(revision);
      transport = { type: "http", url: target, fetch: rewriting };
      negotiated = named;
    } else {
      transport = new StdioTransport({ command: target, stderr: "ignore" });
      negotiated = offering(transport, revision);
    }
    const client = await createMCPClient({ transport, protocolVersionDiscovery: modern });
    const tools = await client.tools();
    return {
      kind,
      revision,
      negotiated,
      listTools: async () => (await client.listTools()).tools,
      call: (tool, args, options = {}) =>
        tools[tool].execute(args, { toolCallId: "1", messages: [], abortSignal: options.signal }),
      callUnlisted: client.callTool && ((tool) => client.callTool({ name: tool, arguments: {}, args: {} })),
      errorCode: (error) => error.code,
      close: () => client.close(),
    };
  };
  await main(name, connect, {
    ...CHECKS,
    "unknown tool": checkUnknownTool,
    progress: notOffered,
    cancellation: checkCancellation,
    "list changed": notOffered,
    ...ownChecks,
  });
}

async function checkUnknownTool(session) {
  if (!session.callUnlisted) {
    notOffered();
  }
  await assert.rejects(session.callUnlisted("no_such_tool"), (error) => {
    assert.equal(session.errorCode(error), -32602);
    return true;
  });
}

/// This client does not hear that a tool runs, and aborts without a
/// notification: only the closed response of a modern request tells the server.
async function checkCancellation(session) {
  const heard = session.kind === "http" && session.revision >= FIRST_MODERN;
  const before = await cancelledCalls(session);
  await eventually(async () => {
    const abort = new AbortController();
    const call = session.call("wait_for_cancel", {}, { signal: abort.signal });
    const rejected = assert.rejects(call, /abort/i);
    assert.deepEqual(JSON.parse(onlyText(await session.call("add", { a: 1, b: 1 }))), { sum: 2 });
    abort.abort("enough");
    await rejected;
    return !heard || (await cancelledCalls(session)) > before;
  });
}

/// The generation 1.x knows no audio and refuses the whole result. As the blob of
/// 2024-11-05 it comes through.
export async function checkAudioBefore2(session) {
  if (session.revision < "2025-03-26") {
    await CHECKS.audio(session);
  } else {
    await assert.rejects(session.call("test_audio_content", {}), /Failed to parse server response/);
  }
}
