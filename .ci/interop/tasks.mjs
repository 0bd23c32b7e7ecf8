// What a TypeScript SDK with the core tasks of 2025-11-25 must see of the tools of `everything` that run as tasks. A session has
// `client`, whose `experimental.tasks` is under test.

import assert from "node:assert/strict";

import { CallToolResultSchema, CreateTaskResultSchema } from "@modelcontextprotocol/sdk/types.js";

import { onlyText } from "./harness.mjs";

const FIRST_TASKS = "2025-11-25";

export const TASK_CHECKS = {
  "task": checkTask,
  "task that fails": checkFailure,
  "task that ends in an error": checkProtocolError,
  "never a task": checkNeverATask,
  "only as a task": checkRequired,
  "task that asks": checkAsks,
  "task that is cancelled": checkCancelled,
};

// The messages of a call by their types, and the last one.
async function run({ client }, name, args, seen = () => {}) {
  const types = [];
  let last;
  const options = { task: { ttl: 60_000 } };
  for await (const message of client.experimental.tasks.callToolStream({ name, arguments: args }, undefined, options)) {
    types.push(message.type);
    await seen(message);
    last = message;
  }
  return { types, last };
}

async function checkTask(session) {
  const args = { seconds: 0.2, label: "it" };
  if (session.revision < FIRST_TASKS) {
    // Answered in place.
    assert.equal(onlyText(await session.call("slow_compute", args)), "it: computed for 0.2 s");
    return;
  }
  const ids = [];
  const { types, last } = await run(session, "slow_compute", args, ({ type, task }) => type === "taskCreated" && ids.push(task.taskId));
  assert.equal(types[0], "taskCreated");
  assert.equal(last.type, "result", JSON.stringify(last));
  assert.equal(onlyText(last.result), "it: computed for 0.2 s");
  const { tasks } = session.client.experimental;
  assert.equal((await tasks.getTask(ids[0])).status, "completed");
  assert.ok((await tasks.listTasks()).tasks.some((task) => task.taskId === ids[0]));
}

async function checkFailure(session) {
  if (session.revision >= FIRST_TASKS) {
    let id;
    const { last } = await run(session, "failing_job", {}, ({ type, task }) => (id = type === "taskCreated" ? task.taskId : id));
    // This SDK makes an error of the status, and leaves the result where it is.
    assert.equal(last.type, "error", JSON.stringify(last));
    assert.match(last.error.message, /failed/);
    const result = await session.client.experimental.tasks.getTaskResult(id, CallToolResultSchema);
    assert.ok(result.isError);
    assert.equal(onlyText(result), "this job always fails");
  }
}

async function checkProtocolError(session) {
  if (session.revision >= FIRST_TASKS) {
    let id;
    const { last } = await run(session, "protocol_error_job", {}, ({ type, task }) => (id = type === "taskCreated" ? task.taskId : id));
    assert.equal(last.type, "error", JSON.stringify(last));
    const { tasks } = session.client.experimental;
    assert.equal((await tasks.getTask(id)).status, "failed");
    await assert.rejects(tasks.getTaskResult(id, CallToolResultSchema), (error) => {
      assert.equal(error.code, -32603, error.message);
      assert.match(error.message, /this job always ends in a protocol error/);
      return true;
    });
  }
}

// This SDK holds what it sends to what the list of tools says, so that its own check is passed by.
async function checkNeverATask(session) {
  assert.equal(onlyText(await session.call("greet", { name: "Ann" })), "Hello, Ann!");
  if (session.revision >= FIRST_TASKS) {
    const params = { name: "greet", arguments: { name: "Ann" }, task: {} };
    await assert.rejects(session.client.request({ method: "tools/call", params }, CreateTaskResultSchema), { code: -32601 });
  }
}

// A tool that runs as a task only: clients without tasks are served in place.
async function checkRequired(session) {
  const params = { name: "failing_job", arguments: {} };
  const answer = session.client.request({ method: "tools/call", params }, CallToolResultSchema);
  if (session.revision >= FIRST_TASKS) {
    await assert.rejects(answer, { code: -32601 });
    return;
  }
  const result = await answer;
  assert.ok(result.isError);
  assert.equal(onlyText(result), "this job always fails");
}

async function checkAsks(session) {
  if (session.revision >= FIRST_TASKS) {
    for (const [confirm, says] of [
      [true, "notes would be gone now."],
      [false, "notes stays."],
    ]) {
      session.user.will({ action: "accept", content: { confirm } });
      const { types, last } = await run(session, "confirm_delete", { filename: "notes" });
      assert.equal(types[0], "taskCreated");
      assert.equal(last.type, "result", JSON.stringify(last));
      assert.equal(onlyText(last.result), says);
      assert.deepEqual(session.user.asked, ["Delete notes?"]);
    }
  }
}

async function checkCancelled(session) {
  if (session.revision < FIRST_TASKS) {
    return;
  }
  const { tasks } = session.client.experimental;
  let id;
  const { last } = await run(session, "slow_compute", { seconds: 3600, label: "it" }, async ({ type, task }) => {
    if (type === "taskCreated") {
      id = task.taskId;
      assert.equal((await tasks.cancelTask(id)).status, "cancelled");
    }
  });
  assert.equal(last.type, "error", JSON.stringify(last));
  assert.equal((await tasks.getTask(id)).status, "cancelled");
}
