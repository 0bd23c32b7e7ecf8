"""What every Python client must see of the fixtures of `everything` that the official suite has no use for: pages, many completions,
updates of one resource, pages to visit, a model with tools.

A session has these besides: `again(paged=False)`, which connects once more; `await page(cursor)`, one page of tools; `updates(uri)`,
which subscribes, and yields the list of the URIs that are heard; `complete`, as `offers.py` has it.
"""

import anyio

from harness import TOOL_NAMES, only_text

PAGE_SIZE = 7
FIRST_PAGES_TO_VISIT = "2025-11-25"
ONE = "test://static-text"
OTHER = "test://watched-resource"


async def check_pages(session):
    async with session.again(paged=True) as paged:
        names, pages, cursor = [], 0, None
        while pages == 0 or cursor is not None:
            page = await paged.page(cursor)
            assert len(page["tools"]) <= PAGE_SIZE, page
            names += [tool["name"] for tool in page["tools"]]
            cursor = page.get("nextCursor")
            pages += 1
    assert names == TOOL_NAMES, names
    assert pages == -(-len(TOOL_NAMES) // PAGE_SIZE), pages


async def check_many_completions(session):
    async def complete(value):
        result = await session.complete("prompt", "pick_number", {"name": "number", "value": value})
        return result["completion"]

    completion = await complete("")
    assert completion["values"] == [str(number) for number in range(1, 101)], completion
    assert (completion["total"], completion["hasMore"]) == (150, True), completion
    completion = await complete("14")
    assert completion["values"] == ["14", *(str(number) for number in range(140, 150))], completion
    assert not completion.get("hasMore"), completion


async def check_updates(session):
    """Two clients, each with a resource of its own, hear of that one only. Over HTTP they are clients of one server."""

    async def touched(toucher, uris, heard):
        # A legacy client opens its stream at any time. A wrong notification would arrive before the expected one.
        before = len(heard)
        while len(heard) == before:
            for uri in uris:
                result = await toucher.call("touch_resource", {"uri": uri})
                assert not result["isError"], result
            await anyio.sleep(0.02)

    async with session.again() as second, session.updates(ONE) as heard, second.updates(OTHER) as heard_by_second:
        await touched(session, [OTHER, ONE], heard)
        await touched(second, [ONE, OTHER], heard_by_second)
        await touched(session, [OTHER, ONE], heard)
        assert (set(heard), set(heard_by_second)) == ({ONE}, {OTHER}), (heard, heard_by_second)


async def check_visit(session):
    if session.revision < FIRST_PAGES_TO_VISIT:
        await _refused(session, "ask_url", {}, "elicitation")
        return
    for action, says in [
        ("accept", "You agreed to visit the page."),
        ("decline", "You declined."),
        ("cancel", "You cancelled."),
    ]:
        session.user.will((action, None))
        assert only_text(await session.call("ask_url", {})) == says
        assert session.user.pages == ["https://example.com/sign-in"], session.user.pages


async def check_model_with_tools(session):
    question = {"question": "What is 2 + 3?"}
    if session.revision < FIRST_PAGES_TO_VISIT:
        await _refused(session, "sample_with_tools", question, "sampling")
        return
    result = await session.call("sample_with_tools", question)
    assert only_text(result) == "After 2 rounds: it is 5", result


async def _refused(session, tool, arguments, part):
    """A tool that the client cannot serve fails, as a result or an error."""
    try:
        result = await session.call(tool, arguments)
    except Exception as error:
        assert part in str(error), repr(error)
    else:
        assert result["isError"] and part in only_text(result), result


MORE_CHECKS = {
    "pages": check_pages,
    "more completions than fit": check_many_completions,
    "updates of one resource": check_updates,
    "page to visit": check_visit,
    "model with tools": check_model_with_tools,
}
