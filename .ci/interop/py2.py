"""The official Python SDK 2.x (`mcp`) as a client: both eras."""

import os
from contextlib import asynccontextmanager, nullcontext
from functools import partial
from unittest import mock

import anyio
from mcp import Client, StdioServerParameters
from mcp_types import (
    CreateMessageResult,
    CreateMessageResultWithTools,
    ElicitResult,
    ListRootsResult,
    PromptReference,
    ResourceTemplateReference,
    Root,
    SamplingCapability,
    SamplingToolsCapability,
)

from asks import ASK_CHECKS, ROOTS, User
from harness import CHECK_SECONDS, CHECKS, FIRST_MODERN, main, not_offered
from more import MORE_CHECKS, PAGE_SIZE
from offers import OFFER_CHECKS


class Session:
    def __init__(self, client, revision, list_changed, updated, user, again):
        self.client = client
        self.revision = revision
        self.list_changed = list_changed
        self.updated = updated
        self.user = user
        self.again = again

    def negotiated(self):
        assert self.client.server_info is not None, "the server does not identify itself"
        return self.client.protocol_version

    async def tools(self):
        listed = await self.client.list_tools(cache_mode="bypass")
        return [tool.model_dump(by_alias=True, exclude_none=True, mode="json") for tool in listed.tools]

    async def call(self, name, arguments, progress=None):
        result = await self.client.call_tool(name, arguments, progress_callback=progress)
        return result.model_dump(by_alias=True, exclude_none=True, mode="json")

    async def offer(self, method, *arguments, **options):
        # Lists are not taken from the client's own cache.
        bypass = {"cache_mode": "bypass"} if method.startswith("list_") else {}
        result = await getattr(self.client, method)(*arguments, **bypass, **options)
        return result.model_dump(by_alias=True, exclude_none=True, mode="json")

    async def page(self, cursor):
        return await self.offer("list_tools", cursor=cursor)

    @asynccontextmanager
    async def updates(self, uri):
        if self.revision < FIRST_MODERN:
            await self.client.subscribe_resource(uri)
            yield self.updated
            await self.client.unsubscribe_resource(uri)
            return
        heard = []

        async def listen(subscription):
            async for event in subscription:
                heard.append(event.uri)

        async with self.client.listen(resource_subscriptions=[uri]) as subscription, anyio.create_task_group() as group:
            group.start_soon(listen, subscription)
            yield heard
            group.cancel_scope.cancel()

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
async def connected(transport, target, revision, paged=False):
    """With `paged` the server has pages of a few items."""
    list_changed, updated = anyio.Event(), []

    async def heard(message):
        if getattr(message, "method", None) == "notifications/tools/list_changed":
            list_changed.set()
        if getattr(message, "method", None) == "notifications/resources/updated":
            updated.append(str(message.params.uri))

    user = User()

    async def fill_in(_context, params):
        action, content = user.fill_in(params.message, getattr(params, "url", None))
        return ElicitResult(action=action, content=content)

    async def say(_context, params):
        message = user.say(params.model_dump(by_alias=True, exclude_none=True, mode="json"))
        return (CreateMessageResultWithTools if params.tools else CreateMessageResult).model_validate(message)

    async def list_roots(_context):
        return ListRootsResult(roots=[Root(uri=uri) for uri in ROOTS])

    answers = {"elicitation_callback": fill_in, "sampling_callback": say, "list_roots_callback": list_roots}
    answers["sampling_capabilities"] = SamplingCapability(tools=SamplingToolsCapability())
    if transport == "http":
        server = os.environ["PAGED_URL"] if paged else target
    else:
        server = StdioServerParameters(command=target, args=["--page-size", str(PAGE_SIZE)] if paged else [])
    modern = revision >= FIRST_MODERN
    client = Client(server, mode="auto" if modern else "legacy", message_handler=heard, read_timeout_seconds=CHECK_SECONDS, **answers)
    # This SDK always offers its newest handshake revision; the constant is the only way to offer an older one.
    with mock.patch("mcp.client.session.LATEST_HANDSHAKE_VERSION", "unused" if modern else revision):
        await client.__aenter__()
    try:
        again = partial(connected, transport, target, revision)
        yield Session(client, revision, list_changed, updated, user, again)
    finally:
        await client.__aexit__(None, None, None)


main(
    "py2",
    connected,
    {
        **CHECKS,
        **OFFER_CHECKS,
        **ASK_CHECKS,
        **MORE_CHECKS,
        # Its client has neither the methods of the core tasks nor the extension.
        "task": not_offered,
    },
)
