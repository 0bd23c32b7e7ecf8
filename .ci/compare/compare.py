#!/usr/bin/env python3
"""Makes the README's comparison: measures the same server, written with each library, and prints the table.

    compare.py --cache FOLDER [--build]

The servers are beside this file: `calc`, a tool that adds two integers, and `odd`, tools that misbehave. Trueform's `calc` is the program
at the top of the README. For each row, each server is started again, over stdio, and gets plain JSON-RPC messages.

FOLDER receives the other libraries, from PyPI and npm, in the versions that CI's clients have, and the builds of both Rust servers.
`--build` also measures clean release builds of `calc`, user and system time, which takes some minutes; without it that row is left out.

The rows that this prints must be equal to those of the README. What no call can show must be in the packages, as `SOURCES` says. If
something differs, it prints the difference and exits with 1.
"""

import argparse
import json
import os
import pathlib
import queue
import re
import resource
import shutil
import subprocess
import sys
import tempfile
import threading

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
README = ROOT / "README.md"
REVISIONS = ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25", "2026-07-28"]
# The timeout of an answer. Starting Python takes the longest.
SECONDS = 60
# After this many seconds without an answer, a call counts as unanswered.
SILENCE = 5
# One argument of the wrong type, one that is missing, one that is unknown.
FAULTY = {"a": "two", "c": 3}


# Evidence for cells of the README that no call can show: the row, the library, the files below its packages, and a text that one of these
# files must contain. If the text begins with `ABSENT`, no file may contain it.
ABSENT = "absent: "
SOURCES = [
    ("OAuth", "rmcp", "src/transport/auth.rs", "struct AuthorizationManager"),
    ("OAuth", "FastMCP", "fastmcp/server/auth/oauth_proxy/*.py", "class OAuthProxy"),
    ("OAuth", "FastMCP", "fastmcp/client/auth/oauth.py", "class OAuth"),
    ("OAuth", "TypeScript SDK", "server/dist/*.mjs", "requireBearerAuth"),
    ("OAuth", "TypeScript SDK", "client/dist/*.d.mts", "interface OAuthClientProvider"),
    ("results", "rmcp", "Cargo.toml", ABSENT + "jsonschema"),
    ("results", "FastMCP", "mcp_types/methods.py", "def serialize_server_result"),
    ("results", "FastMCP", "mcp/server/runner.py", "serialize_server_result("),
    ("results", "TypeScript SDK", "server/dist/*.mjs", "Output validation error"),
    ("test", "rmcp", "src/service/client.rs", "tokio::io::duplex("),
    ("test", "FastMCP", "fastmcp/client/transports/memory.py", "class FastMCPTransport"),
    ("test", "TypeScript SDK", "server/dist/index.d.mts", "InMemoryTransport"),
    ("sessions", "rmcp", "src/transport/streamable_http_server/session.rs", "trait SessionManager"),
    ("sessions", "FastMCP", "fastmcp/server/event_store.py", "RedisStore"),
    ("sessions", "TypeScript SDK", "server/dist/*.d.mts", "interface EventStore"),
    ("OpenAPI", "rmcp", "Cargo.toml", ABSENT + "openapi"),
    ("OpenAPI", "TypeScript SDK", "server/dist/*.mjs", ABSENT + "OpenAPI"),
    ("OpenAPI", "FastMCP", "fastmcp/server/providers/openapi/*.py", "class OpenAPIProvider"),
    ("proxies", "FastMCP", "fastmcp/server/providers/proxy.py", "class ProxyProvider"),
    ("HTTP+SSE", "FastMCP", "fastmcp/server/**/*.py", "def create_sse_app"),
    ("HTTP+SSE", "rmcp", "src/**/*.rs", ABSENT + "SseServer"),
    ("HTTP+SSE", "TypeScript SDK", "server/dist/*.mjs", ABSENT + "SSEServerTransport"),
]


class Server:
    """A server as a child process."""

    def __init__(self, command):
        self.process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, bufsize=1, cwd=tempfile.gettempdir()
        )
        self.lines = queue.Queue()
        self.strange = []
        threading.Thread(target=self.read, daemon=True).start()

    def read(self):
        for line in self.process.stdout:
            self.lines.put(line)
        self.lines.put(None)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.kill()
        self.process.wait()

    def send(self, message):
        try:
            self.process.stdin.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")
        except BrokenPipeError:
            # The server has ended. `answer` reports this.
            pass

    def answer(self, identifier, seconds=SECONDS):
        """The response with this id, or `None` if it does not arrive in time. Lines that are not JSON-RPC are kept in `strange`."""
        while True:
            try:
                line = self.lines.get(timeout=seconds)
            except queue.Empty:
                return None
            if line is None:
                return None
            try:
                message = json.loads(line)
            except ValueError:
                self.strange.append(line)
                continue
            if message.get("id") == identifier:
                return message

    def ask(self, identifier, method, params, seconds=SECONDS):
        self.send({"id": identifier, "method": method, "params": params})
        return self.answer(identifier, seconds)

    def open(self, revision):
        """Makes the handshake of `revision`, and returns whether the server supports this revision."""
        if revision == "2026-07-28":
            self.meta = {
                "_meta": {
                    "io.modelcontextprotocol/protocolVersion": revision,
                    "io.modelcontextprotocol/clientInfo": {"name": "compare", "version": "1.0.0"},
                    "io.modelcontextprotocol/clientCapabilities": {},
                }
            }
            answer = self.ask(0, "server/discover", self.meta)
            return revision in ((answer or {}).get("result") or {}).get("supportedVersions", [])
        self.meta = {}
        params = {"protocolVersion": revision, "capabilities": {}, "clientInfo": {"name": "compare", "version": "1.0.0"}}
        answer = self.ask(0, "initialize", params)
        self.send({"method": "notifications/initialized"})
        return ((answer or {}).get("result") or {}).get("protocolVersion") == revision

    def call(self, identifier, name, arguments=None, seconds=SECONDS):
        return self.ask(identifier, "tools/call", {"name": name, "arguments": arguments or {}, **self.meta}, seconds)


def text(answer):
    """The text of an answer that the model, or the client, reads."""
    if "error" in answer:
        return json.dumps(answer["error"])
    return "\n".join(block.get("text", "") for block in answer["result"]["content"])


def serves(command, revision):
    """Whether a call of `add` has the right answer at `revision`."""
    with Server(command) as server:
        if not server.open(revision):
            return False
        listed = server.ask(1, "tools/list", server.meta)
        names = [tool["name"] for tool in listed["result"]["tools"]]
        answer = server.call(2, "add", {"a": 2, "b": 3})
        if names != ["add"] or "5" not in text(answer):
            sys.exit(f"{command} does not add at {revision}: {names}, {answer}")
        return True


def faults(command):
    """How many of the faults of a call the answer reports: the type of `a`, the absence of `b`, and `c`. It names the argument, or quotes
    its value."""
    with Server(command) as server:
        server.open("2025-11-25")
        answer = server.call(1, "add", FAULTY)
        if "error" not in answer and not answer["result"].get("isError"):
            sys.exit(f"{command} takes wrong arguments: {answer}")
        found = text(answer)
        named = [name for name in "abc" if re.search(rf"""[/`"'\.]{name}\b|^{name}$|(^| ){name}: """, found, re.MULTILINE) or name == "a" and FAULTY["a"] in found]
        print(f"-- {command[-1]} answers {len(named)} of 3 faults:\n{found}\n", file=sys.stderr)
        return len(named)


def after_panic(command):
    with Server(command) as server:
        server.open("2025-11-25")
        answered = server.call(1, "fails", seconds=SILENCE) is not None
        goes_on = server.call(2, "works", seconds=SILENCE) is not None
        return f"the call is {'answered' if answered else 'never answered'}, the server {'goes on' if goes_on else 'ends'}"


def prints(command):
    with Server(command) as server:
        server.open("2025-11-25")
        server.call(1, "prints", seconds=SILENCE)
        return "breaks the protocol" if server.strange else "is diverted to standard error"


def twice(command):
    with Server([*command, "--twice"]) as server:
        if not server.open("2025-11-25"):
            return "the server does not start"
        listed = server.ask(1, "tools/list", server.meta)
        if [tool["name"] for tool in listed["result"]["tools"]].count("works") != 1:
            return "both are listed"
        return f"the {text(server.call(2, 'works'))} one wins"


def code_lines(file):
    """Lines that are neither empty nor a comment."""
    lines = [line.strip() for line in file.read_text().splitlines()]
    return sum(bool(line) and not re.match(r"//(?!/)|#(?!\[)", line) for line in lines)


def crates(manifest):
    """What a build compiles for users, the server's own package left out."""
    tree = run(["cargo", "tree", "--locked", "--manifest-path", manifest, "-e", "normal,build", "--prefix", "none", "--no-dedupe"])
    return len({line.split(" (")[0] for line in tree.splitlines()}) - 1


def clean_build(manifest):
    """CPU seconds of a clean release build, of all processes."""
    run(["cargo", "fetch", "--locked", "--manifest-path", manifest])
    with tempfile.TemporaryDirectory() as target:
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        environment = {**os.environ, "CARGO_TARGET_DIR": target, "CARGO_INCREMENTAL": "0"}
        run(["cargo", "build", "--quiet", "--release", "--bin", f"compare-{manifest.parent.name}", "--manifest-path", manifest], environment)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return round(after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime)


def packages(cache):
    """The folder below which each library's packages are."""
    manifest = HERE / "rmcp/Cargo.toml"
    metadata = json.loads(run(["cargo", "metadata", "--locked", "--format-version", "1", "--manifest-path", manifest]))
    rmcp = next(package for package in metadata["packages"] if package["name"] == "rmcp")
    return {
        "rmcp": pathlib.Path(rmcp["manifest_path"]).parent,
        "FastMCP": next((cache / "python-sdk2/lib").glob("python3*/site-packages")),
        "TypeScript SDK": cache / "interop/node_modules/@modelcontextprotocol",
    }


def wrong_sources(folders):
    """The entries of `SOURCES` that do not hold for the packages."""
    for row, library, files, wanted in SOURCES:
        found = list(folders[library].glob(files))
        has = any(wanted.removeprefix(ABSENT) in file.read_text() for file in found)
        if not found or has == wanted.startswith(ABSENT):
            yield f"{row}, {library}: `{files}` and `{wanted}`"


def run(command, environment=None):
    ran = subprocess.run([str(word) for word in command], stdout=subprocess.PIPE, text=True, env=environment)
    if ran.returncode:
        sys.exit(f"{command} ended with {ran.returncode}")
    return ran.stdout


def prepared(cache):
    """Each library: what it is called, its source of `calc`, the commands of both servers, and the manifest of a Rust package."""
    interop = ROOT / ".ci/interop"
    run([ROOT / ".ci/npm-install", interop, cache / "interop"])
    run([ROOT / ".ci/pip-install", interop / "requirements-sdk2.txt", cache / "python-sdk2"])
    # Node searches for packages beside the program.
    for file in HERE.glob("*.mjs"):
        shutil.copy(file, cache / "interop")
    # The versions that CI tests.
    shutil.copy(ROOT / "Cargo.lock", HERE / "trueform")
    target = cache / "compare"
    for library in ("trueform", "rmcp"):
        environment = {**os.environ, "CARGO_TARGET_DIR": str(target / library)}
        run(["cargo", "build", "--quiet", "--manifest-path", HERE / library / "Cargo.toml"], environment)
    node, python = shutil.which("node"), cache / "python-sdk2/bin/python"

    def rust(library):
        binaries = [[str(target / library / "debug" / name)] for name in (f"compare-{library}", "odd")]
        return (HERE / library / "src/main.rs", *binaries, HERE / library / "Cargo.toml")

    def script(runtime, ending, folder):
        return (HERE / f"calc.{ending}", *([str(runtime), str(folder / f"{name}.{ending}")] for name in ("calc", "odd")), None)

    return {
        "Trueform": rust("trueform"),
        "rmcp": rust("rmcp"),
        "FastMCP": script(python, "py", HERE),
        "TypeScript SDK": script(node, "mjs", cache / "interop"),
    }


def main():
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--cache", type=pathlib.Path, required=True, metavar="FOLDER")
    arguments.add_argument("--build", action="store_true")
    arguments = arguments.parse_args()
    cache = arguments.cache.resolve()
    cache.mkdir(parents=True, exist_ok=True)
    # Do not write byte code beside the sources, and do not look for a newer version.
    os.environ.update(PYTHONDONTWRITEBYTECODE="1", FASTMCP_CHECK_FOR_UPDATES="off", CARGO_TERM_COLOR="never")

    first = re.search(r"```rust[^\n]*\n(.*?)```", README.read_text(), re.DOTALL)[1]
    if first != (HERE / "trueform/src/main.rs").read_text():
        sys.exit("the program at the top of the README is not `trueform/src/main.rs`")

    libraries = prepared(cache)
    rows = {
        "lines of code of a server with one tool": [code_lines(source) for source, *_ in libraries.values()],
        "versions of the protocol served": [
            f"{sum(serves(calc, revision) for revision in REVISIONS)} of {len(REVISIONS)}" for _, calc, *_ in libraries.values()
        ],
        "faults of a wrong call that one answer reports": [f"{faults(calc)} of 3" for _, calc, *_ in libraries.values()],
        "a panic or exception in a tool": [after_panic(odd) for *_, odd, _ in libraries.values()],
        "what a tool prints to standard output": [prints(odd) for *_, odd, _ in libraries.values()],
        "two tools of one name": [twice(odd) for *_, odd, _ in libraries.values()],
        "crates that a build compiles": [crates(manifest) if manifest else "no build" for *_, manifest in libraries.values()],
    }
    if arguments.build:
        rows["clean release build, CPU time"] = [
            f"{clean_build(manifest)} s" if manifest else "no build" for *_, manifest in libraries.values()
        ]
    different = 0
    for problem in wrong_sources(packages(cache)):
        print(f"the packages do not say so: {problem}")
        different += 1
    for name, cells in rows.items():
        row = f"| {name} | {' | '.join(str(cell) for cell in cells)} |"
        print(row)
        # The time of a build differs between machines.
        if "CPU time" not in name and row not in README.read_text().splitlines():
            different += 1
            print("  ^ the README has another row, or none")
    return int(different > 0)


if __name__ == "__main__":
    sys.exit(main())
