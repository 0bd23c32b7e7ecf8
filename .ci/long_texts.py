#!/usr/bin/env python3
"""What a call costs whose argument and result are a text of ten million bytes.

    python3 .ci/long_texts.py SERVER [SERVER ...] [--http] [--escapes] [--calls N]

Each SERVER is a build of `bench_server`; several are called in turn, so that what else the machine does falls on all of them. Prints the
median of the CPU time of the server process and of the time until the answer is there, and the page faults of a call.
"""

import argparse
import json
import os
import socket
import statistics
import subprocess
import time

LENGTH = 10_000_000
# Calls that are not counted: until then the allocator learns how large the buffers are.
WARM_UP = 3


def request(with_escapes):
    """The bytes of the call. With escapes, every seventh byte of the text is one."""
    text = "abcdef\n" * (LENGTH // 7) if with_escapes else "x" * LENGTH
    meta = {
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientInfo": {"name": "long_texts", "version": "1"},
        "io.modelcontextprotocol/clientCapabilities": {},
    }
    params = {"name": "echo", "arguments": {"text": text}, "_meta": meta}
    return json.dumps({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}).encode()


class Stdio:
    """A server on pipes."""

    def __init__(self, command, body):
        self.process = subprocess.Popen([command], stdin=subprocess.PIPE, stdout=subprocess.PIPE, bufsize=0)
        self.line = body + b"\n"

    def call(self):
        left = memoryview(self.line)
        while left:
            left = left[os.write(self.process.stdin.fileno(), left) :]
        total, last = 0, b""
        while not last.endswith(b"\n"):
            last = os.read(self.process.stdout.fileno(), 1 << 18)
            if not last:
                raise SystemExit("the server ended")
            total += len(last)
        return total


class Http:
    """A server at a port of the loopback interface."""

    def __init__(self, command, body):
        environment = dict(os.environ, MAX_BODY=str(64 << 20))
        self.process = subprocess.Popen(
            [command, "--http", "127.0.0.1:0"], env=environment, stdin=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True
        )
        for line in self.process.stderr:
            if "listening on http://" in line:
                break
        else:
            raise SystemExit("the server did not say where it listens")
        address = line.split("http://")[1].split("/")[0]
        host, port = address.split(":")
        self.socket = socket.create_connection((host, int(port)))
        head = (
            f"POST /mcp HTTP/1.1\r\nHost: {address}\r\nContent-Type: application/json\r\n"
            "Accept: application/json, text/event-stream\r\nMCP-Protocol-Version: 2026-07-28\r\n"
            f"Mcp-Method: tools/call\r\nMcp-Name: echo\r\nContent-Length: {len(body)}\r\n\r\n"
        )
        self.request = head.encode() + body
        self.buffer = bytearray(1 << 20)

    def call(self):
        self.socket.sendall(self.request)
        read = b""
        while b"\r\n\r\n" not in read:
            more = self.socket.recv(1 << 16)
            if not more:
                raise SystemExit("the server closed the connection")
            read += more
        head, rest = read.split(b"\r\n\r\n", 1)
        if not head.startswith(b"HTTP/1.1 200"):
            raise SystemExit(f"refused: {head!r} {rest[:500]!r}")
        length = next(line for line in head.lower().split(b"\r\n") if line.startswith(b"content-length:"))
        total = int(length.split(b":")[1])
        left = total - len(rest)
        while left:
            left -= self.socket.recv_into(self.buffer, min(left, len(self.buffer)))
        return total


def cost(pid):
    """CPU time in milliseconds, and page faults, of a process so far."""
    nanoseconds = 0
    for thread in os.listdir(f"/proc/{pid}/task"):
        with open(f"/proc/{pid}/task/{thread}/schedstat") as file:
            nanoseconds += int(file.read().split()[0])
    with open(f"/proc/{pid}/stat") as file:
        faults = int(file.read().rsplit(")", 1)[1].split()[7])
    return nanoseconds / 1e6, faults


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("servers", nargs="+")
    parser.add_argument("--http", action="store_true")
    parser.add_argument("--escapes", action="store_true")
    parser.add_argument("--calls", type=int, default=15)
    options = parser.parse_args()
    body = request(options.escapes)
    servers = [(Http if options.http else Stdio)(server, body) for server in options.servers]
    figures = [[] for _ in servers]
    try:
        for turn in range(WARM_UP + options.calls):
            for server, found in zip(servers, figures):
                before, begun = cost(server.process.pid), time.perf_counter()
                if server.call() < LENGTH:
                    raise SystemExit("the answer lacks the text")
                wall = (time.perf_counter() - begun) * 1000
                # What the server does after its last byte belongs to the call too.
                time.sleep(0.01)
                after = cost(server.process.pid)
                if WARM_UP <= turn:
                    found.append((after[0] - before[0], wall, after[1] - before[1]))
        for name, found in zip(options.servers, figures):
            cpu, wall, faults = (statistics.median(column) for column in zip(*found))
            print(f"{name}: {cpu:.1f} ms of CPU, {wall:.1f} ms until the answer, {faults:.0f} page faults")
    finally:
        for server in servers:
            server.process.kill()
            server.process.wait()


if __name__ == "__main__":
    main()
