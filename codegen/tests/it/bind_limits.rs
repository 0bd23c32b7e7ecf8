//! The limits of what is bound: at them a schema takes seconds, beyond them it is refused with its place.

use std::time::Duration;

use serde_json::{Map, Value, json};
use trueform_codegen::{
    bind::MOST_BYTES,
    normalise::{MOST_SCHEMAS, MOST_TEXT},
};

use crate::{
    bind::{FACTS, bind, used, with},
    support::{cpu_time, is_alone},
};

/// CPU time, eight times what each takes in a debug build on a machine of today.
const LIMIT: Duration = Duration::from_secs(40);

/// What the schema of the tests has besides, and some more.
const BESIDE: usize = 60;

fn text() -> Value {
    json!({ "type": "string" })
}

fn object(members: &Value) -> Value {
    json!({ "type": "object", "properties": members })
}

/// `length` definitions, each of which refers to the next.
fn chain(length: usize) -> Value {
    let link = |i: usize| json!({ "$ref": format!("#/$defs/L{i}") });
    let mut chain = used(link(0));
    for i in 0..length {
        let next = if i + 1 < length { link(i + 1) } else { text() };
        chain[format!("L{i}")] = object(&json!({ "next": next }));
    }
    chain
}

fn all_of(length: usize) -> Value {
    let parts = (0..length).map(|i| object(&json!({ format!("m{i}"): text() })));
    used(json!({ "allOf": parts.collect::<Vec<_>>() }))
}

fn members(length: usize, schema: &Value) -> Value {
    let members = (0..length).map(|i| (format!("m{i}"), schema.clone()));
    used(object(&members.collect::<Map<_, _>>().into()))
}

/// Members of an `anyOf` or `oneOf` that a constant tells apart.
fn union(keyword: &str, length: usize) -> Value {
    let members = (0..length).map(|i| {
        let mut member = object(&json!({ "kind": { "type": "string", "const": format!("k{i}") } }));
        member["required"] = json!(["kind"]);
        member
    });
    used(json!({ keyword: members.collect::<Vec<_>>() }))
}

fn values(length: usize) -> Value {
    let values: Vec<_> = (0..length).map(|i| format!("v{i:05}")).collect();
    json!({ "type": "string", "enum": values })
}

/// The same enumeration in each part of an `allOf`.
fn copies(length: usize, of: usize) -> Value {
    let mut copies = used(json!({ "allOf": vec![json!({ "$ref": "#/$defs/Values" }); length] }));
    copies["Values"] = values(of);
    copies
}

/// An `allOf` whose first part describes the members of the second, which are many, by a large schema.
fn described_by_others(length: usize) -> Value {
    let large = members(length, &text())["Used"].clone();
    let names = (0..length).map(|i| (format!("o{i}"), json!({})));
    let named = object(&names.collect::<Map<_, _>>().into());
    used(json!({ "allOf": [{ "type": "object", "additionalProperties": large }, named] }))
}

fn described(length: usize) -> Value {
    let mut described = used(object(&json!({ "a": text() })));
    described["Used"]["description"] = "x\n".repeat(length).into();
    described
}

/// Issue 9, §2. A chain of 6,000 definitions and an `allOf` of 5,000 took 25 s to 30 s, when there could be 20,000 schemas.
#[test]
fn schemas_at_the_limits_take_seconds() {
    if !is_alone("bind_limits::schemas_at_the_limits_take_seconds") {
        return;
    }
    let schemas = MOST_SCHEMAS - BESIDE;
    let enumerated = (MOST_TEXT - 32 * BESIDE) / (6 + 32) - 100;
    for (name, definitions) in [
        ("chain", chain(schemas / 2)),
        ("all-of", all_of(schemas / 3)),
        ("members", members(schemas, &text())),
        (
            "nested",
            members(schemas / 2, &object(&json!({ "a": text() }))),
        ),
        ("any-of", union("anyOf", 1_000)),
        ("one-of", union("oneOf", 1_000)),
        ("values", used(values(enumerated))),
        ("copies", copies(20, enumerated / 22)),
        ("described", described(MOST_BYTES / 3 - 1_000)),
    ] {
        let start = cpu_time();
        let bound = bind(name, &with(definitions), FACTS);
        let took = cpu_time() - start;
        assert!(bound.is_ok(), "{name}: {:?}", bound.err());
        assert!(took < LIMIT, "{name} took {took:?}");
    }
}

#[test]
fn schemas_beyond_the_limits_are_refused_with_their_place() {
    if !is_alone("bind_limits::schemas_beyond_the_limits_are_refused_with_their_place") {
        return;
    }
    let too_many = "the file expands to more than 5000 schemas here";
    let too_much = "the names and strings of the file expand to more than 1048576 bytes here";
    for (name, definitions, place, reason) in [
        ("chain", chain(MOST_SCHEMAS / 2), "/$defs/L", too_many),
        ("all-of", all_of(MOST_SCHEMAS / 3), "/$defs/Used", too_many),
        (
            "members",
            members(MOST_SCHEMAS, &text()),
            "/$defs/Used/properties/m",
            too_many,
        ),
        (
            "any-of",
            union("anyOf", MOST_SCHEMAS / 2),
            "/$defs/Used/anyOf/",
            too_many,
        ),
        (
            "values",
            used(values(MOST_TEXT / 38 + 1)),
            "/$defs/Used`",
            too_much,
        ),
        ("copies", copies(2_000, 1_000), "/$defs/Values`", too_much),
        (
            "long",
            members(
                1,
                &json!({ "type": "string", "const": "x".repeat(MOST_TEXT) }),
            ),
            "/$defs/Used/properties/m0`",
            too_much,
        ),
        (
            "required",
            used(json!({ "type": "object", "required": values(MOST_TEXT / 38 + 1)["enum"] })),
            "/$defs/Used`",
            too_much,
        ),
        (
            "others",
            described_by_others(1_000),
            "/$defs/Used`",
            too_many,
        ),
        (
            "described",
            described(MOST_BYTES / 3 + 1),
            "notes.json`: the file has",
            "bytes, and at most 2097152 are allowed",
        ),
    ] {
        let start = cpu_time();
        let problem = bind(&format!("beyond-{name}"), &with(definitions), FACTS).expect_err(name);
        let took = cpu_time() - start;
        let short: String = problem.chars().take(500).collect();
        assert!(problem.contains(place), "{name}: {short}");
        assert!(problem.contains(reason), "{name}: {short}");
        assert!(took < LIMIT, "{name} took {took:?}");
    }
}
