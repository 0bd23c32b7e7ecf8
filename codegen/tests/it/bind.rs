//! Bindings of a user's own extension: what is generated, what is reused, and what is said when it cannot be.

use std::fs;

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
