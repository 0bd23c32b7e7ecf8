#!/usr/bin/env python3
"""Checks what a program can check of the README, the examples' page and the guide.

    docs.py [--run TARGET] [--built DOC]

Without options it checks the number of words and the widths of the README, links to files, commands, figures, and blocks that must be
equal to files. Blocks marked `ignore` must be excerpts of code that is compiled. With `--run` it runs the commands that `COMMANDS` marks
so, with the programs in the folder TARGET/debug, and compares their output with the block of text after them. With `--built` it looks
up links to pages of the documentation in DOC, the folder that `cargo doc` writes. Exits with 1 if a check fails.
"""

import argparse
import contextlib
import os
import pathlib
import re
import shutil
import socket
import sqlite3
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
README = ROOT / "README.md"
GUIDE = ROOT / "runtime/src/guide"
WORDS, COLUMNS = 1200, 80
# The timeout of a command. Pages write `--bin`, not `-p`, because with `-p` cargo would build the library again, with the features of one
# package.
SECONDS = 900
DOCS = "https://docs.rs/trueform/latest/"

# The beginning of each command, and what runs it in CI, or why nothing does.
RUN = "run here"
COMMANDS = {
    # run here, after the build: `cargo run` and `cargo build` have nothing to compile
    "cargo run --bin quickstart -- --demo": RUN,
    "cargo build --bin code_search\n": RUN,
    "cargo build --bin agent --bin agent_demo_server\n": RUN,
    "TRUEFORM_HTTP=": RUN,
    "cargo build --bin sqlite_explorer": RUN,
    "echo '{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"bookmarks/list\"": RUN,
    "curl -s http://127.0.0.1:8000/mcp -H 'Authorization: ": RUN,
    "curl -s http://127.0.0.1:8000/mcp -H 'Content-Type: ": RUN,
    # run by other steps
    "cargo test --workspace": "step `test`",
    "cargo build --release -p trueform-examples --bin bench_server": "step `instructions`",
    "cargo build --release -p bench_client": "step `instructions`",
    "cargo build --release --bin soak_server": "step `soak`",
    "cargo run -p trueform-codegen -- import": "step `next-revision`, by the built program",
    # not run, for a reason
    "cargo new hello": "fetches the repository from GitHub; the program is one of the examples",
    "cargo new calc": "fetches the repository from GitHub; the step `outside` builds such a package from this clone",
    "cargo build\n": "belongs to the package of `cargo new calc`",
    "echo '{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/call\",\"params\":{\"name\":\"add\"": "step `outside`, with the same program",
    "cargo add trueform": "fetches the repository from GitHub",
    "cargo run --bin quickstart -- --http": "listens on a fixed port; the command after it is run against the same program on a free one",
    "TOKENS=": "listens on a fixed port; the example's tests run the same program on a free one",
    "python3 .ci/compare/compare.py": "step `compare`",
    "touch schema/src/lib.rs": "a measurement of several minutes, made by hand",
    "python3 .ci/bench/measure.py": "a measurement that needs a quiet machine, made by hand",
}

# The beginning of each command that calls a server at 127.0.0.1:8000, and this server: its command in the folder of the built programs,
# and additions to its environment. The server listens on a free port, and its address replaces ADDRESS.
SERVERS = {
    "curl -s http://127.0.0.1:8000/mcp -H 'Authorization: ": (["hello"], {"ADDRESS": "ADDRESS"}),
    "curl -s http://127.0.0.1:8000/mcp -H 'Content-Type: ": (["quickstart", "--http", "ADDRESS"], {}),
}
# How long such a server may take to listen.
START_SECONDS = 30

# The README's section on HTTP shows this program. The file takes its address from the environment.
HTTP_PROGRAM = ROOT / "examples/behind_axum/src/bin/hello.rs"

# Blocks that doctests cannot compile, because the library does not have the dependencies. Each line of such a block must be a line of
# these files, which are compiled.
EXCERPTS = {
    "extensions.md": ["examples/custom_extension/build.rs", "examples/custom_extension/src/lib.rs", "runtime/apps/src/lib.rs", "runtime/skills/src/lib.rs"],
    "logging.md": ["examples/behind_axum/src/main.rs"],
}

problems = []


def wrong(place, what):
    problems.append(f"{place.relative_to(ROOT)}: {what}")


def blocks(text):
    """The fenced blocks: the words after the fence, and the lines without their indentation."""
    found = re.finditer(r"^( *)```([^\n`]*)\n(.*?)^\1```$", text, re.MULTILINE | re.DOTALL)
    return [(block[2], re.sub(rf"^{block[1]}", "", block[3], flags=re.MULTILINE)) for block in found]


def without_code(text):
    return re.sub(r"^( *)```.*?^\1```$", "", text, flags=re.MULTILINE | re.DOTALL)


def prose(text):
    """The words outside of code and tables. The target of a link does not count."""
    lines = [line for line in without_code(text).splitlines() if not line.lstrip().startswith("|")]
    text = re.sub(r"\]\([^)]*\)", "]", "\n".join(lines))
    return [word for word in text.split() if re.search(r"\w", word)]


def check_form():
    text = README.read_text()
    words = len(prose(text))
    print(f"README: {words} words of prose, at most {WORDS}")
    if words > WORDS:
        wrong(README, f"{words} words of prose, at most {WORDS}")
    for kind, code in blocks(text):
        # A JSON-RPC request is one line, however long it is.
        if not kind.startswith("rust"):
            continue
        for line in code.splitlines():
            if len(line) > COLUMNS:
                wrong(README, f"a line of code has {len(line)} columns, at most {COLUMNS}: {line}")
        formatted = rustfmt(code)
        if formatted.returncode or formatted.stdout != code:
            wrong(README, f"not as rustfmt writes it: {code.splitlines()[0]} …\n{formatted.stdout}{formatted.stderr}")


def rustfmt(code):
    return subprocess.run(
        ["rustfmt", "--edition", "2024", "--config", f"max_width={COLUMNS}"], input=code, capture_output=True, text=True, timeout=SECONDS
    )


def pages():
    return [README, ROOT / "examples/README.md", *sorted(GUIDE.glob("*.md"))]


def commands(text):
    """Blocks of shell commands, each with the block of text or JSON that comes after it, if there is one."""
    found = blocks(text)
    for at, (kind, code) in enumerate(found):
        if kind == "sh":
            printed = found[at + 1][1] if at + 1 < len(found) and found[at + 1][0] in ("text", "json") else None
            yield code, printed


def check_commands():
    used = set()
    for page in pages():
        for code, _ in commands(page.read_text()):
            begins = [known for known in COMMANDS if code.startswith(known)]
            used.update(begins)
            if not begins:
                wrong(page, f"`.ci/docs.py` neither runs this command nor says why not: {code.splitlines()[0]}")
    for command in set(COMMANDS) - used:
        wrong(ROOT / ".ci/docs.py", f"no page has the command `{command.strip()}`")


def made_database(folder):
    """The database of the commands in the pages, with the customer of their queries."""
    path = pathlib.Path(folder) / "shop.db"
    with contextlib.closing(sqlite3.connect(path)) as database, database:
        database.execute("CREATE TABLE customers (id INTEGER PRIMARY KEY, name TEXT NOT NULL)")
        database.executemany("INSERT INTO customers (name) VALUES (?)", [("Ada",), ("Bob",)])
    return path


def run_commands(target):
    with tempfile.TemporaryDirectory() as folder:
        run_commands_on(target, made_database(folder))


def run_commands_on(target, database):
    environment = {**os.environ, "CARGO_TARGET_DIR": str(target)}
    for page in pages():
        for code, printed in commands(page.read_text()):
            if not any(code.startswith(known) and says == RUN for known, says in COMMANDS.items()):
                continue
            # CI machines may have no curl. The tests make the same requests without it.
            if code.startswith("curl ") and shutil.which("curl") is None:
                print(f"not run, because this machine has no curl: {code.strip()}", flush=True)
                continue
            address = f"127.0.0.1:{free_port()}"
            server = next((server for known, server in SERVERS.items() if code.startswith(known)), None)
            code = code.replace("target/debug/", f"{target}/debug/").replace("127.0.0.1:3000", address).replace("shop.db", str(database))
            code = code.replace("127.0.0.1:8000", address)
            lines = code.strip().splitlines()
            print(f"$ {code.strip()}", flush=True)
            try:
                with served(server, target, address):
                    ran = subprocess.run(
                        ["bash", "-euo", "pipefail", "-c", code],
                        cwd=ROOT,
                        env=environment,
                        stdin=subprocess.DEVNULL,
                        capture_output=True,
                        text=True,
                        timeout=SECONDS,
                    )
            except subprocess.TimeoutExpired:
                wrong(page, f"`{lines[0]}` did not end within {SECONDS} s")
                continue
            except NoServer as problem:
                wrong(page, f"`{lines[0]}`: {problem}")
                continue
            if ran.returncode:
                wrong(page, f"`{lines[0]}` ended with {ran.returncode}: {ran.stderr[-2000:]}")
            stdout = re.sub(r"\bpid \d+", "pid 4711", ran.stdout.replace(f"{target}/debug/", "target/debug/"))
            # Some commands do not end their last line.
            if printed is not None and not stdout.rstrip("\n").endswith(printed.rstrip("\n")):
                wrong(page, f"`{lines[0]}` printed\n{stdout}in place of\n{printed}")


class NoServer(Exception):
    """The server of a command does not listen."""


@contextlib.contextmanager
def served(server, target, address):
    """Runs the server that a command needs, at `address`, while the command runs. Does nothing if the command needs no server."""
    if server is None:
        yield
        return
    (name, *words), environment = server
    words = [word.replace("ADDRESS", address) for word in words]
    environment = {name: value.replace("ADDRESS", address) for name, value in environment.items()}
    program = [target / "debug" / name, *words]
    try:
        process = subprocess.Popen(program, env={**os.environ, **environment}, stdin=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    except OSError as problem:
        raise NoServer(problem) from None
    try:
        deadline = time.monotonic() + START_SECONDS
        host, port = address.split(":")
        while True:
            try:
                socket.create_connection((host, int(port)), timeout=1).close()
                break
            except OSError:
                if process.poll() is not None:
                    raise NoServer(f"`{name}` ended with {process.returncode}") from None
                if deadline < time.monotonic():
                    raise NoServer(f"`{name}` does not listen within {START_SECONDS} s") from None
                time.sleep(0.05)
        yield
    finally:
        process.kill()
        process.wait()


def check_http_program():
    program = HTTP_PROGRAM.read_text().split("\n\n", 1)[1]
    address = '    let address = std::env::var("ADDRESS").expect("the address to listen on");\n'
    # Lines of source files may be longer than those of the README.
    program = rustfmt(program.replace(address, "").replace("bind(address)", 'bind("127.0.0.1:8000")')).stdout
    if not any(code == program for _, code in blocks(README.read_text())):
        wrong(README, f"the program on HTTP is not that of {HTTP_PROGRAM.relative_to(ROOT)}")


def check_excerpts():
    for page in pages():
        for kind, code in blocks(page.read_text()):
            if not re.search(r"\bignore\b", kind):
                continue
            files = EXCERPTS.get(page.name, [])
            lines = {re.sub(r"^//! ?", "", line).strip() for file in files for line in (ROOT / file).read_text().splitlines()}
            for line in code.splitlines():
                if line.strip() and line.strip() not in lines:
                    wrong(page, f"this line of a block that is not compiled is in none of {files}: {line}")


def free_port():
    with socket.create_server(("127.0.0.1", 0)) as free:
        return free.getsockname()[1]


def check_links(built):
    for page in pages():
        text = without_code(page.read_text())
        for link in re.findall(r"\]\(([^)\s]+)\)", text):
            path, _, anchor = link.partition("#")
            if link.startswith(DOCS):
                if built is not None:
                    look_up(page, link, built / path.removeprefix(DOCS), anchor)
            elif link.startswith(("http://", "https://", "crate::", "mod@", "macro@")):
                # `cargo doc` checks links to items. Links to other sites are not checked.
                continue
            elif page.parent == GUIDE:
                wrong(page, f"a link to a file, which documentation does not have: {link}")
            elif path and not (page.parent / path).exists():
                wrong(page, f"a link to a file that does not exist: {link}")
            elif anchor and anchor not in headings(((page.parent / path) if path else page).read_text()):
                wrong(page, f"a link to a heading that does not exist: {link}")


def headings(text):
    found = re.findall(r"^#+ (.*)$", without_code(text), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in found}


def look_up(page, link, file, anchor):
    if not file.exists():
        wrong(page, f"a link to a page that the documentation does not have: {link}")
    elif anchor and f'id="{anchor}"' not in file.read_text():
        wrong(page, f"a link to a heading that the documentation does not have: {link}")


def check_figures():
    """The README repeats figures of the chapter on speed, which `instructions.py` measures and compares."""
    chapter = (GUIDE / "speed.md").read_text()
    rows = re.findall(r"^\| instructions / allocations[^|]*\|([^|]*)\|([^|]*)\|", README.read_text(), re.MULTILINE)
    if len(rows) != 4:
        wrong(README, "the table has four rows of instructions and allocations")
    for row in rows:
        for figure in row:
            if f"| {figure.strip()} |" not in chapter:
                wrong(README, f"`{figure.strip()}` is not in the guide's chapter on speed")


def main():
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--run", type=pathlib.Path, metavar="TARGET")
    arguments.add_argument("--built", type=pathlib.Path, metavar="DOC")
    arguments = arguments.parse_args()
    check_form()
    check_commands()
    check_excerpts()
    check_http_program()
    check_links(arguments.built)
    check_figures()
    if arguments.run is not None:
        run_commands(arguments.run.resolve())
    for problem in problems:
        print(f"WRONG {problem}")
    print(f"{len(problems)} problems")
    return int(bool(problems))


if __name__ == "__main__":
    sys.exit(main())
