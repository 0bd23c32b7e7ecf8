//! Property tests: forms and answers agree with an independent validator of JSON Schema, for random forms and contents.

use jsonschema::Validator;
use proptest::{
    collection::vec,
    option,
    prelude::*,
    sample::{select, subsequence},
    test_runner::{Config, RngSeed, TestRunner},
};
use serde_json::{Map, Value, json};
use trueform_schema::{At, Json, Revision};

use super::Form;

const CASES: u32 = 3000;

/// Texts whose lengths in bytes, in UTF-16 and in characters differ.
fn text() -> impl Strategy<Value = String> {
    let char = select(vec![
        'a', 'é', '漢', '𝒳', '\u{301}', '"', '\\', '\n', '👩', '\u{200d}',
    ]);
    vec(char, 0..6).prop_map(|chars| chars.into_iter().collect())
}

/// A number as JSON text, mostly near a limit.
fn number() -> impl Strategy<Value = String> {
    let near = select(vec![
        0,
        1 << 7,
        1 << 8,
        1 << 31,
        1 << 32,
        1 << 53,
        1 << 63,
        1_i128 << 64,
    ]);
    let near = (near, -2..=2_i128, any::<bool>()).prop_map(|(limit, off, negative)| {
        let number = limit + off;
        if negative { -number } else { number }
    });
    let integer = prop_oneof![3 => near, 1 => any::<i64>().prop_map(i128::from), 2 => -20..20_i128];
    let spelled = (integer, 0..5_u8).prop_map(|(number, spelling)| match spelling {
        0 if number.unsigned_abs() < 1 << 53 => format!("{number}.0"),
        1 if number.unsigned_abs() < 1 << 53 => format!("{number}e0"),
        2 => format!("{number}.5"),
        _ => number.to_string(),
    });
    let double = any::<f64>().prop_filter(
        "JSON has only finite numbers, and integral floats from 2^53 on are refused",
        |double| double.is_finite() && (double.fract() != 0.0 || double.abs() < 9e15),
    );
    prop_oneof![2 => spelled, 1 => double.prop_map(|double| format!("{double:?}"))]
}

/// A bound or default of a number: a value that a double represents exactly.
fn bound(integer: bool) -> BoxedStrategy<Value> {
    let whole = prop_oneof![
        -20..20_i64,
        select(vec![1 << 53, (1 << 53) - 1, -(1 << 53), 255, 256])
    ];
    match integer {
        true => whole.prop_map(Value::from).boxed(),
        false => prop_oneof![
            whole.prop_map(Value::from),
            (-20.0..20.0).prop_map(Value::from)
        ]
        .boxed(),
    }
}

const OPTIONS: [&str; 4] = ["a", "b", "é", ""];

/// Texts of a format, and texts that no validator accepts for it.
fn formatted() -> impl Strategy<Value = String> {
    select(vec![
        "user@example.com",
        "@example.com",
        "user@",
        "user example.com",
        "https://example.com/a?b#c",
        "urn:isbn:1",
        "/relative",
        "no scheme",
        "http://exa mple.com",
        "2026-07-28",
        "2026-02-29",
        "2024-02-29",
        "2026-7-28",
        "2026-13-01",
        "2026-07-28T14:30:00Z",
        "2026-07-28T14:30:00.5+02:00",
        "2026-07-28T14:30:00",
        "2026-07-28T25:30:00Z",
    ])
    .prop_map(str::to_owned)
}

/// The schema of a field, as schemars writes it.
fn field() -> impl Strategy<Value = Value> {
    let text = (option::of(0..4_u64), option::of(0..6_u64)).prop_map(|(least, most)| {
        let mut schema = json!({"type": "string"});
        set(&mut schema, "minLength", least.map(Value::from));
        set(&mut schema, "maxLength", most.map(Value::from));
        schema
    });
    let format = select(vec!["email", "uri", "date", "date-time"])
        .prop_map(|format| json!({"type": "string", "format": format}));
    let number = any::<bool>().prop_flat_map(|integer| {
        (option::of(bound(integer)), option::of(bound(integer))).prop_map(move |(least, most)| {
            let mut schema = json!({"type": if integer { "integer" } else { "number" }});
            set(&mut schema, "minimum", least);
            set(&mut schema, "maximum", most);
            schema
        })
    });
    let choice = || {
        (subsequence(OPTIONS.to_vec(), 1..=4), any::<bool>()).prop_map(|(options, titled)| {
            match titled {
                false => json!({"type": "string", "enum": options}),
                true => {
                    let options = options
                        .iter()
                        .map(|option| json!({"type": "string", "const": option, "title": "T"}));
                    json!({"oneOf": options.collect::<Vec<_>>()})
                }
            }
        })
    };
    let choices =
        (choice(), option::of(0..3_u64), option::of(0..4_u64)).prop_map(|(items, least, most)| {
            let mut schema = json!({"type": "array", "items": items});
            set(&mut schema, "minItems", least.map(Value::from));
            set(&mut schema, "maxItems", most.map(Value::from));
            schema
        });
    let boolean = Just(json!({"type": "boolean"}));
    let any =
        prop_oneof![3 => text, 2 => format, 4 => number, 1 => boolean, 2 => choice(), 2 => choices];
    any.prop_map(|mut schema| {
        // A lower limit above the upper one is refused: no answer fits.
        for (lower, upper) in [
            ("minLength", "maxLength"),
            ("minimum", "maximum"),
            ("minItems", "maxItems"),
        ] {
            if schema[upper].as_f64() < schema[lower].as_f64() && !schema[upper].is_null() {
                let (least, most) = (schema[upper].take(), schema[lower].take());
                schema[lower] = least;
                schema[upper] = most;
            }
        }
        schema
    })
}

fn set(schema: &mut Value, keyword: &str, value: Option<Value>) {
    if let Some(value) = value {
        schema[keyword] = value;
    }
}

/// A value as JSON text, of all types that an answer may have, and of some that it may not have.
fn value() -> impl Strategy<Value = String> {
    let quoted = |text: String| Value::from(text).to_string();
    let chosen = vec(select(OPTIONS.to_vec()), 0..5).prop_map(|chosen| json!(chosen).to_string());
    prop_oneof![
        3 => text().prop_map(quoted),
        2 => formatted().prop_map(quoted),
        4 => number(),
        1 => any::<bool>().prop_map(|boolean| boolean.to_string()),
        2 => select(OPTIONS.to_vec()).prop_map(move |option| quoted(option.to_owned())),
        2 => chosen,
        1 => select(vec!["{}", r#"["a",1]"#, "[[]]"]).prop_map(str::to_owned),
    ]
}

fn oracle(schema: &Value) -> Validator {
    jsonschema::options()
        .with_draft(jsonschema::Draft::Draft202012)
        .should_validate_formats(true)
        .build(schema)
        .unwrap_or_else(|error| panic!("{schema}: {error}"))
}

fn runner() -> TestRunner {
    TestRunner::new(Config {
        cases: CASES,
        failure_persistence: None,
        rng_seed: RngSeed::Fixed(11),
        ..Config::default()
    })
}

// R-4, R-5
#[test]
fn answers_are_held_to_what_is_sent() {
    let field = (field(), any::<bool>(), option::weighted(0.9, value()));
    let (mut accepted, mut refused) = (0_u32, 0_u32);
    let counts = std::cell::RefCell::new((&mut accepted, &mut refused));
    runner()
        .run(&vec(field, 0..4), |fields| {
            let (mut properties, mut required, mut members) = (Map::new(), Vec::new(), Vec::new());
            for (index, (schema, is_required, value)) in fields.into_iter().enumerate() {
                let name = format!("f{index}");
                if is_required {
                    required.push(name.clone());
                }
                members.extend(value.map(|value| format!("\"{name}\": {value}")));
                properties.insert(name, schema);
            }
            members.push("\"unknown\": [{}]".to_owned());
            let text = format!("{{{}}}", members.join(","));
            let schema = json!({"type": "object", "properties": properties, "required": required});
            let form = Form::of_schemas(&schema, &schema).unwrap();
            let sent: Value = serde_json::from_str(&text).unwrap();
            for revision in [
                Revision::V2025_06_18,
                Revision::V2025_11_25,
                Revision::V2026_07_28,
            ] {
                let Ok(shown) = form.at(revision) else {
                    prop_assert!(text.contains('[') || schema.to_string().contains("array"));
                    continue;
                };
                let shown: Value =
                    serde_json::from_slice(&At::new(&shown, revision).to_vec()).unwrap();
                let expected = oracle(&shown).is_valid(&sent);
                let found = form.decode::<Value>(Some(&Json::from_text(text.clone()).unwrap()));
                prop_assert_eq!(found.is_ok(), expected, "{} {} {:?}", shown, text, found);
                if revision != Revision::V2025_11_25 {
                    continue;
                }
                let (accepted, refused) = &mut *counts.borrow_mut();
                match found {
                    Err(fault) => {
                        **refused += 1;
                        // The pointer points to the wrong or missing value.
                        let at_fault = sent.pointer(&fault.pointer);
                        prop_assert!(
                            at_fault.is_some() || fault.found == "nothing",
                            "{}: {}",
                            text,
                            fault
                        );
                    }
                    Ok(found) => {
                        **accepted += 1;
                        for (name, value) in sent.as_object().unwrap() {
                            let is_same = match (value.as_f64(), found[name].as_f64()) {
                                (Some(sent), Some(found)) => {
                                    sent.to_bits() == found.to_bits()
                                        || (sent == 0.0 && found == 0.0)
                                }
                                _ => *value == found[name],
                            };
                            let exact = value.is_f64() || *value == found[name];
                            prop_assert!(is_same && exact, "{}: {}", text, found);
                            let integer = schema["properties"][name]["type"] == "integer";
                            prop_assert!(!integer || !found[name].is_f64(), "{}: {}", text, found);
                        }
                    }
                }
            }
            Ok(())
        })
        .unwrap();
    // Both outcomes occur.
    assert!(
        CASES / 8 < accepted && CASES / 8 < refused,
        "{accepted} {refused}"
    );
}
