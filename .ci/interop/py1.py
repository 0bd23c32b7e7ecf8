"""The official Python SDK 1.x (`mcp`) as a client: legacy era."""

from contextlib import asynccontextmanager
from datetime import timedelta
from unittest import mock

import anyio
from mcp import ClientSession, McpError, StdioServerParameters, types
from mcp.client.stdio import stdio_client
from mcp.client.streamable_http import streamable_http_client

from asks import ASK_CHECKS, MODEL_SAYS, ROOTS, User
from harness import CHECK_SECONDS, CHECKS, main
from offers import OFFER_CHECKS


class Session:
    def __init__(self, session, revision, negotiated, list_changed, user):
        self.session = session
        self.revision = revision
        self.settled = negotiated
        self.list_changed = list_changed
        self.user = user

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
async def connected(transport, target, revision):
    list_changed = anyio.Event()

    async def heard(message):
        if isinstance(getattr(message, "root", None), types.ToolListChangedNotification):
            list_changed.set()

    user = User()

    async def fill_in(_context, params):
        action, content = user.fill_in(params.message)
        return types.ElicitResult(action=action, content=content)

    async def say(_context, _params):
        content = types.TextContent(type="text", text=MODEL_SAYS)
        return types.CreateMessageResult(role="assistant", content=content, model="ci")

    async def list_roots(_context):
        return types.ListRootsResult(roots=[types.Root(uri=uri) for uri in ROOTS])

    answers = {"elicitation_callback": fill_in, "sampling_callback": say, "list_roots_callback": list_roots}
    streams = streamable_http_client(target) if transport == "http" else stdio_client(StdioServerParameters(command=target))
    timeout = timedelta(seconds=CHECK_SECONDS)
    async with streams as (read, write, *_), ClientSession(read, write, timeout, message_handler=heard, **answers) as session:
        # This SDK always offers its newest revision; the constant is the only way to offer an older one.
        with mock.patch("mcp.types.LATEST_PROTOCOL_VERSION", revision):
            settled = (await session.initialize()).protocolVersion
        yield Session(session, revision, settled, list_changed, user)


main("py1", connected, {**CHECKS, **OFFER_CHECKS, **ASK_CHECKS})
