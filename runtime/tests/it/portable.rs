//! That a schema written for clients with little support accepts what it accepted before, but for `null` in place of optional
//! properties. The judge is the `jsonschema` crate.

#[path = "../../check/src/tests/generator.rs"]
mod generator;

use std::cell::Cell;

use jsonschema::Validator;
use proptest::{
    collection::{btree_map, btree_set, vec},
    prelude::*,
    sample::select,
};
use serde_json::{Value, json};
use trueform::{
    check::{CompileOptions, Schema},
    lint::{Position, portable},
};

use self::generator::{in_draft_07, object, runner, schema, value};

fn oracle(schema: &Value) -> Validator {
    let mut options = jsonschema::options().should_validate_formats(false);
    if schema.get("$schema").is_none() {
        options = options.with_draft(jsonschema::Draft::Draft202012);
    }
    options
        .build(schema)
        .unwrap_or_else(|error| panic!("{schema}: {error}"))
}

/// Most members that are null of one value.
const MAX_NULLS: usize = 8;

/// `value` without some of its members that are null, in all combinations. `None` if it has too many of them.
fn without_nulls(value: &Value) -> Option<Vec<Value>> {
    let mut places = Vec::new();
    find_nulls(value, String::new(), &mut places);
    if MAX_NULLS < places.len() {
        return None;
    }
    let combination = |chosen: usize| {
        let mut value = value.clone();
        for (i, (parent, name)) in places.iter().enumerate() {
            if chosen & (1 << i) != 0 {
                let members = value.pointer_mut(parent).unwrap();
                members.as_object_mut().unwrap().remove(name);
            }
        }
        value
    };
    Some((0..1 << places.len()).map(combination).collect())
}

fn find_nulls(value: &Value, at: String, places: &mut Vec<(String, String)>) {
    match value {
        Value::Array(items) => {
            for (i, item) in items.iter().enumerate() {
                find_nulls(item, format!("{at}/{i}"), places);
            }
        }
        Value::Object(members) => {
            for (name, member) in members {
                if member.is_null() {
                    places.push((at.clone(), name.clone()));
                }
                // No name of the generator has a character that a pointer escapes.
                find_nulls(member, format!("{at}/{name}"), places);
            }
        }
        _ => {}
    }
}

/// Counts of verdicts, so that a generator that misses the point is noticed.
#[derive(Default)]
struct Counts {
    accepted: Cell<u32>,
    refused: Cell<u32>,
    /// Schemas that named another dialect.
    moved: Cell<u32>,
    /// Values that only the null that is not advertised makes different.
    by_null: Cell<u32>,
}

impl Counts {
    fn add(cell: &Cell<u32>) {
        cell.set(cell.get() + 1);
    }
}

fn compare(schema: &Value, values: &[Value], counts: &Counts) -> Result<(), TestCaseError> {
    let before = oracle(schema);
    let same = portable(schema, Position::Output);
    let after = oracle(&same);
    if schema.get("$schema").is_some() && same.get("$schema").is_none() {
        Counts::add(&counts.moved);
    }
    let input = portable(schema, Position::Input);
    let advertised = oracle(&input);
    let options = CompileOptions::default();
    let [ours_before, ours_after] = [schema, &same].map(|schema| {
        Schema::compile(schema, options).unwrap_or_else(|errors| panic!("{schema}: {errors:?}"))
    });
    for value in values {
        let expected = before.is_valid(value);
        Counts::add(if expected {
            &counts.accepted
        } else {
            &counts.refused
        });
        prop_assert_eq!(
            after.is_valid(value),
            expected,
            "{} and {} on {}",
            schema,
            same,
            value
        );
        prop_assert_eq!(
            ours_before.accepts(value),
            ours_after.accepts(value),
            "{} and {} on {}",
            schema,
            same,
            value
        );
        let is_advertised = advertised.is_valid(value);
        prop_assert!(
            expected || !is_advertised,
            "{} and {} on {}",
            schema,
            input,
            value
        );
        if expected && !is_advertised {
            Counts::add(&counts.by_null);
            let others = without_nulls(value).unwrap_or_default();
            prop_assert!(
                others.is_empty() || others.iter().any(|other| advertised.is_valid(other)),
                "{} and {} on {}",
                schema,
                input,
                value
            );
        }
    }
    Ok(())
}

fn check(
    cases: u32,
    schemas: impl Strategy<Value = Value>,
    values: impl Strategy<Value = Value>,
) -> Counts {
    let counts = Counts::default();
    let run = runner(cases).run(&(schemas, vec(values, 6)), |(schema, values)| {
        compare(&schema, &values, &counts)
    });
    run.unwrap_or_else(|error| panic!("{error}"));
    let (accepted, refused) = (counts.accepted.get(), counts.refused.get());
    assert!(
        cases < 12 * accepted && cases < 12 * refused,
        "one-sided: {accepted} accepted, {refused} refused"
    );
    counts
}

#[test]
fn portable_schemas_accept_the_same() {
    check(600, schema(), value());
}

#[test]
fn draft_07_accepts_the_same_in_2020_12() {
    let schemas = schema().prop_map(|schema| in_draft_07(&schema));
    let counts = check(600, schemas, value());
    let moved = counts.moved.get();
    assert!(100 < moved, "only {moved} schemas were written in 2020-12");
}

/// Schemas such as those of Rust types, for objects with the names of the generator's values.
fn of_types() -> impl Strategy<Value = Value> {
    let names = || select(vec!["a", "b", "ab", "kind"]);
    let scalar = select(vec![
        json!({"type": "string"}),
        json!({"type": "integer", "exclusiveMinimum": 0}),
        json!({"type": ["boolean", "null"], "default": null}),
        json!({"type": "string", "enum": ["a", "b"]}),
        json!({"oneOf": [{"const": "a"}, {"const": "b"}]}),
        json!({"$ref": "#/$defs/d"}),
        json!(true),
    ]);
    let nested = scalar.prop_recursive(3, 24, 4, move |inner| {
        let optional = inner
            .clone()
            .prop_map(|inner| json!({"anyOf": [inner, {"type": "null"}]}));
        let list = (inner.clone(), any::<bool>())
            .prop_map(|(items, unique)| json!({"type": "array", "items": items, "uniqueItems": unique}));
        let map = inner
            .clone()
            .prop_map(|value| json!({"type": "object", "additionalProperties": value}));
        let fields = || btree_map(names(), prop_oneof![1 => inner.clone(), 2 => inner.clone().prop_map(|inner| json!({"anyOf": [inner, {"type": "null"}]}))], 0..4);
        let record = (fields(), btree_set(names(), 0..2), any::<bool>()).prop_map(
            |(fields, required, closed)| {
                let mut schema = json!({"type": "object", "properties": object(fields), "required": required});
                if closed {
                    schema["additionalProperties"] = json!(false);
                }
                schema
            },
        );
        let tagged = (fields(), fields()).prop_map(|(one, other)| {
            let branch = |name: &str, fields| {
                let mut properties = object(fields);
                properties[name] = json!({"type": ["string", "integer", "null"]});
                json!({"type": "object", "properties": properties, "required": [name], "additionalProperties": false})
            };
            json!({"oneOf": [branch("a", one), branch("kind", other)]})
        });
        let untagged = vec(inner.clone(), 1..3).prop_map(|list| json!({"anyOf": list}));
        let flattened = (fields(), fields(), btree_set(names(), 0..2)).prop_map(
            |(own, theirs, required)| {
                json!({"type": "object", "properties": object(own),
                    "allOf": [{"properties": object(theirs), "required": required}]})
            },
        );
        prop_oneof![
            2 => optional,
            1 => list,
            1 => map,
            4 => record,
            1 => tagged,
            1 => untagged,
            1 => flattened,
        ]
    });
    nested.prop_map(|schema| {
        let mut root = match schema {
            Value::Object(members) => Value::Object(members),
            other => json!({"allOf": [other]}),
        };
        root["$defs"] = json!({"d": {"type": "object", "properties": {
            "a": {"anyOf": [{"$ref": "#/$defs/d"}, {"type": "null"}]}, "b": {"type": ["string", "null"]}}}});
        root
    })
}

/// An object with the names of these types, often null.
fn record() -> impl Strategy<Value = Value> {
    let scalar = prop_oneof![
        3 => Just(Value::Null),
        2 => select(vec![json!("a"), json!("b"), json!(0), json!(1), json!(true)]),
    ];
    let nested = scalar.prop_recursive(2, 8, 3, |inner| {
        let names = select(vec!["a", "b", "ab", "kind"]);
        prop_oneof![
            1 => vec(inner.clone(), 0..3).prop_map(Value::from),
            3 => btree_map(names, inner, 0..4).prop_map(object),
        ]
    });
    nested.prop_map(|value| match value {
        Value::Object(_) => value,
        other => json!({"a": other}),
    })
}

// An argument that is null in place of an absent one is the only exception.
#[test]
fn null_is_all_that_is_not_advertised() {
    let counts = check(900, of_types(), prop_oneof![value(), record()]);
    let by_null = counts.by_null.get();
    assert!(50 < by_null, "only {by_null} values show the exception");
}
