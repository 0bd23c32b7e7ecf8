// The example `code_search` as the TypeScript client 2.x sees it: tools, resources, completion and prompts, in both eras.
//
// The folder that it searches is made here. Over HTTP the server is started here too: the target is its executable both times.

import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";

import { FIRST_MODERN, main } from "./harness.mjs";

const TEMPLATE = "code://{+path}";
const LIB = "pub fn needle() {}\n";
const LOGO = Buffer.from("\x89PNG\r\n\x1a\n\0", "latin1");

const folder = mkdtempSync(join(tmpdir(), "code-search-"));
process.on("exit", () => rmSync(folder, { recursive: true }));
mkdirSync(join(folder, "src"));
writeFileSync(join(folder, ".gitignore"), "*.log\n");
writeFileSync(join(folder, "needle.log"), "needle\n");
writeFileSync(join(folder, "logo.png"), LOGO);
writeFileSync(join(folder, "src/lib.rs"), LIB);
writeFileSync(join(folder, "src/a b.rs"), "// needle 1\n// needle 2\n");

await main("code_search", connect, {
  "revision": checkRevision,
  "lists": checkLists,
  "search": checkSearch,
  "bad pattern": checkBadPattern,
  "read": checkRead,
  "not found": checkNotFound,
  "complete": checkComplete,
  "prompt": checkPrompt,
});

async function connect(kind, target, revision) {
  const modern = revision >= FIRST_MODERN;
  const client = new Client(
    { name: "trueform-ci", version: "1.0.0" },
    { supportedProtocolVersions: [revision], versionNegotiation: { mode: modern ? { pin: revision } : "legacy" } },
  );
  if (kind === "stdio") {
    await client.connect(new StdioClientTransport({ command: target, args: [folder], stderr: "ignore" }));
    return { client, revision, close: () => client.close() };
  }
  const server = spawn(target, [folder, "--http", "127.0.0.1:0"], { stdio: ["ignore", "ignore", "pipe"] });
  process.on("exit", () => server.kill("SIGKILL"));
  const transport = new StreamableHTTPClientTransport(new URL(await addressOf(server)));
  await client.connect(transport);
  const close = async () => {
    if (!modern) {
      await transport.terminateSession();
    }
    await client.close();
    const ended = new Promise((resolve) => server.once("exit", resolve));
    server.kill("SIGTERM");
    await ended;
  };
  return { client, revision, close };
}

// Where the server says that it listens. Its output is read on, so that it never waits for a reader.
function addressOf(server) {
  return new Promise((resolve, reject) => {
    let said = "";
    server.once("error", reject);
    server.once("exit", (code) => reject(new Error(`the server ended with ${code}: ${said}`)));
    server.stderr.setEncoding("utf8").on("data", (text) => {
      said += text;
      const found = /listening on (http:\S+)\n/.exec(said);
      if (found) {
        resolve(found[1]);
      }
    });
  });
}

async function checkRevision({ client, revision }) {
  assert.equal(client.getNegotiatedProtocolVersion(), revision);
  assert.equal(client.getServerVersion().name, "code-search");
}

async function checkLists({ client }) {
  const { tools } = await client.listTools();
  assert.deepEqual(tools.map((tool) => tool.name), ["search"]);
  const { resources } = await client.listResources();
  assert.deepEqual(resources, []);
  const { resourceTemplates } = await client.listResourceTemplates();
  assert.deepEqual(resourceTemplates.map((template) => template.uriTemplate), [TEMPLATE]);
  const { prompts } = await client.listPrompts();
  assert.deepEqual(prompts.map((prompt) => [prompt.name, prompt.arguments.map(({ name, required }) => [name, required])]), [
    ["review", [["path", true], ["focus", false]]],
  ]);
}

async function checkSearch({ client }) {
  const page = async (args) => (await client.callTool({ name: "search", arguments: { pattern: "needle", limit: 2, ...args } })).structuredContent;
  const first = await page({});
  assert.deepEqual(first.matches, [
    { path: "src/a b.rs", line: 1, text: "// needle 1" },
    { path: "src/a b.rs", line: 2, text: "// needle 2" },
  ]);
  const second = await page({ cursor: first.next_cursor });
  assert.deepEqual(second.matches, [{ path: "src/lib.rs", line: 1, text: "pub fn needle() {}" }]);
  assert.equal(second.next_cursor, undefined);
}

async function checkBadPattern({ client }) {
  const result = await client.callTool({ name: "search", arguments: { pattern: "needle(" } });
  assert.equal(result.isError, true);
  assert.match(result.content[0].text, /unclosed group/);
}

async function checkRead({ client }) {
  const read = async (uri) => (await client.readResource({ uri })).contents;
  assert.deepEqual(await read("code://src/lib.rs"), [{ uri: "code://src/lib.rs", mimeType: "text/x-rust", text: LIB }]);
  const [logo] = await read("code://logo.png");
  assert.equal(logo.mimeType, "image/png");
  assert.deepEqual(Buffer.from(logo.blob, "base64"), LOGO);
}

/// The client knows the code of either era by `data.uri`, and makes one error of them.
async function checkNotFound({ client }) {
  for (const uri of ["code://none.rs", "code://needle.log"]) {
    await assert.rejects(client.readResource({ uri }), (error) => {
      assert.deepEqual([error.code, error.data.uri], [-32602, uri]);
      return true;
    });
  }
}

async function checkComplete({ client }) {
  const refs = [{ type: "ref/resource", uri: TEMPLATE }, { type: "ref/prompt", name: "review" }];
  for (const ref of refs) {
    const { completion } = await client.complete({ ref, argument: { name: "path", value: "src/" } });
    assert.deepEqual(completion.values, ["src/a b.rs", "src/lib.rs"]);
    assert.equal(completion.hasMore, false);
  }
}

async function checkPrompt({ client }) {
  const { messages } = await client.getPrompt({ name: "review", arguments: { path: "src/a b.rs", focus: "speed" } });
  const [task, file] = messages.map((message) => message.content);
  assert.match(task.text, /^Review `src\/a b\.rs`\. Look at speed above all\./);
  assert.equal(file.type, "resource");
  const { contents } = await client.readResource({ uri: file.resource.uri });
  assert.deepEqual(contents, [file.resource]);
}
