"""What the official Python SDKs must see of the prompts and resources of the `everything` example.

A session has `await offer(method, *arguments)`, which calls that method of the SDK's client and returns a dictionary in the form of
the protocol, and `error_code(exception)`.
"""

import base64
import json

from harness import FIRST_MODERN

TEMPLATE = "test://template/{id}/data"


async def check_prompts(session):
    prompts = (await session.offer("list_prompts"))["prompts"]
    assert [prompt["name"] for prompt in prompts] == [
        "test_simple_prompt",
        "test_prompt_with_arguments",
        "test_prompt_with_embedded_resource",
        "test_prompt_with_image",
        "test_input_required_result_prompt",
        "pick_number",
    ], prompts
    result = await session.offer("get_prompt", "test_prompt_with_arguments", {"arg1": "one", "arg2": "2"})
    (message,) = result["messages"]
    assert message["role"] == "user", message
    assert message["content"]["text"] == "Prompt with arguments: arg1='one', arg2='2'", message


async def check_bad_prompt_arguments(session):
    try:
        result = await session.offer("get_prompt", "test_prompt_with_arguments", {"arg1": "one"})
    except Exception as error:
        assert session.error_code(error) == -32602 and "arg2" in str(error), repr(error)
    else:
        raise AssertionError(result)


async def check_resources(session):
    resources = (await session.offer("list_resources"))["resources"]
    assert [resource["uri"] for resource in resources] == [
        "test://static-text",
        "test://static-binary",
        "test://watched-resource",
        "test://asks-first",
        "skill://pdf-processing/SKILL.md",
        "skill://team/git-workflow/SKILL.md",
    ], resources
    templates = (await session.offer("list_resource_templates"))["resourceTemplates"]
    assert [template["uriTemplate"] for template in templates] == [TEMPLATE, "skill://{+path}"], templates

    async def read(uri):
        (contents,) = (await session.offer("read_resource", uri))["contents"]
        return contents

    assert (await read("test://static-text"))["text"] == "This is the content of the static text resource."
    assert base64.b64decode((await read("test://static-binary"))["blob"])[1:4] == b"PNG"
    data = await read("test://template/42/data")
    assert data["mimeType"] == "application/json", data
    assert json.loads(data["text"])["id"] == "42", data


async def check_not_found(session):
    try:
        result = await session.offer("read_resource", "test://nothing")
    except Exception as error:
        expected = -32602 if session.revision >= FIRST_MODERN else -32002
        assert session.error_code(error) == expected, repr(error)
    else:
        raise AssertionError(result)


async def check_completion(session):
    async def complete(kind, name, argument, value):
        result = await session.complete(kind, name, {"name": argument, "value": value})
        return result["completion"]["values"]

    assert await complete("prompt", "test_prompt_with_arguments", "arg1", "test") == ["test", "testValue", "testing"]
    assert await complete("resource", TEMPLATE, "id", "124") == ["124"]


OFFER_CHECKS = {
    "prompts": check_prompts,
    "bad prompt arguments": check_bad_prompt_arguments,
    "resources": check_resources,
    "resource not found": check_not_found,
    "completion": check_completion,
}
