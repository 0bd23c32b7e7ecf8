//! Keywords that are compared on their own: bounds, other restrictions, and annotations.
//!
//! Restrictions other than bounds are not analysed. Owns the lists of bounds and annotations; keywords that hold schemas are part
//! of the shape.

use std::{
    cmp::Ordering,
    collections::{BTreeMap, BTreeSet},
};

use serde_json::Value;

use crate::{
    change::What,
    effect::{Effect, Impact},
    json,
    shape::Shape,
    walk::Comparison,
};

/// Annotations of one schema.
pub(crate) type Words<'a> = BTreeMap<&'a str, &'a Value>;

/// Restrictions of one schema; several of one keyword if the schema has parts.
pub(crate) type Limits<'a> = BTreeMap<&'a str, Vec<&'a Value>>;

const LOWER: [&str; 6] = [
    "minimum",
    "exclusiveMinimum",
    "minLength",
    "minItems",
    "minProperties",
    "minContains",
];
const UPPER: [&str; 6] = [
    "maximum",
    "exclusiveMaximum",
    "maxLength",
    "maxItems",
    "maxProperties",
    "maxContains",
];

/// Severity of a change of an annotation; `None` for other keywords.
fn word(keyword: &str) -> Option<Impact> {
    match keyword {
        // Models and people act on these, and `default` is the value that absence means.
        "description" | "default" => Some(Impact::Risky),
        "title" | "examples" | "$comment" | "deprecated" | "readOnly" | "writeOnly" => {
            Some(Impact::Additive)
        }
        _ => None,
    }
}

pub(crate) fn is_word(keyword: &str) -> bool {
    word(keyword).is_some()
}

/// Returns the JSON type that a keyword restricts; `None` if it may be any.
fn kind_of(keyword: &str) -> Option<&'static str> {
    match keyword {
        "minimum" | "maximum" | "exclusiveMinimum" | "exclusiveMaximum" | "multipleOf" => {
            Some("number")
        }
        "minLength" | "maxLength" | "pattern" | "contentEncoding" | "contentMediaType" => {
            Some("string")
        }
        "minItems" | "maxItems" | "uniqueItems" | "contains" | "minContains" | "maxContains" => {
            Some("array")
        }
        "minProperties" | "maxProperties" | "propertyNames" | "dependentRequired"
        | "dependentSchemas" => Some("object"),
        _ => None,
    }
}

/// Adds a restriction to those of a schema. Of two bounds the tighter holds.
pub(crate) fn restrict<'a>(limits: &mut Limits<'a>, keyword: &'a str, value: &'a Value) {
    if is_void(keyword, value) {
        return;
    }
    let known = limits.entry(keyword).or_default();
    if let [one] = known.as_mut_slice()
        && let (Value::Number(a), Value::Number(b)) = (&*one, value)
        && let Some(order) = json::order(a, b)
    {
        let is_tighter = match order {
            Ordering::Equal => return,
            Ordering::Less => LOWER.contains(&keyword),
            Ordering::Greater => UPPER.contains(&keyword),
        };
        // `minContains` and `maxContains` of two parts refer to different items.
        if !keyword.ends_with("Contains") && (LOWER.contains(&keyword) || UPPER.contains(&keyword))
        {
            if is_tighter {
                *one = value;
            }
            return;
        }
    }
    if !known.iter().any(|other| json::equal(other, value)) {
        known.push(value);
    }
}

/// Returns whether a restriction restricts nothing.
fn is_void(keyword: &str, value: &Value) -> bool {
    match keyword {
        "minLength" | "minItems" | "minProperties" => value.as_f64() == Some(0.0),
        "minContains" => value.as_f64() == Some(1.0),
        "uniqueItems" => value == &Value::Bool(false),
        "unevaluatedProperties" | "unevaluatedItems" | "propertyNames" => {
            value == &Value::Bool(true)
        }
        _ => false,
    }
}

impl<'a> Comparison<'a> {
    pub(crate) fn words(&mut self, place: &str, old: &Words<'a>, new: &Words<'a>) {
        let keywords: BTreeSet<&str> = old.keys().chain(new.keys()).copied().collect();
        for keyword in keywords {
            let (from, to) = (old.get(keyword).copied(), new.get(keyword).copied());
            if from == to {
                continue;
            }
            let what = What::WordsChanged {
                keyword: keyword.to_owned(),
                from: from.cloned(),
                to: to.cloned(),
            };
            let impact = word(keyword).unwrap_or(Impact::Risky);
            self.report(place, what, Effect::Words(impact));
        }
    }

    pub(crate) fn limits(&mut self, place: &str, old: &Shape<'a>, new: &Shape<'a>) {
        let keywords: BTreeSet<&str> = (old.limits.keys().chain(new.limits.keys()))
            .copied()
            .collect();
        for keyword in keywords {
            if kind_of(keyword).is_some_and(|kind| !old.may_be(kind) || !new.may_be(kind)) {
                continue;
            }
            let (before, after) = (of(old, keyword), of(new, keyword));
            let gone = unmatched(before, |value| after.iter().any(|b| self.same(value, b)));
            let come = unmatched(after, |value| before.iter().any(|a| self.same(a, value)));
            for i in 0..gone.len().max(come.len()) {
                let (from, to) = (gone.get(i).copied(), come.get(i).copied());
                let what = What::LimitChanged {
                    keyword: keyword.to_owned(),
                    from: from.cloned(),
                    to: to.cloned(),
                };
                self.report(place, what, effect(keyword, from, to));
            }
        }
    }
}

fn of<'s, 'a>(shape: &'s Shape<'a>, keyword: &str) -> &'s [&'a Value] {
    shape.limits.get(keyword).map_or(&[], Vec::as_slice)
}

fn unmatched<'a>(values: &[&'a Value], is_matched: impl Fn(&'a Value) -> bool) -> Vec<&'a Value> {
    let values = values.iter().copied();
    values.filter(|value| !is_matched(value)).collect()
}

fn effect(keyword: &str, from: Option<&Value>, to: Option<&Value>) -> Effect {
    // The only bound whose absence is itself a bound.
    const ONE: u64 = 1;
    let implied = Value::from(ONE);
    let implied = (keyword == "minContains").then_some(&implied);
    let (from, to) = match (from.or(implied), to.or(implied)) {
        (None, _) => return Effect::Narrows,
        (_, None) => return Effect::Widens,
        (Some(Value::Number(from)), Some(Value::Number(to))) => (from, to),
        _ => return Effect::Moves,
    };
    let (raised, lowered) = match keyword {
        _ if LOWER.contains(&keyword) => (Effect::Narrows, Effect::Widens),
        _ if UPPER.contains(&keyword) => (Effect::Widens, Effect::Narrows),
        _ => return Effect::Moves,
    };
    match json::order(from, to) {
        Some(Ordering::Less) => raised,
        Some(Ordering::Greater) => lowered,
        _ => Effect::Moves,
    }
}
