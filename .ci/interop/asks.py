"""What every Python client must see of the `everything` example where it asks: the user of the client, its model, its roots.

A session has `user`, a `User` that the module of the client answers with, and `offer`, as `offers.py` has it.
"""

from harness import only_text

FIRST_FORMS = "2025-06-18"
ROOTS = ["file:///a", "file:///b"]
MODEL_SAYS = "the model was here"


class User:
    """Answers as the checks say. A form that no check expects fails the call."""

    def __init__(self):
        self.decisions = []
        self.asked = []

    def will(self, *decisions):
        """Each decision is `(action, content)`, for one form each, in order."""
        self.decisions = list(decisions)
        self.asked = []

    def fill_in(self, message):
        self.asked.append(message)
        return self.decisions.pop(0)


def _accept(**content):
    return "accept", content


async def _ask(session, name, *decisions):
    session.user.will(*decisions)
    result = await session.call(name, {})
    if session.revision >= FIRST_FORMS:
        assert not session.user.decisions, f"never asked: {session.user.decisions}"
    return result


async def check_form(session):
    name = "test_input_required_result_elicitation"
    if session.revision < FIRST_FORMS:
        result = await _ask(session, name)
        assert result["isError"] and "elicitation" in only_text(result), result
        return
    assert only_text(await _ask(session, name, _accept(name="Ada"))) == "Hello, Ada!"
    assert session.user.asked == ["What is your name?"], session.user.asked
    for action in ["decline", "cancel"]:
        assert only_text(await _ask(session, name, (action, None))) == "Hello, stranger!"


async def check_rounds(session):
    if session.revision >= FIRST_FORMS:
        result = await _ask(session, "test_input_required_result_multi_round", _accept(name="Ada"), _accept(color="red"))
        assert only_text(result) == "Ada likes red.", result


async def check_wrong_answer(session):
    if session.revision >= FIRST_FORMS:
        result = await _ask(session, "test_input_required_result_elicitation", _accept(name=12345), _accept(name="Ada"))
        assert only_text(result) == "Hello, Ada!", result


async def check_model(session):
    result = await _ask(session, "test_input_required_result_sampling")
    assert only_text(result) == f"The model says: {MODEL_SAYS}", result


async def check_roots(session):
    result = await _ask(session, "test_input_required_result_list_roots")
    assert only_text(result) == f"2 roots: {', '.join(ROOTS)}", result


async def check_several_at_once(session):
    if session.revision >= FIRST_FORMS:
        result = await _ask(session, "test_input_required_result_multiple_inputs", _accept(name="Ada"))
        assert only_text(result) == f"{MODEL_SAYS}, Ada! You have 2 roots.", result


async def check_prompt_and_resource(session):
    if session.revision < FIRST_FORMS:
        return
    session.user.will(_accept(context="the sea"))
    prompt = await session.offer("get_prompt", "test_input_required_result_prompt")
    assert prompt["messages"][0]["content"]["text"] == "Use this context: the sea", prompt
    session.user.will(_accept(name="Ada"))
    resource = await session.offer("read_resource", "test://asks-first")
    assert resource["contents"][0]["text"] == "Read by Ada.", resource


ASK_CHECKS = {
    "form": check_form,
    "two rounds": check_rounds,
    "wrong answer": check_wrong_answer,
    "model": check_model,
    "roots": check_roots,
    "several questions": check_several_at_once,
    "prompt and resource that ask": check_prompt_and_resource,
}
