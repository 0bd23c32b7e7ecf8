"""A server of the Python SDK 1.x (`mcp`): the legacy era. `py1.py [--http PORT]`."""

from mcp.server.fastmcp import Context, FastMCP
from mcp.server.fastmcp.exceptions import ToolError
from mcp.types import Completion, SamplingMessage, TextContent
from offered import Name, answered, matching, offer, port, sampled

PORT = port()
server = FastMCP("py1", host="127.0.0.1", port=PORT or 0, log_level="WARNING")


async def ask(context):
    return answered(await context.elicit("Who are you?", Name))


async def sample(context):
    said = SamplingMessage(role="user", content=TextContent(type="text", text="Say something."))
    return sampled(
        await context.session.create_message([said], max_tokens=10, related_request_id=context.request_id)
    )


async def changed(context):
    await context.session.send_tool_list_changed()


offer(server, Context, ask=ask, sample=sample, changed=changed, error=ToolError)


@server.completion()
async def complete(_, argument, __):
    return Completion(values=matching(argument.value))


server.run("stdio" if PORT is None else "streamable-http")
