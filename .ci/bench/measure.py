#!/usr/bin/env python3
"""Compares Trueform with rmcp, and with the lowest possible cost of the same requests.

    measure.py [PART...]

Builds the servers in release mode and prints one table for each part; without a PART, all of them. Servers and requests are the same
for all: the requests of `instructions.py`, `examples/servers/src/bin/bench_server.rs`, and the programs in `rivals`. `limit` there has no
protocol: it reads the request into borrowed types and writes the answer, over hyper or over pipes.

    calls     instructions and heap allocations of one call of `add`, by valgrind
    flat      instructions of a call at 1, 100 and 10,000 tools, prompts, resources, sessions and subscriptions
    large     an echo of 10 MB, plain and with an escape after every 6 bytes: time, CPU time, page faults and memory of the server
    pipelined CPU seconds of 100,000 calls over stdio, 64 in flight
    stream    a tool that reports 100,000 times: reports a second, and CPU seconds of the server
    busy      latency of `add` while 64 calls wait, 1,000 streams listen and another client calls `echo` with 10 MB
    idle      memory that the server keeps for a session and for a connection that wait
    cores     CPU seconds of 100,000 calls over HTTP of 16 clients, with one core and with two
    build     CPU seconds of a clean release build of a server with two tools over stdio, and the crates that it consists of

Times depend on the machine and its other work, so only compare the columns of one table with each other. Needs Linux, cargo and,
for `calls` and `flat`, valgrind.
"""

import argparse
import multiprocessing
import os
import pathlib
import re
import resource
import socket
import statistics
import subprocess
import sys
import tempfile
import threading
import time

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
sys.path.insert(0, str(HERE.parent))
import instructions as one  # noqa: E402: it is in the folder above

# Nothing here takes longer on a slow machine.
SECONDS = 300
MEBIBYTE = 1 << 20
TICKS = os.sysconf("SC_CLK_TCK")


def built():
    """The executables, by name, in the order of the columns."""
    target = pathlib.Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target")).resolve()
    release = ["cargo", "build", "--release", "--quiet"]
    subprocess.run([*release, "-p", "trueform-examples", "--bin", "bench_server"], cwd=ROOT, check=True)
    rivals = {**os.environ, "CARGO_TARGET_DIR": str(target / "bench")}
    subprocess.run([*release, "--locked"], cwd=HERE / "rivals", env=rivals, check=True)
    return {
        "limit": target / "bench/release/limit",
        "Trueform": target / "release/bench_server",
        "rmcp": target / "bench/release/rmcp",
    }


def table(head, rows):
    """Prints rows as Markdown."""
    print(f"\n| {' | '.join(head)} |\n|{' --- |' + ' --: |' * (len(head) - 1)}", flush=True)
    for row in rows:
        print(f"| {' | '.join(str(cell) for cell in row)} |", flush=True)


# --- servers and connections -----------------------------------------------------------------------------------------


class Server:
    """A server over HTTP, its environment, and the cores that it may use."""

    def __init__(self, executable, cores=None, **environment):
        def prepare():
            resource.setrlimit(resource.RLIMIT_NOFILE, (FILES, FILES))
            if cores is not None:
                os.sched_setaffinity(0, cores)

        self.process = subprocess.Popen(
            [executable, "--http", "127.0.0.1:0"],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            preexec_fn=prepare,
            env={**os.environ, **{name: str(value) for name, value in environment.items()}},
        )
        self.port = 0
        for line in self.process.stderr:
            if found := re.search(rb"listening on http://127\.0\.0\.1:(\d+)", line):
                self.port = int(found[1])
                break
        if self.port == 0:
            raise one.Wrong(f"{executable} ended before it listened")
        # Later output is not kept, but it must be read so that the server does not block.
        threading.Thread(target=self.process.stderr.read, daemon=True).start()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.kill()
        self.process.wait(SECONDS)

    def connect(self):
        return Connection(self.port)


def cpu(process):
    """CPU seconds of a process until now."""
    stat = pathlib.Path(f"/proc/{process.pid}/stat").read_text().rsplit(")", 1)[1].split()
    return (int(stat[11]) + int(stat[12])) / TICKS


def memory(process):
    """Resident memory of a process, in MiB."""
    return int(re.search(r"VmRSS:\s+(\d+)", pathlib.Path(f"/proc/{process.pid}/status").read_text())[1]) / 1024


class Connection:
    """One connection over HTTP/1.1. Answers are read by their length or by their chunks."""

    def __init__(self, port):
        self.socket = socket.create_connection(("127.0.0.1", port), SECONDS)
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.port = port
        self.rest = b""

    def send(self, body, head=b"", method=b"POST"):
        self.socket.sendall(self.request(body, head, method))

    def request(self, body, head=b"", method=b"POST"):
        return (
            b"%s /mcp HTTP/1.1\r\nHost: 127.0.0.1:%d\r\nContent-Type: application/json\r\n"
            b"Accept: application/json, text/event-stream\r\n%sContent-Length: %d\r\n\r\n" % (method, self.port, head, len(body))
        ) + body

    def more(self):
        part = self.socket.recv(MEBIBYTE)
        if not part:
            raise one.Wrong("the server closed the connection")
        return part

    def head(self):
        while b"\r\n\r\n" not in self.rest:
            self.rest += self.more()
        head, _, self.rest = self.rest.partition(b"\r\n\r\n")
        return head

    def answer(self):
        """Head and body of the next answer."""
        head = self.head()
        if length := re.search(rb"\r\ncontent-length: (\d+)", head, re.IGNORECASE):
            parts, size = [self.rest], len(self.rest)
            while size < int(length[1]):
                parts.append(self.more())
                size += len(parts[-1])
            whole = b"".join(parts)
            self.rest = whole[int(length[1]) :]
            return head, whole[: int(length[1])]
        while not self.rest.endswith(b"0\r\n\r\n"):
            self.rest += self.more()
        body, self.rest = self.rest, b""
        return head, body

    def post(self, body, head=b""):
        self.send(body, head)
        return self.answer()


def modern(tool):
    return b"MCP-Protocol-Version: 2026-07-28\r\nMcp-Method: tools/call\r\nMcp-Name: %s\r\n" % tool


def call(tool, arguments, number, meta=one.META):
    return b'{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":"%s","arguments":%s,%s}}' % (
        number,
        tool,
        arguments,
        meta,
    )


def session(connection):
    """The head of requests in a new session."""
    head, _ = connection.post(one.INITIALIZE)
    found = re.search(rb"\r\nmcp-session-id: ([!-~]+)", head, re.IGNORECASE)
    if found is None:
        raise one.Wrong(f"no session was opened: {head!r}")
    head = b"MCP-Protocol-Version: 2025-11-25\r\nMcp-Session-Id: %s\r\n" % found[1]
    connection.post(one.INITIALIZED, head)
    return head


# --- parts -----------------------------------------------------------------------------------------------------------


def calls(servers):
    rows = []
    for name, run in one.MEASURED.items():
        row = {server: [one.cost(str(path), run, tool) for tool in one.TOOLS] for server, path in servers.items()}
        ratio = row["rmcp"][0] / row["Trueform"][0]
        rows.append([name, *(f"{cost:,.0f} / {allocations:.0f}" for cost, allocations in row.values()), f"{ratio:.1f}"])
    table(["instructions / allocations of a call", *servers, "rmcp / Trueform"], rows)


def flat(servers):
    """What grows with the number of things that a server has."""

    def listed(variable, request, says):
        def cost(count):
            def run(command, calls):
                command = ["env", f"{variable}={count}", *command]
                return one.stdio_modern(command, calls, request, says)

            return one.cost(str(servers["Trueform"]), run, "instructions")

        return cost

    def sessions(count):
        def run(command, calls):
            server = one.Http(command)
            opener = Connection(int(server.port))
            heads = [session(opener) for _ in range(count)]
            # The first one may have been closed meanwhile, because it was silent.
            server.connection = server.connect()
            within = one.SESSION_HEAD.split(b"MCP-Protocol-Version")[0] + heads[count // 2]
            for number in range(1_000_000_000, 1_000_000_000 + calls):
                one.answered(server.post(within, one.LEGACY_CALL.replace(b"@ID@", b"%d" % number))[1], number)
            return server

        return one.cost(str(servers["Trueform"]), run, "instructions")

    def subscriptions(count):
        """One subscription to each of `count` resources, of which one changes with each call."""
        touch = one.LEGACY_CALL.replace(b'"add","arguments":{"a":2,"b":3}', b'"touch","arguments":{"uri":"bench://made/0000"}')

        def run(command, calls):
            server = one.Stdio(["env", f"RESOURCES={count}", *command])
            server.send(one.INITIALIZE)
            server.process.stdin.write(one.INITIALIZED + b"\n")
            for number in range(count):
                server.send(
                    b'{"jsonrpc":"2.0","id":%d,"method":"resources/subscribe","params":{"uri":"bench://made/%04d"}}'
                    % (number + 1, number)
                )
            for number in range(1_000_000_000, 1_000_000_000 + calls):
                lines = [server.send(touch.replace(b"@ID@", b"%d" % number)), server.process.stdout.readline()]
                if sum(b"resources/updated" in line for line in lines) != 1:
                    raise one.Wrong(f"not an answer and a notification: {lines!r}")
            return server

        return one.cost(str(servers["Trueform"]), run, "instructions")

    tool = one.MODERN_CALL.replace(b'"add"', b'"tool_0000"')
    prompt = one.GET.replace(b'"greet","arguments":{"name":"Ada"}', b'"prompt_0000"')
    read = one.READ.replace(b"bench://note", b"bench://made/0000")
    measured = {
        "tools": listed("TOOLS", tool, b'"ok"'),
        "prompts": listed("PROMPTS", prompt, b'"ok"'),
        "resources": listed("RESOURCES", read, b'"ok"'),
        "sessions over HTTP": sessions,
        "subscriptions, one of which is notified": subscriptions,
    }
    counts = (1, 100, 10_000)
    rows = []
    for name, cost in measured.items():
        found = [cost(count) for count in counts]
        rows.append([name, *(f"{cost:,.0f}" for cost in found), f"{found[-1] / found[0]:.2f}"])
    table(["instructions of a call with as many", *(f"{count:,}" for count in counts), "10,000 / 1"], rows)


def large(servers):
    plain = b"x" * 10_000_000
    escaped = b"abcdef\\n" * (10_000_000 // 8)
    rows = []
    for name, text in {"plain": plain, "escapes": escaped}.items():
        for transport, echo in {"HTTP": echo_http, "stdio": echo_stdio}.items():
            taken = {server: [] for server in servers}
            left = {}
            # In turns, so that a slower phase of the machine affects all servers.
            for _ in range(3):
                for server, path in servers.items():
                    found, left[server] = echo(path, b'{"text":"%s"}' % text)
                    taken[server] += found
            cells = [
                f"{' / '.join(f'{statistics.median(column):.0f}' for column in zip(*found))} / {left[server]:.0f}"
                for server, found in taken.items()
            ]
            rows.append([f"{transport}, {name}", *cells])
    table(["echo of 10 MB: ms until the answer / CPU ms / page faults / MiB 2 s later", *servers], rows)


# The first calls are not counted: until then the allocator learns how large the buffers are.
ECHOES, LEARNING = 9, 3


def spent(process):
    """CPU milliseconds and page faults of a process until now."""
    threads = pathlib.Path(f"/proc/{process.pid}/task").iterdir()
    nanoseconds = sum(int((thread / "schedstat").read_text().split()[0]) for thread in threads)
    stat = pathlib.Path(f"/proc/{process.pid}/stat").read_text().rsplit(")", 1)[1].split()
    return nanoseconds / 1e6, int(stat[7])


def echoes(process, echo, arguments):
    """What each call took: milliseconds, CPU milliseconds, page faults; and the memory of the server 2 s after the last."""
    found = []
    for number in range(ECHOES):
        before, begin = spent(process), time.perf_counter()
        answer = echo(call(b"echo", arguments, number))
        elapsed = (time.perf_counter() - begin) * 1000
        if len(answer) < len(arguments) - 10:
            raise one.Wrong(f"not an echo: {answer[:300]!r}")
        # The work of the server after its last byte belongs to the call too.
        time.sleep(0.01)
        after = spent(process)
        found.append((elapsed, after[0] - before[0], after[1] - before[1]))
    time.sleep(2)
    return found[LEARNING:], memory(process)


def echo_http(path, arguments):
    with Server(path, MAX_BODY=64 * MEBIBYTE) as server:
        connection = server.connect()
        return echoes(server.process, lambda request: connection.post(request, modern(b"echo"))[1], arguments)


def echo_stdio(path, arguments):
    server = one.Stdio([str(path)])
    server.send(one.DISCOVER)

    def echo(request):
        # The client writes while it reads, because a server may answer before it has read all.
        def write():
            server.process.stdin.write(request + b"\n")
            server.process.stdin.flush()

        writing = threading.Thread(target=write)
        writing.start()
        answer = server.process.stdout.readline()
        writing.join()
        return answer

    found = echoes(server.process, echo, arguments)
    server.end()
    server.process.wait(SECONDS)
    return found


def pipelined(servers):
    total, at_once = 100_000, 64

    def run(path):
        server = one.Stdio([str(path)])
        server.send(one.DISCOVER)
        before = cpu(server.process)
        for start in range(0, total, at_once):
            batch = range(1_000_000_000 + start, 1_000_000_000 + min(start + at_once, total))
            server.process.stdin.write(b"".join(one.MODERN_CALL.replace(b"@ID@", b"%d" % number) + b"\n" for number in batch))
            server.process.stdin.flush()
            for _ in batch:
                if one.SUM not in server.process.stdout.readline():
                    raise one.Wrong("not a sum")
        used = cpu(server.process) - before
        server.end()
        server.process.wait(SECONDS)
        return used

    in_turns("CPU seconds of 100,000 calls, 64 in flight, stdio", servers, run, "{:.3f}")


def in_turns(title, servers, run, shown, rounds=3):
    """Prints the median of some rounds, of each server."""
    found = {server: [] for server in servers}
    for _ in range(rounds):
        for server, path in servers.items():
            found[server].append(run(path))
    medians = {server: statistics.median(values) for server, values in found.items()}
    ratio = medians["rmcp"] / medians["Trueform"]
    table([title, *servers, "rmcp / Trueform"], [["median", *(shown.format(m) for m in medians.values()), f"{ratio:.1f}"]])


def stream(servers):
    servers = {name: path for name, path in servers.items() if name != "limit"}
    reports = 100_000
    token = one.META.replace(b'"_meta":{', b'"_meta":{"progressToken":"t",')
    request = call(b"count", b'{"to":%d}' % reports, 1, token)
    rows = []

    def row(transport, run):
        for name, path in servers.items():
            seen, seconds, used = run(path)
            rows.append([f"{transport}, {name}", f"{seen:,}", f"{seen / seconds:,.0f}", f"{used:.2f}"])

    def http(path):
        with Server(path) as server:
            connection = server.connect()
            begin = time.perf_counter()
            connection.send(request, modern(b"count"))
            connection.head()
            tail = connection.rest
            seen = tail.count(b"notifications/progress")
            while b'"result":' not in tail:
                part = tail + connection.more()
                # Keep the bytes that may be the beginning of the next word.
                seen += part.count(b"notifications/progress") - tail.count(b"notifications/progress")
                tail = part[-400:]
            return seen, time.perf_counter() - begin, cpu(server.process)

    def stdio(path):
        server = one.Stdio([str(path)])
        server.send(one.DISCOVER)
        begin = time.perf_counter()
        server.process.stdin.write(request + b"\n")
        server.process.stdin.flush()
        seen = 0
        for line in server.process.stdout:
            if b'"result":' in line:
                break
            seen += 1
        found = seen, time.perf_counter() - begin, cpu(server.process)
        server.end()
        server.process.wait(SECONDS)
        return found

    row("HTTP", http)
    row("stdio", stdio)
    table([f"a tool that reports {reports:,} times", "reports received", "a second", "CPU s of the server"], rows)


FILES = 4096


def keep_echoing(port, stop):
    connection = Connection(port)
    text = b'{"text":"%s"}' % (b"x" * 10_000_000)
    while not stop.is_set():
        connection.post(call(b"echo", text, 1), modern(b"echo"))


def busy(servers):
    rows = []
    resource.setrlimit(resource.RLIMIT_NOFILE, (FILES, FILES))
    for name, path in servers.items():
        if name == "limit":
            continue
        for load in (False, True):
            with Server(path, MAX_BODY=64 * MEBIBYTE) as server:
                held, stop = [], multiprocessing.Event()
                if load:
                    for number in range(64):
                        held.append(server.connect())
                        held[-1].send(call(b"wait", b'{"milliseconds":600000}', number), modern(b"wait"))
                    for _ in range(1000):
                        held.append(server.connect())
                        held[-1].send(b"", session(held[-1]), b"GET")
                        held[-1].head()
                    echoing = multiprocessing.Process(target=keep_echoing, args=(server.port, stop), daemon=True)
                    echoing.start()
                times = []
                connection = server.connect()
                for number in range(2000):
                    begin = time.perf_counter()
                    _, body = connection.post(call(b"add", b'{"a":2,"b":3}', number), modern(b"add"))
                    times.append((time.perf_counter() - begin) * 1000)
                    if one.SUM not in body:
                        raise one.Wrong(f"not a sum: {body[:300]!r}")
                stop.set()
                if load:
                    echoing.terminate()
                    echoing.join(SECONDS)
                times.sort()
                rows.append(
                    [
                        f"{name}, {'under load' if load else 'alone'}",
                        *(f"{times[int(len(times) * share)]:.2f}" for share in (0.5, 0.99, 0.999)),
                    ]
                )
    table(["milliseconds of `add` over HTTP", "median", "p99", "p99.9"], rows)


def idle(servers):
    """The first ones are not counted: they also make the room that all of them share."""
    resource.setrlimit(resource.RLIMIT_NOFILE, (FILES, FILES))

    def kept(process, first, more, opened):
        held = [opened() for _ in range(first)]
        before = memory(process)
        held += [opened() for _ in range(more)]
        return f"{(memory(process) - before) * MEBIBYTE / 1000 / more:.1f}"

    rows = []
    for name, path in servers.items():
        if name == "limit":
            continue
        with Server(path) as server:

            def connected():
                connection = server.connect()
                connection.post(call(b"add", b'{"a":2,"b":3}', 1), modern(b"add"))
                return connection

            connection = server.connect()
            sessions = kept(server.process, 1000, 8000, lambda: session(connection))
            rows.append([name, sessions, kept(server.process, 100, 900, connected)])
    table(["KB for each one that waits", "session", "connection"], rows)


def cores(servers):
    """The load is small for the client, which sends several requests in one write."""
    all_cores = sorted(os.sched_getaffinity(0))
    if len(all_cores) < 2:
        raise one.Wrong("this needs two cores")
    clients, at_once, rounds = 16, 16, 391

    def run(path, at):
        with Server(path, cores=set(at)) as server:
            connections = [server.connect() for _ in range(clients)]
            request = connections[0].request(call(b"add", b'{"a":2,"b":3}', 1), modern(b"add")) * at_once
            begin, before = time.perf_counter(), cpu(server.process)
            for _ in range(rounds):
                for connection in connections:
                    connection.socket.sendall(request)
                for connection in connections:
                    for _ in range(at_once):
                        if one.SUM not in connection.answer()[1]:
                            raise one.Wrong("not a sum")
            scale = 100_000 / (clients * at_once * rounds)
            return (cpu(server.process) - before) * scale, (time.perf_counter() - begin) * scale

    rows = []
    for name, path in servers.items():
        found = {count: [run(path, all_cores[:count]) for _ in range(3)] for count in (1, 2)}
        medians = [statistics.median(value[0] for value in found[count]) for count in (1, 2)]
        rows.append([name, *(f"{value:.2f}" for value in medians), f"{medians[1] / medians[0]:.2f}"])
    table(["CPU seconds of 100,000 calls over HTTP, 16 clients", "one core", "two cores", "two / one"], rows)




def trueform(features=""):
    """The dependencies of a server of Trueform."""
    return f"""
trueform = {{ path = "{ROOT}/runtime"{features} }}
serde = {{ version = "1", features = ["derive"] }}
tokio = {{ version = "1", features = ["macros", "rt-multi-thread"] }}
"""


# The dependencies of each package, and its program.
PACKAGES = {
    "Trueform": (trueform(), "trueform"),
    "Trueform without its client": (trueform(', default-features = false, features = ["ask"]'), "trueform"),
    "rmcp": (
        """
rmcp = { version = "=3.11.0", default-features = false, features = ["macros", "server", "transport-io"] }
schemars = "1"
serde = { version = "1", features = ["derive"] }
tokio = { version = "1", features = ["macros", "rt-multi-thread"] }
""",
        "rmcp",
    ),
}


def build(_):
    rows = []
    for name, (dependencies, program) in PACKAGES.items():
        with tempfile.TemporaryDirectory() as folder:
            package = pathlib.Path(folder)
            (package / "src").mkdir()
            head = '[package]\nname = "hello"\nversion = "0.0.0"\nedition = "2024"\n\n[workspace]\n\n[dependencies]'
            (package / "Cargo.toml").write_text(head + dependencies)
            (package / "src/main.rs").write_text((HERE / f"hello/{program}.rs").read_text())
            environment = {**os.environ, "CARGO_TARGET_DIR": str(package / "target")}
            subprocess.run(["cargo", "fetch", "--quiet"], cwd=package, env=environment, check=True)
            before = resource.getrusage(resource.RUSAGE_CHILDREN)
            subprocess.run(["cargo", "build", "--release", "--quiet"], cwd=package, env=environment, check=True)
            after = resource.getrusage(resource.RUSAGE_CHILDREN)
            tree = ["cargo", "tree", "--prefix=none", "--edges=normal,build", "--format={p}"]
            listed = subprocess.run(tree, cwd=package, env=environment, check=True, capture_output=True, text=True).stdout
            crates = {line.removesuffix(" (*)") for line in listed.splitlines()}
            used = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
            size = (package / "target/release/hello").stat().st_size / MEBIBYTE
            # Without the package of the server itself.
            rows.append([name, f"{used:.0f}", len(crates) - 1, f"{size:.1f}"])
    table(["a clean release build", "CPU s", "crates", "MiB"], rows)


PARTS = {part.__name__: part for part in (calls, flat, large, pipelined, stream, busy, idle, cores, build)}


def main():
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("parts", nargs="*", metavar="part", choices=[*PARTS, []], help=", ".join(PARTS))
    parts = arguments.parse_args().parts or list(PARTS)
    servers = built()
    for part in parts:
        PARTS[part](servers)


if __name__ == "__main__":
    try:
        main()
    except one.Wrong as wrong:
        sys.exit(f"measure.py: {wrong}")
