"""What a Python SDK with the core tasks of 2025-11-25 must see of the tools of `everything` that run as tasks.

A session has `session`, the client session of the SDK, whose `experimental` is under test.
"""

from harness import only_text
from mcp import types

FIRST_TASKS = "2025-11-25"


async def _begin(session, name, arguments):
    created = await session.session.experimental.call_tool_as_task(name, arguments)
    return created.task.taskId


async def _polled(session, task, *ends):
    """The status of the task when it is one of `ends`, or final."""
    async for polled in session.session.experimental.poll_task(task):
        status = polled.status
        if status in ends:
            break
    return status


async def _result(session, task):
    result = await session.session.experimental.get_task_result(task, types.CallToolResult)
    return result.model_dump(by_alias=True, exclude_none=True, mode="json")


async def check_task(session):
    arguments = {"seconds": 0.2, "label": "it"}
    if session.revision < FIRST_TASKS:
        # Answered in place.
        assert only_text(await session.call("slow_compute", arguments)) == "it: computed for 0.2 s"
        return
    task = await _begin(session, "slow_compute", arguments)
    status = await _polled(session, task)
    assert status == "completed", status
    assert only_text(await _result(session, task)) == "it: computed for 0.2 s"
    listed = await session.session.experimental.list_tasks()
    assert task in [one.taskId for one in listed.tasks], listed


async def check_failure(session):
    if session.revision >= FIRST_TASKS:
        task = await _begin(session, "failing_job", {})
        status = await _polled(session, task)
        assert status == "failed", status
        result = await _result(session, task)
        assert result["isError"] and only_text(result) == "this job always fails", result


async def check_protocol_error(session):
    if session.revision < FIRST_TASKS:
        return
    task = await _begin(session, "protocol_error_job", {})
    status = await _polled(session, task)
    assert status == "failed", status
    try:
        result = await _result(session, task)
    except Exception as error:
        assert session.error_code(error) == -32603 and "this job always ends in a protocol error" in str(error), error
    else:
        raise AssertionError(f"answered {result}")


async def check_never_a_task(session):
    assert only_text(await session.call("greet", {"name": "Ann"})) == "Hello, Ann!"
    if session.revision < FIRST_TASKS:
        return
    try:
        task = await _begin(session, "greet", {"name": "Ann"})
    except Exception as error:
        assert session.error_code(error) == -32601, repr(error)
    else:
        raise AssertionError(f"{task} is a task")


async def check_required(session):
    """A tool that runs as a task only: clients without tasks are served in place."""
    if session.revision < FIRST_TASKS:
        result = await session.call("failing_job", {})
        assert result["isError"] and only_text(result) == "this job always fails", result
        return
    try:
        result = await session.call("failing_job", {})
    except Exception as error:
        assert session.error_code(error) == -32601, repr(error)
    else:
        raise AssertionError(f"answered {result}")


async def check_asks(session):
    if session.revision >= FIRST_TASKS:
        for confirm, says in [(True, "notes would be gone now."), (False, "notes stays.")]:
            session.user.will(("accept", {"confirm": confirm}))
            task = await _begin(session, "confirm_delete", {"filename": "notes"})
            status = await _polled(session, task, "input_required")
            assert status == "input_required", status
            assert only_text(await _result(session, task)) == says
            assert session.user.asked == ["Delete notes?"], session.user.asked


async def check_cancelled(session):
    if session.revision >= FIRST_TASKS:
        task = await _begin(session, "slow_compute", {"seconds": 3600, "label": "it"})
        assert (await session.session.experimental.get_task(task)).status == "working"
        assert (await session.session.experimental.cancel_task(task)).status == "cancelled"
        assert (await session.session.experimental.get_task(task)).status == "cancelled"


TASK_CHECKS = {
    "task": check_task,
    "task that fails": check_failure,
    "task that ends in an error": check_protocol_error,
    "never a task": check_never_a_task,
    "only as a task": check_required,
    "task that asks": check_asks,
    "task that is cancelled": check_cancelled,
}
