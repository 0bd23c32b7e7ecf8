//! Integers that are written as floats, and text that is almost a URI.

use super::{CompileOptions, Schema, compiled, json, verdict};
use crate::Steps;

const INEXACT: &str = "expected an integer written in digits alone, because floats from ±2^53 on are not exact, found";

#[test]
fn exact_integers() {
    for (schema, value, expected) in [
        (r#"{"type":"integer"}"#, "3.0", String::new()),
        (r#"{"type":"integer"}"#, "9007199254740991.0", String::new()),
        (
            r#"{"type":"integer"}"#,
            "-9007199254740991.0",
            String::new(),
        ),
        (r#"{"type":"integer"}"#, "9007199254740992", String::new()),
        (r#"{"type":"integer"}"#, "9007199254740993", String::new()),
        // Both texts are read as this double.
        (
            r#"{"type":"integer"}"#,
            "9007199254740992.0",
            format!("(root): {INEXACT} number 9007199254740992.0"),
        ),
        (
            r#"{"type":"integer"}"#,
            "9007199254740993.0",
            format!("(root): {INEXACT} number 9007199254740992.0"),
        ),
        (
            r#"{"type":"integer"}"#,
            "-9007199254740993.0",
            format!("(root): {INEXACT} number -9007199254740992.0"),
        ),
        (
            r#"{"type":"integer"}"#,
            "9007199254740994.0",
            format!("(root): {INEXACT} number 9007199254740994.0"),
        ),
        (
            r#"{"type":["integer","null"]}"#,
            "-1e19",
            format!("(root): {INEXACT} number -1e+19"),
        ),
        (
            r#"{"type":"integer","minimum":0}"#,
            "1e19",
            format!("(root): {INEXACT} number 1e+19"),
        ),
        // Written in digits, but beyond the parser's range of integers: the message reports the bound.
        (
            r#"{"type":"integer","maximum":18446744073709551615}"#,
            "18446744073709551616",
            "(root): expected at most 18446744073709551615, found number 1.8446744073709552e+19"
                .to_owned(),
        ),
        (
            r#"{"type":"integer"}"#,
            "18446744073709551615",
            String::new(),
        ),
        (r#"{"type":"number"}"#, "1e19", String::new()),
        ("{}", "1e19", String::new()),
        (
            r#"{"anyOf":[{"type":"integer"},{"type":"number"}]}"#,
            "1e19",
            String::new(),
        ),
        // These cannot be distinguished, however they are written.
        (
            r#"{"type":"integer","minimum":0,"maximum":3.4028236692093846e38}"#,
            "340282366920938463463374607431768211455",
            String::new(),
        ),
        (
            r#"{"type":"integer","minimum":-1.7e38,"maximum":9}"#,
            "-1e19",
            String::new(),
        ),
    ] {
        let compiled = Schema::compile(
            &json(schema),
            CompileOptions::default().exact_integers(true),
        )
        .unwrap_or_else(|errors| panic!("{schema}: {errors:?}"));
        let found = |verdict: Result<(), crate::Violations>| {
            verdict.map_or_else(|violations| violations.to_string(), |()| String::new())
        };
        assert_eq!(
            found(compiled.check_str(value)),
            expected,
            "{schema} on {value}"
        );
        assert_eq!(
            found(compiled.check(&json(value))),
            expected,
            "{schema} on {value}"
        );
        let streamed = compiled
            .accepts_str_within(value, &Steps::new(99))
            .is_some();
        assert!(expected.is_empty() || !streamed, "{schema} on {value}");
        // As in JSON Schema, unless the option is set.
        if !expected.contains("at most") {
            assert_eq!(verdict(schema, value), "", "{schema} on {value}");
        }
    }
}

#[test]
fn whether_there_are_integral_floats() {
    for (schema, value, expected) in [
        (r#"{"type":"integer"}"#, "3.0", true),
        (r#"{"type":"integer"}"#, "3", false),
        (r#"{"type":"number"}"#, "3.0", false),
        (
            r#"{"items":{"type":["integer","null"]}}"#,
            "[1,null,2e0]",
            true,
        ),
        (
            r#"{"items":{"type":["integer","null"]}}"#,
            "[1,null,2]",
            false,
        ),
        (r#"{"contains":{"type":"integer"}}"#, "[1.0]", true),
        (r#"{"contains":{"type":"integer"}}"#, "[1]", false),
        (r#"{"not":{"type":"string"}}"#, "1.0", false),
    ] {
        let compiled = compiled(schema);
        let passed = compiled.check_within(&json(value), &Steps::new(99));
        let passed = passed.unwrap_or_else(|violations| panic!("{violations}"));
        assert_eq!(
            passed.has_integral_floats(),
            expected,
            "{schema} on {value}"
        );
        if let Some(passed) = compiled.accepts_str_within(value, &Steps::new(99)) {
            assert_eq!(
                passed.has_integral_floats(),
                expected,
                "{schema} on {value}"
            );
        }
    }
}

#[test]
fn a_place_that_allows_fractions_keeps_its_floats() {
    for (schema, expected) in [
        (r#"{"anyOf":[{"type":"integer"},{"type":"number"}]}"#, "3.0"),
        (r#"{"anyOf":[{"type":"number"},{"type":"integer"}]}"#, "3.0"),
        (
            r##"{"anyOf":[{"type":"integer"},{"$ref":"#/$defs/n"}],"$defs":{"n":{"type":"number"}}}"##,
            "3.0",
        ),
        (r#"{"anyOf":[{"type":"integer"},{"type":"string"}]}"#, "3"),
        (
            r#"{"anyOf":[{"type":"integer"},{"type":"number","maximum":2}]}"#,
            "3",
        ),
    ] {
        let mut value = json("3.0");
        compiled(schema).normalise_integral_floats(&mut value);
        assert_eq!(value.to_string(), expected, "{schema}");
    }
}

#[test]
fn uris_that_are_not_encoded() {
    let absolute = r#"{"type":"string","format":"uri"}"#;
    let words = "an absolute URI with spaces and non-ASCII letters percent-encoded";
    let reference = r#"{"format":"uri-reference"}"#;
    let long = format!("https://example.com/{}", "ü ".repeat(40));
    for (schema, text, expected) in [
        (
            absolute,
            "https://example.com/a b",
            format!(r#"{words}, found string "https://example.com/a b"; did you mean "https://example.com/a%20b"?"#),
        ),
        (
            absolute,
            "https://example.com/ü€",
            format!(r#"{words}, found string "https://example.com/ü€"; did you mean "https://example.com/%C3%BC%E2%82%AC"?"#),
        ),
        // Encoding alone does not correct it.
        (
            absolute,
            "my file.txt",
            format!(r#"{words}, found string "my file.txt""#),
        ),
        (absolute, &*long, format!("{words}, found string of 100 characters")),
        (
            absolute,
            "file.txt",
            r#"an absolute URI, found string "file.txt""#.to_owned(),
        ),
        (
            reference,
            "a b",
            r#"a URI or relative reference with spaces and non-ASCII letters percent-encoded, found string "a b"; did you mean "a%20b"?"#.to_owned(),
        ),
    ] {
        let value = serde_json::Value::from(text).to_string();
        assert_eq!(verdict(schema, &value), format!("(root): expected {expected}"));
    }
    assert_eq!(verdict(absolute, r#""https://example.com/a%20b""#), "");
}
