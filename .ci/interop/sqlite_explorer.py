"""The official Python SDK 2.x (`mcp`) as a client of the example `sqlite_explorer`: both eras.

Over HTTP the server is started here too: the target is its executable both times.
"""

import asyncio
import json
import re
import sqlite3
import sys
import tempfile
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path
from unittest import mock

from mcp import Client, MCPError, StdioServerParameters
from mcp_types import ElicitResult, PromptReference, ResourceTemplateReference

from asks import User
from harness import CHECK_SECONDS, FIRST_MODERN, check_revision, main

TABLE = "sqlite://tables/{table}"


class Session:
    def __init__(self, client, revision, user):
        self.client = client
        self.revision = revision
        self.user = user

    def negotiated(self):
        return self.client.protocol_version


@asynccontextmanager
async def serving(command, *arguments):
    """Starts a server over HTTP, and yields its URL."""
    pipe, null = asyncio.subprocess.PIPE, asyncio.subprocess.DEVNULL
    server = await asyncio.create_subprocess_exec(
        command, *arguments, "--http", "127.0.0.1:0", stdin=null, stdout=null, stderr=pipe
    )
    try:
        async with asyncio.timeout(CHECK_SECONDS):
            while not (found := re.search(rb"listening on (http:\S+)", line := await server.stderr.readline())):
                assert line, "the server ended"
        # Its output is read on, so that it never waits for a reader.
        reading = asyncio.create_task(server.stderr.read())
        yield found[1].decode()
        server.terminate()
        async with asyncio.timeout(CHECK_SECONDS):
            await server.wait()
            await reading
    finally:
        if server.returncode is None:
            server.kill()


@asynccontextmanager
async def standing_by(transport, target, *arguments):
    """What the client connects to."""
    if transport == "http":
        async with serving(target, *arguments) as url:
            yield url
    else:
        yield StdioServerParameters(command=target, args=arguments)


@asynccontextmanager
async def connected(transport, target, revision, *, options=()):
    modern = revision >= FIRST_MODERN
    user = User()

    async def fill_in(_context, params):
        action, content = user.fill_in(params.message)
        return ElicitResult(action=action, content=content)

    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "shop.db"
        with sqlite3.connect(file) as database:
            database.execute("CREATE TABLE customers (id INTEGER PRIMARY KEY, name TEXT)")
            database.execute("INSERT INTO customers VALUES (1, 'Ada'), (2, 'Bob')")
        database.close()
        async with standing_by(transport, target, str(file), *options) as server:
            mode = "auto" if modern else "legacy"
            client = Client(server, mode=mode, read_timeout_seconds=CHECK_SECONDS, elicitation_callback=fill_in)
            # This SDK always offers its newest handshake revision; the constant is the only way to offer an older one.
            with mock.patch("mcp.client.session.LATEST_HANDSHAKE_VERSION", "unused" if modern else revision):
                await client.__aenter__()
            try:
                yield Session(client, revision, user)
            finally:
                await client.__aexit__(None, None, None)


async def check_lists(session):
    client = session.client
    assert [tool.name for tool in (await client.list_tools()).tools] == ["query", "execute", "schema"]
    assert [prompt.name for prompt in (await client.list_prompts()).prompts] == ["explain_table"]
    assert [str(one.uri) for one in (await client.list_resources()).resources] == ["sqlite://schema"]
    templates = (await client.list_resource_templates()).resource_templates
    assert [template.uri_template for template in templates] == [TABLE]


async def check_query(session):
    arguments = {"sql": "SELECT name FROM customers WHERE id = ?", "parameters": [2]}
    result = await session.client.call_tool("query", arguments)
    assert result.structured_content == {"columns": ["name"], "rows": [["Bob"]], "more": False}, result


async def check_write(session):
    for tool, says in [("query", "only reads"), ("execute", "reading only")]:
        result = await session.client.call_tool(tool, {"sql": "DELETE FROM customers"})
        assert result.is_error and says in result.content[0].text, result
    assert session.user.asked == [], session.user.asked


async def check_resources(session):
    read = await session.client.read_resource("sqlite://schema")
    assert read.contents[0].text.startswith("CREATE TABLE customers"), read
    read = await session.client.read_resource("sqlite://tables/customers")
    assert json.loads(read.contents[0].text)["rows"] == 2, read
    try:
        read = await session.client.read_resource("sqlite://tables/nothing")
    except MCPError as error:
        expected = -32602 if session.revision >= FIRST_MODERN else -32002
        assert error.code == expected, error
    else:
        raise AssertionError(read)


async def check_completion(session):
    for reference in (ResourceTemplateReference(uri=TABLE), PromptReference(name="explain_table")):
        result = await session.client.complete(reference, {"name": "table", "value": "cu"})
        assert result.completion.values == ["customers"], result


async def check_prompt(session):
    result = await session.client.get_prompt("explain_table", {"table": "customers", "question": "Who is it?"})
    table, question = result.messages
    assert str(table.content.resource.uri) == "sqlite://tables/customers", table
    assert question.content.text.endswith("Who is it?"), question


DELETE = {"sql": "DELETE FROM customers WHERE id = ?", "parameters": [2]}
QUESTION = "This statement writes to the database. Run it?\n\nParameters: [2]\n\nDELETE FROM customers WHERE id = ?"


async def count(session):
    result = await session.client.call_tool("query", {"sql": "SELECT count(*) FROM customers"})
    return result.structured_content["rows"][0][0]


async def check_asked_first(session):
    for action, outcome, left in [("decline", "declined", 2), ("cancel", "cancelled", 2), ("accept", "executed", 1)]:
        session.user.will((action, {} if action == "accept" else None))
        result = await session.client.call_tool("execute", DELETE)
        assert not result.is_error and result.structured_content["outcome"] == outcome, result
        assert session.user.asked == [QUESTION], session.user.asked
        assert await count(session) == left, outcome
    assert result.structured_content["changed_rows"] == 1, result


async def check_bad_statement(session):
    session.user.will()
    result = await session.client.call_tool("execute", {"sql": "DELETE FROM custmers"})
    assert result.is_error and "no such table: custmers" in result.content[0].text, result
    assert session.user.asked == [], session.user.asked


CHECKS = {
    "revision": check_revision,
    "lists": check_lists,
    "query": check_query,
    "a write is refused": check_write,
    "resources": check_resources,
    "completion": check_completion,
    "prompt": check_prompt,
}

WRITE_CHECKS = {
    "revision": check_revision,
    "the user is asked before a write": check_asked_first,
    "a bad statement is not asked about": check_bad_statement,
}

# `--write` behind the target stands for the server that is started with it.
if "--write" in sys.argv:
    sys.argv.remove("--write")
    main("sqlite_explorer_write", partial(connected, options=["--write"]), WRITE_CHECKS)
else:
    main("sqlite_explorer", connected, CHECKS)
