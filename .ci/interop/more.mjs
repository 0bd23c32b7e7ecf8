// What the official TypeScript SDKs must see of the fixtures of `everything` that the official suite has no use for: pages, many
// completions, updates of one resource, pages to visit, a model with tools. A session has `again(paged)` besides, which connects
// once more, and `onUpdated(uri, callback)`, which subscribes and returns how that ends.

import assert from "node:assert/strict";

import { eventually, onlyText, TOOL_NAMES } from "./harness.mjs";

export const PAGE_SIZE = 7;
const FIRST_PAGES_TO_VISIT = "2025-11-25";
const ONE = "test://static-text";
const OTHER = "test://watched-resource";

export const MORE_CHECKS = {
  "pages": checkPages,
  "more completions than fit": checkManyCompletions,
  "updates of one resource": checkUpdates,
  "page to visit": checkVisit,
  "model with tools": checkModelWithTools,
};

async function checkPages(session) {
  const paged = await session.again(true);
  try {
    const names = [];
    let cursor;
    let pages = 0;
    do {
      const page = await paged.client.request(...paged.listRequest("tools/list", cursor));
      assert.ok(page.tools.length <= PAGE_SIZE, `${page.tools.length} tools on a page`);
      names.push(...page.tools.map((tool) => tool.name));
      cursor = page.nextCursor;
      pages += 1;
    } while (cursor !== undefined);
    assert.deepEqual(names, TOOL_NAMES);
    assert.equal(pages, Math.ceil(TOOL_NAMES.length / PAGE_SIZE));
  } finally {
    await paged.close();
  }
}

async function checkManyCompletions({ client }) {
  const complete = async (value) => {
    const ref = { type: "ref/prompt", name: "pick_number" };
    return (await client.complete({ ref, argument: { name: "number", value } })).completion;
  };
  const all = await complete("");
  assert.deepEqual(all.values, Array.from({ length: 100 }, (_, n) => String(n + 1)));
  assert.deepEqual([all.total, all.hasMore], [150, true]);
  const some = await complete("14");
  assert.deepEqual(some.values, ["14", ...Array.from({ length: 10 }, (_, n) => String(140 + n))]);
  assert.ok(!some.hasMore);
}

// Two clients, each with a resource of its own, hear of that one only. Over HTTP they are clients of one server.
async function checkUpdates(session) {
  const second = await session.again();
  const heard = { one: [], other: [] };
  const stops = [
    await session.onUpdated(ONE, (uri) => heard.one.push(uri)),
    await second.onUpdated(OTHER, (uri) => heard.other.push(uri)),
  ];
  // A legacy client opens its stream on its own time. What is wrong would be heard before what is waited for.
  const touched = async (toucher, uris, by) => {
    const before = heard[by].length;
    await eventually(async () => {
      for (const uri of uris) {
        await toucher.call("touch_resource", { uri });
      }
      return heard[by].length > before;
    });
  };
  await touched(session, [OTHER, ONE], "one");
  await touched(second, [ONE, OTHER], "other");
  await touched(session, [OTHER, ONE], "one");
  assert.deepEqual([[...new Set(heard.one)], [...new Set(heard.other)]], [[ONE], [OTHER]]);
  for (const stop of stops) {
    await stop();
  }
  await second.close();
}

async function checkVisit(session) {
  const { user, call, revision } = session;
  if (revision < FIRST_PAGES_TO_VISIT) {
    await refused(call("ask_url", {}), "elicitation");
    return;
  }
  for (const [action, says] of [
    ["accept", "You agreed to visit the page."],
    ["decline", "You declined."],
    ["cancel", "You cancelled."],
  ]) {
    user.will({ action });
    assert.equal(onlyText(await call("ask_url", {})), says);
    assert.deepEqual(user.pages, ["https://example.com/sign-in"]);
  }
}

async function checkModelWithTools({ user, call, revision }) {
  if (revision < FIRST_PAGES_TO_VISIT) {
    await refused(call("sample_with_tools", { question: "What is 2 + 3?" }), "sampling");
    return;
  }
  user.will();
  const result = await call("sample_with_tools", { question: "What is 2 + 3?" });
  assert.equal(onlyText(result), "After 2 rounds: it is 5");
}

// A tool that the client cannot serve fails, as a result or an error.
async function refused(calling, part) {
  const text = await calling.then(
    (result) => (result.isError ? onlyText(result) : `succeeded: ${JSON.stringify(result)}`),
    (error) => error.message,
  );
  assert.match(text, new RegExp(part));
  assert.doesNotMatch(text, /^succeeded/);
}
