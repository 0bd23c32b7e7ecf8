"""What the servers written with the Python libraries offer. `offered.mjs` has the same for TypeScript; `examples/interop_client`
asks for it."""

import sys

import anyio
from pydantic import BaseModel

NAMES = ["Ada", "Alan", "Grace"]
MODERN = "2026-07-28"

cancelled = 0


class Sum(BaseModel):
    sum: int


class Name(BaseModel):
    name: str


def offer(server, Context, *, ask, sample, changed, error):
    """`ask(context)` and `sample(context)` return the text of the tool, or what the library has for questions of the modern era.
    `changed(context)` notifies that the tools have changed. `error` is the exception of a tool that fails."""

    @server.tool()
    def add(a: int, b: int) -> Sum:
        """Add two numbers."""
        return Sum(sum=a + b)

    @server.tool()
    def fail() -> str:
        """Fail."""
        raise error("failed on purpose")

    @server.tool()
    async def count(to: int, context: Context) -> str:
        """Count, and say how far it is."""
        for number in range(1, to + 1):
            await context.report_progress(number, to)
        return "counted"

    @server.tool()
    async def wait(context: Context) -> str:
        """Wait until the call is cancelled."""
        global cancelled
        await context.report_progress(1)
        try:
            await anyio.sleep_forever()
        finally:
            cancelled += 1

    @server.tool(name="cancelled")
    def how_many() -> str:
        """How many calls of `wait` were cancelled."""
        return str(cancelled)

    # Without a type of the result, which may be a question.
    @server.tool(name="ask")
    async def ask_name(context: Context):
        """Ask the user for a name."""
        return await ask(context)

    @server.tool(name="sample")
    async def have_said(context: Context):
        """Have the model say something."""
        return await sample(context)

    @server.tool()
    async def change(context: Context) -> str:
        """Say that the tools have changed."""
        await changed(context)
        return "changed"

    @server.resource("note://one", mime_type="text/plain")
    def note() -> str:
        return "The note."

    @server.resource("notes://{name}", mime_type="text/plain")
    def notes(name: str) -> str:
        return f"The note of {name}."

    @server.prompt()
    def greet(name: str) -> str:
        """Greet somebody."""
        return f"Greet {name}."


def matching(typed):
    return [name for name in NAMES if name.startswith(typed)]


def answered(result):
    return f"You are {result.data.name}." if result.action == "accept" else result.action


def sampled(result):
    return f"{result.model} says: {result.content.text}"


def port():
    """The port after `--http`, or `None` without arguments."""
    match sys.argv[1:]:
        case []:
            return None
        case ["--http", port]:
            return int(port)
        case _:
            sys.exit(f"usage: {sys.argv[0]} [--http PORT]")
