"""A server of the Python SDK 2.x (`mcp`): both eras. `py2.py [--http PORT]`."""

import warnings

from mcp.server.mcpserver import Context, MCPServer
from mcp.server.mcpserver.exceptions import ToolError
from mcp_types import (
    Completion,
    CreateMessageRequest,
    CreateMessageRequestParams,
    ElicitRequest,
    ElicitRequestFormParams,
    InputRequiredResult,
    SamplingMessage,
    TextContent,
)
from offered import MODERN, Name, answered, matching, offer, port, sampled

# The SDK warns about what the modern era lacks; that is under test.
warnings.simplefilter("ignore")
server = MCPServer("py2", log_level="WARNING")
SAID = SamplingMessage(role="user", content=TextContent(type="text", text="Say something."))


async def ask(context):
    if context.protocol_version < MODERN:
        return answered(await context.elicit("Who are you?", Name))
    if not context.input_responses:
        params = ElicitRequestFormParams(message="Who are you?", requested_schema=Name.model_json_schema())
        return InputRequiredResult(input_requests={"name": ElicitRequest(params=params)})
    return f"You are {context.input_responses['name'].content['name']}."


async def sample(context):
    if context.protocol_version < MODERN:
        result = await context.session.create_message([SAID], max_tokens=10, related_request_id=context.request_id)
        return sampled(result)
    if not context.input_responses:
        params = CreateMessageRequestParams(messages=[SAID], max_tokens=10)
        return InputRequiredResult(input_requests={"said": CreateMessageRequest(params=params)})
    return sampled(context.input_responses["said"])


async def changed(context):
    if context.protocol_version < MODERN:
        await context.session.send_tool_list_changed()
    else:
        await context.notify_tools_changed()


offer(server, Context, ask=ask, sample=sample, changed=changed, error=ToolError)


@server.completion()
async def complete(_, argument, __):
    return Completion(values=matching(argument.value))


PORT = port()
if PORT is None:
    server.run("stdio")
else:
    server.run("streamable-http", host="127.0.0.1", port=PORT)
