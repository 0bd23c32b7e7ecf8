"""The client of FastMCP with `fastmcp-tasks`, which has the tasks extension of 2026-07-28."""

from contextlib import asynccontextmanager
from unittest import mock

import anyio
from fastmcp import Client
from fastmcp.client.elicitation import ElicitResult
from fastmcp.client.transports import StdioTransport, StreamableHttpTransport
from fastmcp.exceptions import ToolError
from fastmcp_tasks.client import call_tool_task
from fastmcp_tasks.client_models import GetTaskRequest
from mcp import MCPError

from asks import User
from harness import CHECK_SECONDS, check_good_call, check_revision, main, only_text


class Session:
    def __init__(self, client, revision, user, is_http):
        self.client = client
        self.revision = revision
        self.user = user
        self.is_http = is_http

    def negotiated(self):
        return self.client.protocol_version

    async def call(self, name, arguments):
        """Calls a tool as any other; this client waits for a task by itself."""
        return shown(await self.client.call_tool(name, arguments, raise_on_error=False))

    async def begin(self, name, arguments):
        return await call_tool_task(self.client, name, arguments, raise_on_error=False)


def shown(result):
    return {
        "content": [block.model_dump(by_alias=True, exclude_none=True, mode="json") for block in result.content],
        "structuredContent": result.structured_content,
        "isError": result.is_error,
    }


@asynccontextmanager
async def connected(transport, target, revision):
    user = User()

    async def fill_in(message, _response_type, params, _context):
        action, content = user.fill_in(message, getattr(params, "url", None))
        return ElicitResult(action=action, content=content)

    streams = StreamableHttpTransport(target) if transport == "http" else StdioTransport(target, [], keep_alive=False)
    async with Client(streams, mode="auto", timeout=CHECK_SECONDS, elicitation_handler=fill_in) as client:
        yield Session(client, revision, user, transport == "http")


async def check_task(session):
    task = await session.begin("slow_compute", {"seconds": 0.3, "label": "it"})
    status = await task.status()
    assert (status.status, status.result) == ("working", None), status
    assert status.task_id == task.task_id and status.poll_interval_ms > 0, status
    assert only_text(shown(await task.result())) == "it: computed for 0.3 s"
    status = await task.status()
    assert status.status == "completed", status
    assert status.result["content"][0]["text"] == "it: computed for 0.3 s", status


async def check_waited_for(session):
    result = await session.call("slow_compute", {"seconds": 0.1, "label": "it"})
    assert only_text(result) == "it: computed for 0.1 s", result


async def check_never_a_task(session):
    try:
        task = await session.begin("greet", {"name": "Ann"})
    except ToolError as error:
        assert "did not run as a task" in str(error), error
    else:
        raise AssertionError(f"{task.task_id} is a task")
    assert only_text(await session.call("greet", {"name": "Ann"})) == "Hello, Ann!"


async def check_failure(session):
    task = await session.begin("failing_job", {})
    # An error that the tool reports is its result.
    status = await task.wait(timeout=CHECK_SECONDS)
    assert status.status == "completed" and status.result["isError"] is True, status
    result = shown(await task.result())
    assert result["isError"] and only_text(result) == "this job always fails", result


async def check_protocol_error(session):
    task = await session.begin("protocol_error_job", {})
    status = await task.wait(timeout=CHECK_SECONDS)
    assert status.status == "failed" and status.result is None, status
    expected = {"code": -32603, "message": "this job always ends in a protocol error"}
    assert expected.items() <= status.error.items(), status
    result = await session.call("protocol_error_job", {})
    assert result["isError"] and only_text(result) == expected["message"], result


async def check_asks(session):
    for confirm, says in [(True, "notes would be gone now."), (False, "notes stays.")]:
        session.user.will(("accept", {"confirm": confirm}))
        task = await session.begin("confirm_delete", {"filename": "notes"})
        status = await task.wait(state="input_required", timeout=CHECK_SECONDS)
        (question,) = status.input_requests.values()
        assert question["method"] == "elicitation/create", question
        assert only_text(shown(await task.result())) == says
        assert session.user.asked == ["Delete notes?"], session.user.asked
    session.user.will(("decline", None))
    assert only_text(await session.call("confirm_delete", {"filename": "notes"})) == "notes stays."


async def check_asks_at_once(session):
    session.user.will(("accept", {"name": "Ann"}), ("accept", {"name": "Bob"}))
    assert only_text(await session.call("multi_input", {})) == "first Ann, then Bob"
    assert session.user.asked == ["Who comes first?", "Who comes second?"], session.user.asked


async def check_asks_before(session):
    """The question comes before the task: as a result of the call."""
    session.user.will(("accept", {"name": "Ann"}))
    assert only_text(await session.call("test_tool_with_task", {})) == "Hello, Ann, from a task."
    assert session.user.asked == ["What is your name?"], session.user.asked


async def check_cancelled(session):
    task = await session.begin("slow_compute", {"seconds": 3600, "label": "it"})
    assert (await task.status()).status == "working"
    # W-16: acknowledged twice.
    for _ in range(2):
        await task.cancel()
        assert (await task.status()).status == "cancelled"


async def check_unknown(session):
    task = await session.begin("slow_compute", {"seconds": 0, "label": "it"})
    task.create_result.task_id = "5f"
    try:
        status = await task.status()
    except MCPError as error:
        assert error.code == -32602 and "there is no task `5f`" in str(error), error
    else:
        raise AssertionError(f"answered {status}")


async def check_named(session):
    """The specification asks for the header `Mcp-Name` on these requests. The SDK sends it where a request says which member it repeats,
    and this package leaves that out, so in all other checks the server lets its absence pass."""
    task = await session.begin("slow_compute", {"seconds": 0, "label": "it"})
    with mock.patch.object(GetTaskRequest, "name_param", "taskId"):
        await task.status()


async def check_many(session):
    async with anyio.create_task_group() as group:
        said = {}

        async def one(number):
            said[number] = only_text(await session.call("slow_compute", {"seconds": 0.2, "label": str(number)}))

        for number in range(20):
            group.start_soon(one, number)
    assert said == {number: f"{number}: computed for 0.2 s" for number in range(20)}, said


main(
    "fastmcp-tasks",
    connected,
    {
        "revision": check_revision,
        "good call": check_good_call,
        "task": check_task,
        "task that is waited for": check_waited_for,
        "never a task": check_never_a_task,
        "task that fails": check_failure,
        "task that ends in an error": check_protocol_error,
        "task that asks": check_asks,
        "task that asks twice at once": check_asks_at_once,
        "questions before a task": check_asks_before,
        "task that is cancelled": check_cancelled,
        "task that nobody has": check_unknown,
        "requests that name their task": check_named,
        "many tasks": check_many,
    },
)
