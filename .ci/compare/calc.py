from fastmcp import FastMCP

server = FastMCP("calc", version="1.0.0")


@server.tool
def add(a: int, b: int) -> int:
    """Add two numbers."""
    return a + b


server.run()
