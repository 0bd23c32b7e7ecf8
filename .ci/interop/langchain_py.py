"""The LangChain adapter for Python (`langchain-mcp-adapters`), over the Python SDK 1.x: legacy era.

Its tools are called the way an agent calls them, with the message of a model, and answer with a message to the model.
"""

import base64
import json
from contextlib import asynccontextmanager
from datetime import timedelta
from unittest import mock

from langchain_mcp_adapters.callbacks import Callbacks
from langchain_mcp_adapters.client import MultiServerMCPClient
from langchain_mcp_adapters.tools import load_mcp_tools

from harness import CHECK_SECONDS, CHECKS, TOOL_NAMES, is_png, main, not_offered, only_text


class Session:
    def __init__(self, client, tools, progress_heard, revision):
        self.client = client
        self.by_name = {tool.name: tool for tool in tools}
        self.progress_heard = progress_heard
        self.revision = revision

    async def tools(self):
        return [
            {"name": tool.name, "description": tool.description, "inputSchema": tool.args_schema}
            for tool in self.by_name.values()
        ]

    async def call(self, name, arguments, progress=None):
        self.progress_heard["by"] = progress
        message = await self.by_name[name].ainvoke({"type": "tool_call", "id": "1", "name": name, "args": arguments})
        return {
            "content": [block_of_protocol(block) for block in message.content],
            "structuredContent": (message.artifact or {}).get("structured_content"),
            "isError": message.status == "error",
        }


def block_of_protocol(block):
    if block["type"] == "image":
        return {"type": "image", "data": block["base64"], "mimeType": block["mime_type"]}
    return {key: value for key, value in block.items() if key != "id"}


@asynccontextmanager
async def connected(transport, target, revision):
    progress_heard = {"by": None}

    async def on_progress(progress, total, message, _context):
        if progress_heard["by"] is not None:
            await progress_heard["by"](progress, total, message)

    kwargs = {"read_timeout_seconds": timedelta(seconds=CHECK_SECONDS)}
    connection = (
        {"transport": "streamable_http", "url": target, "session_kwargs": kwargs}
        if transport == "http"
        else {"transport": "stdio", "command": target, "args": [], "session_kwargs": kwargs}
    )
    callbacks = Callbacks(on_progress=on_progress)
    client = MultiServerMCPClient({"everything": connection}, callbacks=callbacks)
    # The SDK below always offers its newest revision; the constant is the only way to offer an older one.
    with mock.patch("mcp.types.LATEST_PROTOCOL_VERSION", revision):
        async with client.session("everything") as session:
            tools = await load_mcp_tools(session, callbacks=callbacks, server_name="everything")
            yield Session(client, tools, progress_heard, revision)


async def check_revision(session):
    """The adapter shows the server's answer to `initialize`, in another session."""
    result = (await session.client.get_server_info())["everything"]
    assert result.protocolVersion == session.revision, result
    assert result.serverInfo.name == "everything", result


async def check_structured_output(session):
    result = await session.call("add", {"a": -7, "b": 7})
    expected = None if session.revision < "2025-06-18" else {"sum": 0}
    assert result["structuredContent"] == expected, result


async def check_content_blocks(session):
    text, image, resource = (await session.call("test_multiple_content_types", {}))["content"]
    assert text["text"] == "Multiple content types test:", text
    is_png(image)
    # The adapter shows the model the text of a resource.
    assert json.loads(resource["text"]) == {"test": "data", "value": 123}, resource


async def check_audio(session):
    """The adapter knows no audio, and says so. As the blob of 2024-11-05 it comes through."""
    if session.revision < "2025-03-26":
        (block,) = (await session.call("test_audio_content", {}))["content"]
        assert (block["type"], block["mime_type"]) == ("file", "audio/wav"), block
        assert base64.b64decode(block["base64"])[:4] == b"RIFF", block
        return
    try:
        await session.call("test_audio_content", {})
    except NotImplementedError as error:
        assert "audio/wav" in str(error), error
    else:
        raise AssertionError("the adapter learned audio: check it")


async def check_sessionless_tools(session):
    """Without a session of its caller, the adapter opens one for the list and one for each call."""
    tools = await session.client.get_tools(server_name="everything")
    assert [tool.name for tool in tools] == TOOL_NAMES, tools
    again = Session(session.client, tools, session.progress_heard, session.revision)
    assert json.loads(only_text(await again.call("add", {"a": 1, "b": 1}))) == {"sum": 2}


main(
    "langchain_py",
    connected,
    CHECKS
    | {
        "revision": check_revision,
        "unknown tool": not_offered,
        "structured output": check_structured_output,
        "content blocks": check_content_blocks,
        "audio": check_audio,
        # It sends no cancel notification.
        "cancellation": not_offered,
        "list changed": not_offered,
        "sessionless tools": check_sessionless_tools,
    },
)
