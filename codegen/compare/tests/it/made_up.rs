//! Small schemas, changes to them, and values, from an alphabet so small that they meet.

use proptest::{
    collection::vec,
    option,
    prelude::*,
    sample::{Index, select},
};
use serde_json::{Map, Value, json};

/// Names of members.
const NAMES: [&str; 3] = ["a", "b", "c"];

fn name() -> impl Strategy<Value = String> {
    select(&NAMES[..]).prop_map(str::to_owned)
}

fn scalar() -> impl Strategy<Value = Value> {
    let scalars = json!([
        null, false, true, 0, 1, 2, 2.0, 3, -1, 1.5, "", "a", "b", "ab", "abc"
    ]);
    select(scalars.as_array().expect("it is a list").clone())
}

/// Any value, mostly one that schemas speak of.
fn value() -> BoxedStrategy<Value> {
    scalar()
        .prop_recursive(3, 12, 3, |below| {
            prop_oneof![
                vec(below.clone(), 0..4).prop_map(Value::Array),
                object(below),
            ]
        })
        .boxed()
}

fn object(values: impl Strategy<Value = Value>) -> impl Strategy<Value = Value> {
    let member = (name(), values);
    vec(member, 0..4).prop_map(|members| Value::Object(members.into_iter().collect()))
}

/// A schema that may refer to `A` and `B`; where it stands itself only if `here`, as definitions that lead back to
/// themselves have no meaning.
fn schema(depth: u32, here: bool) -> BoxedStrategy<Value> {
    let types = [
        "null", "boolean", "integer", "number", "string", "array", "object",
    ];
    let one = prop_oneof![2 => select(types.to_vec()), 2 => Just("object"), 1 => Just("array")];
    let one = one.prop_map(Value::from);
    let ty = prop_oneof![
        3 => one.clone(),
        1 => proptest::sample::subsequence(types.to_vec(), 1..4).prop_map(|types| json!(types)),
    ];
    let full = (option::of(ty), vec(keyword(depth, here), 0..4)).prop_map(|(ty, keywords)| {
        let ty = ty.map(|ty| ("type".to_owned(), ty));
        Value::Object(keywords.into_iter().chain(ty).collect())
    });
    prop_oneof![1 => any::<bool>().prop_map(Value::Bool), 12 => full].boxed()
}

fn pair<V: Into<Value>>(
    keywords: &'static [&'static str],
    values: impl Strategy<Value = V>,
) -> impl Strategy<Value = (String, Value)> {
    (select(keywords), values).prop_map(|(keyword, value)| (keyword.to_owned(), value.into()))
}

fn keyword(depth: u32, here: bool) -> BoxedStrategy<(String, Value)> {
    let counts = &[
        "minLength",
        "maxLength",
        "minItems",
        "maxItems",
        "minProperties",
        "maxProperties",
    ];
    let bounds = &["minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum"];
    let numbers = select(vec![
        json!(0),
        json!(1),
        json!(2),
        json!(2.0),
        json!(1.5),
        json!(3),
    ]);
    let flat = prop_oneof![
        2 => pair(counts, 0..4_u8),
        2 => pair(bounds, numbers),
        1 => pair(&["multipleOf"], 1..3_u8),
        1 => pair(&["uniqueItems"], any::<bool>()),
        1 => pair(&["pattern"], select(&["a", "b", "^a$"][..])),
        1 => pair(&["const"], scalar()),
        2 => pair(&["enum"], vec(value(), 1..4)),
        3 => pair(&["required"], proptest::sample::subsequence(NAMES.to_vec(), 0..3)),
        1 => pair(&["description"], select(&["x", "y"][..])),
        1 => pair(&["minContains", "maxContains"], 0..3_u8),
        1 => name().prop_map(|name| ("dependentRequired".to_owned(), json!({ name: ["b"] }))),
    ];
    if depth == 0 {
        return flat.boxed();
    }
    let below = || prop_oneof![3 => schema(depth - 1, true), 1 => reference()];
    let beside = move || match here {
        true => prop_oneof![3 => schema(depth - 1, true), 1 => reference()].boxed(),
        false => schema(depth - 1, false),
    };
    let members =
        || vec((name(), below()), 0..3).prop_map(|all| Value::Object(all.into_iter().collect()));
    let patterns = vec((select(&["a", "^b", "."][..]), below()), 0..3);
    let patterns = patterns.prop_map(|all| {
        let all = all
            .into_iter()
            .map(|(name, schema)| (name.to_owned(), schema));
        Value::Object(all.collect())
    });
    let deep = prop_oneof![
        6 => pair(&["properties"], members()),
        2 => pair(&["additionalProperties"], any::<bool>()),
        3 => pair(&["additionalProperties", "items"], below()),
        1 => pair(&["patternProperties"], patterns),
        2 => pair(&["prefixItems"], vec(below(), 1..3)),
        5 => pair(&["anyOf", "oneOf", "allOf"], vec(beside(), 1..4)),
        2 => pair(&["not", "if", "then", "else"], beside()),
        1 => pair(&["contains", "propertyNames"], below()),
        1 => pair(&["unevaluatedProperties", "unevaluatedItems"], any::<bool>()),
    ];
    let deep = match here {
        true => prop_oneof![12 => deep, 2 => reference().prop_map(|reference|
            ("$ref".to_owned(), reference["$ref"].clone()))]
        .boxed(),
        false => deep.boxed(),
    };
    prop_oneof![2 => flat, 3 => deep].boxed()
}

fn reference() -> impl Strategy<Value = Value> {
    select(&["A", "B"][..]).prop_map(|name| json!({ "$ref": format!("#/$defs/{name}") }))
}

/// A schema with the definitions that it refers to.
pub(crate) fn document() -> impl Strategy<Value = Value> {
    let definition = || schema(1, false);
    (schema(2, true), definition(), definition()).prop_map(|(root, a, b)| {
        let mut root = match root {
            Value::Object(root) => root,
            other => Map::from_iter([("allOf".to_owned(), json!([other]))]),
        };
        root.insert("$defs".to_owned(), json!({ "A": a, "B": b }));
        Value::Object(root)
    })
}

/// Two documents, of which the second is often the first with some changes.
pub(crate) fn documents() -> impl Strategy<Value = (Value, Value)> {
    let edit = (
        any::<Index>(),
        any::<Index>(),
        keyword(1, false),
        any::<Edit>(),
    );
    let edits = vec(edit, 1..3);
    let edited = (document(), edits, any::<bool>()).prop_map(|(one, edits, is_new)| {
        let mut other = one.clone();
        for (at, keyword, donor, edit) in edits {
            edit.apply(&mut other, &at, &keyword, donor);
        }
        match is_new {
            true => (one, other),
            false => (other, one),
        }
    });
    prop_oneof![10 => edited, 1 => (document(), document())]
}

/// A change to one schema of a document.
#[derive(Clone, Copy, Debug)]
enum Edit {
    /// A keyword comes, or gets another value.
    Set,
    /// A keyword that is a list or has members gets more of them.
    Extend,
    /// A keyword goes.
    Remove,
    /// A member or element of a keyword goes.
    Shorten,
}

impl Arbitrary for Edit {
    type Parameters = ();
    type Strategy = BoxedStrategy<Edit>;

    fn arbitrary_with((): ()) -> Self::Strategy {
        select(&[Edit::Set, Edit::Extend, Edit::Remove, Edit::Shorten][..]).boxed()
    }
}

impl Edit {
    fn apply(self, document: &mut Value, at: &Index, keyword: &Index, donor: (String, Value)) {
        let mut places = Vec::new();
        schemas(document, String::new(), &mut places);
        let place = &places[at.index(places.len())];
        let schema = document
            .pointer_mut(place)
            .expect("the place was just found");
        let Value::Object(schema) = schema else {
            *schema = Value::Object(Map::from_iter([donor]));
            return;
        };
        let keywords = schema
            .keys()
            .filter(|name| *name != "$defs" && *name != "$ref");
        let keywords: Vec<String> = keywords.cloned().collect();
        let chosen = match keywords.is_empty() {
            true => None,
            false => Some(&keywords[keyword.index(keywords.len())]),
        };
        match (self, chosen) {
            (Edit::Remove, Some(chosen)) => _ = schema.remove(chosen),
            (Edit::Shorten, Some(chosen)) => shorten(&mut schema[chosen], keyword),
            (Edit::Extend, _) => match (schema.get_mut(&donor.0), donor.1) {
                (Some(Value::Object(known)), Value::Object(more)) => known.extend(more),
                (Some(Value::Array(known)), Value::Array(more)) if donor.0 != "required" => {
                    known.extend(more);
                }
                (_, value) => _ = schema.insert(donor.0, value),
            },
            _ => _ = schema.insert(donor.0, donor.1),
        }
    }
}

/// Takes one of several away; lists stay lists of something.
fn shorten(value: &mut Value, which: &Index) {
    match value {
        Value::Array(items) if items.len() > 1 => _ = items.remove(which.index(items.len())),
        Value::Object(members) => {
            let names: Vec<String> = members.keys().cloned().collect();
            if !names.is_empty() {
                members.remove(&names[which.index(names.len())]);
            }
        }
        _ => {}
    }
}

/// JSON pointers to all schemas in `schema`.
fn schemas(schema: &Value, at: String, places: &mut Vec<String>) {
    for (keyword, value) in schema.as_object().into_iter().flatten() {
        let here = format!("{at}/{keyword}");
        match (keyword.as_str(), value) {
            ("properties" | "patternProperties" | "$defs", Value::Object(members)) => {
                for (name, member) in members {
                    schemas(member, format!("{here}/{name}"), places);
                }
            }
            ("allOf" | "anyOf" | "oneOf" | "prefixItems", Value::Array(items)) => {
                for (i, item) in items.iter().enumerate() {
                    schemas(item, format!("{here}/{i}"), places);
                }
            }
            (
                "items"
                | "additionalProperties"
                | "not"
                | "if"
                | "then"
                | "else"
                | "contains"
                | "propertyNames",
                schema,
            ) => schemas(schema, here, places),
            _ => {}
        }
    }
    places.push(at);
}
