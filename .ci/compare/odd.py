"""Tools that misbehave. `odd.py --twice` has two of one name."""

import sys

from fastmcp import FastMCP

server = FastMCP("odd", version="1.0.0")


@server.tool
def fails() -> str:
    """Raises."""
    raise RuntimeError("on purpose")


@server.tool
def prints() -> str:
    """Prints to standard output."""
    print("working on it", flush=True)
    return "printed"


@server.tool
def works() -> str:
    """Returns a text."""
    return "first"


if "--twice" in sys.argv:

    @server.tool(name="works")
    def works_too() -> str:
        """Returns another text."""
        return "second"


server.run(show_banner=False)
