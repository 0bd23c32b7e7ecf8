//! The report of each kind of change, and its severity for each flow of values.

use serde_json::{Value, json};
use trueform_compare::{Flow, Impact, compare};

/// Checks the changes between two schemas. Each line is the place and the change, then a letter for the impact where values
/// flow in, where they flow out, and where they flow both ways.
#[track_caller]
fn check(old: &Value, new: &Value, expected: &[&str]) {
    let all = [Flow::In, Flow::Out, Flow::Both].map(|flow| compare("s", old, new, flow));
    let found: Vec<String> = (0..all[0].len())
        .map(|i| {
            let letters: String = all
                .iter()
                .map(|changes| match changes[i].impact {
                    Impact::Additive => 'a',
                    Impact::Risky => 'r',
                    Impact::Breaking => 'b',
                })
                .collect();
            format!("{}: {}|{letters}", all[0][i].place, all[0][i].what)
        })
        .collect();
    assert_eq!(found, expected, "{old}\n{new}");
}

/// A list of cases: two schemas, and the changes between them.
macro_rules! cases {
    ($($old:tt => $new:tt: [$($line:expr),* $(,)?],)*) => {
        $(check(&json!($old), &json!($new), &[$($line),*]);)*
    };
}

#[test]
fn types() {
    cases! {
        { "type": "integer" } => { "type": "number" }: ["s: type changed from integer to number|arr"],
        { "type": "number" } => { "type": "integer" }: ["s: type changed from number to integer|bab"],
        { "type": "string" } => { "type": "integer" }: ["s: type changed from string to integer|bbb"],
        true => { "type": "string" }: ["s: type changed from any JSON to string|bab"],
        { "type": "string" } => false: ["s: type changed from string to nothing|bab"],
        { "not": {} } => { "type": "string" }: ["s: type changed from nothing to string|arr"],
        { "type": "string" } => { "type": ["string", "null"] }: ["s: type changed from string to null | string|arr"],
        // The content of a type is compared if both sides allow the type.
        { "type": "integer", "minimum": 0 } => { "type": ["number", "null"], "minimum": 5 }: [
            "s: type changed from integer to null | number|arr",
            "s: `minimum` changed from 0 to 5|bab",
        ],
        { "type": "string" } => { "type": ["string", "array"], "items": { "type": "string" }, "maxItems": 3 }: [
            "s: type changed from string to array of string | string|arr",
        ],
        // Other spellings of the same.
        { "anyOf": [{ "type": "string" }, { "type": "null" }] } => { "type": ["null", "string"] }: [],
        { "type": ["null", "boolean", "number", "string", "array", "object"] } => {}: [],
    }
}

#[test]
fn constants() {
    cases! {
        { "enum": ["a"] } => { "enum": ["a", "b"] }: ["s: value \"b\" added|arr"],
        { "enum": ["a", "b"] } => { "const": "a" }: ["s: value \"b\" removed|bab"],
        { "enum": ["a"] } => { "type": "string" }: ["s: type changed from \"a\" to string|arr"],
        { "type": "string" } => { "enum": ["a"] }: ["s: type changed from string to \"a\"|bab"],
        { "const": 1 } => { "enum": [1.0] }: [],
        { "enum": ["a", 1], "type": "string" } => { "const": "a" }: [],
        { "type": ["boolean", "null"] } => { "enum": [true, null] }: ["s: value false removed|bab"],
        { "oneOf": [{ "const": "a", "description": "A" }, { "const": "b" }] }
            => { "oneOf": [{ "const": "a", "description": "AA" }, { "const": "c" }] }: [
            "s: value \"b\" removed|bab",
            "s: value \"c\" added|arr",
            "s = \"a\": `description` changed from \"A\" to \"AA\"|rrr",
        ],
    }
}

#[test]
fn objects() {
    let text = json!({ "type": "string" });
    cases! {
        {} => { "properties": { "a": text } }: ["s.a: optional member added (string)|aaa"],
        { "additionalProperties": false } => { "properties": { "a": text }, "additionalProperties": false }: [
            "s.a: optional member added (string)|arr",
        ],
        {} => { "properties": { "a": text }, "required": ["a"] }: ["s.a: required member added (string)|bab"],
        { "additionalProperties": false }
            => { "properties": { "a": text }, "additionalProperties": false, "required": ["a"] }: [
            "s.a: required member added (string)|bbb",
        ],
        { "properties": { "a": text } } => {}: ["s.a: optional member removed (string)|rbb"],
        { "properties": { "a": text }, "additionalProperties": false } => { "additionalProperties": false }: [
            "s.a: optional member removed (string), and is refused now|bbb",
        ],
        { "properties": { "a": text } } => { "properties": { "a": text }, "required": ["a"] }: ["s.a: became required|bab"],
        { "properties": { "a": text }, "required": ["a"] } => { "properties": { "a": text } }: ["s.a: became optional|abb"],
        {} => { "required": ["a"] }: ["s.a: required member added (any JSON)|bab"],
        // A member with a name now had the schema of unnamed members before.
        { "additionalProperties": text } => { "properties": { "a": { "type": "integer" } }, "additionalProperties": text }: [
            "s.a: type changed from string to integer|bbb",
        ],
        { "type": "object" } => { "type": "object", "additionalProperties": false }: ["s: unknown members are now refused|bab"],
        { "unevaluatedProperties": false } => {}: ["s: unknown members are now allowed|arr"],
        { "unevaluatedProperties": false } => { "unevaluatedProperties": false, "additionalProperties": true }: [
            "s: unknown members are now allowed|arr",
        ],
        { "additionalProperties": text } => { "additionalProperties": { "type": "integer" } }: [
            "s.*: type changed from string to integer|bbb",
        ],
        { "patternProperties": { "^x": text } } => { "patternProperties": { "^x": { "type": "integer" }, "^y": text } }: [
            "s./^x/: type changed from string to integer|bbb",
            "s./^y/: optional member added (string)|bab",
        ],
        { "allOf": [{ "properties": { "a": text } }, { "required": ["a"] }] } => { "properties": { "a": text }, "required": ["a"] }: [],
        // Each part has its say about the members of the others.
        { "allOf": [{ "additionalProperties": text }, { "additionalProperties": { "maxLength": 3 } }] }
            => { "additionalProperties": { "maxLength": 3 } }: ["s.*: type changed from string to any JSON|arr"],
        { "allOf": [{ "additionalProperties": text }, { "properties": { "a": true } }] }
            => { "allOf": [{ "additionalProperties": { "maxLength": 3 } }, { "properties": { "a": true } }] }: [
            "s.*: type changed from string to any JSON|arr",
            "s.*: `maxLength` changed from none to 3|bab",
        ],
        { "allOf": [{ "additionalProperties": false }, { "properties": { "a": text } }] } => { "additionalProperties": false }: [
            "s.a: optional member removed (nothing), and is refused now|bbb",
        ],
        { "unevaluatedProperties": false, "anyOf": [{ "properties": { "a": text } }, { "required": ["b"] }] }
            => { "unevaluatedProperties": false, "anyOf": [{ "properties": { "a": text, "c": text } }, { "required": ["b"] }] }: [
            "s: changed, in ways that cannot be classified because of `unevaluatedProperties`|bbb",
        ],
        { "allOf": [{ "patternProperties": { "^x": text } }, { "properties": { "a": text } }] }
            => { "allOf": [{ "patternProperties": { "^x": text } }, { "properties": { "b": text } }] }: [
            "s: changed, in ways that cannot be classified because of `patternProperties`|bbb",
        ],
    }
}

#[test]
fn arrays() {
    let (text, number) = (json!({ "type": "string" }), json!({ "type": "number" }));
    cases! {
        { "type": "array", "items": text } => { "type": "array", "items": number }: ["s[]: type changed from string to number|bbb"],
        { "prefixItems": [text], "items": number } => { "prefixItems": [text, text], "items": number }: [
            "s[1]: type changed from number to string|bbb",
        ],
        { "allOf": [{ "prefixItems": [{ "maxLength": 3 }] }, { "items": text }] } => { "prefixItems": [{ "maxLength": 3 }], "items": text }: [
            "s[0]: type changed from string to any JSON|arr",
        ],
        { "allOf": [{ "items": text }, { "prefixItems": [{ "maxLength": 3 }] }] } => { "prefixItems": [{ "maxLength": 3 }], "items": text }: [
            "s[0]: type changed from string to any JSON|arr",
        ],
        { "prefixItems": [{}], "unevaluatedItems": false } => { "prefixItems": [{}, {}], "unevaluatedItems": false }: [
            "s: changed, in ways that cannot be classified because of `unevaluatedItems`|bbb",
        ],
        // As draft-07 has it.
        { "items": [text], "additionalItems": number } => { "prefixItems": [text], "items": number }: [],
        { "uniqueItems": false } => { "uniqueItems": true }: ["s: `uniqueItems` changed from none to true|bab"],
        { "allOf": [{ "contains": text, "minContains": 2 }, { "contains": number }] }
            => { "allOf": [{ "contains": text }, { "contains": number, "minContains": 2 }] }: [
            "s: changed, in ways that cannot be classified because of `contains`|bbb",
        ],
        { "contains": text } => { "contains": text, "minContains": 0 }: ["s: `minContains` changed from none to 0|arr"],
    }
}

#[test]
fn limits_and_words() {
    cases! {
        { "maxLength": 3 } => { "maxLength": 5 }: ["s: `maxLength` changed from 3 to 5|arr"],
        { "minLength": 3 } => { "minLength": 5 }: ["s: `minLength` changed from 3 to 5|bab"],
        { "minLength": 0 } => {}: [],
        { "maximum": 1 } => { "maximum": 1.0 }: [],
        { "allOf": [{ "minimum": 1 }, { "minimum": 4 }] } => { "minimum": 3 }: ["s: `minimum` changed from 4 to 3|arr"],
        { "maximum": 18_446_744_073_709_551_614_u64 } => { "maximum": 18_446_744_073_709_551_615_u64 }: [
            "s: `maximum` changed from 18446744073709551614 to 18446744073709551615|arr",
        ],
        {} => { "format": "uri" }: ["s: `format` changed from none to \"uri\"|bab"],
        { "pattern": "a" } => { "pattern": "b" }: ["s: `pattern` changed from \"a\" to \"b\"|bbb"],
        { "pattern": "a" } => {}: ["s: `pattern` changed from \"a\" to none|arr"],
        { "x-unheard": 1 } => { "x-unheard": 2 }: ["s: `x-unheard` changed from 1 to 2|bbb"],
        { "$ref": "https://a" } => { "$ref": "https://b" }: ["s: `$ref` changed from \"https://a\" to \"https://b\"|bbb"],
        { "description": "one", "title": "One", "default": 1 } => { "description": "two" }: [
            "s: `default` changed from 1 to none|rrr",
            "s: `description` changed from \"one\" to \"two\"|rrr",
            "s: `title` changed from \"One\" to none|aaa",
        ],
    }
}

#[test]
fn unions() {
    let (text, list) = (
        json!({ "type": "string", "minLength": 1 }),
        json!({ "type": "array" }),
    );
    let tagged = |tag: &str, more: &str| json!({ "type": "object", "required": ["tag"], "properties": { "tag": { "const": tag }, "more": { "type": more } } });
    let (a, b, other) = (
        tagged("a", "string"),
        tagged("b", "string"),
        tagged("a", "array"),
    );
    cases! {
        { "anyOf": [text, { "type": "null" }] } => { "anyOf": [list, { "type": "null" }] }: [
            "s: union member string removed|bab",
            "s: union member array added|arr",
        ],
        { "anyOf": [{ "type": "string", "minLength": 1 }, { "type": "null" }] } => { "type": ["array", "string", "null"] }: [
            "s: `minLength` changed from 1 to none|arr",
            "s: union member array added|arr",
        ],
        { "anyOf": [text, a] } => { "anyOf": [other, text] }: ["s.more: type changed from string to array|bbb"],
        // The former only schema is one of several alternatives now, and its annotations were about the whole.
        { "type": "string", "minLength": 1, "description": "x" } => { "anyOf": [text, list], "description": "x" }: [
            "s: union member array added|arr",
        ],
        { "anyOf": [text, list] } => { "type": "string", "minLength": 2 }: [
            "s: `minLength` changed from 1 to 2|bab",
            "s: union member array removed|bab",
        ],
        { "type": "number" } => { "anyOf": [text, list] }: ["s: type changed from number to string | array|bbb"],
        {} => { "type": "object", "anyOf": [a, b] }: [
            "s: type changed from any JSON to object with tag \"a\" | object with tag \"b\"|bab",
            "s: type changed from any JSON to object|bab",
        ],
        { "anyOf": [a] } => { "allOf": [a] }: [],
        // Exactly one: harmless where no value can meet two.
        { "oneOf": [a, b] } => { "anyOf": [a, b] }: [],
        { "oneOf": [a, b] } => { "oneOf": [a, b, list] }: ["s: union member array added|arr"],
        { "oneOf": [{ "minimum": 1 }, text] } => { "oneOf": [{ "minimum": 1 }, text, list] }: ["s: union member array added|bbb"],
        { "anyOf": [{ "minimum": 1 }, text] } => { "oneOf": [{ "minimum": 1 }, text] }: [
            "s: may now meet one member of the union only|bab",
        ],
        // An integer meets both.
        { "oneOf": [{ "type": "integer" }, { "type": "number" }] } => { "type": "number" }: ["s: union member integer removed|bbb"],
        // A member that is new to an alternative may have been known beside it, and the other way round.
        { "properties": { "n": text }, "anyOf": [{ "required": ["n"] }, list] }
            => { "properties": { "n": text }, "anyOf": [{ "required": ["n"], "properties": { "m": text, "n": list } }, list] }: [
            "s.m: optional member added (string)|aaa",
            "s.n: type changed from any JSON to array|bab",
        ],
        { "properties": { "n": text }, "anyOf": [{ "minProperties": 1, "type": "object" }, list] }
            => { "properties": { "n": text }, "anyOf": [{ "minProperties": 1, "type": "object", "properties": { "n": list } }, list] }: [
            "s.n: optional member added (array)|bab",
        ],
        { "anyOf": [{ "properties": { "n": text } }, list] } => { "anyOf": [{ "properties": { "n": text } }, list], "properties": { "n": list, "m": text } }: [
            "s.m: optional member added (string)|aaa",
            "s.n: optional member added (array)|bab",
        ],
    }
}

#[test]
fn references() {
    let tree = |leaf: &str| {
        let node = json!({ "properties": { "leaf": { "type": leaf }, "children": { "items": { "$ref": "#/$defs/node" } } } });
        json!({ "properties": { "root": { "$ref": "#/$defs/node" } }, "$defs": { "node": node } })
    };
    check(
        &tree("string"),
        &tree("integer"),
        &["s.root.leaf: type changed from string to integer|bbb"],
    );
    // Recursion through a part, as draft-07 writes a reference with words beside it.
    let parts = |ty: &str| {
        let next = json!({ "allOf": [{ "$ref": "#/definitions/a" }], "description": "next" });
        let a = json!({ "properties": { "next": next, "leaf": { "type": ty } } });
        json!({ "$ref": "#/definitions/a", "definitions": { "a": a } })
    };
    check(&parts("string"), &parts("string"), &[]);
    check(
        &parts("string"),
        &parts("array"),
        &["s.leaf: type changed from string to array|bbb"],
    );
    cases! {
        // Names are spelling.
        { "properties": { "a": { "$ref": "#/$defs/A" } }, "$defs": { "A": { "type": "string" } } }
            => { "properties": { "a": { "type": "string" } } }: [],
        { "anyOf": [{ "$ref": "#/$defs/A" }, { "type": "null" }], "$defs": { "A": { "type": "object", "properties": { "a": true } } } }
            => { "anyOf": [{ "$ref": "#/$defs/B" }, { "type": "null" }], "$defs": { "B": { "type": "object", "required": ["a"] } } }: [
            "s.a: became required|bab",
        ],
        // Below keywords that are not looked into, too.
        { "not": { "$ref": "#/$defs/A" }, "$defs": { "A": { "type": "string" } } }
            => { "not": { "$ref": "#/$defs/A" }, "$defs": { "A": { "type": "array" } } }: [
            "s: `not` changed from {\"$ref\":\"#/$defs/A\"} to {\"$ref\":\"#/$defs/A\"}|bbb",
        ],
        { "type": "object", "required": ["a"] } => { "anyOf": [{ "$ref": "#/$defs/A" }, { "type": "null" }], "$defs": { "A": { "type": "object", "required": ["a"] } } }: [
            "s: union member null added|arr",
        ],
        // Annotations of a definition are reported wherever it is used; annotations of the whole are not those of one alternative.
        { "$ref": "#/$defs/A", "description": "whole", "$defs": { "A": { "type": "string", "description": "x" } } }
            => { "anyOf": [{ "$ref": "#/$defs/A" }, { "type": "null" }], "description": "whole",
                "$defs": { "A": { "type": "string", "description": "y" } } }: [
            "s: `description` changed from \"x\" to \"y\"|rrr",
            "s: union member null added|arr",
        ],
        // Words beside a reference are words of that place.
        { "properties": { "a": { "$ref": "#/$defs/A", "description": "x" }, "b": { "$ref": "#/$defs/A" } }, "$defs": { "A": { "type": "string" } } }
            => { "properties": { "a": { "$ref": "#/$defs/A", "description": "y" }, "b": { "$ref": "#/$defs/A" } }, "$defs": { "A": { "type": "array" } } }: [
            "s.a: `description` changed from \"x\" to \"y\"|rrr",
            "s.a: type changed from string to array|bbb",
        ],
    }
}
