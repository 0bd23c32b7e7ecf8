//! Schemas that cannot be compiled, with the reasons; and schemas designed to exhaust the checker.

use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::{
    super::{CompileOptions, Formats, MAX_SUBSCHEMAS, Schema, SchemaErrorKind},
    json as parse,
};

#[track_caller]
fn refused(schema: &Value) -> String {
    let errors =
        Schema::compile(schema, CompileOptions::default()).expect_err("the schema is faulty");
    let lines: Vec<String> = errors
        .iter()
        .map(|error| format!("{:?} {error}", error.kind))
        .collect();
    lines.join("\n")
}

#[test]
fn faults_are_named() {
    for (schema, expected) in [
        (
            "5",
            "Malformed (root): a schema is an object or a boolean, not 5",
        ),
        (
            r#"{"type":"int"}"#,
            "Malformed /type: `type` is one of `null`, `boolean`, `integer`, `number`, `string`, `array`, `object` or a list of them, not \"int\"",
        ),
        (
            r#"{"properties":{"a/b":{"minLength":-1}}}"#,
            "Malformed /properties/a~1b/minLength: `minLength` is an integer of at least 0, not -1",
        ),
        (
            r#"{"exclusiveMinimum":true}"#,
            "Malformed /exclusiveMinimum: `exclusiveMinimum` is a number, not true",
        ),
        (
            r#"{"multipleOf":0}"#,
            "Malformed /multipleOf: `multipleOf` is greater than 0",
        ),
        (
            r#"{"anyOf":[]}"#,
            "Malformed /anyOf: `anyOf` is a non-empty array of schemas, not []",
        ),
        (
            r#"{"required":"a"}"#,
            "Malformed /required: an array of property names is needed, not \"a\"",
        ),
        (
            r##"{"$ref":"#/$defs/Pont","$defs":{"Point":{}}}"##,
            "Unresolved /$ref: `#/$defs/Pont` leads nowhere in this schema; did you mean `#/$defs/Point`?",
        ),
        (
            r##"{"$ref":"#"}"##,
            "Unresolved (root): this schema applies itself to the same value without end",
        ),
        (
            r##"{"allOf":[{"$ref":"#/$defs/a"}],"$defs":{"a":{"anyOf":[{"$ref":"#/$defs/b"}]},"b":{"not":{"$ref":"#/$defs/a"}}}}"##,
            "Unresolved /$defs/a: this schema applies itself to the same value without end",
        ),
        // Z-1
        (
            r#"{"$schema":"https://example.com/dialect"}"#,
            "Dialect /$schema: dialect \"https://example.com/dialect\" is not supported; use 2020-12 (the default) or draft-07",
        ),
    ] {
        assert_eq!(refused(&parse(schema)), expected, "{schema}");
    }
}

/// Schemas that only the feature `json-schema` supports, and the messages without it.
const CURED: &[(&str, &str)] = &[
    (
        r#"{"$defs":{"x":{"unevaluatedProperties":false}}}"#,
        "/$defs/x/unevaluatedProperties: `unevaluatedProperties` needs the feature `json-schema`",
    ),
    (
        r#"{"unevaluatedItems":{"type":"string"}}"#,
        "/unevaluatedItems: `unevaluatedItems` needs the feature `json-schema`",
    ),
    (
        r##"{"$dynamicRef":"#a","$defs":{"x":{"$dynamicAnchor":"a"}}}"##,
        "/$dynamicRef: `$dynamicRef` needs the feature `json-schema`",
    ),
    (
        r#"{"pattern":"(?=a)"}"#,
        "/pattern: patterns with lookahead need the feature `json-schema`",
    ),
    (
        r#"{"pattern":"(?<!a)"}"#,
        "/pattern: patterns with lookbehind need the feature `json-schema`",
    ),
    (
        r#"{"pattern":"(a)\\1"}"#,
        "/pattern: patterns with back-references need the feature `json-schema`",
    ),
    (
        r#"{"pattern":"\\p{L}"}"#,
        "/pattern: patterns with Unicode property classes need the feature `json-schema`",
    ),
    (
        r#"{"properties":{"a":{"$id":"https://example.com/a"}}}"#,
        "/properties/a/$id: an `$id` below the root needs the feature `json-schema`",
    ),
    (
        r#"{"properties":{"a":{"$id":"https://example.com/a","$schema":"http://json-schema.org/draft-07/schema#"}}}"#,
        "/properties/a/$id: an `$id` below the root needs the feature `json-schema`\n\
         Unsupported /properties/a/$schema: a second dialect inside of a schema needs the feature `json-schema`",
    ),
    (
        r#"{"$schema":"https://json-schema.org/draft/2019-09/schema"}"#,
        "/$schema: dialect \"https://json-schema.org/draft/2019-09/schema\" needs the feature `json-schema`; 2020-12 (the default) and draft-07 do not",
    ),
];

#[cfg(not(feature = "json-schema"))]
#[test]
fn what_is_not_covered_names_the_feature() {
    for (schema, expected) in CURED {
        assert_eq!(
            refused(&parse(schema)),
            format!("Unsupported {expected}"),
            "{schema}"
        );
    }
}

#[cfg(feature = "json-schema")]
#[test]
fn the_feature_is_the_cure_where_it_is_named() {
    for (schema, _) in CURED {
        let compiled = Schema::compile(&parse(schema), CompileOptions::default());
        assert!(compiled.is_ok(), "{schema}: {compiled:?}");
    }
}

/// If both engines refuse a schema, the message does not name the feature, with it or without.
#[test]
fn what_the_feature_does_not_cure_does_not_name_it() {
    for (schema, expected) in [
        (
            r#"{"pattern":"\\uD83D"}"#,
            "Malformed /pattern: `\\uD83D` is not a usable pattern: a lone surrogate is not a character, so no text has one",
        ),
        (
            r#"{"pattern":"\\c1"}"#,
            "Malformed /pattern: `\\c1` is not a usable pattern: `\\c` is followed by a letter",
        ),
        (
            r#"{"patternProperties":{"\\u{110000}":{}}}"#,
            "Malformed /patternProperties/\\u{110000}: `\\u{110000}` is not a usable pattern: `\\u{…}` is at most `\\u{10FFFF}`",
        ),
        (
            r#"{"pattern":"(((a{99}){99}){99}){99}"}"#,
            "TooLarge /pattern: the pattern compiles to more than 262144 bytes, the limit that `max_pattern_size` sets",
        ),
        (
            r#"{"unevaluatedProperties":5}"#,
            "Malformed /unevaluatedProperties: a schema is an object or a boolean, not 5",
        ),
        (
            r##"{"$recursiveRef":"#"}"##,
            "Malformed /$recursiveRef: `$recursiveRef` is of 2019-09; name that dialect in `$schema`",
        ),
        (
            r#"{"$dynamicRef":1}"#,
            "Malformed /$dynamicRef: `$dynamicRef` is a string, not 1",
        ),
        (
            r##"{"$dynamicRef":"#a"}"##,
            "Unresolved /$dynamicRef: `#a` leads nowhere in this schema",
        ),
        (
            r##"{"$dynamicRef":"https://example.com/b#a"}"##,
            "Remote /$dynamicRef: `https://example.com/b#a` is another document, and those are never fetched; copy it below `$defs` and refer to `#/$defs/…`",
        ),
        (
            r#"{"properties":{"a":{"$schema":"https://example.com/dialect"}}}"#,
            "Dialect /properties/a/$schema: dialect \"https://example.com/dialect\" is not supported",
        ),
    ] {
        assert_eq!(refused(&parse(schema)), expected, "{schema}");
    }
}

#[test]
fn the_limit_of_patterns_is_a_setting() {
    let schema = json!({"pattern": "^[a-z]{3}$"});
    let small = CompileOptions::default().max_pattern_size(64);
    let errors = Schema::compile(&schema, small).expect_err("too large");
    assert_eq!(
        errors[0].to_string(),
        "/pattern: the pattern compiles to more than 64 bytes, the limit that `max_pattern_size` sets"
    );
    let large = json!({"pattern": "^([a-z]{99}){99}$"});
    assert!(Schema::compile(&large, CompileOptions::default()).is_err());
    let options = CompileOptions::default().max_pattern_size(16 << 20);
    assert!(Schema::compile(&large, options).is_ok());
}

#[test]
fn all_faults_at_once() {
    let schema =
        json!({"properties": {"a": {"type": "int"}, "b": {"pattern": "("}}, "required": 1});
    assert_eq!(refused(&schema).lines().count(), 3);
}

// Z-3, Z-4
#[test]
fn remote_references_are_refused_and_never_fetched() {
    for target in [
        "http://169.254.169.254/latest/meta-data",
        "https://example.com/s.json#/a",
        "other.json",
        "file:///etc/passwd",
    ] {
        let errors = Schema::compile(
            &json!({"properties": {"a": {"$ref": target}}}),
            CompileOptions::default(),
        )
        .expect_err("remote");
        assert_eq!(errors.len(), 1);
        assert_eq!(
            (errors[0].kind, errors[0].pointer.as_str()),
            (SchemaErrorKind::Remote, "/properties/a/$ref")
        );
        assert!(
            errors[0].reason.contains("never fetched"),
            "{}",
            errors[0].reason
        );
    }
}

// Z-1
#[test]
fn known_dialects() {
    for dialect in [
        "https://json-schema.org/draft/2020-12/schema",
        "https://json-schema.org/draft/2020-12/schema#",
        "http://json-schema.org/draft-07/schema#",
        "http://json-schema.org/draft-07/schema",
    ] {
        Schema::compile(&json!({"$schema": dialect}), CompileOptions::default()).expect(dialect);
    }
}

#[test]
fn formats_can_be_annotations() {
    let options = CompileOptions::default().formats(Formats::Annotate);
    let schema = Schema::compile(&json!({"format": "uuid"}), options).expect("a schema");
    assert!(schema.accepts(&json!("no uuid")));
}

// Z-4
#[test]
fn bomb_schemas_end() {
    // 2^40 applications from forty definitions.
    let mut defs = serde_json::Map::new();
    defs.insert("a0".into(), json!({"type": "integer"}));
    for i in 1..=40 {
        let below = format!("#/$defs/a{}", i - 1);
        defs.insert(
            format!("a{i}"),
            json!({"allOf": [{"$ref": below}, {"$ref": below}]}),
        );
    }
    let bomb = json!({"$ref": "#/$defs/a40", "$defs": defs});
    let options = CompileOptions::default().max_steps(100_000);
    let schema = Schema::compile(&bomb, options).expect("small to compile");
    let start = Instant::now();
    for value in [json!(1), json!("x")] {
        let violations = schema.check(&value).expect_err("too much work");
        let last = violations.iter().last().map(|violation| violation.keyword);
        assert!(matches!(last, Some("limit" | "type")), "{violations}");
    }
    assert!(schema.check_str("1").is_err());
    assert!(
        start.elapsed() < Duration::from_secs(20),
        "bounded by steps"
    );

    // A limit is a failure, even below `not`.
    let negated = json!({"not": {"not": {"$ref": "#/$defs/a40"}}, "$defs": bomb["$defs"]});
    let schema = Schema::compile(&negated, options).expect("small to compile");
    assert!(!schema.accepts(&json!(1)));
    let negated = json!({"not": {"$ref": "#/$defs/a40"}, "$defs": bomb["$defs"]});
    let schema = Schema::compile(&negated, options).expect("small to compile");
    assert!(schema.check(&json!(1)).is_err());
}

#[test]
fn large_and_deep_schemas_are_refused() {
    let wide = json!({"allOf": vec![json!({"type": "null"}); MAX_SUBSCHEMAS + 1]});
    assert_eq!(
        refused(&wide),
        "TooLarge (root): more than 20000 subschemas"
    );
    let mut deep = json!({"type": "null"});
    for _ in 0..200 {
        deep = json!({"items": deep});
    }
    assert!(refused(&deep).starts_with("TooLarge /items/items"));
}

#[test]
fn long_chains_and_deep_values_do_not_exhaust_the_stack() {
    // 5000 references in a row: aliases cost nothing.
    let mut defs = serde_json::Map::new();
    for i in 0..5000 {
        defs.insert(
            format!("a{i}"),
            json!({"$ref": format!("#/$defs/a{}", i + 1)}),
        );
    }
    defs.insert("a5000".into(), json!({"type": "integer"}));
    let chain = Schema::compile(
        &json!({"$ref": "#/$defs/a0", "$defs": defs}),
        CompileOptions::default(),
    )
    .expect("a chain");
    assert!(chain.accepts(&json!(1)));

    // The same number of conjunctions in a row: too deep to check, and reported as such.
    for i in 0..5000 {
        defs.insert(
            format!("a{i}"),
            json!({"allOf": [{"$ref": format!("#/$defs/a{}", i + 1)}, {"minimum": 0}]}),
        );
    }
    let chain = Schema::compile(
        &json!({"$ref": "#/$defs/a0", "$defs": defs}),
        CompileOptions::default(),
    )
    .expect("a chain");
    let violations = chain.check(&json!(1)).expect_err("too deep");
    assert_eq!(
        violations.to_string(),
        "(root): expected a value that can be checked within the limit of depth, found integer"
    );

    // The deepest value a message can hold, against a schema that applies two schemas a level.
    let tree = Schema::compile(
        &json!({"$ref": "#/$defs/n", "$defs": {"n": {"allOf": [{"items": {"$ref": "#/$defs/n"}}], "maxItems": 1}}}),
        CompileOptions::default(),
    )
    .expect("a recursive schema");
    let text = format!("{}{}", "[".repeat(127), "]".repeat(127));
    assert_eq!(tree.check_str(&text), Ok(()));
}

#[test]
fn ambiguous_recursion_is_explained_or_ends() {
    let list = |extra: Value| {
        let mut list = json!({"type": "array", "items": {"$ref": "#/$defs/n"}});
        list["minItems"] = extra;
        list
    };
    let schema = json!({"$ref": "#/$defs/n", "$defs": {"n": {"anyOf": [list(json!(0)), list(json!(1)), {"type": "integer"}]}}});
    let options = CompileOptions::default().max_steps(100_000);
    let schema = Schema::compile(&schema, options).expect("a schema");
    let nested = |depth: usize| format!("{}\"x\"{}", "[".repeat(depth), "]".repeat(depth));
    let words = |depth: usize| {
        let violations = schema
            .check_str(&nested(depth))
            .expect_err("a string at the bottom");
        violations.to_string()
    };
    assert_eq!(
        words(1),
        "/0: expected array or integer, found string \"x\""
    );
    assert_eq!(
        words(2),
        "/0/0: expected array or integer, found string \"x\""
    );
    assert!(words(8).starts_with("/0/0"), "{}", words(8));
    assert!(words(100).contains("in 100000 steps"), "{}", words(100));
}
