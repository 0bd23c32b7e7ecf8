// What the official TypeScript SDKs must see of the prompts and resources of the `everything` example. A session has `client`, the
// client of the SDK.

import assert from "node:assert/strict";

import { FIRST_MODERN } from "./harness.mjs";

const TEMPLATE = "test://template/{id}/data";

export const OFFER_CHECKS = {
  "prompts": checkPrompts,
  "bad prompt arguments": checkBadPromptArguments,
  "resources": checkResources,
  "resource not found": checkNotFound,
  "completion": checkCompletion,
};

async function checkPrompts({ client }) {
  const { prompts } = await client.listPrompts();
  assert.deepEqual(prompts.map((prompt) => prompt.name), [
    "test_simple_prompt",
    "test_prompt_with_arguments",
    "test_prompt_with_embedded_resource",
    "test_prompt_with_image",
    "test_input_required_result_prompt",
    "pick_number",
  ]);
  const { messages } = await client.getPrompt({ name: "test_prompt_with_arguments", arguments: { arg1: "one", arg2: "2" } });
  assert.deepEqual(messages.map((message) => [message.role, message.content.text]), [
    ["user", "Prompt with arguments: arg1='one', arg2='2'"],
  ]);
  const image = (await client.getPrompt({ name: "test_prompt_with_image" })).messages[0].content;
  assert.equal(image.mimeType, "image/png");
}

async function checkBadPromptArguments({ client }) {
  const asked = client.getPrompt({ name: "test_prompt_with_arguments", arguments: { arg1: "one" } });
  await assert.rejects(asked, (error) => {
    assert.equal(error.code, -32602);
    assert.match(error.message, /arg2/);
    return true;
  });
}

async function checkResources({ client }) {
  const { resources } = await client.listResources();
  assert.deepEqual(resources.map((resource) => resource.uri), [
    "test://static-text",
    "test://static-binary",
    "test://watched-resource",
    "test://asks-first",
    "skill://pdf-processing/SKILL.md",
    "skill://team/git-workflow/SKILL.md",
  ]);
  const { resourceTemplates } = await client.listResourceTemplates();
  assert.deepEqual(resourceTemplates.map((template) => template.uriTemplate), [TEMPLATE, "skill://{+path}"]);
  const read = async (uri) => (await client.readResource({ uri })).contents[0];
  assert.equal((await read("test://static-text")).text, "This is the content of the static text resource.");
  assert.equal(Buffer.from((await read("test://static-binary")).blob, "base64").subarray(1, 4).toString(), "PNG");
  const data = await read("test://template/4%202/data");
  assert.equal(data.mimeType, "application/json");
  assert.equal(JSON.parse(data.text).id, "4 2");
}

async function checkNotFound({ client, revision, errorCode }) {
  const uri = "test://nothing";
  await assert.rejects(client.readResource({ uri }), (error) => {
    // The second major of the SDK makes one error of the codes of both eras.
    assert.ok([-32002, -32602].includes(errorCode(error)), `${revision} < ${FIRST_MODERN}: ${error}`);
    assert.equal(error.data.uri, uri);
    return true;
  });
}

async function checkCompletion({ client }) {
  const complete = async (ref, name, value) => (await client.complete({ ref, argument: { name, value } })).completion.values;
  const prompt = { type: "ref/prompt", name: "test_prompt_with_arguments" };
  assert.deepEqual(await complete(prompt, "arg1", "test"), ["test", "testValue", "testing"]);
  assert.deepEqual(await complete({ type: "ref/resource", uri: TEMPLATE }, "id", "124"), ["124"]);
}
