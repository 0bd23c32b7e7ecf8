//! Bindings of a user's own extension: generated types, reused types, and the errors.

use std::{fs, path::Path, process::Command};

use trueform_codegen::bind::Extension;

use crate::support::{committed, scratch};

const FACTS: &str = r#"
identifier = "com.example/notes"
revision = "2026-07-28"
methods."notes/take".direction = "client-to-server"
"#;

/// A schema with one method, whose params hold an icon as the core defines it.
fn schema() -> serde_json::Value {
    serde_json::json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$defs": {
            "Icon": committed("2026-07-28")["$defs"]["Icon"],
            "Note": {
                "description": "Something to remember, see {@link Icon}.",
                "type": "object",
                "properties": { "text": { "type": "string" }, "icon": { "$ref": "#/$defs/Icon" } },
                "required": ["text"],
            },
            "TakeNoteRequest": {
                "description": "An envelope; nothing of its own becomes of it.",
                "type": "object",
                "properties": {
                    "method": { "const": "notes/take", "type": "string" },
                    "params": { "$ref": "#/$defs/Note" },
                },
                "required": ["method", "params"],
            },
            "TakeNoteResult": { "type": "object" },
        },
    })
}

fn bind(name: &str, schema: &str, facts: &str) -> Result<String, String> {
    let folder = scratch(&format!("bind-{name}"));
    fs::write(folder.join("notes.json"), schema).unwrap();
    fs::write(folder.join("notes.toml"), facts).unwrap();
    let extension = Extension::new("notes")
        .schema(folder.join("notes.json"))
        .facts(folder.join("notes.toml"));
    extension.generate().map_err(|problem| problem.to_string())
}

#[test]
fn equal_definitions_are_reused_and_descriptions_become_docs() {
    let text = bind("good", &schema().to_string(), FACTS).unwrap();
    assert!(text.contains("pub struct Note"), "{text}");
    assert!(
        text.contains("/// Something to remember, see `Icon`."),
        "{text}"
    );
    assert!(
        !text.contains("pub struct Icon"),
        "the core's type is the same one"
    );
    assert!(text.contains("pub icon: Option<Icon>"), "{text}");
    assert!(
        !text.contains("crate::"),
        "the module lives in another crate"
    );

    // A definition of the same name that means something else is a type of its own.
    let mut other = schema();
    other["$defs"]["Icon"] = serde_json::json!({
        "type": "object", "properties": { "glyph": { "type": "string" } }, "required": ["glyph"],
    });
    let text = bind("other", &other.to_string(), FACTS).unwrap();
    assert!(text.contains("pub struct Icon"), "{text}");
}

#[test]
fn problems_name_the_place() {
    let mut dangling = schema();
    dangling["$defs"]["Note"]["properties"]["icon"]["$ref"] = "#/$defs/Ikon".into();
    let mut union = schema();
    union["$defs"]["Note"]["properties"]["icon"] = serde_json::json!({ "anyOf": [{ "$ref": "#/$defs/Icon" }, { "$ref": "#/$defs/TakeNoteResult" }] });
    let cases = [
        (
            "json",
            "{".to_owned(),
            FACTS.to_owned(),
            "notes.json`: not JSON",
        ),
        (
            "dangling",
            dangling.to_string(),
            FACTS.to_owned(),
            "notes.json`: definition `Note`, at `/$defs/Note/properties/icon/$ref`: `Ikon` is not defined in this file",
        ),
        (
            "union",
            union.to_string(),
            FACTS.to_owned(),
            "definition `Note`, at `/$defs/Note/properties/icon`",
        ),
        (
            "facts",
            schema().to_string(),
            "direction = 1".to_owned(),
            "notes.toml`: ",
        ),
        (
            "revision",
            schema().to_string(),
            FACTS.replace("2026-07-28", "1999-01-01"),
            "the extension `notes` extends the unknown revision `1999-01-01`",
        ),
        (
            "identifier",
            schema().to_string(),
            FACTS.replace("com.example/notes", "notes"),
            "the extension `notes` needs an `identifier` with a vendor prefix, such as `com.example/notes`; found `notes`",
        ),
        (
            "method",
            schema().to_string(),
            FACTS.replace("notes/take", "notes/lose"),
            "`notes/lose`, which no schema has",
        ),
    ];
    for (name, schema, facts, expected) in cases {
        let problem = bind(name, &schema, &facts).unwrap_err();
        assert!(problem.contains(expected), "{name}: {problem}");
    }
    assert!(Extension::new("No/Name").generate().is_err());
}

/// Bindings compile without a warning whichever kinds of methods an extension has.
#[test]
fn extensions_of_every_shape_compile() {
    let request = schema();
    let mut notification = request.clone();
    let definitions = notification["$defs"].as_object_mut().unwrap();
    let envelope = definitions.shift_remove("TakeNoteRequest").unwrap();
    definitions.shift_remove("TakeNoteResult");
    definitions.insert("NoteTakenNotification".to_owned(), envelope);
    notification["$defs"]["NoteTakenNotification"]["properties"]["method"]["const"] =
        "notifications/notes/taken".into();
    let of_notification = |direction| {
        FACTS
            .replace("notes/take", "notifications/notes/taken")
            .replace("client-to-server", direction)
    };
    let mut nothing = request.clone();
    let definitions = nothing["$defs"].as_object_mut().unwrap();
    definitions.shift_remove("TakeNoteRequest");
    definitions.shift_remove("TakeNoteResult");
    let types_only =
        "identifier = \"com.example/notes\"\nrevision = \"2026-07-28\"\nroots.Note = [\"Note\"]\n";
    let shapes = [
        ("request", &request, FACTS.to_owned()),
        (
            "question",
            &request,
            FACTS.replace("client-to-server", "server-to-client"),
        ),
        ("both", &request, FACTS.replace("client-to-server", "both")),
        (
            "received",
            &notification,
            of_notification("client-to-server"),
        ),
        ("sent", &notification, of_notification("server-to-client")),
        ("types", &nothing, types_only.to_owned()),
    ];

    let folder = scratch("bind-shapes");
    fs::create_dir_all(folder.join("src")).unwrap();
    let schema_crate = Path::new(env!("CARGO_MANIFEST_DIR")).join("../schema");
    let manifest = format!(
        "[package]\nname = \"shapes\"\nversion = \"0.0.0\"\nedition = \"2024\"\n\n\
         [workspace]\n\n[dependencies]\ntrueform-schema = {{ path = {schema_crate:?} }}\n"
    );
    fs::write(folder.join("Cargo.toml"), manifest).unwrap();
    let lock = schema_crate.join("../Cargo.lock");
    if lock.exists() {
        fs::copy(lock, folder.join("Cargo.lock")).unwrap();
    }
    let mut lib = "#![deny(warnings)]\n".to_owned();
    for (name, schema, facts) in &shapes {
        let text = bind(&format!("shape-{name}"), &schema.to_string(), facts).unwrap();
        fs::write(folder.join(format!("src/{name}.rs")), text).unwrap();
        lib.push_str(&format!("pub mod {name};\n"));
    }
    fs::write(folder.join("src/lib.rs"), lib).unwrap();
    let output = Command::new(env!("CARGO"))
        .args(["check", "--quiet", "--offline"])
        .current_dir(&folder)
        .env(
            "CARGO_TARGET_DIR",
            Path::new(env!("CARGO_TARGET_TMPDIR")).join("bind-target"),
        )
        .output()
        .unwrap();
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
}
