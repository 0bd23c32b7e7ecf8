// What every JavaScript client must see of the `everything` example, whatever
// library, transport and revision carries it.
//
// Knows only the small `Session` that each client's module builds over its
// library: `revision`, `negotiated()`, `listTools()`, `call(name, args, options)`,
// `errorCode(error)`, `onToolsChanged(callback)`, `close()`.
//
// `CHECKS` are the checks by name. A client replaces those whose outcome its
// library renders in another way, by `notOffered` if it lacks such a thing.
// Each of the latter is printed too.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";

export const TOOL_NAMES = JSON.parse(readFileSync(new URL("tools.json", import.meta.url)));

export const FIRST_MODERN = "2026-07-28";
const CHECK_MS = 15_000;

/// Parses `stdio|http TARGET REVISION...` and runs every check at every
/// revision. Exits 1 when a check failed or none ran.
export async function main(client, connect, checks = CHECKS) {
  const [transport, target, ...revisions] = process.argv.slice(2);
  if (!["stdio", "http"].includes(transport) || revisions.length === 0) {
    console.error(`usage: ${client}.mjs stdio|http COMMAND|URL REVISION...`);
    process.exit(2);
  }
  const tally = { passed: 0, failed: 0 };
  for (const revision of revisions) {
    await runRevision(`${client} ${transport} ${revision}`, tally, checks, () => connect(transport, target, revision));
  }
  console.log(`${client}-${transport}: ${tally.passed} passed, ${tally.failed} failed`);
  process.exit(tally.failed === 0 && tally.passed > 0 ? 0 : 1);
}

async function runRevision(label, tally, checks, connect) {
  let session;
  const check = async (name, body) => {
    try {
      await withDeadline(body());
      tally.passed += 1;
      console.log(`ok    ${label} ${name}`);
      return true;
    } catch (error) {
      if (error instanceof NotOffered) {
        console.log(`-     ${label} ${name}: this client does not offer it`);
        return true;
      }
      tally.failed += 1;
      console.log(`FAIL  ${label} ${name}: ${String(error?.stack ?? error).split("\n").slice(0, 6).join("\n        ")}`);
      return false;
    }
  };
  const connected = await check("connect", async () => {
    session = await connect();
  });
  if (!connected) {
    return;
  }
  for (const [name, body] of Object.entries(checks)) {
    await check(name, async () => body(session));
  }
  await check("close", () => session.close());
}

class NotOffered extends Error {}

/// The check of what a client's library lacks.
export function notOffered() {
  throw new NotOffered();
}

export const CHECKS = {
  "revision": checkRevision,
  "list": checkList,
  "good call": checkGoodCall,
  "no parameters": checkNoParameters,
  "wrong arguments": checkWrongArguments,
  "unknown tool": checkUnknownTool,
  "structured output": checkStructuredOutput,
  "content blocks": checkContentBlocks,
  "audio": checkAudio,
  "progress": checkProgress,
  "streamed answer": checkStreamedAnswer,
  "cancellation": checkCancellation,
  "server error": checkServerError,
  "list changed": checkListChanged,
  "concurrent calls": checkConcurrentCalls,
};

async function checkRevision(session) {
  assert.equal(session.negotiated(), session.revision);
}

async function checkList(session) {
  const tools = await session.listTools();
  assert.deepEqual(tools.map((tool) => tool.name), TOOL_NAMES);
  const add = tools.find((tool) => tool.name === "add");
  assert.equal(add.description, "Adds two numbers.");
  assert.deepEqual(Object.keys(add.inputSchema.properties), ["a", "b"]);
  assert.deepEqual([...add.inputSchema.required].sort(), ["a", "b"]);
}

async function checkGoodCall(session) {
  const result = await session.call("add", { a: 2, b: 3 });
  assert.ok(!result.isError);
  assert.deepEqual(JSON.parse(onlyText(result)), { sum: 5 });
}

async function checkNoParameters(session) {
  assert.equal(onlyText(await session.call("test_simple_text", {})), "This is a simple text response for testing.");
}

async function checkWrongArguments(session) {
  const result = await session.call("add", { a: "two" });
  assert.equal(result.isError, true);
  assert.equal(result.structuredContent, undefined);
  namesBothArguments(onlyText(result));
}

export function namesBothArguments(text) {
  assert.match(text, /\ba\b/, `the text does not name \`a\`: ${text}`);
  assert.match(text, /\bb\b/, `the text does not name \`b\`: ${text}`);
}

async function checkUnknownTool(session) {
  await assert.rejects(session.call("no_such_tool", {}), (error) => {
    assert.equal(session.errorCode(error), -32602);
    return true;
  });
}

async function checkStructuredOutput(session) {
  const add = (await session.listTools()).find((tool) => tool.name === "add");
  const result = await session.call("add", { a: -7, b: 7 });
  if (session.revision < "2025-06-18") {
    assert.equal(add.outputSchema, undefined, "`outputSchema` is younger than this revision");
    assert.equal(result.structuredContent, undefined, "`structuredContent` is younger than this revision");
    return;
  }
  assert.equal(add.outputSchema.type, "object");
  assert.ok(add.outputSchema.properties.sum);
  assert.deepEqual(result.structuredContent, { sum: 0 });
}

async function checkContentBlocks(session) {
  const { content } = await session.call("test_multiple_content_types", {});
  assert.deepEqual(content.map((block) => block.type), ["text", "image", "resource"]);
  assert.equal(content[0].text, "Multiple content types test:");
  assert.equal(content[1].mimeType, "image/png");
  assert.deepEqual([...Buffer.from(content[1].data, "base64").subarray(1, 4)], [...Buffer.from("PNG")]);
  assert.equal(content[2].resource.uri, "test://mixed-content-resource");
  assert.deepEqual(JSON.parse(content[2].resource.text), { test: "data", value: 123 });
}

async function checkAudio(session) {
  const { content } = await session.call("test_audio_content", {});
  assert.equal(content.length, 1);
  // 2024-11-05 has no audio block: it travels there as an embedded blob.
  const [data, mimeType] =
    session.revision < "2025-03-26"
      ? [content[0].resource.blob, content[0].resource.mimeType]
      : [content[0].data, content[0].mimeType];
  assert.equal(mimeType, "audio/wav");
  assert.equal(Buffer.from(data, "base64").subarray(0, 4).toString(), "RIFF");
}

async function checkProgress(session) {
  const seen = [];
  const result = await session.call("test_tool_with_progress", {}, { onprogress: (event) => seen.push(event) });
  assert.ok(!result.isError);
  assert.deepEqual(seen.map((event) => [event.progress, event.total]), [[0, 100], [50, 100], [100, 100]]);
}

/// Over HTTP this answer comes on an event stream, after the log messages that
/// the revision lets the tool send.
async function checkStreamedAnswer(session) {
  assert.equal(onlyText(await session.call("test_tool_with_logging", {})), "Logged three messages.");
}

async function checkCancellation(session) {
  const before = await cancelledCalls(session);
  const abort = new AbortController();
  // The tool reports once that it runs; only then is there something to cancel.
  const call = session.call("wait_for_cancel", {}, { signal: abort.signal, onprogress: () => abort.abort("enough") });
  await assert.rejects(call);
  await eventually(async () => (await cancelledCalls(session)) === before + 1);
  assert.deepEqual(JSON.parse(onlyText(await session.call("add", { a: 1, b: 1 }))), { sum: 2 });
}

async function checkServerError(session) {
  const result = await session.call("test_error_handling", {});
  assert.equal(result.isError, true);
  assert.match(onlyText(result), /This tool intentionally returns an error for testing/);
}

async function checkListChanged(session) {
  let changed = false;
  const stop = await session.onToolsChanged(() => (changed = true));
  // A legacy client opens its stream on its own time, so trigger until it is heard.
  await eventually(async () => {
    await session.call("test_trigger_tool_change", {});
    return changed;
  });
  await stop?.();
}

async function checkConcurrentCalls(session) {
  const sums = await Promise.all(
    Array.from({ length: 50 }, async (_, n) => JSON.parse(onlyText(await session.call("add", { a: n, b: n }))).sum),
  );
  assert.deepEqual(sums, Array.from({ length: 50 }, (_, n) => 2 * n));
}

export async function cancelledCalls(session) {
  return JSON.parse(onlyText(await session.call("cancelled_calls", {}))).count;
}

/// Asks again every 20 ms until the answer is yes, as long as a check may take.
export async function eventually(holds) {
  const end = Date.now() + CHECK_MS;
  while (!(await holds())) {
    assert.ok(Date.now() < end, "what was waited for did not happen");
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

export function onlyText(result) {
  assert.equal(result.content.length, 1);
  assert.equal(result.content[0].type, "text");
  return result.content[0].text;
}

function withDeadline(promise) {
  let timer;
  const late = new Promise((_, reject) => {
    timer = setTimeout(() => reject(new Error(`no answer within ${CHECK_MS} ms`)), CHECK_MS);
  });
  return Promise.race([promise, late]).finally(() => clearTimeout(timer));
}
