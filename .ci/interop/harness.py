"""What every Python client must see of the `everything` example, whatever library, transport and revision carries it.

Each client's module passes a function to `main` that connects its library and yields a session with these members:

- `revision`, the one that was offered, and `negotiated()`, the one that the server chose (`None`: the library hides it);
- `await tools()` and `await call(name, arguments, progress=None)`, which return dictionaries in the form of the protocol;
- `error_code(exception)`, `heard_list_change()` and `cancel_running_call(scope)`, where the library offers such a thing.

`CHECKS` are the checks by name. A client replaces those whose outcome its library renders in another way, by `not_offered`
if it lacks such a thing. Each of the latter is printed too.
"""

import asyncio
import base64
import json
import re
import sys
import traceback
import warnings
from contextlib import nullcontext
from pathlib import Path

import anyio

FIRST_MODERN = "2026-07-28"
CHECK_SECONDS = 15
TOOL_NAMES = json.loads((Path(__file__).parent / "tools.json").read_text())


def main(client, connected, checks):
    """Parses `stdio|http TARGET REVISION...` and runs every check at every revision. Exits 1 if a check failed or none ran."""
    if len(sys.argv) < 4 or sys.argv[1] not in ("stdio", "http"):
        sys.exit(f"usage: {client}.py stdio|http COMMAND|URL REVISION...")
    # The SDKs warn about every legacy call; those calls are under test.
    warnings.simplefilter("ignore")
    sys.exit(0 if asyncio.run(_run(client, connected, checks, *sys.argv[1:3], sys.argv[3:])) else 1)


async def _run(client, connected, checks, transport, target, revisions):
    passed = failed = 0

    def record(label, name, error=None):
        nonlocal passed, failed
        if error is None:
            passed += 1
            print(f"ok    {label} {name}", flush=True)
        else:
            failed += 1
            trace = "".join(traceback.format_exception(error)).strip().splitlines()[-12:]
            print(f"FAIL  {label} {name}: " + "\n        ".join(trace), flush=True)

    for revision in revisions:
        label = f"{client} {transport} {revision}"
        step = "connect"
        try:
            async with connected(transport, target, revision) as session:
                record(label, step)
                for name, check in checks.items():
                    try:
                        with anyio.fail_after(CHECK_SECONDS):
                            await check(session)
                        record(label, name)
                    except NotOffered:
                        print(f"-     {label} {name}: this client does not offer it", flush=True)
                    except Exception as error:  # a failed check must not hide the next ones
                        record(label, name, error)
                step = "close"
            record(label, step)
        except Exception as error:
            record(label, step, error)
    print(f"{client}-{transport}: {passed} passed, {failed} failed", flush=True)
    return failed == 0 and passed > 0


class NotOffered(Exception):
    pass


async def not_offered(_session):
    """The check of what a client's library lacks."""
    raise NotOffered


def only_text(result):
    assert [block["type"] for block in result["content"]] == ["text"], result
    return result["content"][0]["text"]


async def tool(session, name):
    return next(tool for tool in await session.tools() if tool["name"] == name)


async def check_revision(session):
    assert session.negotiated() == session.revision, session.negotiated()


async def check_list(session):
    names = [tool["name"] for tool in await session.tools()]
    assert names == TOOL_NAMES, names
    add = await tool(session, "add")
    assert add["description"] == "Adds two numbers.", add
    assert list(add["inputSchema"]["properties"]) == ["a", "b"], add
    assert sorted(add["inputSchema"]["required"]) == ["a", "b"], add


async def check_good_call(session):
    result = await session.call("add", {"a": 2, "b": 3})
    assert not result.get("isError"), result
    assert json.loads(only_text(result)) == {"sum": 5}, result


async def check_no_parameters(session):
    result = await session.call("test_simple_text", {})
    assert only_text(result) == "This is a simple text response for testing.", result


async def check_wrong_arguments(session):
    result = await session.call("add", {"a": "two"})
    assert result["isError"] is True, result
    assert result.get("structuredContent") is None, result
    names_both_arguments(only_text(result))


def names_both_arguments(text):
    assert {"a", "b"} <= set(re.findall(r"\w+", text)), f"the text does not name both arguments: {text}"


async def check_unknown_tool(session):
    try:
        result = await session.call("no_such_tool", {})
    except Exception as error:
        assert session.error_code(error) == -32602, repr(error)
    else:
        raise AssertionError(f"answered {result}")


async def check_structured_output(session):
    add = await tool(session, "add")
    result = await session.call("add", {"a": -7, "b": 7})
    if session.revision < "2025-06-18":
        assert add.get("outputSchema") is None, "`outputSchema` is younger than this revision"
        assert result.get("structuredContent") is None, "`structuredContent` is younger than this revision"
        return
    assert add["outputSchema"]["type"] == "object", add
    assert result["structuredContent"] == {"sum": 0}, result


async def check_content_blocks(session):
    text, image, resource = (await session.call("test_multiple_content_types", {}))["content"]
    assert text == {"type": "text", "text": "Multiple content types test:"}, text
    is_png(image)
    assert resource["type"] == "resource", resource
    assert resource["resource"]["uri"] == "test://mixed-content-resource", resource
    assert json.loads(resource["resource"]["text"]) == {"test": "data", "value": 123}, resource


def is_png(block):
    assert (block["type"], block["mimeType"]) == ("image", "image/png"), block
    assert base64.b64decode(block["data"])[1:4] == b"PNG", block


async def check_audio(session):
    (block,) = (await session.call("test_audio_content", {}))["content"]
    # 2024-11-05 has no audio block: it travels there as an embedded blob.
    data = block["resource"]["blob"] if session.revision < "2025-03-26" else block["data"]
    mime_type = (block["resource"] if session.revision < "2025-03-26" else block)["mimeType"]
    assert mime_type == "audio/wav", mime_type
    assert base64.b64decode(data)[:4] == b"RIFF", data


async def check_progress(session):
    seen = []

    async def on_progress(progress, total, _message):
        seen.append((progress, total))

    result = await session.call("test_tool_with_progress", {}, progress=on_progress)
    assert only_text(result) == "Done.", result
    assert seen == [(0, 100), (50, 100), (100, 100)], seen


async def check_streamed_answer(session):
    """Over HTTP this answer comes on an event stream, after the log messages that the revision lets the tool send."""
    result = await session.call("test_tool_with_logging", {})
    assert only_text(result) == "Logged three messages.", result


async def check_cancellation(session):
    async def cancelled_calls():
        return json.loads(only_text(await session.call("cancelled_calls", {})))["count"]

    before = await cancelled_calls()
    with anyio.CancelScope() as scope:

        async def running(_progress, _total, _message):
            await session.cancel_running_call(scope)

        # The tool reports once that it runs. Only then can it be cancelled.
        await session.call("wait_for_cancel", {}, progress=running)
    assert scope.cancelled_caught
    while await cancelled_calls() != before + 1:
        await anyio.sleep(0.02)
    assert json.loads(only_text(await session.call("add", {"a": 1, "b": 1}))) == {"sum": 2}


async def check_server_error(session):
    result = await session.call("test_error_handling", {})
    assert result["isError"] is True, result
    assert "This tool intentionally returns an error for testing" in only_text(result), result


async def check_list_changed(session):
    # A modern client subscribes before. A legacy client opens its stream at any time, so trigger the change until the client gets it.
    async with getattr(session, "listening", nullcontext)():
        while not await session.heard_list_change():
            await session.call("test_trigger_tool_change", {})


async def check_concurrent_calls(session):
    results = await asyncio.gather(*(session.call("add", {"a": n, "b": n}) for n in range(50)))
    assert [json.loads(only_text(result))["sum"] for result in results] == [2 * n for n in range(50)]


CHECKS = {
    "revision": check_revision,
    "list": check_list,
    "good call": check_good_call,
    "no parameters": check_no_parameters,
    "wrong arguments": check_wrong_arguments,
    "unknown tool": check_unknown_tool,
    "structured output": check_structured_output,
    "content blocks": check_content_blocks,
    "audio": check_audio,
    "progress": check_progress,
    "streamed answer": check_streamed_answer,
    "cancellation": check_cancellation,
    "server error": check_server_error,
    "list changed": check_list_changed,
    "concurrent calls": check_concurrent_calls,
}
