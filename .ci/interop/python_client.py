"""The official Python SDK 2.x (`mcp`) as a client, both eras.

usage: python_client.py stdio|http COMMAND|URL REVISION...

The same checks as `harness.mjs`, written against this SDK. Exits 1 when a
check failed or none ran.
"""

import asyncio
import base64
import json
import sys
import traceback
import warnings
from contextlib import AsyncExitStack, asynccontextmanager
from unittest import mock

import anyio
from mcp import Client, MCPError, StdioServerParameters

FIRST_MODERN = "2026-07-28"
CHECK_SECONDS = 15


class Peer:
    """One connected client, the requests and the notifications that it received."""

    def __init__(self, client, revision, list_changed):
        self.client = client
        self.revision = revision
        self.list_changed = list_changed

    @property
    def modern(self):
        return self.revision >= FIRST_MODERN

    async def tools(self):
        return (await self.client.list_tools(cache_mode="bypass")).tools

    async def call(self, name, arguments=None, progress=None):
        return await self.client.call_tool(name, arguments or {}, progress_callback=progress)


@asynccontextmanager
async def connected(transport, target, revision):
    list_changed = anyio.Event()

    async def heard(message):
        if getattr(message, "method", None) == "notifications/tools/list_changed":
            list_changed.set()

    server = target if transport == "http" else StdioServerParameters(command=target)
    modern = revision >= FIRST_MODERN
    client = Client(server, mode="auto" if modern else "legacy", message_handler=heard, read_timeout_seconds=CHECK_SECONDS)
    # This SDK always offers its newest handshake revision; the constant is the only way to offer an older one.
    with mock.patch("mcp.client.session.LATEST_HANDSHAKE_VERSION", "unused" if modern else revision):
        await client.__aenter__()
    try:
        yield Peer(client, revision, list_changed)
    finally:
        await client.__aexit__(None, None, None)


def only_text(result):
    assert [block.type for block in result.content] == ["text"], result.content
    return result.content[0].text


async def check_revision(peer):
    assert peer.client.protocol_version == peer.revision, peer.client.protocol_version
    assert peer.client.server_info is not None, "the server does not identify itself"


async def check_list(peer):
    tools = await peer.tools()
    names = [tool.name for tool in tools]
    assert len(set(names)) == len(names), "tool names repeat"
    add = next(tool for tool in tools if tool.name == "add")
    assert add.description, "`add` has no description"
    assert list(add.input_schema["properties"]) == ["a", "b"], add.input_schema
    assert sorted(add.input_schema["required"]) == ["a", "b"], add.input_schema


async def check_good_call(peer):
    result = await peer.call("add", {"a": 2, "b": 3})
    assert not result.is_error, result
    assert json.loads(only_text(result)) == {"sum": 5}, result


async def check_wrong_arguments(peer):
    result = await peer.call("add", {"a": "two"})
    assert result.is_error, result
    assert result.structured_content is None, result
    words = set(only_text(result).replace("`", " ").replace("/", " ").replace("'", " ").replace(":", " ").replace('"', " ").split())
    assert {"a", "b"} <= words, f"the text does not name both arguments: {only_text(result)}"


async def check_unknown_tool(peer):
    try:
        result = await peer.call("no_such_tool")
    except MCPError as error:
        assert error.code == -32602, error.code
    else:
        raise AssertionError(f"answered {result}")


async def check_structured_output(peer):
    add = next(tool for tool in await peer.tools() if tool.name == "add")
    result = await peer.call("add", {"a": -7, "b": 7})
    if peer.revision < "2025-06-18":
        assert add.output_schema is None, "`outputSchema` is younger than this revision"
        assert result.structured_content is None, "`structuredContent` is younger than this revision"
        return
    assert add.output_schema["type"] == "object", add.output_schema
    assert result.structured_content == {"sum": 0}, result


async def check_content_blocks(peer):
    text, image, resource = (await peer.call("test_multiple_content_types")).content
    assert text.text == "Multiple content types test:", text
    assert image.mime_type == "image/png", image
    assert base64.b64decode(image.data)[1:4] == b"PNG", image
    assert str(resource.resource.uri) == "test://mixed-content-resource", resource
    assert json.loads(resource.resource.text) == {"test": "data", "value": 123}, resource


async def check_audio(peer):
    (block,) = (await peer.call("test_audio_content")).content
    # 2024-11-05 has no audio block: it travels there as an embedded blob.
    old = peer.revision < "2025-03-26"
    data, mime_type = (block.resource.blob, block.resource.mime_type) if old else (block.data, block.mime_type)
    assert mime_type == "audio/wav", mime_type
    assert base64.b64decode(data)[:4] == b"RIFF", data


async def check_progress(peer):
    seen = []

    async def on_progress(progress, total, _message):
        seen.append((progress, total))

    result = await peer.call("test_tool_with_progress", progress=on_progress)
    assert not result.is_error, result
    assert seen == [(0, 100), (50, 100), (100, 100)], seen


async def check_cancellation(peer):
    async def cancelled_calls():
        return json.loads(only_text(await peer.call("cancelled_calls")))["count"]

    before = await cancelled_calls()
    with anyio.CancelScope() as scope:

        async def running(_progress, _total, _message):
            scope.cancel()

        # The tool reports once that it runs; only then is there something to cancel.
        await peer.call("wait_for_cancel", progress=running)
    assert scope.cancelled_caught
    while await cancelled_calls() != before + 1:
        await anyio.sleep(0.02)
    assert json.loads(only_text(await peer.call("add", {"a": 1, "b": 1}))) == {"sum": 2}


async def check_server_error(peer):
    result = await peer.call("test_error_handling")
    assert result.is_error, result
    assert "This tool intentionally returns an error for testing" in only_text(result), result


async def check_list_changed(peer):
    async with AsyncExitStack() as stack:
        subscription = None
        if peer.modern:
            subscription = await stack.enter_async_context(peer.client.listen(tools_list_changed=True))
        # A legacy client opens its stream at a time of its choice, so trigger until the notification arrives.
        while not peer.list_changed.is_set():
            await peer.call("test_trigger_tool_change")
            if subscription is not None:
                async for _event in subscription:
                    return
            await anyio.sleep(0.05)


async def check_concurrent_calls(peer):
    results = await asyncio.gather(*(peer.call("add", {"a": n, "b": n}) for n in range(50)))
    assert [json.loads(only_text(result))["sum"] for result in results] == [2 * n for n in range(50)]


CHECKS = [
    ("revision", check_revision),
    ("list", check_list),
    ("good call", check_good_call),
    ("wrong arguments", check_wrong_arguments),
    ("unknown tool", check_unknown_tool),
    ("structured output", check_structured_output),
    ("content blocks", check_content_blocks),
    ("audio", check_audio),
    ("progress", check_progress),
    ("cancellation", check_cancellation),
    ("server error", check_server_error),
    ("list changed", check_list_changed),
    ("concurrent calls", check_concurrent_calls),
]


async def run(transport, target, revisions):
    passed = failed = 0

    def record(label, name, error=None):
        nonlocal passed, failed
        if error is None:
            passed += 1
            print(f"ok    {label} {name}", flush=True)
        else:
            failed += 1
            trace = "".join(traceback.format_exception(error)).strip().splitlines()[-6:]
            print(f"FAIL  {label} {name}: " + "\n        ".join(trace), flush=True)

    for revision in revisions:
        label = f"python {transport} {revision}"
        try:
            async with connected(transport, target, revision) as peer:
                record(label, "connect")
                for name, check in CHECKS:
                    try:
                        with anyio.fail_after(CHECK_SECONDS):
                            await check(peer)
                        record(label, name)
                    except Exception as error:  # a failed check must not hide the next ones
                        record(label, name, error)
            record(label, "close")
        except Exception as error:
            record(label, "connect or close", error)
    print(f"python-{transport}: {passed} passed, {failed} failed")
    return failed == 0 and passed > 0


def main():
    if len(sys.argv) < 4 or sys.argv[1] not in ("stdio", "http"):
        sys.exit(__doc__)
    # The SDK warns about every legacy call; those calls are under test.
    warnings.simplefilter("ignore")
    sys.exit(0 if asyncio.run(run(sys.argv[1], sys.argv[2], sys.argv[3:])) else 1)


main()
