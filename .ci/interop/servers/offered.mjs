// What the servers written with the TypeScript SDKs offer. `offered.py` has the same for Python; `examples/interop_client` asks for it.

import { once } from "node:events";
import { z } from "zod";

const NAMES = ["Ada", "Alan", "Grace"];
const TEXT = (text) => ({ content: [{ type: "text", text }] });

// Of the whole process, because an HTTP server of the modern era is made anew for each request.
let cancelled = 0;

// `sdk` has what differs between the major versions:
// `shape(fields)`, `completable`, `ResourceTemplate`, `ask(server, context)` and `sample(server, context)` (the result of the tool),
// `progress(context, params)`, `signal(context)` and `changed(server)`.
export function offer(server, sdk) {
  const { completable, ResourceTemplate } = sdk;
  const tool = (name, description, input, run, more = {}) =>
    server.registerTool(name, { description, inputSchema: z.object(input), ...more }, run);

  tool("add", "Add two numbers.", { a: z.number().int(), b: z.number().int() }, ({ a, b }) => ({
    ...TEXT(JSON.stringify({ sum: a + b })),
    structuredContent: { sum: a + b },
  }), { outputSchema: z.object({ sum: z.number().int() }) });
  tool("fail", "Fail.", {}, () => ({ ...TEXT("failed on purpose"), isError: true }));
  tool("count", "Count, and say how far it is.", { to: z.number().int() }, async ({ to }, context) => {
    for (let number = 1; number <= to; number++) {
      await sdk.progress(context, { progress: number, total: to });
    }
    return TEXT("counted");
  });
  tool("wait", "Wait until the call is cancelled.", {}, async (_, context) => {
    const signal = sdk.signal(context);
    await sdk.progress(context, { progress: 1 });
    if (!signal.aborted) await once(signal, "abort");
    cancelled += 1;
    return TEXT("cancelled");
  });
  tool("cancelled", "How many calls of `wait` were cancelled.", {}, () => TEXT(String(cancelled)));
  tool("ask", "Ask the user for a name.", {}, (_, context) => sdk.ask(server, context));
  tool("sample", "Have the model say something.", {}, (_, context) => sdk.sample(server, context));
  tool("change", "Say that the tools have changed.", {}, async () => {
    await sdk.changed(server);
    return TEXT("changed");
  });

  const content = (uri, text) => ({ contents: [{ uri: uri.href, mimeType: "text/plain", text }] });
  server.registerResource("note", "note://one", { mimeType: "text/plain" }, (uri) => content(uri, "The note."));
  server.registerResource(
    "notes",
    new ResourceTemplate("notes://{name}", {
      list: undefined,
      complete: { name: (typed) => NAMES.filter((name) => name.startsWith(typed)) },
    }),
    { mimeType: "text/plain" },
    (uri, { name }) => content(uri, `The note of ${name}.`),
  );
  const complete = (typed) => NAMES.filter((name) => name.startsWith(typed ?? ""));
  server.registerPrompt(
    "greet",
    { description: "Greet somebody.", argsSchema: sdk.shape({ name: completable(z.string(), complete) }) },
    ({ name }) => ({ messages: [{ role: "user", content: { type: "text", text: `Greet ${name}.` } }] }),
  );
}

export const QUESTION = {
  message: "Who are you?",
  requestedSchema: { type: "object", properties: { name: { type: "string" } }, required: ["name"] },
};
export const SAMPLING = {
  messages: [{ role: "user", content: { type: "text", text: "Say something." } }],
  maxTokens: 10,
};

export const answered = ({ action, content }) => TEXT(action === "accept" ? `You are ${content.name}.` : action);
export const sampled = ({ model, content }) => TEXT(`${model} says: ${content.text}`);

// Runs `stdio` without arguments, and `http(port)` with `--http PORT`.
export async function run({ stdio, http }) {
  const [flag, port] = process.argv.slice(2);
  if (flag === undefined) return stdio();
  if (flag !== "--http" || !Number(port)) throw new Error(`usage: ${process.argv[1]} [--http PORT]`);
  await http(Number(port));
}
