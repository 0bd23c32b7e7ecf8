"""What every Python client must see of the `everything` example where it asks: the user of the client, its model, its roots.

A session has `user`, a `User` that the module of the client answers with, and `offer`, as `offers.py` has it.
"""

import json

from harness import only_text

FIRST_FORMS = "2025-06-18"
FIRST_CHOICES = "2025-11-25"
ROOTS = ["file:///a", "file:///b"]
MODEL_SAYS = "the model was here"


class User:
    """Answers as the checks say. A form that no check expects fails the call."""

    def __init__(self):
        self.decisions = []
        self.asked = []
        self.pages = []

    def will(self, *decisions):
        """Each decision is `(action, content)`, for one form each, in order."""
        self.decisions = list(decisions)
        self.asked = []
        self.pages = []

    def fill_in(self, message, url=None):
        self.asked.append(message)
        if url is not None:
            self.pages.append(url)
        return self.decisions.pop(0)

    def say(self, params):
        """What the model answers to `params`, both in the form of the protocol. If it has tools, it calls the first of them, and then
        says what that returned."""

        def message(content, reason):
            return {"role": "assistant", "model": "ci", "content": content, "stopReason": reason}

        if "tools" not in params:
            return message({"type": "text", "text": MODEL_SAYS}, "endTurn")
        content = params["messages"][-1]["content"]
        blocks = content if isinstance(content, list) else [content]
        returned = [block for block in blocks if block["type"] == "tool_result"]
        if not returned:
            call = {"type": "tool_use", "id": "call 1", "name": params["tools"][0]["name"], "input": {"a": 2, "b": 3}}
            return message([call], "toolUse")
        assert returned[0]["toolUseId"] == "call 1", returned
        return message({"type": "text", "text": f"it is {returned[0]['content'][0]['text']}"}, "endTurn")


def _accept(**content):
    return "accept", content


async def _ask(session, name, *decisions, arguments={}):
    session.user.will(*decisions)
    result = await session.call(name, arguments)
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


async def check_fixture_form(session):
    if session.revision < FIRST_FORMS:
        return
    name, arguments = "test_elicitation", {"message": "Who are you?"}
    person = {"username": "ada", "email": "ada@example.com"}
    result = await _ask(session, name, _accept(**person), arguments=arguments)
    assert session.user.asked == ["Who are you?"], session.user.asked
    assert _decided(result, "User response: action=accept, content=") == person, result
    result = await _ask(session, name, ("decline", None), arguments=arguments)
    assert only_text(result) == "User response: action=decline, content=null", result


async def check_defaults(session):
    if session.revision < FIRST_FORMS:
        return
    defaults = {"name": "John Doe", "age": 30, "score": 95.5, "status": "active", "verified": True}
    other = {"name": "Jane Smith", "age": 25, "score": 88.0, "status": "inactive", "verified": False}
    for entered, values in [({}, defaults), (other, other)]:
        result = await _ask(session, "test_elicitation_sep1034_defaults", _accept(**entered))
        assert _decided(result, "Elicitation completed: action=accept, content=") == values, result


async def check_choices(session):
    name = "test_elicitation_sep1330_enums"
    chosen = {
        "untitledSingle": "option1",
        "titledSingle": "value2",
        "legacyEnum": "opt3",
        "untitledMulti": ["option1", "option2"],
        "titledMulti": ["value3"],
    }
    if session.revision >= FIRST_CHOICES:
        result = await _ask(session, name, _accept(**chosen))
        assert _decided(result, "Elicitation completed: action=accept, content=") == chosen, result
    elif session.revision >= FIRST_FORMS:
        result = await session.call(name, {})
        assert result["isError"] and session.revision in only_text(result), result


def _decided(result, before):
    """What the user entered, in a text that begins with `before`."""
    text = only_text(result)
    assert text.startswith(before), result
    return json.loads(text.removeprefix(before))


async def check_rounds(session):
    if session.revision >= FIRST_FORMS:
        result = await _ask(session, "test_input_required_result_multi_round", _accept(name="Ada"), _accept(color="red"))
        assert only_text(result) == "Ada likes red.", result


async def check_wrong_answer(session):
    if session.revision >= FIRST_FORMS:
        result = await _ask(session, "test_input_required_result_elicitation", _accept(name=12345), _accept(name="Ada"))
        assert only_text(result) == "Hello, Ada!", result
        wrong = _accept(username="Ada"), _accept(username="Ada", email=5)
        right = _accept(username="Ada", email="ada@example.com")
        result = await _ask(session, "test_elicitation", *wrong, right, arguments={"message": "Who are you?"})
        assert '"email":"ada@example.com"' in only_text(result), result


async def check_model(session):
    result = await _ask(session, "test_input_required_result_sampling")
    assert only_text(result) == f"The model says: {MODEL_SAYS}", result


async def check_fixture_model(session):
    result = await _ask(session, "test_sampling", arguments={"prompt": "Say something."})
    assert only_text(result) == f"LLM response: {MODEL_SAYS}", result


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
    "form of the suite": check_fixture_form,
    "defaults": check_defaults,
    "choices": check_choices,
    "two rounds": check_rounds,
    "wrong answer": check_wrong_answer,
    "model": check_model,
    "model of the suite": check_fixture_model,
    "roots": check_roots,
    "several questions": check_several_at_once,
    "prompt and resource that ask": check_prompt_and_resource,
}
