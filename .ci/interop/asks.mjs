// What the official TypeScript SDKs must see of the `everything` example where it asks: the user of the client, its model, its roots.
// A session has `client`, the client of the SDK, `call`, and `user`, a `User` that its handlers answer with.

import assert from "node:assert/strict";

import { onlyText } from "./harness.mjs";

const FIRST_FORMS = "2025-06-18";
const FIRST_CHOICES = "2025-11-25";
const ROOTS = ["file:///a", "file:///b"];
const MODEL_SAYS = "the model was here";

export const CAPABILITIES = { elicitation: { form: {}, url: {} }, sampling: { tools: {} }, roots: {} };

// Answers as the checks say. A form that no check expects fails the call.
export class User {
  decisions = [];
  asked = [];
  pages = [];

  // Each decision is the result for one form, in order.
  will(...decisions) {
    this.decisions = decisions;
    this.asked = [];
    this.pages = [];
  }

  fillIn({ params }) {
    this.asked.push(params.message);
    if (params.mode === "url") {
      this.pages.push(params.url);
    }
    assert.ok(this.decisions.length > 0, `unexpected form: ${params.message}`);
    return this.decisions.shift();
  }

  // A model that has tools calls the first of them, and then says what it returned.
  say({ params }) {
    const message = (content, stopReason) => ({ role: "assistant", content, model: "ci", stopReason });
    if (params.tools === undefined) {
      return message({ type: "text", text: MODEL_SAYS });
    }
    const { content } = params.messages.at(-1);
    const returned = [content].flat().find((block) => block.type === "tool_result");
    if (returned === undefined) {
      return message([{ type: "tool_use", id: "call 1", name: params.tools[0].name, input: { a: 2, b: 3 } }], "toolUse");
    }
    assert.equal(returned.toolUseId, "call 1");
    return message({ type: "text", text: `it is ${returned.content[0].text}` });
  }

  listRoots() {
    return { roots: ROOTS.map((uri) => ({ uri })) };
  }
}

export const ASK_CHECKS = {
  "form": checkForm,
  "form of the suite": checkFixtureForm,
  "defaults": checkDefaults,
  "choices": checkChoices,
  "two rounds": checkRounds,
  "model": checkModel,
  "model of the suite": checkFixtureModel,
  "roots": checkRoots,
  "several questions": checkSeveral,
  "prompt and resource that ask": checkPromptAndResource,
};

const accept = (content) => ({ action: "accept", content });

async function ask(session, name, ...decisions) {
  return askWith(session, name, {}, ...decisions);
}

async function askWith({ call, user, revision }, name, args, ...decisions) {
  user.will(...decisions);
  const result = await call(name, args);
  if (revision >= FIRST_FORMS) {
    assert.deepEqual(user.decisions, [], "never asked");
  }
  return result;
}

async function checkForm(session) {
  const name = "test_input_required_result_elicitation";
  if (session.revision < FIRST_FORMS) {
    const result = await ask(session, name);
    assert.ok(result.isError && onlyText(result).includes("elicitation"), JSON.stringify(result));
    return;
  }
  assert.equal(onlyText(await ask(session, name, accept({ name: "Ada" }))), "Hello, Ada!");
  assert.deepEqual(session.user.asked, ["What is your name?"]);
  for (const action of ["decline", "cancel"]) {
    assert.equal(onlyText(await ask(session, name, { action })), "Hello, stranger!");
  }
}

async function checkFixtureForm(session) {
  if (session.revision < FIRST_FORMS) {
    return;
  }
  const [name, args] = ["test_elicitation", { message: "Who are you?" }];
  const person = { username: "ada", email: "ada@example.com" };
  const result = await askWith(session, name, args, accept(person));
  assert.deepEqual(session.user.asked, ["Who are you?"]);
  assert.deepEqual(decided(result, "User response: action=accept, content="), person);
  const declined = await askWith(session, name, args, { action: "decline" });
  assert.equal(onlyText(declined), "User response: action=decline, content=null");
}

async function checkDefaults(session) {
  if (session.revision < FIRST_FORMS) {
    return;
  }
  const defaults = { name: "John Doe", age: 30, score: 95.5, status: "active", verified: true };
  const other = { name: "Jane Smith", age: 25, score: 88, status: "inactive", verified: false };
  for (const [entered, values] of [[{}, defaults], [other, other]]) {
    const result = await ask(session, "test_elicitation_sep1034_defaults", accept(entered));
    assert.deepEqual(decided(result, "Elicitation completed: action=accept, content="), values);
  }
}

async function checkChoices(session) {
  const name = "test_elicitation_sep1330_enums";
  const chosen = {
    untitledSingle: "option1",
    titledSingle: "value2",
    legacyEnum: "opt3",
    untitledMulti: ["option1", "option2"],
    titledMulti: ["value3"],
  };
  if (session.revision >= FIRST_CHOICES) {
    const result = await ask(session, name, accept(chosen));
    assert.deepEqual(decided(result, "Elicitation completed: action=accept, content="), chosen);
  } else if (session.revision >= FIRST_FORMS) {
    const result = await session.call(name, {});
    assert.ok(result.isError && onlyText(result).includes(session.revision), JSON.stringify(result));
  }
}

// What the user entered, in a text that begins with `before`.
function decided(result, before) {
  const text = onlyText(result);
  assert.ok(text.startsWith(before), text);
  return JSON.parse(text.slice(before.length));
}

async function checkRounds(session) {
  if (session.revision >= FIRST_FORMS) {
    const answers = [accept({ name: "Ada" }), accept({ color: "red" })];
    const result = await ask(session, "test_input_required_result_multi_round", ...answers);
    assert.equal(onlyText(result), "Ada likes red.");
  }
}

async function checkModel(session) {
  const result = await ask(session, "test_input_required_result_sampling");
  assert.equal(onlyText(result), `The model says: ${MODEL_SAYS}`);
}

async function checkFixtureModel(session) {
  const result = await askWith(session, "test_sampling", { prompt: "Say something." });
  assert.equal(onlyText(result), `LLM response: ${MODEL_SAYS}`);
}

async function checkRoots(session) {
  const result = await ask(session, "test_input_required_result_list_roots");
  assert.equal(onlyText(result), `2 roots: ${ROOTS.join(", ")}`);
}

async function checkSeveral(session) {
  if (session.revision >= FIRST_FORMS) {
    const result = await ask(session, "test_input_required_result_multiple_inputs", accept({ name: "Ada" }));
    assert.equal(onlyText(result), `${MODEL_SAYS}, Ada! You have 2 roots.`);
  }
}

async function checkPromptAndResource({ client, user, revision }) {
  if (revision < FIRST_FORMS) {
    return;
  }
  user.will(accept({ context: "the sea" }));
  const { messages } = await client.getPrompt({ name: "test_input_required_result_prompt" });
  assert.equal(messages[0].content.text, "Use this context: the sea");
  user.will(accept({ name: "Ada" }));
  const { contents } = await client.readResource({ uri: "test://asks-first" });
  assert.equal(contents[0].text, "Read by Ada.");
}
