//! Bindings of a user's own extension: generated types, reused types, and the errors.

use std::{fs, path::Path, process::Command};

use trueform_codegen::bind::Extension;

use crate::support::{committed, cpu_time, is_alone, scratch};

pub(crate) const FACTS: &str = r#"
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

pub(crate) fn bind(name: &str, schema: &str, facts: &str) -> Result<String, String> {
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

/// The schema with further definitions; those of the same name are replaced.
#[expect(clippy::needless_pass_by_value, reason = "built anew for each case")]
pub(crate) fn with(definitions: serde_json::Value) -> String {
    let mut schema = schema();
    let all = schema["$defs"].as_object_mut().unwrap();
    for (name, definition) in definitions.as_object().unwrap() {
        all.insert(name.clone(), definition.clone());
    }
    schema.to_string()
}

/// Unions of two references to the next one: twice as many members at each level.
fn nested_unions(levels: u32) -> serde_json::Value {
    let mut definitions = serde_json::Map::new();
    for level in 0..levels {
        let next = serde_json::json!({ "$ref": format!("#/$defs/C{}", level + 1) });
        let union = serde_json::json!({ "anyOf": [next, next] });
        definitions.insert(format!("C{level}"), union);
    }
    definitions.insert(
        format!("C{levels}"),
        serde_json::json!({ "type": "string" }),
    );
    let note =
        serde_json::json!({ "type": "object", "properties": { "used": { "$ref": "#/$defs/C0" } } });
    definitions.insert("Note".to_owned(), note);
    definitions.into()
}

/// A definition that the params of the method refer to.
#[expect(clippy::needless_pass_by_value, reason = "built anew for each case")]
pub(crate) fn used(definition: serde_json::Value) -> serde_json::Value {
    serde_json::json!({
        "Note": { "type": "object", "properties": { "used": { "$ref": "#/$defs/Used" } } },
        "Used": definition,
    })
}

#[test]
fn what_cannot_be_bound_is_refused_with_its_place() {
    use serde_json::json;
    let mut doubling = json!({ "Used": { "$ref": "#/$defs/D30" }, "D0": { "type": "object" } });
    for i in 1..=30 {
        let half = json!({ "$ref": format!("#/$defs/D{}", i - 1) });
        doubling[format!("D{i}")] = json!({ "allOf": [half, half] });
    }
    let cases = [
        (
            json!({ "Used": { "$ref": "#/$defs/Other" }, "Other": { "anyOf": [{ "$ref": "#/$defs/Used" }, { "type": "null" }] } }),
            "definition `Other`, at `/$defs/Other`: refers to itself with nothing in between (`Other` → `Used` → `Other`)",
        ),
        (
            used(json!({ "allOf": [{ "$ref": "#/$defs/Used" }, { "type": "object" }] })),
            "definition `Used`, at `/$defs/Used`: `Used` is combined with a part of itself",
        ),
        (doubling, "the file expands to more than 5000 schemas here"),
        (
            used(json!({ "type": "array", "items": { "$ref": "#/$defs/Used" } })),
            "definition `Used`, at `/$defs/Used`: more than 32 lists, maps and nullable values lie inside each other",
        ),
        (
            used(json!({ "type": "string", "pattern": "^a" })),
            "at `/$defs/Used/pattern`: keyword `pattern` is not supported here: the bindings do not check it",
        ),
        (
            used(json!({ "type": "string", "frmat": "uri" })),
            "at `/$defs/Used/frmat`: `frmat` is not a keyword of JSON Schema that the generator knows",
        ),
        (
            used(json!({ "type": "string", "minLength": "two" })),
            "at `/$defs/Used/minLength`: `minLength` must be a natural number",
        ),
        (
            used(json!({ "type": "object", "required": ["a"], "additionalProperties": false })),
            "at `/$defs/Used/required/0`: `a` is required, but",
        ),
        (
            used(json!({ "oneOf": [{ "type": "integer" }, { "type": "number" }] })),
            "at `/$defs/Used`: the union `Used` (at `Note.used`) has no rule in",
        ),
        (
            used(json!({ "type": "string", "enum": [] })),
            "at `/$defs/Used/enum`: `enum` has no value",
        ),
        (
            json!({ "TakeNoteResult": { "type": "string" } }),
            "definition `TakeNoteResult`, at `/$defs/TakeNoteResult`: the result of a method must be an object",
        ),
        (
            json!({ "LoseNoteRequest": { "type": "object", "properties": { "method": { "const": "notes/lose" } } } }),
            "definition `LoseNoteRequest`, at `/$defs/LoseNoteRequest`: the method `notes/lose` has no direction",
        ),
        (
            json!({ "WriteNoteNotification": { "type": "object", "properties": { "method": { "const": "notes/take" } } } }),
            "has the method `notes/take` too; a method has one envelope",
        ),
        (nested_unions(60), "a union of more than 1000 members"),
    ];
    for (definitions, expected) in cases {
        let problem = bind("refused", &with(definitions), FACTS).unwrap_err();
        assert!(problem.contains("notes.json`: "), "{problem}");
        assert!(problem.contains(expected), "{problem}\nlacks\n{expected}");
    }
    // The older draft has its definitions elsewhere, and so has the pointer.
    let older = with(used(json!({ "type": "string", "pattern": "^a" })))
        .replace(
            "https://json-schema.org/draft/2020-12/schema",
            "http://json-schema.org/draft-07/schema#",
        )
        .replace("$defs", "definitions");
    let problem = bind("older", &older, FACTS).unwrap_err();
    assert!(
        problem.contains("definition `Used`, at `/definitions/Used/pattern`"),
        "{problem}"
    );
}

#[test]
fn facts_that_do_not_fit_are_refused() {
    let more = |line: &str| format!("{FACTS}{line}\n");
    let cases = [
        (
            FACTS.replace("client-to-server", "sideways"),
            "direction` is `sideways`, expected `client-to-server`",
        ),
        (
            more("methods.\"notes/take\".name = \"take-note\""),
            "name` is `take-note`",
        ),
        (
            more("methods.\"notes/take\".header_name = \"icon\""),
            "header_name` is `icon`, which is not a required string",
        ),
        (
            more("methods.\"notes/take\".results.\"2026-07-28\" = [\"No\"]"),
            "names `No`, which is not a definition",
        ),
        (
            more("roots.Option = [\"Note\"]"),
            "`Option` cannot be the name of a type",
        ),
        (
            more("roots.Lost = [\"Lost\"]"),
            "the root `Lost` finds no definition",
        ),
        (
            more("names.\"Note.lost\" = \"Lost\""),
            "the line `Note.lost` is not needed",
        ),
        (
            more("unions.Lost.json = true"),
            "`unions.Lost` is for a union that is not generated",
        ),
        (
            more("unchecked = [\"type\"]"),
            "`unchecked` names `type`, which cannot be left out",
        ),
        (more("unknown = 1"), "unknown field `unknown`"),
    ];
    for (facts, expected) in cases {
        let facts = match facts.contains("unchecked") || facts.contains("unknown =") {
            // Before the first table.
            true => {
                let (rest, line) = facts.trim_end().rsplit_once('\n').unwrap();
                format!("{line}\n{rest}\n")
            }
            false => facts,
        };
        let problem = bind("facts", &schema().to_string(), &facts).unwrap_err();
        assert!(problem.contains("notes.toml`: "), "{problem}");
        assert!(problem.contains(expected), "{problem}\nlacks\n{expected}");
    }
    // A schema without methods, and facts without any.
    let mut nothing = schema();
    let all = nothing["$defs"].as_object_mut().unwrap();
    all.shift_remove("TakeNoteRequest");
    let facts = "identifier = \"com.example/notes\"\nrevision = \"2026-07-28\"\n[methods]\n";
    let problem = bind("nothing", &nothing.to_string(), facts).unwrap_err();
    assert!(
        problem.contains("notes.toml`: nothing to generate"),
        "{problem}"
    );
}

#[test]
fn limits_and_names_reach_the_bindings() {
    use serde_json::json;
    let text = bind(
        "limits",
        &with(json!({
            "Note": {
                "type": "object",
                "properties": {
                    "text": { "type": "string", "minLength": 1, "maxLength": 9, "pattern": "^a", "x-kept": true },
                    "foo-bar": { "$ref": "#/$defs/a~1b%20c" },
                    "self": { "type": "boolean" },
                },
                "required": ["text"],
                "additionalProperties": false,
            },
            "a/b c": { "type": "string", "enum": ["<=", "a", "A", "Self"], "description": "Compares." },
        })),
        &format!("unchecked = [\"pattern\"]\n{FACTS}"),
    )
    .unwrap();
    for part in [
        "Need::MinLength(1)",
        "Need::MaxLength(9)",
        ".closed(",
        "pub foo_bar: Option<BC>",
        "pub self_: Option<bool>",
        "/// Compares.\n",
        "pub enum BC {",
        "\"<=\" => Self::LessEqual",
        "\"a\" => Self::A2",
        "\"A\" => Self::A,",
        "\"Self\" => Self::Self_",
    ] {
        assert!(text.contains(part), "{part}: {text}");
    }
}

/// A request without a result has the empty one, and absent params are an empty object.
#[test]
fn results_and_params_may_be_missing() {
    let mut bare = schema();
    let all = bare["$defs"].as_object_mut().unwrap();
    all.shift_remove("TakeNoteResult");
    let members = all["TakeNoteRequest"]["properties"]
        .as_object_mut()
        .unwrap();
    members.shift_remove("params");
    let text = bind("bare", &bare.to_string(), FACTS).unwrap();
    assert!(text.contains("type Params = super::JsonObject;"), "{text}");
    assert!(text.contains("type Result = super::EmptyResult;"), "{text}");
}

/// Large schemas, and those that would grow without end, bind or are refused in a time that a build can bear.
#[test]
fn large_schemas_take_bounded_time() {
    use serde_json::json;
    if !is_alone("bind::large_schemas_take_bounded_time") {
        return;
    }
    let link = |i: usize| json!({ "$ref": format!("#/$defs/L{i}") });
    let mut chain = used(link(0));
    for i in 0..500 {
        chain[format!("L{i}")] =
            json!({ "type": "object", "properties": { "next": link((i + 1) % 500), "Next": {} } });
    }
    // Names that all are spelled alike.
    let name = |i: usize| format!("{}{}m", "-".repeat(i % 50 + 1), "_".repeat(i / 50));
    let members = (0..2_000).map(|i| (name(i), json!({ "type": "string" })));
    let members: serde_json::Map<String, serde_json::Value> = members.collect();
    let values: Vec<String> = (0..5_000).map(name).collect();
    let mut product = used(json!({ "allOf": [] }));
    for _ in 0..6 {
        let part = json!({ "anyOf": [
            { "type": "object", "properties": { "a": { "type": "string" } } },
            { "type": "object", "properties": { "b": { "type": "string" } } },
            { "type": "object", "properties": { "c": { "type": "string" } } },
        ] });
        product["Used"]["allOf"].as_array_mut().unwrap().push(part);
    }
    let schemas = [
        ("chain", chain, true),
        (
            "members",
            used(json!({ "type": "object", "properties": members })),
            true,
        ),
        (
            "values",
            used(json!({ "type": "string", "enum": values })),
            true,
        ),
        ("product", product, false),
    ];
    for (name, definitions, binds) in schemas {
        let start = cpu_time();
        let result = bind(name, &with(definitions), FACTS);
        assert_eq!(result.is_ok(), binds, "{name}: {:?}", result.err());
        let took = cpu_time() - start;
        // Ten times the CPU time that it takes, in a debug build.
        assert!(took.as_secs() < 60, "{name} took {took:?}");
    }
}

// GAP-12: an extension may exist at revisions before the one that its schema is written for.
#[test]
fn older_revisions_have_the_extension_too() {
    let mut schema = schema();
    schema["$defs"]["TakeNoteResult"] = serde_json::json!({
        "type": "object",
        "properties": {
            "kept": { "$ref": "#/$defs/Kept" },
            "ttlMs": { "type": "integer" },
            "resultType": { "const": "complete", "type": "string" },
        },
        "required": ["kept", "resultType", "ttlMs"],
    });
    // A union of its own is the same one at each of them.
    schema["$defs"]["Kept"] = serde_json::json!({
        "anyOf": [{ "type": "array", "items": { "type": "string" } }, { "type": "string" }],
    });
    let facts = |named: &str| {
        let (head, methods) = FACTS.split_once("methods.").unwrap();
        format!("{head}older = {named}\nmethods.{methods}")
    };
    let text = bind("older", &schema.to_string(), &facts(r#"["2025-11-25"]"#)).unwrap();
    for expected in [
        "const SINCE_2025_11_25",
        "walk.available(path, SINCE_2025_11_25, self)",
        // What the modern era added to results is not written before it.
        r#"object.constant_in("resultType", ONLY_2026_07_28, "complete")"#,
        r#"object.defaulted("ttlMs", ONLY_2026_07_28, ONLY_2026_07_28, &self.ttl_ms, "0")"#,
        // A definition of the core stays the core's, although it has to exist at both.
        "pub icon: Option<Icon>",
        "pub enum Kept",
    ] {
        assert!(text.contains(expected), "{expected}: {text}");
    }
    assert!(!text.contains("pub struct Icon"), "{text}");

    for (name, named, expected) in [
        (
            "unknown",
            r#"["1999-01-01"]"#,
            "extends the unknown revision `1999-01-01`",
        ),
        (
            "same",
            r#"["2026-07-28"]"#,
            "`older` of the extension `notes` names `2026-07-28`, which is not older than its revision `2026-07-28`",
        ),
        (
            "twice",
            r#"["2025-11-25", "2025-11-25"]"#,
            "`older` of the extension `notes` names `2025-11-25` twice",
        ),
        (
            "lacking",
            r#"["2025-06-18"]"#,
            "names `2025-06-18`, whose core lacks `Icon`, which `Note` refers to",
        ),
    ] {
        let problem = bind(name, &schema.to_string(), &facts(named)).unwrap_err();
        assert!(problem.contains(expected), "{name}: {problem}");
        assert!(problem.contains("notes.toml"), "{name}: {problem}");
    }
}

// C-14: some extensions define nothing for clients to declare.
#[test]
fn the_facts_say_whether_clients_declare_the_extension() {
    let says_not = "fn client_declares(&self) -> bool";
    let (head, methods) = FACTS.split_once("methods.").unwrap();
    for (value, expected) in [("true", 0), ("false", 1)] {
        let facts = format!("{head}client_declares = {value}\nmethods.{methods}");
        let text = bind(&format!("declares-{value}"), &schema().to_string(), &facts).unwrap();
        assert_eq!(text.matches(says_not).count(), expected, "{value}: {text}");
    }
    let text = bind("declares", &schema().to_string(), FACTS).unwrap();
    assert!(!text.contains(says_not), "{text}");
}
