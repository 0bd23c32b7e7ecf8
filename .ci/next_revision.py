#!/usr/bin/env python3
"""Imports a revision that does not exist into a copy of this repository, generates its bindings, and serves it.

    next_revision.py CODEGEN FOLDER        CODEGEN is the binary `trueform-codegen`, FOLDER is for the copy

The only line of the runtime that is written for it is the function in `next-revision/list_notes.rs`, which goes into the
`impl ServeMethods` of the engine: a new method needs code that serves it. What is served is tested by the crate in
`next-revision`, with cargo's settings as they are. Exits with 1 where anything of that fails.
"""

import argparse
import json
import pathlib
import re
import shutil
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent
BEFORE, REVISION = "2026-07-28", "2027-01-01"
MEMBERS = ["schema", "codegen/compare", "macros", "runtime", "next-revision"]


def reference(name):
    return {"$ref": f"#/$defs/{name}"}


def message(method, params, is_request):
    properties = {
        "jsonrpc": {"const": "2.0", "type": "string"},
        "method": {"const": method, "type": "string"},
        "params": reference(params),
    }
    if is_request:
        properties["id"] = reference("RequestId")
    return {"type": "object", "properties": properties, "required": sorted(properties)}


def made_up(document):
    """The newest revision with a method and a notification more, a method less, and a new member of two objects."""
    definitions = document["$defs"]

    # notes/list
    definitions["ListNotesRequest"] = message("notes/list", "ListNotesRequestParams", True)
    definitions["ListNotesRequestParams"] = {
        "type": "object",
        "properties": {"_meta": reference("RequestMetaObject"), "topic": {"type": "string"}},
        "required": ["_meta"],
    }
    definitions["ListNotesResult"] = {
        "type": "object",
        "properties": {
            "_meta": reference("ResultMetaObject"),
            "notes": {"type": "array", "items": {"type": "string"}},
            "resultType": {"type": "string"},
        },
        "required": ["notes", "resultType"],
    }
    definitions["ListNotesResultResponse"] = {
        "type": "object",
        "properties": {
            "id": reference("RequestId"),
            "jsonrpc": {"const": "2.0", "type": "string"},
            "result": reference("ListNotesResult"),
        },
        "required": ["id", "jsonrpc", "result"],
    }
    definitions["ClientRequest"]["anyOf"].append(reference("ListNotesRequest"))
    definitions["ServerResult"]["anyOf"].append(reference("ListNotesResult"))

    # notifications/notes/viewed
    definitions["NotesViewedNotification"] = message("notifications/notes/viewed", "NotesViewedNotificationParams", False)
    definitions["NotesViewedNotificationParams"] = {
        "type": "object",
        "properties": {"_meta": reference("NotificationMetaObject"), "noteId": {"type": "string"}},
        "required": ["noteId"],
    }
    definitions["ClientNotification"] = {
        "anyOf": [reference("CancelledNotification"), reference("NotesViewedNotification")]
    }

    # completion/complete is no more.
    for union in ("ClientRequest", "ServerResult"):
        gone = (reference("CompleteRequest"), reference("CompleteResult"))
        definitions[union]["anyOf"] = [member for member in definitions[union]["anyOf"] if member not in gone]
    for name in ("CompleteRequest", "CompleteRequestParams", "CompleteResult", "CompleteResultResponse"):
        del definitions[name]

    for name in ("CallToolResult", "Tool"):
        definitions[name]["properties"]["traceId"] = {"type": "string", "description": "Where it can be found again."}
    return document


def run(*command, folder):
    """Runs a command; what it prints goes where ours goes."""
    print("+", *command, flush=True)
    return subprocess.run(list(map(str, command)), cwd=folder).returncode


def checked(*command, folder):
    if code := run(*command, folder=folder):
        sys.exit(f"next_revision.py: `{command[0]}` ended with {code}")


def copied(folder):
    """A copy of what git knows of this tree, as it is in the work tree."""
    shutil.rmtree(folder, ignore_errors=True)
    listed = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"], cwd=ROOT, check=True, stdout=subprocess.PIPE
    )
    for name in listed.stdout.decode().split("\0"):
        source, target = ROOT / name, folder / name
        if name and source.is_file():
            target.parent.mkdir(parents=True, exist_ok=True)
            # With its time, so that cargo builds again only what is different.
            shutil.copy2(source, target)
    shutil.copytree(HERE / "next-revision", folder / "next-revision")
    manifest = (folder / "Cargo.toml").read_text()
    manifest, count = re.subn(r"(?m)^members = .*$", f"members = {json.dumps(MEMBERS)}", manifest)
    if count != 1:
        sys.exit("next_revision.py: `Cargo.toml` has no line `members = …`")
    (folder / "Cargo.toml").write_text(manifest)


def with_new_method(folder):
    """Adds the function that serves the new method; answers whether there was a place for it."""
    addition = (HERE / "next-revision/list_notes.rs").read_text()
    for file in sorted((folder / "runtime/src").rglob("*.rs")):
        text = file.read_text()
        if found := re.search(r"(?m)^impl\b[^{;]*\bServeMethods for [^{;]*\{\n", text):
            file.write_text(text[: found.end()] + addition + text[found.end() :])
            return True
    return False


def main():
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("codegen", type=pathlib.Path)
    arguments.add_argument("folder", type=pathlib.Path)
    arguments = arguments.parse_args()
    codegen, folder = arguments.codegen.resolve(), arguments.folder.resolve()

    copied(folder)
    official = folder / "next-revision/schema.json"
    newest = json.loads((folder / f"schema/revisions/{BEFORE}.json").read_text())
    official.write_text(json.dumps(made_up(newest), indent=2))
    schema = folder / "schema"
    checked(codegen, "import", official, "--revision", REVISION, "--schema", schema, folder=folder)
    checked(codegen, "generate", "--schema", schema, folder=folder)

    served = with_new_method(folder)
    code = run("cargo", "test", "-p", "next-revision", folder=folder)
    if not served:
        print("next_revision.py: nothing in the runtime implements `ServeMethods`, so nothing can serve `notes/list`")
    return code or int(not served)


if __name__ == "__main__":
    sys.exit(main())
