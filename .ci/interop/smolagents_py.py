"""The client of smolagents (with `mcpadapt`), over the Python SDK 1.x: legacy era.

Its tools block, return the first block of the content or the structured content, and hide `isError`.
"""

import asyncio
import json
import logging
from contextlib import asynccontextmanager
from unittest import mock

from mcp import StdioServerParameters
from smolagents import MCPClient

from harness import CHECKS, TOOL_NAMES, main, names_both_arguments, not_offered

# It warns about each result whose text is not JSON.
logging.getLogger("mcpadapt").setLevel(logging.ERROR)


class Session:
    def __init__(self, client, revision):
        self.by_name = {tool.name: tool for tool in client.get_tools()}
        self.revision = revision

    async def returned(self, tool_name, /, **arguments):
        return await asyncio.to_thread(lambda: self.by_name[tool_name](**arguments))


@asynccontextmanager
async def connected(transport, target, revision):
    server = {"url": target, "transport": "streamable-http"} if transport == "http" else StdioServerParameters(command=target)
    # The SDK below always offers its newest revision; the constant is the only way to offer an older one.
    with mock.patch("mcp.types.LATEST_PROTOCOL_VERSION", revision):
        client = await asyncio.to_thread(MCPClient, server, structured_output=True)
    try:
        yield Session(client, revision)
    finally:
        await asyncio.to_thread(client.disconnect)


async def check_list(session):
    assert list(session.by_name) == TOOL_NAMES, session.by_name
    add = session.by_name["add"]
    assert add.description == "Adds two numbers.", add.description
    assert {name: schema["type"] for name, schema in add.inputs.items()} == {"a": "integer", "b": "integer"}, add.inputs
    assert session.by_name["test_simple_text"].inputs == {}, session.by_name["test_simple_text"].inputs


async def check_good_call(session):
    assert await session.returned("add", a=2, b=3) == {"sum": 5}


async def check_no_parameters(session):
    assert await session.returned("test_simple_text") == "This is a simple text response for testing."


async def check_wrong_arguments(session):
    names_both_arguments(await session.returned("add", a="two"))


async def check_structured_output(session):
    schema = session.by_name["add"].output_schema
    if session.revision < "2025-06-18":
        assert schema is None, "`outputSchema` is younger than this revision"
    else:
        assert list(schema["properties"]) == ["sum"], schema
    # Without structured content the client reads the text as JSON.
    assert await session.returned("add", a=-7, b=7) == {"sum": 0}


async def check_content_blocks(session):
    assert await session.returned("test_multiple_content_types") == "Multiple content types test:"
    image = await session.returned("test_image_content")
    assert (image.format, image.size) == ("PNG", (1, 1)), image


async def check_streamed_answer(session):
    assert await session.returned("test_tool_with_logging") == "Logged three messages."


async def check_server_error(session):
    assert "This tool intentionally returns an error for testing" in await session.returned("test_error_handling")


async def check_concurrent_calls(session):
    results = await asyncio.gather(*(session.returned("add", a=n, b=n) for n in range(50)))
    assert [result["sum"] for result in results] == [2 * n for n in range(50)], json.dumps(results)


own = {
    "list": check_list,
    "good call": check_good_call,
    "no parameters": check_no_parameters,
    "wrong arguments": check_wrong_arguments,
    "structured output": check_structured_output,
    "content blocks": check_content_blocks,
    "streamed answer": check_streamed_answer,
    "server error": check_server_error,
    "concurrent calls": check_concurrent_calls,
}
# Audio needs torchaudio, which is larger than all other clients together.
main("smolagents_py", connected, {name: own.get(name, not_offered) for name in CHECKS})
