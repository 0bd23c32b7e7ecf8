//! Generates schemas and values to compare verdicts on. The values come from the small set that the schemas mention, so that about half of
//! them pass.
//!
//! The tests of the library `trueform` include this file too.

use proptest::{
    collection::{btree_map, vec},
    prelude::*,
    sample::select,
    test_runner::{Config, TestRunner},
};
use serde_json::{Map, Value, json};

const NAMES: [&str; 5] = ["a", "b", "ab", "x-y", "kind"];

fn scalar() -> impl Strategy<Value = Value> {
    prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        select(vec![-3_i64, -1, 0, 1, 2, 3, 5, 10, i64::MAX, i64::MIN]).prop_map(Value::from),
        select(vec![
            0_u64,
            u64::MAX,
            9_007_199_254_740_993,
            9_007_199_254_740_992
        ])
        .prop_map(Value::from),
        double().prop_map(Value::from),
        select(vec![
            0.0,
            -0.0,
            0.1,
            0.3,
            0.5,
            1.0,
            1.5,
            2.0,
            -1.5,
            1e20,
            9_007_199_254_740_992.0
        ])
        .prop_map(Value::from),
        text().prop_map(Value::from),
    ]
}

/// Doubles that a parser without `float_roundtrip` reads as their neighbours, these neighbours, doubles beyond 2^53, and subnormal ones.
const DOUBLES: [f64; 9] = [
    959.508_203_747_186_3,
    959.508_203_747_186_4,
    1_816_189_213_876_457.0,
    7_243_816_442_868_929.0,
    1e16,
    9_223_372_036_854_775_808.0,
    5e-324,
    2.225_073_858_507_201e-308,
    1e300,
];

pub(crate) fn double() -> impl Strategy<Value = f64> {
    let any = proptest::num::f64::NORMAL | proptest::num::f64::SUBNORMAL | proptest::num::f64::ZERO;
    prop_oneof![select(DOUBLES.to_vec()), any]
}

fn text() -> impl Strategy<Value = &'static str> {
    select(vec![
        "", "a", "b", "ab", "x-y", "ü", "äöü", "aaa", "10", "true", "😀", "a\"b", "a\nb",
    ])
}

/// Returns any value of that set.
pub(crate) fn value() -> impl Strategy<Value = Value> {
    scalar().prop_recursive(3, 12, 4, |inner| {
        prop_oneof![
            vec(inner.clone(), 0..4).prop_map(Value::from),
            btree_map(select(NAMES.to_vec()), inner, 0..4).prop_map(object),
        ]
    })
}

/// Returns the object of these members. If a name occurs twice, the last member is used.
pub(crate) fn object<'a>(members: impl IntoIterator<Item = (&'a str, Value)>) -> Value {
    Value::Object(
        members
            .into_iter()
            .map(|(name, value)| (name.to_owned(), value))
            .collect(),
    )
}

fn types() -> impl Strategy<Value = Value> {
    let names = || {
        select(vec![
            "null", "boolean", "integer", "number", "string", "array", "object",
        ])
    };
    prop_oneof![
        names().prop_map(Value::from),
        proptest::collection::btree_set(names(), 1..4).prop_map(|set| json!(set)),
    ]
}

fn bound() -> impl Strategy<Value = Value> {
    let simple = select(vec![
        json!(0),
        json!(1),
        json!(-1),
        json!(1.0),
        json!(0.5),
        json!(2),
        json!(9_007_199_254_740_992_u64),
        json!(u64::MAX),
    ]);
    prop_oneof![3 => simple, 1 => double().prop_map(Value::from)]
}

fn count() -> impl Strategy<Value = Value> {
    select(vec![json!(0), json!(1), json!(2), json!(3), json!(2.0)])
}

fn name_list() -> impl Strategy<Value = Value> {
    proptest::collection::btree_set(select(NAMES.to_vec()), 0..3).prop_map(|set| json!(set))
}

fn pattern() -> impl Strategy<Value = &'static str> {
    select(vec![
        "^a",
        "b$",
        "^[a-z]+$",
        "^.$",
        "-",
        r"^\w*$",
        r"^\d+$",
        "a|ü",
        "^(?:a|b){1,2}$",
    ])
}

/// Returns a keyword without subschemas.
fn leaf() -> impl Strategy<Value = (&'static str, Value)> {
    prop_oneof![
        4 => types().prop_map(|value| ("type", value)),
        1 => value().prop_map(|value| ("const", value)),
        1 => vec(value(), 1..4).prop_map(|values| ("enum", Value::from(values))),
        1 => bound().prop_map(|value| ("minimum", value)),
        1 => bound().prop_map(|value| ("maximum", value)),
        1 => bound().prop_map(|value| ("exclusiveMinimum", value)),
        1 => bound().prop_map(|value| ("exclusiveMaximum", value)),
        1 => select(vec![json!(1), json!(2), json!(0.5), json!(0.1), json!(1.5)]).prop_map(|value| ("multipleOf", value)),
        1 => count().prop_map(|value| ("minLength", value)),
        1 => count().prop_map(|value| ("maxLength", value)),
        1 => pattern().prop_map(|value| ("pattern", value.into())),
        1 => count().prop_map(|value| ("minItems", value)),
        1 => count().prop_map(|value| ("maxItems", value)),
        1 => any::<bool>().prop_map(|value| ("uniqueItems", value.into())),
        1 => count().prop_map(|value| ("minProperties", value)),
        1 => count().prop_map(|value| ("maxProperties", value)),
        2 => name_list().prop_map(|value| ("required", value)),
        1 => btree_map(select(NAMES.to_vec()), name_list(), 0..2).prop_map(|map| ("dependentRequired", object(map))),
        1 => select(vec!["int64", "double", "uint8"]).prop_map(|name| ("format", name.into())),
        1 => select(vec!["#/$defs/d", "#/$defs/e", "#here"]).prop_map(|target| ("$ref", target.into())),
    ]
}

/// Returns a keyword with subschemas.
fn branch(inner: &BoxedStrategy<Value>) -> impl Strategy<Value = (&'static str, Value)> + use<> {
    let one = |keyword: &'static str| inner.clone().prop_map(move |schema| (keyword, schema));
    let list = |keyword: &'static str| {
        vec(inner.clone(), 1..4).prop_map(move |list| (keyword, Value::from(list)))
    };
    let map = |keyword: &'static str| {
        btree_map(select(NAMES.to_vec()), inner.clone(), 0..4)
            .prop_map(move |map| (keyword, object(map)))
    };
    prop_oneof![
        4 => map("properties"),
        2 => one("additionalProperties"),
        1 => btree_map(pattern(), inner.clone(), 0..3).prop_map(|map| ("patternProperties", object(map))),
        1 => one("propertyNames"),
        2 => one("items"),
        2 => list("prefixItems"),
        1 => one("contains"),
        1 => list("allOf"),
        2 => list("anyOf"),
        2 => list("oneOf"),
        1 => one("not"),
        1 => one("if"),
        1 => one("then"),
        1 => one("else"),
        1 => map("dependentSchemas"),
    ]
}

/// Returns a schema with definitions, some of which it refers to.
pub(crate) fn schema() -> impl Strategy<Value = Value> {
    let simple = || {
        prop_oneof![
            1 => any::<bool>().prop_map(Value::from),
            9 => vec(leaf(), 0..3).prop_map(object),
        ]
    };
    let nested = simple().prop_recursive(3, 24, 4, |inner| {
        (
            vec(leaf(), 0..3),
            vec(branch(&inner.boxed()), 0..4),
            any::<bool>(),
        )
            .prop_map(|(leaves, branches, bounded)| {
                let mut schema = object(leaves.into_iter().chain(branches));
                if bounded && schema.get("contains").is_some() {
                    schema["minContains"] = json!(0);
                    schema["maxContains"] = json!(1);
                }
                schema
            })
    });
    // The definitions refer to nothing, so that no schema can apply itself without end.
    (
        nested,
        vec(leaf_without_ref(), 0..3),
        vec(leaf_without_ref(), 0..2),
    )
        .prop_map(|(root, d, e)| {
            let mut members = match root {
                Value::Object(members) => members,
                other => Map::from_iter([("allOf".to_owned(), json!([other]))]),
            };
            let mut e = object(e);
            e["$anchor"] = "here".into();
            members.insert("$defs".to_owned(), json!({"d": object(d), "e": e}));
            Value::Object(members)
        })
}

/// Returns the same schema in the notation of draft-07. Keywords that draft-07 does not have stay, and must be ignored.
pub(crate) fn in_draft_07(schema: &Value) -> Value {
    let mut out = rewritten_for_draft_07(schema);
    out["$schema"] = "http://json-schema.org/draft-07/schema#".into();
    out
}

fn rewritten_for_draft_07(schema: &Value) -> Value {
    let Some(members) = schema.as_object() else {
        return schema.clone();
    };
    let mut out = Map::new();
    for (keyword, value) in members {
        let below = match (keyword.as_str(), value) {
            ("const" | "enum" | "required" | "dependentRequired", _) => value.clone(),
            (
                "properties" | "patternProperties" | "$defs" | "dependentSchemas",
                Value::Object(map),
            ) => object(
                map.iter()
                    .map(|(name, schema)| (name.as_str(), rewritten_for_draft_07(schema))),
            ),
            (_, Value::Array(list)) => list
                .iter()
                .map(rewritten_for_draft_07)
                .collect::<Vec<_>>()
                .into(),
            _ => rewritten_for_draft_07(value),
        };
        match (keyword.as_str(), below) {
            ("$ref", Value::String(target)) => {
                let target = target.replace("$defs", "definitions");
                out.insert("$ref".to_owned(), target.into());
            }
            ("$anchor", Value::String(name)) => {
                out.insert("$id".to_owned(), format!("#{name}").into());
            }
            ("$defs", below) => {
                out.insert("definitions".to_owned(), below);
            }
            ("prefixItems", below) => {
                let rest = members.get("items").map(rewritten_for_draft_07);
                out.insert("items".to_owned(), below);
                out.extend(rest.map(|rest| ("additionalItems".to_owned(), rest)));
            }
            ("items", _) if members.contains_key("prefixItems") => {}
            ("dependentRequired" | "dependentSchemas", Value::Object(below)) => {
                let all = out.entry("dependencies").or_insert_with(|| json!({}));
                for (name, below) in below {
                    all[name] = below;
                }
            }
            (keyword, below) => {
                out.insert(keyword.to_owned(), below);
            }
        }
    }
    Value::Object(out)
}

fn leaf_without_ref() -> impl Strategy<Value = (&'static str, Value)> {
    leaf().prop_filter("no references", |(keyword, _)| *keyword != "$ref")
}

/// Returns a runner of this number of cases, which are the same each time.
pub(crate) fn runner(cases: u32) -> TestRunner {
    // The seed is fixed, so that a failing run fails again. `PROPTEST_CASES` increases the number.
    let cases = std::env::var("PROPTEST_CASES")
        .ok()
        .and_then(|cases| cases.parse().ok())
        .unwrap_or(cases);
    let config = Config {
        cases,
        failure_persistence: None,
        ..Config::default()
    };
    let rng = proptest::test_runner::TestRng::deterministic_rng(
        proptest::test_runner::RngAlgorithm::ChaCha,
    );
    TestRunner::new_with_rng(config, rng)
}
