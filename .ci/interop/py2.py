"""The official Python SDK 2.x (`mcp`) as a client: both eras."""

from contextlib import asynccontextmanager, nullcontext
from unittest import mock

import anyio
from mcp import Client, StdioServerParameters
from mcp_types import CreateMessageResult, ElicitResult, ListRootsResult, PromptReference, ResourceTemplateReference, Root, TextContent

from asks import ASK_CHECKS, MODEL_SAYS, ROOTS, User
from harness import CHECK_SECONDS, CHECKS, FIRST_MODERN, main
from offers import OFFER_CHECKS


class Session:
    def __init__(self, client, revision, list_changed, user):
        self.client = client
        self.revision = revision
        self.list_changed = list_changed
        self.user = user

    def negotiated(self):
        assert self.client.server_info is not None, "the server does not identify itself"
        return self.client.protocol_version

    async def tools(self):
        listed = await self.client.list_tools(cache_mode="bypass")
        return [tool.model_dump(by_alias=True, exclude_none=True, mode="json") for tool in listed.tools]

    async def call(self, name, arguments, progress=None):
        result = await self.client.call_tool(name, arguments, progress_callback=progress)
        return result.model_dump(by_alias=True, exclude_none=True, mode="json")

    async def offer(self, method, *arguments):
        # Lists are not taken from the client's own cache.
        bypass = {"cache_mode": "bypass"} if method.startswith("list_") else {}
        result = await getattr(self.client, method)(*arguments, **bypass)
        return result.model_dump(by_alias=True, exclude_none=True, mode="json")

    async def complete(self, kind, name, argument):
        reference = PromptReference(name=name) if kind == "prompt" else ResourceTemplateReference(uri=name)
        return await self.offer("complete", reference, argument)

    def error_code(self, error):
        return error.code

    async def cancel_running_call(self, scope):
        scope.cancel()

    @asynccontextmanager
    async def listening(self):
        modern = self.revision >= FIRST_MODERN
        async with self.client.listen(tools_list_changed=True) if modern else nullcontext() as subscription:
            self.subscription = subscription
            yield

    async def heard_list_change(self):
        with anyio.move_on_after(0.05):
            if self.subscription is None:
                await self.list_changed.wait()
                return True
            async for _event in self.subscription:
                return True
        return False


@asynccontextmanager
async def connected(transport, target, revision):
    list_changed = anyio.Event()

    async def heard(message):
        if getattr(message, "method", None) == "notifications/tools/list_changed":
            list_changed.set()

    user = User()

    async def fill_in(_context, params):
        action, content = user.fill_in(params.message)
        return ElicitResult(action=action, content=content)

    async def say(_context, _params):
        return CreateMessageResult(role="assistant", content=TextContent(text=MODEL_SAYS), model="ci")

    async def list_roots(_context):
        return ListRootsResult(roots=[Root(uri=uri) for uri in ROOTS])

    answers = {"elicitation_callback": fill_in, "sampling_callback": say, "list_roots_callback": list_roots}
    server = target if transport == "http" else StdioServerParameters(command=target)
    modern = revision >= FIRST_MODERN
    client = Client(server, mode="auto" if modern else "legacy", message_handler=heard, read_timeout_seconds=CHECK_SECONDS, **answers)
    # This SDK always offers its newest handshake revision; the constant is the only way to offer an older one.
    with mock.patch("mcp.client.session.LATEST_HANDSHAKE_VERSION", "unused" if modern else revision):
        await client.__aenter__()
    try:
        yield Session(client, revision, list_changed, user)
    finally:
        await client.__aexit__(None, None, None)


main("py2", connected, {**CHECKS, **OFFER_CHECKS, **ASK_CHECKS})
