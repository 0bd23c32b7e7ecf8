#!/usr/bin/env python3
"""Imports two revisions that do not exist into a copy of this repository, generates their bindings, and serves them.

    next_revision.py CODEGEN FOLDER        CODEGEN is the binary `trueform-codegen`, FOLDER is for the copy

The crate in `next-revision` tests in two stages what the runtime serves:

1. `served`: the only code of the runtime that is written for these revisions is the function in `next-revision/search_notes.rs`.
   It is added to the `impl ServeMethods` of the engine, because a new method needs code that serves it.
2. `notes`: a whole new feature. Its room, the folder `next-revision/notes`, is copied beside the other rooms, and `GLUE` adds the
   lines of the runtime that register it.

Exits with 1 if a step fails. Files that did not change since the last run keep their time stamp in FOLDER, so that cargo does not
build them again.
"""

import argparse
import copy
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import time

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent
EXTRAS = HERE / "next-revision"
BEFORE, FIRST, SECOND = "2026-07-28", "2027-01-01", "2027-07-01"
MEMBERS = ["schema", "codegen/compare", "macros", "runtime", "next-revision"]

# The facts about a revision that its schema lacks: the capabilities of its methods, and the params that a header repeats.
OVERLAY = """
[methods."notes/list"]
capability = "notes"
[methods."notes/get"]
capability = "notes"
header_name = "name"
[methods."notifications/notes/list_changed"]
capability = "notes.listChanged"
"""

SERVE = "runtime/src/engine/serve.rs"
IMPL = r"(?m)^impl ServeMethods for Engine \{\n(?: +type .*\n)+\n"

# The lines outside of its folder that register the room of notes: file, pattern that they follow, text.
GLUE = [
    ("runtime/src/feature.rs", r"pub mod tools;\n", "pub mod notes;\n"),
    ("runtime/src/feature.rs", r"pub\(crate\) extensions: Extensions,\n", "    pub(crate) notes: Option<notes::Notes>,\n"),
    ("runtime/src/feature.rs", r"Some\(&self\.extensions\),\n", "            self.notes.as_ref().map(|room| room as _),\n"),
    ("runtime/src/lib.rs", r"#\[doc\(inline\)\]\n(?=pub use feature::)", "pub use feature::notes;\n"),
    ("runtime/src/server.rs", r"pub struct Server \{\n", "    notes: Vec<crate::notes::Note>,\n"),
    ("runtime/src/server.rs", r"info: Implementation::new\(name, version\),\n", "            notes: Vec::new(),\n"),
    (
        "runtime/src/server.rs",
        r"let extensions = Extensions::build\(self\.extensions, &mut problems\);\n",
        "        let (notes, page_size) = (self.notes, self.page_size);\n"
        "        let notes = crate::notes::Notes::build(notes, page_size, self.revisions, &mut problems);\n",
    ),
    ("runtime/src/server.rs", r"            extensions,\n(?=        \};)", "            notes,\n"),
    ("runtime/src/server/offers.rs", r"self\.extensions\.extend\(other\.extensions\);\n", "        self.notes.extend(other.notes);\n"),
    (
        "runtime/src/server.rs",
        r"\nimpl Server \{\n",
        """    /// Adds a note.
    pub fn note(mut self, note: crate::notes::Note) -> Self {
        self.notes.push(note);
        self
    }

""",
    ),
    (
        "runtime/src/server/handle.rs",
        r"\nimpl ServerHandle \{\n",
        """    /// Lists the note `name`, or hides it. Returns `false` if there is no such note, or if nothing changed.
    pub fn enable_note(&self, name: &str, enabled: bool) -> bool {
        let notes = self.engine.features.notes.as_ref();
        let changed = notes.is_some_and(|notes| notes.0.enable(name, enabled));
        self.changed(changed, &crate::notes::TOPIC)
    }

""",
    ),
    (
        SERVE,
        IMPL,
        """    fn list_notes(
        &self,
        cx: &mut Admitted<'_>,
        params: Box<PaginatedRequestParams>,
    ) -> Option<Answered<methods::ListNotes>> {
        let listing = self.features.notes.as_ref()?.0.now();
        Some(self.page(cx, &listing, params.cursor.as_deref()))
    }

    fn get_note(
        &self,
        cx: &mut Admitted<'_>,
        mut params: Box<trueform_schema::GetNoteRequestParams>,
    ) -> Option<Answered<methods::GetNote>> {
        let notes = self.features.notes.as_ref()?;
        let conditions = self.conditions(cx.source, cx.message);
        let exchange = || cx.exchange(self, Some(&mut params.meta));
        let called = notes.get(&params.name, exchange, &conditions);
        Some(Answered::Called(called))
    }

""",
    ),
]


def reference(name):
    return {"$ref": f"#/$defs/{name}"}


def thing(properties, required):
    return {"type": "object", "properties": properties, "required": sorted(required)}


def message(method, params, is_request):
    properties = {
        "jsonrpc": {"const": "2.0", "type": "string"},
        "method": {"const": method, "type": "string"},
        "params": reference(params),
    }
    if is_request:
        properties["id"] = reference("RequestId")
    return thing(properties, properties)


def add_request(definitions, name, method, params, result):
    """Adds a request with its result. `params` is the name of a definition, or the properties of a new one."""
    if not isinstance(params, str):
        properties, required = params
        definitions[f"{name}RequestParams"] = thing(
            {"_meta": reference("RequestMetaObject"), **properties}, ["_meta", *required]
        )
        params = f"{name}RequestParams"
    properties, required = result
    definitions[f"{name}Request"] = message(method, params, True)
    definitions[f"{name}Result"] = thing(
        {"_meta": reference("ResultMetaObject"), "resultType": {"type": "string"}, **properties}, ["resultType", *required]
    )
    response = {
        "id": reference("RequestId"),
        "jsonrpc": {"const": "2.0", "type": "string"},
        "result": reference(f"{name}Result"),
    }
    definitions[f"{name}ResultResponse"] = thing(response, response)
    definitions["ClientRequest"]["anyOf"].append(reference(f"{name}Request"))
    definitions["ServerResult"]["anyOf"].append(reference(f"{name}Result"))


def remove_request(definitions, name, *more):
    for union in ("ClientRequest", "ServerResult"):
        gone = (reference(f"{name}Request"), reference(f"{name}Result"))
        definitions[union]["anyOf"] = [member for member in definitions[union]["anyOf"] if member not in gone]
    for part in ("Request", "RequestParams", "Result", "ResultResponse"):
        del definitions[name + part]
    for definition in more:
        del definitions[definition]


def first(document):
    """The newest revision plus methods, notifications, a capability and a new member of two objects, minus a method."""
    document = copy.deepcopy(document)
    definitions = document["$defs"]
    text = {"type": "string"}

    topic = {"topic": text}
    add_request(definitions, "SearchNotes", "notes/search", (topic, []), ({"notes": {"type": "array", "items": text}}, ["notes"]))

    note = {"name": text, "link": {"type": "string", "format": "uri"}}
    definitions["Note"] = thing(note, ["name"])
    page = {"notes": {"type": "array", "items": reference("Note")}, "nextCursor": text}
    add_request(definitions, "ListNotes", "notes/list", "PaginatedRequestParams", (page, ["notes"]))
    whole = {"note": reference("Note"), "text": text}
    add_request(definitions, "GetNote", "notes/get", ({"name": text}, ["name"]), (whole, whole))

    changed = message("notifications/notes/list_changed", "NotificationParams", False)
    changed["required"].remove("params")
    definitions["NoteListChangedNotification"] = changed
    definitions["ServerNotification"]["anyOf"].append(reference("NoteListChangedNotification"))
    definitions["SubscriptionFilter"]["properties"]["notesListChanged"] = {"type": "boolean"}
    capabilities = definitions["ServerCapabilities"]["properties"]
    capabilities["notes"] = {"type": "object", "properties": {"listChanged": {"type": "boolean"}}}

    definitions["NotesViewedNotification"] = message("notifications/notes/viewed", "NotesViewedNotificationParams", False)
    viewed = {"_meta": reference("NotificationMetaObject"), "noteId": text}
    definitions["NotesViewedNotificationParams"] = thing(viewed, ["noteId"])
    definitions["ClientNotification"] = {
        "anyOf": [reference("CancelledNotification"), reference("NotesViewedNotification")]
    }

    remove_request(definitions, "Complete")

    for name in ("CallToolResult", "Tool"):
        definitions[name]["properties"]["traceId"] = {"type": "string", "description": "Where it can be found again."}
    return document


def second(document):
    """The first made-up revision minus a method that the runtime serves, plus a new member of one of its own types."""
    document = copy.deepcopy(document)
    definitions = document["$defs"]
    remove_request(definitions, "SubscriptionsListen", "SubscriptionsListenResultMetaObject")
    definitions["Note"]["properties"]["colour"] = {"type": "string"}
    return document


def run(*command, folder):
    """Runs a command that inherits standard output and error."""
    print("+", *command, flush=True)
    begun = time.monotonic()
    # Builds of the stages differ little.
    environment = os.environ | {"CARGO_INCREMENTAL": "1", "CARGO_PROFILE_DEV_DEBUG": "0"}
    code = subprocess.run(list(map(str, command)), cwd=folder, env=environment).returncode
    print(f"{command[0]}: {time.monotonic() - begun:.0f} s", flush=True)
    return code


def checked(*command, folder):
    if code := run(*command, folder=folder):
        sys.exit(f"next_revision.py: `{command[0]}` ended with {code}")


def copied(folder):
    """Copies the files that git tracks, in their state in the work tree, and adds the crate of the tests as a member."""
    shutil.rmtree(folder, ignore_errors=True)
    listed = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"], cwd=ROOT, check=True, stdout=subprocess.PIPE
    )
    for name in listed.stdout.decode().split("\0"):
        source, target = ROOT / name, folder / name
        if name and source.is_file():
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(source, target)
    shutil.copytree(EXTRAS, folder / "next-revision", copy_function=shutil.copyfile)
    insert(folder / "schema/overlay.toml", r"\Z", OVERLAY)
    manifest = (folder / "Cargo.toml").read_text()
    manifest, count = re.subn(r"(?m)^members = .*$", f"members = {json.dumps(MEMBERS)}", manifest)
    if count != 1:
        sys.exit("next_revision.py: `Cargo.toml` has no line `members = …`")
    (folder / "Cargo.toml").write_text(manifest)


def insert(file, after, text):
    """Inserts `text` into a file, after the only match of the expression `after`."""
    old = file.read_text()
    places = [found.end() for found in re.finditer(after, old)]
    if len(places) != 1:
        sys.exit(f"next_revision.py: `{file}` has {len(places)} places that match {after}")
    file.write_text(old[: places[0]] + text + old[places[0] :])


def synchronised(source, target):
    """Makes `target` equal to `source`. Unchanged files keep their time stamp."""
    wanted = {path.relative_to(source) for path in source.rglob("*") if path.is_file()}
    for path in [path for path in target.rglob("*") if path.is_file()]:
        if path.relative_to(target) not in wanted:
            path.unlink()
    for name in sorted(wanted):
        new, old = source / name, target / name
        if not old.is_file() or old.read_bytes() != new.read_bytes():
            old.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(new, old)


def main():
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("codegen", type=pathlib.Path)
    arguments.add_argument("folder", type=pathlib.Path)
    arguments = arguments.parse_args()
    codegen, folder = arguments.codegen.resolve(), arguments.folder.resolve()
    made, built = folder / "made", folder / "built"

    copied(made)
    schema = made / "schema"
    document = json.loads((schema / f"revisions/{BEFORE}.json").read_text())
    for revision, make in ((FIRST, first), (SECOND, second)):
        document = make(document)
        official = folder / f"{revision}.json"
        official.write_text(json.dumps(document, indent=2))
        checked(codegen, "import", official, "--revision", revision, "--schema", schema, folder=made)
    checked(codegen, "generate", "--schema", schema, folder=made)

    insert(made / SERVE, IMPL, (EXTRAS / "search_notes.rs").read_text())
    synchronised(made, built)
    checked("cargo", "test", "-p", "next-revision", "--test", "served", folder=built)

    shutil.copytree(EXTRAS / "notes", made / "runtime/src/feature/notes", copy_function=shutil.copyfile)
    for file, after, text in GLUE:
        insert(made / file, after, text)
    lines = sum(text.count("\n") for _, _, text in GLUE)
    print(f"the room of notes, and {lines} lines outside of it, in {len({file for file, _, _ in GLUE})} files")
    synchronised(made, built)
    checked("cargo", "test", "-p", "next-revision", "--test", "notes", folder=built)


if __name__ == "__main__":
    main()
