#!/usr/bin/env python3
"""Measures the cost of one `tools/call` of `add` for server and client: CPU instructions (callgrind) and heap allocations (memcheck).

    instructions.py SERVER [CLIENT...]    SERVER is the release build of `bench_server`, the first CLIENT that of `bench_client`

The cost of one call is (a run with 2,500 calls - a run with 500 calls) / 2,000, for the whole process, which has one core.
The calls go one after the other over one connection. Over HTTP it is the server's second connection; calls over the first of
all cost 1 % less. Timers make the instructions of a run vary by 0.1 %, so each run is made three times and the median counts.
The limits come from the table in the guide's chapter on speed: 102 % of the instructions, and one allocation more. Exits with 1 if a
limit is exceeded. It also prints the cost of a call of `add_pair`, without a limit. The argument of this tool is a struct, which is
checked against its schema.

A client starts SERVER as its child process, which is not counted, and makes the same call. `MOST_OF_CLIENT` is the limit of the first
CLIENT, in instructions for a call. Each further CLIENT is started with the same arguments, and the ratio to the first one is printed.

A `prompts/get` and a `resources/read` of a small text may take 110 % of the instructions of the `add` call over the same transport in
the same run. A `resources/read` of a template may take 130 %, because its URI is matched and its variable is decoded.
"""

import argparse
import os
import pathlib
import re
import signal
import socket
import statistics
import subprocess
import sys
import tempfile
import time

FEW, MANY = 500, 2500
INSTRUCTIONS, ALLOCATIONS = 1.02, 1
# A run takes a few seconds. A server that does not answer must not block the other runs.
SECONDS = 120

# The requests, byte for byte. `@ID@` stands for a number of ten digits, from 1000000000 upwards, `@LENGTH@` for the length of
# the body, `@PORT@` for the port of the server and `@SESSION@` for the session that it opened.
META = (
    b'"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28",'
    b'"io.modelcontextprotocol/clientInfo":{"name":"mcpload","version":"1.0.0"},'
    b'"io.modelcontextprotocol/clientCapabilities":{}}'
)
MODERN_CALL = (
    b'{"jsonrpc":"2.0","id":@ID@,"method":"tools/call","params":{"name":"add","arguments":{"a":2,"b":3},' + META + b"}}"
)
PAIR_CALL = MODERN_CALL.replace(b'"add","arguments":{"a":2,"b":3}', b'"add_pair","arguments":{"pair":{"a":2,"b":3}}')
LEGACY_CALL = b'{"jsonrpc":"2.0","id":@ID@,"method":"tools/call","params":{"name":"add","arguments":{"a":2,"b":3}}}'
GET = (
    b'{"jsonrpc":"2.0","id":@ID@,"method":"prompts/get","params":{"name":"greet","arguments":{"name":"Ada"},' + META + b"}}"
)
READ = b'{"jsonrpc":"2.0","id":@ID@,"method":"resources/read","params":{"uri":"bench://note",' + META + b"}}"
READ_TEMPLATE = READ.replace(b"bench://note", b"bench://notes/rust")
DISCOVER = b'{"jsonrpc":"2.0","id":0,"method":"server/discover","params":{' + META + b"}}"
INITIALIZE = (
    b'{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},'
    b'"clientInfo":{"name":"mcpload","version":"1.0.0"}}}'
)
INITIALIZED = b'{"jsonrpc":"2.0","method":"notifications/initialized"}'
HEAD = (
    b"POST /mcp HTTP/1.1\r\nHost: 127.0.0.1:@PORT@\r\nContent-Type: application/json\r\n"
    b"Accept: application/json, text/event-stream\r\n"
)
SESSION_HEAD = HEAD + b"MCP-Protocol-Version: 2025-11-25\r\nMcp-Session-Id: @SESSION@\r\n"
END = b"Content-Length: @LENGTH@\r\n\r\n"

# Options of valgrind, the pattern of the number in its output, and the number of runs.
TOOLS = {
    "instructions": (
        ["--tool=callgrind", "--callgrind-out-file={out}"],
        r"^totals: (\d+)$",
        3,
    ),
    "allocations": (
        ["--tool=memcheck", "--leak-check=no", "--undef-value-errors=no", "--log-file={out}"],
        r"total heap usage: ([\d,]+) allocs",
        1,
    ),
}


class Caller:
    """A client that starts the server, makes the calls and ends."""

    def __init__(self, command, calls, server):
        self.process = subprocess.Popen(
            [*command, str(calls), server], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, preexec_fn=one_core
        )

    def end(self):
        pass


class Wrong(Exception):
    """The measurement cannot be trusted."""


def limits(page):
    """Instructions and allocations of one call for each row of the chapter's table."""
    found = {}
    for name in MEASURED:
        row = re.search(rf"^\| {re.escape(name)} \| ([\d,]+) / (\d+) \|", page, re.MULTILINE)
        if row is None:
            raise Wrong(f"the table in the guide has no row `{name}` with `instructions / allocations`")
        found[name] = {"instructions": int(row[1].replace(",", "")), "allocations": int(row[2])}
    return found


SUM = b'"structuredContent":{"sum":5}'


def answered(answer, number, says=SUM):
    """Fails unless this is the result of call `number`: a refusal costs less than a call."""
    for part in (b'"id":%d,' % number, says, b'"result":{'):
        if part not in answer:
            raise Wrong(f"not the sum that answers call {number}: {answer[:500]!r}")


def one_core():
    """With one core the runtime starts one worker, so that the figures do not depend on the machine."""
    os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})


class Http:
    """A server on a port, and one connection to it."""

    def __init__(self, command):
        self.process = subprocess.Popen(
            [*command, "--http", "127.0.0.1:0"],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            preexec_fn=one_core,
        )
        self.port = None
        for line in self.process.stderr:
            if found := re.search(rb"listening on http://127\.0\.0\.1:(\d+)", line):
                self.port = found[1]
                break
        if self.port is None:
            raise Wrong("the server ended before it listened")
        self.connect().close()
        # Until the server has seen the end of the first connection.
        time.sleep(0.2)
        self.connection = self.connect()

    def connect(self):
        connection = socket.create_connection(("127.0.0.1", int(self.port)), SECONDS)
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        return connection

    def post(self, head, body):
        """Status, headers and body of the answer."""
        head = (head + END).replace(b"@PORT@", self.port).replace(b"@LENGTH@", b"%d" % len(body))
        self.connection.sendall(head + body)
        received = b""
        while b"\r\n\r\n" not in received:
            received += self.more()
        head, _, body = received.partition(b"\r\n\r\n")
        length = re.search(rb"\r\ncontent-length: (\d+)", head, re.IGNORECASE)
        # Other servers answer with a stream, which ends with an empty chunk.
        is_stream = re.search(rb"\r\ntransfer-encoding: chunked", head, re.IGNORECASE)
        while len(body) < (int(length[1]) if length else 0) or (is_stream and not body.endswith(b"0\r\n\r\n")):
            body += self.more()
        return head, body

    def more(self):
        part = self.connection.recv(1 << 16)
        if not part:
            raise Wrong("the server closed the connection")
        return part

    def end(self):
        self.connection.close()
        self.process.send_signal(signal.SIGTERM)
        self.process.stderr.close()


class Stdio:
    """A server that speaks over its standard input and output."""

    def __init__(self, command):
        self.process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, preexec_fn=one_core
        )

    def notify(self, line):
        self.process.stdin.write(line + b"\n")
        self.process.stdin.flush()

    def send(self, line):
        self.notify(line)
        answer = self.process.stdout.readline()
        if not answer:
            raise Wrong("the server closed its standard output")
        return answer

    def end(self):
        self.process.stdin.close()


def http_modern(command, calls, call=MODERN_CALL, names=(b"tools/call", b"add"), says=SUM):
    server = Http(command)
    head = HEAD + b"MCP-Protocol-Version: 2026-07-28\r\nMcp-Method: %s\r\nMcp-Name: %s\r\n" % names
    for number in range(1_000_000_000, 1_000_000_000 + calls):
        answered(server.post(head, call.replace(b"@ID@", b"%d" % number))[1], number, says)
    return server


def http_session(command, calls):
    server = Http(command)
    head, _ = server.post(HEAD, INITIALIZE)
    session = re.search(rb"\r\nmcp-session-id: ([!-~]+)", head, re.IGNORECASE)
    if session is None:
        raise Wrong(f"no session was opened: {head!r}")
    within = SESSION_HEAD.replace(b"@SESSION@", session[1])
    server.post(within, INITIALIZED)
    for number in range(1_000_000_000, 1_000_000_000 + calls):
        answered(server.post(within, LEGACY_CALL.replace(b"@ID@", b"%d" % number))[1], number)
    return server


def stdio_modern(command, calls, call=MODERN_CALL, says=SUM):
    server = Stdio(command)
    server.send(DISCOVER)
    for number in range(1_000_000_000, 1_000_000_000 + calls):
        answered(server.send(call.replace(b"@ID@", b"%d" % number)), number, says)
    return server


def stdio_with_token(command, calls):
    """Each call with a progress token of its own."""
    return stdio_modern(command, calls, MODERN_CALL.replace(b'"_meta":{', b'"_meta":{"progressToken":@ID@,'))


def stdio_two_clients(command, calls):
    """Two clients in turns, as behind a proxy."""
    server = Stdio(command)
    server.send(DISCOVER)
    for number in range(1_000_000_000, 1_000_000_000 + calls):
        call = MODERN_CALL if number % 2 else MODERN_CALL.replace(b"mcpload", b"another")
        answered(server.send(call.replace(b"@ID@", b"%d" % number)), number)
    return server


def stdio_legacy(command, calls):
    server = Stdio(command)
    server.send(INITIALIZE)
    server.notify(INITIALIZED)
    for number in range(1_000_000_000, 1_000_000_000 + calls):
        answered(server.send(LEGACY_CALL.replace(b"@ID@", b"%d" % number)), number)
    return server


def stdio_pair(command, calls):
    return stdio_modern(command, calls, PAIR_CALL)


MEASURED = {
    "HTTP, 2026-07-28": http_modern,
    "HTTP, session of 2025-11-25": http_session,
    "stdio, 2026-07-28": stdio_modern,
    "stdio, 2025-11-25": stdio_legacy,
    "stdio, 2026-07-28, a new progress token with each call": stdio_with_token,
    "stdio, 2026-07-28, two clients in turns": stdio_two_clients,
}
# The calls that are compared with `add` over the same transport. The last value is the maximum ratio of the instructions.
BESIDE_ADD = {
    "prompts/get": (GET, (b"prompts/get", b"greet"), b"Say hello to Ada.", 1.10),
    "resources/read": (READ, (b"resources/read", b"bench://note"), b"A short note.", 1.10),
    "resources/read of a template": (READ_TEMPLATE, (b"resources/read", b"bench://notes/rust"), b"note about rust.", 1.30),
}
# Most instructions of a call over the pipes of a child process, on the client's side.
MOST_OF_CLIENT = 28_440
# Printed without a limit.
SHOWN = {
    "stdio, 2026-07-28, a struct as argument": stdio_pair,
}


def total(server, run, calls, tool):
    """The counts of a process that answers this many calls, from its start to its end."""
    options, pattern, _ = TOOLS[tool]
    with tempfile.TemporaryDirectory() as folder:
        out = pathlib.Path(folder) / "out"
        running = run(["valgrind", *(option.format(out=out) for option in options), server], calls)
        running.end()
        code = running.process.wait(SECONDS)
        if code != 0:
            raise Wrong(f"it ended with {code}")
        found = re.search(pattern, out.read_text(), re.MULTILINE)
    if found is None:
        raise Wrong(f"valgrind did not report {tool}")
    return int(found[1].replace(",", ""))


def cost(server, run, tool):
    runs = TOOLS[tool][2]
    few, many = (statistics.median(total(server, run, calls, tool) for _ in range(runs)) for calls in (FEW, MANY))
    return (many - few) / (MANY - FEW)


def clients(commands, server):
    """Whether the first of the clients takes too many instructions for a call."""

    def run(command, calls):
        return Caller(command, calls, server)

    first = None
    for command in commands:
        name = pathlib.Path(command).name
        found = {tool: cost(command, run, tool) for tool in TOOLS}
        if first is None:
            first = found["instructions"]
            says = f"at most {MOST_OF_CLIENT:,}: {'ok' if first <= MOST_OF_CLIENT else 'TOO MANY'}"
        else:
            says = f"{found['instructions'] / first:.2f} of the first"
        print(f"{name}: {found['instructions']:,.1f} instructions, {says}; {found['allocations']:,.1f} allocations", flush=True)
    return first is not None and first > MOST_OF_CLIENT


def main():
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("server")
    arguments.add_argument("clients", nargs="*", metavar="client")
    parsed = arguments.parse_args()
    server = parsed.server
    page = pathlib.Path(__file__).resolve().parent.parent / "runtime/src/guide/speed.md"
    exceeded = False
    # One deadline for all runs, because a read from a pipe has no timeout.
    signal.alarm(SECONDS * (len(MEASURED) + len(BESIDE_ADD) + len(SHOWN) + len(parsed.clients)) * len(TOOLS))
    measured = {}
    for name, promised in limits(page.read_text()).items():
        for tool, most in (
            ("instructions", promised["instructions"] * INSTRUCTIONS),
            ("allocations", promised["allocations"] + ALLOCATIONS),
        ):
            one = cost(server, MEASURED[name], tool)
            measured[name, tool] = one
            word = "ok" if one <= most else "TOO MANY"
            exceeded |= one > most
            print(f"{name}: {one:,.1f} {tool}, guide {promised[tool]:,}, at most {most:,.0f}: {word}", flush=True)
    exceeded |= clients(parsed.clients, server)
    for name, (call, names, says, most) in BESIDE_ADD.items():
        runs = {
            "HTTP, 2026-07-28": lambda command, calls: http_modern(command, calls, call, names, says),
            "stdio, 2026-07-28": lambda command, calls: stdio_modern(command, calls, call, says),
        }
        for transport, run in runs.items():
            one, add = cost(server, run, "instructions"), measured[transport, "instructions"]
            word = "ok" if one <= most * add else "TOO MANY"
            exceeded |= one > most * add
            print(f"{transport}, {name}: {one:,.1f} instructions, {one / add:.2f} of `add`: {word}", flush=True)
    for name, run in SHOWN.items():
        for tool in TOOLS:
            print(f"{name}: {cost(server, run, tool):,.1f} {tool}", flush=True)
    return int(exceeded)


if __name__ == "__main__":
    try:
        sys.exit(main())
    except Wrong as wrong:
        sys.exit(f"instructions.py: {wrong}")
