#!/usr/bin/env python3
"""Sends mixed traffic of both eras to a server, and fails when a call fails or the server's memory grows.

    soak.py SERVER [--seconds 300] [--seed 1]      SERVER is a build of `soak_server`

One process serves HTTP, one standard input and output. Each client repeats, in an order that the seed decides: calls, event
streams with progress, sessions that are ended or abandoned, calls that are cancelled or whose client disconnects, questions that are
answered or abandoned, streams that are opened and abandoned, requests that must be refused. A wrong answer, or no answer within 30 s,
ends the run with an error.

The resident memory (VmRSS) is read once a second. The first third of the run is for warming up. The medians of the second and the last
third may not differ by more than 4 MiB, and the last may not exceed the second by more than a tenth. Linux only.
"""

import argparse
import asyncio
import json
import os
import pathlib
import random
import statistics
import sys
import time

HTTP_CLIENTS = 8
STDIO_CALLS = 4
ANSWER_SECONDS = 30
# How far memory may grow between the second and the last third: bytes, and per cent.
GROWTH, GROWTH_PERCENT = 4 << 20, 10
SESSION_SECONDS = 3
MODERN, LEGACY = "2026-07-28", ("2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25")
FORM_SINCE = "2025-06-18"
VERSION = "io.modelcontextprotocol/protocolVersion"


class Wrong(Exception):
    """The server did not do what it should."""


def expect(holds, what):
    if not holds:
        raise Wrong(what)


def request(ident, method, params=None, modern=False, capabilities=None, token=None):
    params = dict(params or {})
    meta = {}
    if modern:
        meta[VERSION] = MODERN
        meta["io.modelcontextprotocol/clientCapabilities"] = capabilities or {}
    if token is not None:
        meta["progressToken"] = token
    if meta:
        params["_meta"] = meta
    return {"jsonrpc": "2.0", "id": ident, "method": method, "params": params}


def tool(name, **arguments):
    return {"name": name, "arguments": arguments}


def notification(method, **params):
    return {"jsonrpc": "2.0", "method": method, "params": params}


def initialize(revision):
    capabilities = {"elicitation": {}} if revision >= FORM_SINCE else {}
    info = {"name": "soak", "version": "1"}
    return request(0, "initialize", {"protocolVersion": revision, "capabilities": capabilities, "clientInfo": info})


def text(message):
    try:
        return message["result"]["content"][0]["text"]
    except (KeyError, IndexError, TypeError):
        raise Wrong(f"a result was expected: {message}") from None


# --- HTTP ------------------------------------------------------------------------------------------------------------


class Response:
    """A response whose body is read message by message."""

    def __init__(self, connection, status, headers):
        self.connection, self.status, self.headers = connection, status, headers

    async def chunk(self):
        """The next piece of the body, or None at its end."""
        reader = self.connection.reader
        if "chunked" not in self.headers.get("transfer-encoding", ""):
            length, self.headers["content-length"] = int(self.headers.get("content-length", 0)), 0
            return await reader.readexactly(length) if length else None
        length = int(await reader.readline(), 16)
        piece = await reader.readexactly(length)
        expect(await reader.readexactly(2) == b"\r\n", "a chunk ends with a line end")
        return piece or None

    async def messages(self):
        """All messages, of one answer or of an event stream."""
        body = b""
        events = self.headers.get("content-type") == "text/event-stream"
        while (piece := await self.chunk()) is not None:
            body += piece
            while events and b"\n\n" in body:
                event, body = body.split(b"\n\n", 1)
                data = [line[6:] for line in event.split(b"\n") if line.startswith(b"data: ")]
                if data and data[0]:
                    yield json.loads(data[0])
        if not events and body:
            yield json.loads(body)

    async def answer(self):
        """The last message, which is the answer."""
        last = None
        async for last in self.messages():
            pass
        expect(last is not None, f"an answer was expected, with status {self.status}")
        return last


class Connection:
    def __init__(self, port):
        self.port, self.reader, self.writer = port, None, None

    async def send(self, message, session=None, revision=None, method="POST"):
        if self.writer is None:
            self.reader, self.writer = await asyncio.open_connection("127.0.0.1", self.port)
        body = json.dumps(message).encode() if isinstance(message, dict) else message or b""
        head = [f"{method} /mcp HTTP/1.1", f"host: 127.0.0.1:{self.port}", f"content-length: {len(body)}"]
        head.append("accept: " + ("text/event-stream" if method == "GET" else "application/json, text/event-stream"))
        if body:
            head.append("content-type: application/json")
        if session:
            head += [f"mcp-session-id: {session}", f"mcp-protocol-version: {revision}"]
        elif isinstance(message, dict) and VERSION in message.get("params", {}).get("_meta", {}):
            head += [f"mcp-protocol-version: {MODERN}", f"mcp-method: {message['method']}"]
            if "name" in message["params"]:
                head.append(f"mcp-name: {message['params']['name']}")
        self.writer.write("\r\n".join([*head, "", ""]).encode() + body)
        await self.writer.drain()
        status = int((await self.reader.readline()).split()[1])
        headers = {}
        while (line := await self.reader.readline()) != b"\r\n":
            name, value = line.decode().split(":", 1)
            headers[name.lower()] = value.strip()
        return Response(self, status, headers)

    def leave(self):
        """Closes the connection without a message."""
        if self.writer is not None:
            self.writer.transport.abort()
            self.reader = self.writer = None


class HttpClient:
    def __init__(self, port, dice, counts):
        self.port, self.dice, self.counts = port, dice, counts
        self.connection, self.ident = Connection(port), 0
        self.scenes = [
            self.call, self.call, self.call, self.stream, self.session, self.abandoned_session, self.modern_cancel,
            self.legacy_cancel, self.question, self.abandoned_question, self.listen, self.refused, self.timeout,
        ]

    def next_id(self):
        self.ident += 1
        return self.ident

    async def run(self, end):
        while time.monotonic() < end:
            scene = self.dice.choice(self.scenes)
            try:
                await asyncio.wait_for(scene(), ANSWER_SECONDS)
            except Wrong as error:
                raise Wrong(f"HTTP, {scene.__name__}: {error}") from None
            except Exception as error:
                raise Wrong(f"HTTP, {scene.__name__}: {error!r}") from error
            self.counts["HTTP " + scene.__name__] = self.counts.get("HTTP " + scene.__name__, 0) + 1
        self.connection.leave()

    async def post(self, message, **more):
        return await self.connection.send(message, **more)

    async def call(self):
        a, b = self.dice.randrange(1000), self.dice.randrange(1000)
        got = await self.post(request(self.next_id(), "tools/call", tool("add", a=a, b=b), modern=True))
        answer = await got.answer()
        expect(text(answer) == str(a + b), answer)

    async def stream(self):
        message = request(self.next_id(), "tools/call", tool("count", to=20), modern=True, token="t")
        message["params"]["_meta"]["io.modelcontextprotocol/logLevel"] = "debug"
        answer = await (await self.post(message)).answer()
        expect(text(answer) == "20", answer)

    async def opened(self):
        revision = self.dice.choice(LEGACY)
        got = await self.post(initialize(revision))
        answer = await got.answer()
        expect(answer["result"]["protocolVersion"] == revision, answer)
        session = {"session": got.headers["mcp-session-id"], "revision": revision}
        await self.notify(notification("notifications/initialized"), session)
        return session

    async def notify(self, message, session):
        got = await self.post(message, **session)
        expect(got.status == 202, f"{message} got status {got.status}")
        async for _ in got.messages():
            raise Wrong("a notification is not answered")

    async def session(self):
        session = await self.opened()
        listening = Connection(self.port)
        got = await listening.send(None, method="GET", **session)
        expect(got.status == 200, f"GET got status {got.status}")
        for _ in range(3):
            got = await self.post(request(self.next_id(), "tools/call", tool("count", to=5), token="p"), **session)
            answer = await got.answer()
            expect(text(answer) == "5", answer)
        got = await self.post(None, method="DELETE", **session)
        expect(got.status in (200, 202, 204), f"DELETE got status {got.status}")
        async for _ in got.messages():
            pass
        listening.leave()

    async def abandoned_session(self):
        await self.opened()

    async def modern_cancel(self):
        """The client disconnects."""
        other = Connection(self.port)
        name = self.dice.choice(["wait", "hold"])
        message = request(1, "tools/call", tool(name), modern=True, token="t")
        sending = asyncio.ensure_future(other.send(message))
        await asyncio.wait([sending], timeout=self.dice.random() / 20)
        sending.cancel()
        await asyncio.gather(sending, return_exceptions=True)
        other.leave()

    async def legacy_cancel(self):
        session = await self.opened()
        other, ident = Connection(self.port), self.next_id()
        sending = asyncio.ensure_future(other.send(request(ident, "tools/call", tool("wait")), **session))
        await asyncio.wait([sending], timeout=self.dice.random() / 20)
        await self.notify(notification("notifications/cancelled", requestId=ident), session)
        got = await sending
        # A cancelled call is not answered. A cancellation before its call has no effect, and the call ends by its time limit.
        async for message in got.messages():
            expect(message.get("result", {}).get("isError") is True, message)
        other.leave()

    async def asked(self, connection, session):
        """A call that asks, up to its question."""
        got = await connection.send(request(self.next_id(), "tools/call", tool("ask")), **session)
        messages = got.messages()
        async for message in messages:
            if message.get("method") == "elicitation/create":
                return message, messages
        raise Wrong("the server did not ask")

    async def forms(self):
        while True:
            session = await self.opened()
            if session["revision"] >= FORM_SINCE:
                return session

    async def question(self):
        session, other = await self.forms(), Connection(self.port)
        question, messages = await self.asked(other, session)
        answer = {"action": "accept", "content": {"people": self.dice.randrange(9)}}
        await self.notify({"jsonrpc": "2.0", "id": question["id"], "result": answer}, session)
        last = None
        async for last in messages:
            pass
        expect("Accept" in text(last), last)
        other.leave()

    async def abandoned_question(self):
        session, other = await self.forms(), Connection(self.port)
        await self.asked(other, session)
        other.leave()

    async def listen(self):
        other = Connection(self.port)
        notifications = {"notifications": {"toolsListChanged": True}}
        got = await other.send(request(self.next_id(), "subscriptions/listen", notifications, modern=True))
        async for message in got.messages():
            expect(message["method"] == "notifications/subscriptions/acknowledged", message)
            break
        other.leave()

    async def refused(self):
        for body, code in [
            (b"{", -32700),
            (b"[]", -32600),
            (request(self.next_id(), "tools/call", tool("none"), modern=True), -32602),
            (request(self.next_id(), "nothing/there", modern=True), -32601),
        ]:
            answer = await (await self.post(body)).answer()
            expect(answer["error"]["code"] == code, answer)

    async def timeout(self):
        if self.dice.random() < 0.1:
            answer = await (await self.post(request(self.next_id(), "tools/call", tool("hold"), modern=True))).answer()
            expect(answer["result"]["isError"] is True, answer)


# --- standard input and output ---------------------------------------------------------------------------------------


class StdioClient:
    """One session and modern calls on one stream, several calls at a time."""

    def __init__(self, process, dice, counts):
        self.process, self.dice, self.counts = process, dice, counts
        self.ident, self.waiting = 0, {}

    def write(self, message):
        self.process.stdin.write(json.dumps(message).encode() + b"\n")

    async def read(self):
        while line := await self.process.stdout.readline():
            message = json.loads(line)
            if message.get("method") == "elicitation/create":
                if self.dice.random() < 0.8:
                    self.write({"jsonrpc": "2.0", "id": message["id"], "result": {"action": "decline"}})
            elif "method" not in message:
                waiter = self.waiting.pop(message["id"], None)
                expect(waiter is not None, f"stdio: nobody asked for {message}")
                waiter.set_result(message)

    def send(self, method, params, **more):
        self.ident += 1
        self.waiting[self.ident] = asyncio.get_running_loop().create_future()
        self.write(request(self.ident, method, params, **more))
        return self.ident, self.waiting[self.ident]

    async def open(self):
        opening = initialize("2025-11-25")
        opening["id"] = "open"
        self.waiting["open"] = asyncio.get_running_loop().create_future()
        self.write(opening)
        await asyncio.wait_for(self.waiting["open"], ANSWER_SECONDS)
        self.write(notification("notifications/initialized"))

    async def run(self, end):
        while time.monotonic() < end:
            name = self.dice.choice(["add", "add", "count", "ask", "wait"])
            modern = name != "ask" and self.dice.random() < 0.5
            arguments = {"add": {"a": 1, "b": 2}, "count": {"to": 10}}.get(name, {})
            ident, answered = self.send("tools/call", tool(name, **arguments), modern=modern, token=self.ident)
            if name == "wait":
                await asyncio.sleep(self.dice.random() / 50)
                self.write(notification("notifications/cancelled", requestId=ident))
                self.waiting.pop(ident)
            else:
                answer = await asyncio.wait_for(answered, ANSWER_SECONDS)
                expected = {"add": "3", "count": "10"}.get(name)
                expect(expected is None or text(answer) == expected, f"stdio: {answer}")
            await self.process.stdin.drain()
            self.counts["stdio " + name] = self.counts.get("stdio " + name, 0) + 1


# --- the run ---------------------------------------------------------------------------------------------------------


def resident(process):
    """Bytes of memory in use."""
    status = pathlib.Path(f"/proc/{process.pid}/status").read_text()
    return next(int(line.split()[1]) << 10 for line in status.splitlines() if line.startswith("VmRSS:"))


def verdict(name, samples):
    """Reports the memory of the thirds, and whether it grew."""
    third = len(samples) // 3
    second, last = statistics.median(samples[third : 2 * third]), statistics.median(samples[2 * third :])
    grew = last - second > GROWTH or last > second * (1 + GROWTH_PERCENT / 100)
    word = "GROWS" if grew else "flat"
    print(f"{name}: {word}; {samples[0] >> 10} KiB at the start, then {int(second) >> 10} KiB and {int(last) >> 10} KiB")
    return not grew


async def watch(processes, samples, end):
    while time.monotonic() < end:
        for name, process in processes.items():
            expect(process.returncode is None, f"the server on {name} ended with {process.returncode}")
            samples[name].append(resident(process))
        await asyncio.sleep(1)


async def listening(process):
    """The port in the line that says where the server listens."""
    while line := (await process.stderr.readline()).decode():
        if "listening on http://127.0.0.1:" in line:
            return int(line.split("http://127.0.0.1:")[1].split("/")[0])
    raise Wrong("the server did not say where it listens")


async def drained(stream):
    while await stream.read(1 << 16):
        pass


async def soak(arguments, environment):
    pipe = asyncio.subprocess.PIPE
    http = await asyncio.create_subprocess_exec(
        arguments.server, "--http", "127.0.0.1:0", stderr=pipe, env=environment)
    stdio = await asyncio.create_subprocess_exec(arguments.server, stdin=pipe, stdout=pipe, stderr=pipe, env=environment)
    processes, counts = {"HTTP": http, "stdio": stdio}, {}
    samples = {name: [] for name in processes}
    try:
        port = await asyncio.wait_for(listening(http), ANSWER_SECONDS)
        end = time.monotonic() + arguments.seconds
        logs = [asyncio.ensure_future(drained(process.stderr)) for process in processes.values()]
        line = StdioClient(stdio, random.Random(arguments.seed), counts)
        reading = asyncio.ensure_future(line.read())
        await line.open()
        clients = [HttpClient(port, random.Random(arguments.seed + n), counts).run(end) for n in range(HTTP_CLIENTS)]
        working = asyncio.gather(watch(processes, samples, end), *clients, *(line.run(end) for _ in range(STDIO_CALLS)))
        done, _ = await asyncio.wait([working, reading], return_when=asyncio.FIRST_COMPLETED)
        for task in done:
            task.result()
        expect(working.done(), "the server closed its standard output")
        for task in (reading, *logs):
            task.cancel()
    finally:
        for process in processes.values():
            if process.returncode is None:
                process.kill()
            await process.wait()
    for name, count in sorted(counts.items()):
        print(f"{count:7} {name}")
    return all([verdict(name, samples[name]) for name in processes])


def main():
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("server")
    arguments.add_argument("--seconds", type=int, default=300)
    arguments.add_argument("--seed", type=int, default=1)
    arguments = arguments.parse_args()
    environment = {**os.environ, "SESSION_SECONDS": str(SESSION_SECONDS)}
    try:
        flat = asyncio.run(soak(arguments, environment))
    except Wrong as error:
        sys.exit(f"soak.py: {error}")
    if not flat:
        sys.exit("soak.py: the memory of the server grows")


if __name__ == "__main__":
    main()
