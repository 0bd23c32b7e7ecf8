"""The client of FastMCP 4 (`fastmcp`): both eras."""

import os
from contextlib import asynccontextmanager
from functools import partial
from unittest import mock

import anyio
from fastmcp import Client
from fastmcp.client.elicitation import ElicitResult
from fastmcp.client.transports import StdioTransport, StreamableHttpTransport
from mcp_types import (
    CreateMessageResult,
    CreateMessageResultWithTools,
    PromptReference,
    ResourceTemplateReference,
    SamplingCapability,
    SamplingToolsCapability,
)

from asks import ASK_CHECKS, ROOTS, User
from harness import CHECK_SECONDS, CHECKS, FIRST_MODERN, check_list_changed, check_streamed_answer, main, not_offered
from more import MORE_CHECKS, PAGE_SIZE


class Session:
    def __init__(self, client, revision, list_changed, logged, user, again):
        self.client = client
        self.revision = revision
        self.list_changed = list_changed
        self.logged = logged
        self.user = user
        self.again = again

    def negotiated(self):
        assert self.client.server_info.name == "everything", self.client.server_info
        return self.client.protocol_version

    async def tools(self):
        return [tool.model_dump(by_alias=True, exclude_none=True, mode="json") for tool in await self.client.list_tools()]

    async def call(self, name, arguments, progress=None):
        result = await self.client.call_tool(name, arguments, progress_handler=progress, raise_on_error=False)
        return {
            "content": [block.model_dump(by_alias=True, exclude_none=True, mode="json") for block in result.content],
            "structuredContent": result.structured_content,
            "isError": result.is_error,
        }

    async def offer(self, method, name):
        if method == "get_prompt":
            result = await self.client.get_prompt(name)
            return result.model_dump(by_alias=True, exclude_none=True, mode="json")
        contents = await self.client.read_resource(name)
        return {"contents": [one.model_dump(by_alias=True, exclude_none=True, mode="json") for one in contents]}

    async def page(self, cursor):
        result = await self.client.list_tools_mcp(cursor=cursor)
        return result.model_dump(by_alias=True, exclude_none=True, mode="json")

    async def complete(self, kind, name, argument):
        reference = PromptReference(name=name) if kind == "prompt" else ResourceTemplateReference(uri=name)
        result = await self.client.complete_mcp(reference, argument)
        return result.model_dump(by_alias=True, exclude_none=True, mode="json")

    def error_code(self, error):
        return error.code

    async def cancel_running_call(self, scope):
        scope.cancel()

    async def heard_list_change(self):
        with anyio.move_on_after(0.05):
            await self.list_changed.wait()
            return True
        return False


@asynccontextmanager
async def connected(transport, target, revision, paged=False):
    """With `paged` the server has pages of a few items."""
    list_changed = anyio.Event()

    async def heard(message):
        if getattr(message, "method", None) == "notifications/tools/list_changed":
            list_changed.set()

    logged = []

    async def on_log(message):
        logged.append((message.level, message.data))

    user = User()

    async def fill_in(message, _response_type, params, _context):
        action, content = user.fill_in(message, getattr(params, "url", None))
        return ElicitResult(action=action, content=content)

    async def say(_messages, params, _context):
        message = user.say(params.model_dump(by_alias=True, exclude_none=True, mode="json"))
        return (CreateMessageResultWithTools if params.tools else CreateMessageResult).model_validate(message)

    answers = {"elicitation_handler": fill_in, "sampling_handler": say, "roots": ROOTS}
    answers["sampling_capabilities"] = SamplingCapability(tools=SamplingToolsCapability())
    if transport == "http":
        streams = StreamableHttpTransport(os.environ["PAGED_URL"] if paged else target)
    else:
        arguments = ["--page-size", str(PAGE_SIZE)] if paged else []
        streams = StdioTransport(target, arguments, keep_alive=False)
    modern = revision >= FIRST_MODERN
    mode = "auto" if modern else "legacy"
    client = Client(streams, mode=mode, message_handler=heard, log_handler=on_log, timeout=CHECK_SECONDS, **answers)
    # This client always offers the newest handshake revision of the SDK; the constant is the only way to offer an older one.
    with mock.patch("mcp.client.session.LATEST_HANDSHAKE_VERSION", "unused" if modern else revision):
        await client.__aenter__()
    try:
        again = partial(connected, transport, target, revision)
        yield Session(client, revision, list_changed, logged, user, again)
    finally:
        await client.__aexit__(None, None, None)


async def check_typed_result(session):
    """This client turns structured output into an object whose type it derives from the tool's output schema."""
    result = await session.client.call_tool("add", {"a": 20, "b": 22})
    if session.revision < "2025-06-18":
        assert result.data is None, result.data
    else:
        assert result.data.sum == 42, result.data


async def check_logged(session):
    await check_streamed_answer(session)
    texts = ["Tool execution started", "Tool processing data", "Tool execution completed"]
    assert session.logged == [("info", text) for text in texts], session.logged


async def check_list_changed_or_not(session):
    # This client opens no subscription, without which a modern server sends no such notification.
    await (check_list_changed if session.revision < FIRST_MODERN else not_offered)(session)


main(
    "fastmcp4",
    connected,
    CHECKS
    | ASK_CHECKS
    | MORE_CHECKS
    | {
        # Its client has no method to subscribe.
        "updates of one resource": not_offered,
        # The package has no client of the extension; `fastmcp_tasks_py.py` has one.
        "task": not_offered,
        "typed result": check_typed_result,
        # This client checks the content against the form before it sends it.
        "wrong answer": not_offered,
        "streamed answer": check_logged,
        "list changed": check_list_changed_or_not,
    },
)
