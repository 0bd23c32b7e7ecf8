"""The official Python SDK 1.x (`mcp`) as a client: legacy era."""

import os
from contextlib import asynccontextmanager
from datetime import timedelta
from functools import partial
from unittest import mock

import anyio
from mcp import ClientSession, McpError, StdioServerParameters, types
from mcp.client.stdio import stdio_client
from mcp.client.streamable_http import streamable_http_client

from asks import ASK_CHECKS, ROOTS, User
from core_tasks import TASK_CHECKS
from harness import CHECK_SECONDS, CHECKS, main
from more import MORE_CHECKS, PAGE_SIZE
from offers import OFFER_CHECKS


class Session:
    def __init__(self, session, revision, negotiated, list_changed, updated, user, again):
        self.session = session
        self.revision = revision
        self.settled = negotiated
        self.list_changed = list_changed
        self.updated = updated
        self.user = user
        self.again = again

    def negotiated(self):
        return self.settled

    async def tools(self):
        listed = await self.session.list_tools()
        return [tool.model_dump(by_alias=True, exclude_none=True, mode="json") for tool in listed.tools]

    async def call(self, name, arguments, progress=None):
        result = await self.session.call_tool(name, arguments, progress_callback=progress)
        return result.model_dump(by_alias=True, exclude_none=True, mode="json")

    async def offer(self, method, *arguments):
        result = await getattr(self.session, method)(*arguments)
        return result.model_dump(by_alias=True, exclude_none=True, mode="json")

    async def page(self, cursor):
        params = types.PaginatedRequestParams(cursor=cursor)
        result = await self.session.list_tools(params=params)
        return result.model_dump(by_alias=True, exclude_none=True, mode="json")

    @asynccontextmanager
    async def updates(self, uri):
        await self.session.subscribe_resource(uri)
        yield self.updated
        await self.session.unsubscribe_resource(uri)

    async def complete(self, kind, name, argument):
        prompt = kind == "prompt"
        reference = (
            types.PromptReference(type="ref/prompt", name=name)
            if prompt
            else types.ResourceTemplateReference(type="ref/resource", uri=name)
        )
        return await self.offer("complete", reference, argument)

    def error_code(self, error):
        assert isinstance(error, McpError), repr(error)
        return error.error.code

    async def cancel_running_call(self, scope):
        # This SDK leaves it to the caller to send the notification. It counts its requests, and this one is the newest.
        params = types.CancelledNotificationParams(requestId=self.session._request_id - 1)
        await self.session.send_notification(types.ClientNotification(types.CancelledNotification(params=params)))
        scope.cancel()

    async def heard_list_change(self):
        with anyio.move_on_after(0.05):
            await self.list_changed.wait()
            return True
        return False


@asynccontextmanager
async def connected(transport, target, revision, paged=False):
    """With `paged` the server has pages of a few items."""
    list_changed, updated = anyio.Event(), []

    async def heard(message):
        if isinstance(getattr(message, "root", None), types.ToolListChangedNotification):
            list_changed.set()
        if isinstance(getattr(message, "root", None), types.ResourceUpdatedNotification):
            updated.append(str(message.root.params.uri))

    user = User()

    async def fill_in(_context, params):
        action, content = user.fill_in(params.message, getattr(params, "url", None))
        return types.ElicitResult(action=action, content=content)

    async def say(_context, params):
        message = user.say(params.model_dump(by_alias=True, exclude_none=True, mode="json"))
        result = types.CreateMessageResultWithTools if params.tools else types.CreateMessageResult
        return result.model_validate(message)

    async def list_roots(_context):
        return types.ListRootsResult(roots=[types.Root(uri=uri) for uri in ROOTS])

    answers = {"elicitation_callback": fill_in, "sampling_callback": say, "list_roots_callback": list_roots}
    answers["sampling_capabilities"] = types.SamplingCapability(tools=types.SamplingToolsCapability())
    if transport == "http":
        streams = streamable_http_client(os.environ["PAGED_URL"] if paged else target)
    else:
        arguments = ["--page-size", str(PAGE_SIZE)] if paged else []
        streams = stdio_client(StdioServerParameters(command=target, args=arguments))
    timeout = timedelta(seconds=CHECK_SECONDS)
    async with streams as (read, write, *_), ClientSession(read, write, timeout, message_handler=heard, **answers) as session:
        # This SDK always offers its newest revision; the constant is the only way to offer an older one.
        with mock.patch("mcp.types.LATEST_PROTOCOL_VERSION", revision):
            settled = (await session.initialize()).protocolVersion
        again = partial(connected, transport, target, revision)
        yield Session(session, revision, settled, list_changed, updated, user, again)


main("py1", connected, {**CHECKS, **OFFER_CHECKS, **ASK_CHECKS, **MORE_CHECKS, **TASK_CHECKS})
