//! Agreement with the `jsonschema` crate: both give the same verdict on schemas and values from one generator.

use std::cell::Cell;

use proptest::{collection::vec, prelude::*, sample::select};
use serde_json::{Value, json};

use super::{
    super::{CompileOptions, Formats, Schema},
    generator::{double, in_draft_07, runner, schema, value},
};

const CASES: u32 = 800;

fn oracle(schema: &Value, formats: bool) -> jsonschema::Validator {
    jsonschema::options()
        .with_draft(jsonschema::Draft::Draft202012)
        .should_validate_formats(formats)
        .build(schema)
        .unwrap_or_else(|error| panic!("oracle refuses {schema}: {error}"))
}

/// Returns whether the oracle is wrong. It divides integers above 2^53 by fractions as floats: it denies that 2^64 - 1 is a multiple of
/// 1.5. It treats numbers that are written with an exponent in the same way.
fn beyond_the_oracle(schema: &Value, value: &str) -> bool {
    let schema = schema.to_string();
    let fraction = ["0.1", "0.5", "1.5"]
        .iter()
        .any(|divisor| schema.contains(&format!("\"multipleOf\":{divisor}")));
    let is_wide =
        |number: &str| 15 < number.len() || number.ends_with("e+") || number.ends_with("e-");
    fraction
        && value
            .split_inclusive(|c: char| !c.is_ascii_digit() && !matches!(c, '.' | 'e'))
            .any(is_wide)
}

#[test]
fn verdicts_agree() {
    let counts = [Cell::new(0_u32), Cell::new(0)];
    let cases = (schema(), vec(value(), 4));
    let run = runner(CASES).run(&cases, |(schema, values)| {
        let oracle = oracle(&schema, false);
        let ours = Schema::compile(
            &schema,
            CompileOptions::default().formats(Formats::Annotate),
        )
        .unwrap_or_else(|errors| panic!("{schema}: {errors:?}"));
        for value in values {
            let text = value.to_string();
            if beyond_the_oracle(&schema, &text) {
                continue;
            }
            let expected = oracle.is_valid(&value);
            counts[usize::from(expected)].update(|count| count + 1);
            prop_assert_eq!(ours.accepts(&value), expected, "{} on {}", schema, value);
            prop_assert_eq!(
                ours.check(&value).is_ok(),
                expected,
                "check: {} on {}",
                schema,
                value
            );
            prop_assert_eq!(
                ours.check_str(&text).is_ok(),
                expected,
                "text: {} on {}",
                schema,
                value
            );
        }
        Ok(())
    });
    run.unwrap_or_else(|error| panic!("{error}"));
    let [refused, accepted] = [counts[0].get(), counts[1].get()];
    assert!(
        refused / 5 < accepted && accepted / 5 < refused,
        "the generator is one-sided: {counts:?}"
    );
}

/// The same on text, for verdicts that depend on the last digit: bounds, `const`, `enum`, `uniqueItems`.
#[test]
fn verdicts_on_doubles_are_exact() {
    let next = |double: f64| f64::from_bits(double.to_bits() + 1);
    let run = runner(CASES).run(&double(), |double| {
        let (on, off) = (double, next(double));
        let larger = if double.is_sign_negative() { on } else { off };
        let smaller = if double.is_sign_negative() { off } else { on };
        for (schema, value, expected) in [
            (json!({ "maximum": smaller }), json!(smaller), true),
            (json!({ "maximum": smaller }), json!(larger), false),
            (json!({ "minimum": larger }), json!(larger), true),
            (json!({ "minimum": larger }), json!(smaller), false),
            (json!({ "exclusiveMaximum": larger }), json!(smaller), true),
            (json!({ "exclusiveMaximum": larger }), json!(larger), false),
            (json!({ "const": on }), json!(on), true),
            (json!({ "const": on }), json!(off), false),
            (json!({ "enum": [on, "x"] }), json!(on), true),
            (json!({ "enum": [on, "x"] }), json!(off), false),
            (json!({ "uniqueItems": true }), json!([on, off]), true),
            (json!({ "uniqueItems": true }), json!([on, on]), false),
        ] {
            let ours = Schema::compile(&schema, CompileOptions::default())
                .unwrap_or_else(|errors| panic!("{schema}: {errors:?}"));
            prop_assert_eq!(ours.accepts(&value), expected, "{} on {}", schema, value);
            let text = value.to_string();
            prop_assert_eq!(
                ours.check_str(&text).is_ok(),
                expected,
                "{} on {}",
                schema,
                text
            );
        }
        Ok(())
    });
    run.unwrap_or_else(|error| panic!("{error}"));
}

#[test]
fn changed_integral_floats_stay_valid() {
    let run = runner(CASES / 3).run(&(schema(), value()), |(schema, value)| {
        let ours = Schema::compile(&schema, CompileOptions::default())
            .unwrap_or_else(|errors| panic!("{schema}: {errors:?}"));
        let mut changed = value.clone();
        ours.normalise_integral_floats(&mut changed);
        prop_assert_eq!(ours.accepts(&value), ours.accepts(&changed));
        prop_assert!(super::super::equal::equal(&value, &changed));
        Ok(())
    });
    run.unwrap_or_else(|error| panic!("{error}"));
}

#[test]
fn verdicts_agree_on_draft_07() {
    let run = runner(CASES / 2).run(&(schema(), vec(value(), 4)), |(schema, values)| {
        let schema = in_draft_07(&schema);
        let oracle = jsonschema::options()
            .should_validate_formats(false)
            .build(&schema)
            .unwrap_or_else(|error| panic!("oracle refuses {schema}: {error}"));
        let ours = Schema::compile(&schema, CompileOptions::default())
            .unwrap_or_else(|errors| panic!("{schema}: {errors:?}"));
        for value in values {
            if !beyond_the_oracle(&schema, &value.to_string()) {
                prop_assert_eq!(
                    ours.accepts(&value),
                    oracle.is_valid(&value),
                    "{} on {}",
                    schema,
                    value
                );
            }
        }
        Ok(())
    });
    run.unwrap_or_else(|error| panic!("{error}"));
}

#[test]
fn formats_agree() {
    let table: &[(&str, &[&str])] = &[
        (
            "date",
            &[
                "2026-07-28",
                "2024-02-29",
                "2023-02-29",
                "2026-13-01",
                "2026-00-10",
                "26-07-28",
                "2026-7-28",
                "2026-07-28T",
                "",
                "2000-02-29",
                "1900-02-29",
            ],
        ),
        (
            "time",
            &[
                "14:30:00Z",
                "14:30:00z",
                "14:30:00",
                "24:00:00Z",
                "23:59:60Z",
                "22:59:60Z",
                "15:59:60-08:00",
                "14:30:00.123+01:00",
                "14:30:00.Z",
                "14:30:00+24:00",
                "14:30:00+0100",
                "1:30:00Z",
            ],
        ),
        (
            "date-time",
            &[
                "2026-07-28T14:30:00Z",
                "2026-07-28t14:30:00z",
                "2026-07-28 14:30:00Z",
                "2026-07-28T14:30:00",
                "1998-12-31T23:59:60Z",
                "1998-12-31T23:58:60Z",
                "2026-02-30T14:30:00Z",
                "x",
            ],
        ),
        (
            "email",
            &[
                "a@example.com",
                "a.b+c@example.com",
                "a@b@c",
                "@example.com",
                "a@",
                "a",
                ".a@example.com",
                "a.@example.com",
                "a..b@example.com",
                "\"a b\"@example.com",
                "a@[127.0.0.1]",
                "a@-x.com",
                "a b@example.com",
            ],
        ),
        (
            "hostname",
            &[
                "example.com",
                "localhost",
                "a-b.c",
                "-a.com",
                "a-.com",
                "a_b.com",
                "",
                "a..b",
                "1.2.3.4",
            ],
        ),
        (
            "ipv4",
            &[
                "127.0.0.1",
                "256.0.0.1",
                "1.2.3",
                "01.2.3.4",
                "1.2.3.4.5",
                " 1.2.3.4",
                "0.0.0.0",
            ],
        ),
        (
            "ipv6",
            &[
                "::1",
                "::",
                "1::2::3",
                "fe80::1%eth0",
                "::ffff:1.2.3.4",
                "12345::",
                "1:2:3:4:5:6:7:8",
                "1:2:3:4:5:6:7",
                "[::1]",
            ],
        ),
        (
            "uri",
            &[
                "https://example.com/a?b#c",
                "urn:isbn:1",
                "/a/b",
                "a",
                "http://[::1]:80/",
                "http://a b/",
                "http://a/%zz",
                "http://a/%41",
                "://a",
                "mailto:a@b.c",
                "http://a:port/",
                "1http://a",
                "http://[::1",
                "ui://x/y",
                "",
                "a:b{c}",
                "http://ü/",
            ],
        ),
        (
            "uri-reference",
            &[
                "https://example.com/a",
                "/a/b",
                "a",
                "",
                "#c",
                "?q",
                "//h/p",
                "a:b",
                "1:b",
                "a b",
                "%zz",
                "\\",
            ],
        ),
        (
            "uuid",
            &[
                "f81d4fae-7dec-11d0-a765-00a0c91e6bf6",
                "F81D4FAE-7DEC-11D0-A765-00A0C91E6BF6",
                "f81d4fae7dec11d0a76500a0c91e6bf6",
                "f81d4fae-7dec-11d0-a765-00a0c91e6bfg",
                "",
                "f81d4fae-7dec-11d0-a765-00a0c91e6bf6 ",
            ],
        ),
    ];
    let mut wrong = Vec::new();
    for (format, texts) in table {
        let schema = json!({"format": format});
        let oracle = oracle(&schema, true);
        let ours = Schema::compile(&schema, CompileOptions::default()).expect("a schema");
        for text in *texts {
            let value = Value::from(*text);
            if ours.accepts(&value) != oracle.is_valid(&value) {
                wrong.push(format!(
                    "{format} {text:?}: oracle says {}",
                    oracle.is_valid(&value)
                ));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Texts composed of parts of URIs, with occasional mistakes.
fn uri() -> impl Strategy<Value = String> {
    // Parts between spaces. The first ones are used more often.
    let part = |usual: &'static str, rare: &'static str| {
        let drawn = |parts: &'static str| select(parts.split(' ').collect::<Vec<_>>());
        prop_oneof![9 => drawn(usual), 1 => drawn(rare)]
    };
    let scheme = part(" a: http: a+1.-:", "1a: ü: : a/:");
    let slashes = part(" // /", "///");
    let user = part("  u@ u:p@ u%40@ @", "u@v@ [@ %@");
    let host = part(
        " h example.com 1.2.3.4 [::1] [v1.a:b] h%41",
        "[1::2::3] [::1 ::1] [] [v.a] h%4 é a\tb",
    );
    let port = part("  : :80", ":x :80:90");
    let piece = part(
        "/ a b.c ~ %20 : @ !$&'()*+,;= ? # -_",
        "%2 %zz % [ ] { \t ü \\ ^ \" \0 |",
    );
    let tail = vec(piece, 0..4);
    let cut = part(" / ? #", "\\");
    (scheme, slashes, user, host, port, cut, tail).prop_map(
        |(scheme, slashes, user, host, port, cut, tail)| {
            [scheme, slashes, user, host, port, cut, &tail.concat()].concat()
        },
    )
}

#[test]
fn uris_agree() {
    let schemas = ["uri", "uri-reference"].map(|format| json!({"format": format}));
    let counts = [Cell::new(0_u32), Cell::new(0)];
    for schema in schemas {
        let oracle = oracle(&schema, true);
        let ours = Schema::compile(&schema, CompileOptions::default()).expect("a schema");
        let run = runner(CASES * 10).run(&uri(), |text| {
            let value = Value::from(text);
            let expected = oracle.is_valid(&value);
            counts[usize::from(expected)].update(|count| count + 1);
            prop_assert_eq!(ours.accepts(&value), expected, "{} on {}", schema, value);
            Ok(())
        });
        run.unwrap_or_else(|error| panic!("{error}"));
    }
    let [refused, accepted] = [counts[0].get(), counts[1].get()];
    assert!(
        refused / 5 < accepted && accepted / 5 < refused,
        "the generator is one-sided: {counts:?}"
    );
}
