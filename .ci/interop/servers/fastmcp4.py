"""A server of FastMCP 4: both eras. `fastmcp4.py [--http PORT]`."""

import logging

from fastmcp import Context, FastMCP
from fastmcp.exceptions import ToolError
from mcp_types import (
    CreateMessageRequest,
    CreateMessageRequestParams,
    ElicitRequest,
    ElicitRequestFormParams,
    InputRequiredResult,
    SamplingMessage,
    TextContent,
    ToolListChangedNotification,
)
from offered import MODERN, Name, answered, matching, offer, port, sampled

logging.disable(logging.INFO)
server = FastMCP("fastmcp4", version="1.0.0")
SAID = SamplingMessage(role="user", content=TextContent(type="text", text="Say something."))


def is_legacy(context):
    return context.request_context.protocol_version < MODERN


async def ask(context):
    if is_legacy(context):
        return answered(await context.elicit("Who are you?", Name))
    if not context.input_responses:
        params = ElicitRequestFormParams(message="Who are you?", requested_schema=Name.model_json_schema())
        return InputRequiredResult(input_requests={"name": ElicitRequest(params=params)})
    return f"You are {context.input_responses['name'].content['name']}."


async def sample(context):
    # FastMCP has no method for it; that of the SDK below serves the legacy era.
    if is_legacy(context):
        result = await context.session.create_message([SAID], max_tokens=10, related_request_id=context.request_id)
        return sampled(result)
    if not context.input_responses:
        params = CreateMessageRequestParams(messages=[SAID], max_tokens=10)
        return InputRequiredResult(input_requests={"said": CreateMessageRequest(params=params)})
    return sampled(context.input_responses["said"])


async def changed(context):
    await context.send_notification(ToolListChangedNotification())


offer(server, Context, ask=ask, sample=sample, changed=changed, error=ToolError)


@server.completion()
async def complete(_, argument, __):
    return matching(argument.value)


PORT = port()
if PORT is None:
    server.run("stdio", show_banner=False)
else:
    server.run("http", show_banner=False, host="127.0.0.1", port=PORT, log_level="warning")
