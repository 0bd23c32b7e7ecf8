//! The engine of the feature `json-schema`: it accepts schemas that the compiled engine refuses, and has the same wording.

use serde_json::{Value, json};

use super::{
    super::{CompileOptions, Formats, MAX_VIOLATIONS, Schema, SchemaErrorKind},
    compiled, json as parse, words,
};

/// Returns the schema with a definition that only the other engine accepts; `None` if the schema has no place for one.
pub(super) fn otherwise_checked(schema: &str) -> Option<Schema> {
    let mut schema = parse(schema);
    let members = schema.as_object_mut()?;
    let is_object = |value: &Value| value.is_object();
    if members.contains_key("$schema") || !members.get("$defs").is_none_or(is_object) {
        return None;
    }
    let definitions = members.entry("$defs").or_insert_with(|| json!({}));
    definitions["exotic"] = json!({"unevaluatedProperties": false});
    let options = CompileOptions::default();
    Some(Schema::compile(&schema, options).unwrap_or_else(|errors| panic!("{schema}: {errors:?}")))
}

#[track_caller]
fn check(schema: &str, value: &str, expected: &str) {
    let words = words(&compiled(schema), &parse(value));
    assert_eq!(words, expected, "{schema} on {value}");
}

#[test]
fn unevaluated_members_and_items() {
    let schema = r#"{"type":"object",
        "allOf":[{"properties":{"path":{"type":"string"}}}],
        "oneOf":[{"properties":{"depth":{"type":"integer"}},"required":["depth"]},{"properties":{"all":{"const":true}},"required":["all"]}],
        "unevaluatedProperties":false}"#;
    check(schema, r#"{"path":"/","depth":1}"#, "");
    check(
        schema,
        r#"{"path":"/","all":true,"Path":2}"#,
        "/Path: expected only `path`, `depth`, `all`, found unknown property `Path`",
    );
    // A property of a branch that does not match.
    check(
        r#"{"if":{"required":["a"]},"then":{"properties":{"a":{},"b":{}}},"unevaluatedProperties":false}"#,
        r#"{"b":1}"#,
        "/b: expected no such property beside the others, found unknown property `b`",
    );
    check(
        schema,
        r#"{"pth":"/","all":true}"#,
        "/pth: expected only `path`, `depth`, `all`, found unknown property `pth`; did you mean `path`?",
    );
    check(
        r#"{"prefixItems":[{"type":"string"}],"unevaluatedItems":false}"#,
        r#"["a",1]"#,
        "(root): expected only items that its schema describes, found array of 2 items",
    );
    check(
        r#"{"properties":{"a":{}},"unevaluatedProperties":{"type":"string"}}"#,
        r#"{"a":1,"b":2}"#,
        "/b: expected only `a`, found unknown property `b`",
    );
}

#[test]
fn patterns_with_look_around() {
    let schema = r#"{"properties":{"p":{"type":"string","pattern":"^(?!.*\\.\\.).*$"}},"propertyNames":{"pattern":"^(?!_)"}}"#;
    check(schema, r#"{"p":"a/b"}"#, "");
    check(
        schema,
        r#"{"p":"../b","_q":1}"#,
        "/p: expected string matching `^(?!.*\\.\\.).*$`, found string \"../b\"\n\
         /_q: expected a property name that is a string matching `^(?!_)`, found unknown property `_q`",
    );
}

#[test]
fn dynamic_references() {
    let tree = r##"{"$dynamicAnchor":"node","type":"object",
        "properties":{"size":{"type":"integer"},"children":{"items":{"$dynamicRef":"#node"}}}}"##;
    check(
        tree,
        r#"{"size":1,"children":[{"size":"big"}]}"#,
        "/children/0/size: expected integer, found string \"big\"",
    );
    let mut value = json!({"size": 1.0, "children": [{"size": 2.0}]});
    assert_eq!(
        compiled(tree).normalise_integral_floats(&mut value),
        ["/size", "/children/0/size"]
    );
    assert_eq!(value, json!({"size": 1, "children": [{"size": 2}]}));
}

#[test]
fn documents_within_the_document() {
    let schema = r#"{"properties":{"a":{"$ref":"https://example.com/a"}},
        "$defs":{"x":{"$id":"https://example.com/a","type":"object","required":["q"]}}}"#;
    check(schema, r#"{"a":{"q":1}}"#, "");
    check(
        schema,
        r#"{"a":{}}"#,
        "/a/q: expected a value, found nothing",
    );
}

// Z-1
#[test]
fn older_dialects() {
    let check = |dialect: &str, rest: &str, value: &str, expected: &str| {
        check(
            &format!(r#"{{"$schema":"{dialect}",{rest}}}"#),
            value,
            expected,
        );
    };
    let bound = r#""minimum":0,"exclusiveMinimum":true"#;
    check(
        "http://json-schema.org/draft-04/schema#",
        bound,
        "0",
        "(root): expected more than 0, found integer 0",
    );
    check(
        "http://json-schema.org/draft-06/schema#",
        r#""exclusiveMinimum":0"#,
        "0",
        "(root): expected more than 0, found integer 0",
    );
    check(
        "https://json-schema.org/draft/2019-09/schema",
        r#""items":[{"type":"integer"}],"unevaluatedItems":false"#,
        "[1,2]",
        "(root): expected only items that its schema describes, found array of 2 items",
    );
}

#[test]
fn formats_are_ours() {
    let schema = |format: &str| format!(r#"{{"format":"{format}","unevaluatedItems":false}}"#);
    check(
        &schema("date"),
        r#""2026-02-30""#,
        "(root): expected a date like `2026-07-28`, found string \"2026-02-30\"",
    );
    // An annotation for both engines.
    for format in ["regex", "json-pointer", "duration", "int32", "password"] {
        check(&schema(format), r#""(""#, "");
    }
    let options = CompileOptions::default().formats(Formats::Annotate);
    let annotated = Schema::compile(&parse(&schema("date")), options).expect("a schema");
    assert!(annotated.accepts(&json!("no date")));
    check(
        r#"{"contentEncoding":"base64","unevaluatedItems":false}"#,
        r#""?""#,
        "",
    );
}

#[track_caller]
fn refused(schema: &str) -> (SchemaErrorKind, String) {
    let errors = Schema::compile(&parse(schema), CompileOptions::default())
        .expect_err("the schema is faulty");
    assert_eq!(errors.len(), 1, "{errors:?}");
    (errors[0].kind, errors[0].to_string())
}

// Z-3, Z-4
#[test]
fn nothing_is_fetched() {
    let remote = |target: &str| {
        format!(
            "`{target}` is another document, and those are never fetched; copy it below `$defs` and refer to `#/$defs/…`"
        )
    };
    let target = "http://127.0.0.1:1/s.json";
    for (schema, place) in [
        (
            format!(
                r#"{{"unevaluatedProperties":false,"properties":{{"a":{{"$ref":"{target}"}}}}}}"#
            ),
            "/properties/a/$ref",
        ),
        (
            format!(r#"{{"unevaluatedProperties":{{"$ref":"{target}"}}}}"#),
            "/unevaluatedProperties/$ref",
        ),
        // Cases in which only the other engine resolves references.
        (
            format!(
                r#"{{"$defs":{{"x":{{"$id":"https://example.com/x"}}}},"items":{{"$ref":"{target}"}}}}"#
            ),
            "/items/$ref",
        ),
        (
            format!(
                r#"{{"$schema":"http://json-schema.org/draft-04/schema#","items":{{"$ref":"{target}"}}}}"#
            ),
            "/items/$ref",
        ),
        (format!(r#"{{"$dynamicRef":"{target}"}}"#), "/$dynamicRef"),
    ] {
        let expected = (
            SchemaErrorKind::Remote,
            format!("{place}: {}", remote(target)),
        );
        assert_eq!(refused(&schema), expected, "{schema}");
    }
}

#[test]
fn faults_are_named() {
    for (schema, kind, expected) in [
        (
            r#"{"unevaluatedProperties":false,"type":"int"}"#,
            SchemaErrorKind::Malformed,
            "/type: `type` is one of",
        ),
        (
            r#"{"unevaluatedProperties":5}"#,
            SchemaErrorKind::Malformed,
            "/unevaluatedProperties: a schema is an object or a boolean, not 5",
        ),
        (
            r#"{"pattern":"(?=a"}"#,
            SchemaErrorKind::Malformed,
            "/pattern: \"(?=a\" is not a usable pattern",
        ),
        (
            r#"{"$schema":"http://json-schema.org/draft-04/schema#","type":"int"}"#,
            SchemaErrorKind::Malformed,
            "/type: not as its dialect has it: ",
        ),
        (
            r##"{"$schema":"http://json-schema.org/draft-04/schema#","items":{"$ref":"#/definitions/x"}}"##,
            SchemaErrorKind::Unresolved,
            "",
        ),
        (
            r##"{"$recursiveRef":"#"}"##,
            SchemaErrorKind::Malformed,
            "/$recursiveRef: `$recursiveRef` is of 2019-09; name that dialect in `$schema`",
        ),
        (
            r##"{"$dynamicAnchor":"n","allOf":[{"$dynamicRef":"#n"}]}"##,
            SchemaErrorKind::Unresolved,
            "(root): this schema applies itself to the same value without end",
        ),
        (
            r#"{"$schema":"https://example.com/dialect","unevaluatedProperties":false}"#,
            SchemaErrorKind::Dialect,
            "/$schema: dialect \"https://example.com/dialect\" is not supported",
        ),
    ] {
        let (found, line) = refused(schema);
        assert!(
            found == kind && line.starts_with(expected),
            "{schema}: {found:?} {line}"
        );
    }
}

#[test]
fn branches_are_reported_as_usual() {
    let schema = r#"{"oneOf":[
        {"type":"object","properties":{"kind":{"const":"circle"},"radius":{"type":"number"}},"required":["kind","radius"],"unevaluatedProperties":false},
        {"type":"object","properties":{"kind":{"const":"square"},"side":{"type":"number"}},"required":["kind","side"],"unevaluatedProperties":false}]}"#;
    check(schema, r#"{"kind":"circle","radius":1}"#, "");
    for (value, expected) in [
        (
            r#"{"kind":"circle","radius":"x"}"#,
            "/radius: expected number, found string \"x\"",
        ),
        (
            r#"{"kind":"square","side":1,"Side":2}"#,
            "/Side: expected only `kind`, `side`, found unknown property `Side`",
        ),
        (
            r#"{"kind":"cirle"}"#,
            "/kind: expected one of \"circle\", \"square\", found string \"cirle\"; did you mean \"circle\"?",
        ),
        (
            "5",
            "(root): expected object with `kind`, `radius` or object with `kind`, `side`, found integer 5",
        ),
    ] {
        check(schema, value, expected);
    }
}

#[test]
fn logs_show_no_values() {
    let schema = compiled(
        r#"{"properties":{"token":{"pattern":"^(?=tok_)"},"pin":{"enum":["x"]}},"unevaluatedProperties":false}"#,
    );
    let value = json!({"token": "hunter2", "pin": "hunter2", "other": "hunter2"});
    let violations = schema.check(&value).expect_err("all are wrong");
    assert_eq!(violations.total(), 3);
    assert!(!violations.for_log().to_string().contains("hunter2"));
}

#[test]
fn reports_are_bounded() {
    let schema = compiled(r#"{"items":{"type":"integer"},"unevaluatedItems":false}"#);
    let violations = schema.check(&json!(vec!["x"; 1000])).expect_err("strings");
    assert_eq!(violations.iter().count(), MAX_VIOLATIONS);
    assert_eq!(violations.total(), 1000);
    let schema = compiled(r#"{"unevaluatedProperties":false}"#);
    let many: serde_json::Map<String, Value> =
        (0..1000).map(|i| (format!("n{i}"), json!(1))).collect();
    let violations = schema.check(&Value::Object(many)).expect_err("unknown");
    assert_eq!(violations.iter().count(), MAX_VIOLATIONS);
    assert_eq!(violations.total(), 1000);
}

// Z-4
#[test]
fn deep_schemas_and_values_do_not_exhaust_the_stack() {
    let chain = |length: usize| {
        let mut defs = serde_json::Map::new();
        for i in 0..length {
            let next = json!({"allOf": [{"$ref": format!("#/$defs/a{}", i + 1)}]});
            defs.insert(format!("a{i}"), next);
        }
        defs.insert(format!("a{length}"), json!({"type": "integer"}));
        json!({"$ref": "#/$defs/a0", "$defs": defs, "unevaluatedItems": false})
    };
    let options = CompileOptions::default();
    let schema = Schema::compile(&chain(480), options).expect("small enough");
    assert!(schema.accepts(&json!(1)));
    let violations = schema.check(&json!("x")).expect_err("a string");
    assert!(violations.to_string().contains("expected integer"));
    let errors = Schema::compile(&chain(600), options).expect_err("too large");
    assert_eq!(errors[0].kind, SchemaErrorKind::TooLarge);

    let deep = |depth: usize| (0..depth).fold(json!(1), |value, _| json!([value]));
    let list = compiled(r##"{"items":{"$ref":"#"},"unevaluatedItems":false}"##);
    assert!(list.accepts(&deep(120)));
    // As many levels as a message may have, under as many schemas as a document may have.
    let violations = schema.check(&deep(120)).expect_err("too deep");
    assert_eq!(
        violations.to_string(),
        "(root): expected a value that can be checked within the limit of depth, found array of 1 item"
    );
}

#[test]
fn patterns_that_backtrack_without_end_end() {
    let schema = compiled(r#"{"pattern":"^(?=(a|a)+\\1?$)b"}"#);
    let text = format!("{}c", "a".repeat(60));
    assert_eq!(
        words(&schema, &json!(text)),
        "(root): expected a string whose pattern can be matched within the limit of work, found string of 61 characters"
    );
}
