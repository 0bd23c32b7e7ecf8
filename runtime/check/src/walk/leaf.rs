//! The rules of scalars: literals, bounds of numbers, lengths, patterns and formats of strings.

use std::borrow::Cow;

use serde_json::Value;

use super::{
    super::{
        describe::one_of,
        equal::equal,
        format::Format,
        node::{NumberRules, Rules, StringRules, TypeSet},
        number::{EXACT, Num},
        path::Path,
        suggest::closest,
        violation::{Found, Violation, counted},
    },
    Out, violation,
};

/// Describes the allowed types. If `string` is the only type, a format or pattern is more specific.
pub(super) fn type_words(rules: &Rules) -> String {
    match (&rules.string, rules.types) {
        (Some(string), TypeSet::STRING) => string
            .format
            .map_or_else(|| rules.types.words(), |format| format.words().to_owned()),
        _ => rules.types.words(),
    }
}

pub(super) fn literals(rules: &Rules, value: &Value, at: &Path<'_>, out: &mut Out) -> bool {
    let mut ok = true;
    if let Some(constant) = &rules.constant
        && !equal(constant, value)
    {
        ok = out.push(|| literal_violation("const", std::slice::from_ref(constant), value, at));
    }
    if let Some(options) = &rules.options
        && !options.iter().any(|option| equal(option, value))
    {
        ok = out.push(|| literal_violation("enum", options, value, at));
    }
    ok
}

pub(crate) fn literal_violation<'a>(
    keyword: &'static str,
    allowed: impl IntoIterator<Item = &'a Value> + Clone,
    value: &Value,
    at: &Path<'_>,
) -> Violation {
    let strings = allowed.clone().into_iter().filter_map(Value::as_str);
    let meant = value.as_str().and_then(|text| closest(text, strings));
    Violation {
        suggestion: meant.map(|meant| Value::String(meant.to_owned()).to_string()),
        ..violation(
            at,
            keyword,
            one_of(allowed.into_iter()),
            Found::value(value),
        )
    }
}

pub(super) fn numbers(
    rules: &NumberRules,
    number: Num,
    value: &Value,
    at: &Path<'_>,
    out: &mut Out,
) -> bool {
    let broken = broken_bounds(rules, number);
    let mut ok = true;
    for (keyword, words, bound) in broken.into_iter().flatten() {
        ok = out.push(|| violation(at, keyword, format!("{words} {bound}"), Found::value(value)));
    }
    if ok && is_inexact(rules, value.as_f64().filter(|_| value.is_f64())) {
        ok = out.push(|| violation(at, "type", EXACTLY.to_owned(), Found::value(value)));
    }
    ok
}

/// The expectation in place of an integral float that may represent several integers.
const EXACTLY: &str =
    "an integer written in digits alone, because floats from ±2^53 on are not exact";

/// Returns whether `float` has no fraction and is so large that it may represent several integers, if that matters.
pub(crate) fn is_inexact(rules: &NumberRules, float: Option<f64>) -> bool {
    rules.exact && float.is_some_and(|float| EXACT <= float.abs() && float.fract() == 0.0)
}

type Broken = Option<(&'static str, &'static str, Num)>;

/// Returns the bounds that `number` violates: keyword, words, bound.
pub(crate) fn broken_bounds(rules: &NumberRules, number: Num) -> [Broken; 5] {
    let broken = |bound: Option<Num>, keyword, words, breaks: fn(Num, Num) -> bool| {
        bound
            .filter(|&bound| breaks(number, bound))
            .map(|bound| (keyword, words, bound))
    };
    [
        broken(rules.minimum, "minimum", "at least", |n, b| {
            n.order(b).is_lt()
        }),
        broken(rules.maximum, "maximum", "at most", |n, b| {
            n.order(b).is_gt()
        }),
        broken(
            rules.exclusive_minimum,
            "exclusiveMinimum",
            "more than",
            |n, b| n.order(b).is_le(),
        ),
        broken(
            rules.exclusive_maximum,
            "exclusiveMaximum",
            "less than",
            |n, b| n.order(b).is_ge(),
        ),
        broken(rules.multiple_of, "multipleOf", "a multiple of", |n, b| {
            !n.is_multiple_of(b)
        }),
    ]
}

pub(super) fn strings(
    rules: &StringRules,
    text: &str,
    value: &Value,
    at: &Path<'_>,
    out: &mut Out,
) -> bool {
    let mut ok = true;
    for (keyword, words) in broken_strings(rules, text).into_iter().flatten() {
        ok = match (keyword, rules.format) {
            ("format", Some(format)) => out.push(|| format_violation(format, text, value, at)),
            ("minLength" | "maxLength", _) => {
                out.push(|| violation(at, keyword, words.into_owned(), Found::size(value)))
            }
            _ => out.push(|| violation(at, keyword, words.into_owned(), Found::value(value))),
        };
    }
    ok
}

/// Returns the violation of text that does not have `format`.
pub(crate) fn format_violation(
    format: Format,
    text: &str,
    value: &Value,
    at: &Path<'_>,
) -> Violation {
    let (words, meant) = match format.cure(text) {
        Some((words, meant)) => (words, meant),
        None => (format.words(), None),
    };
    Violation {
        suggestion: meant.map(|meant| Value::String(meant).to_string()),
        ..violation(at, "format", words.to_owned(), Found::value(value))
    }
}

type BrokenString = Option<(&'static str, Cow<'static, str>)>;

/// Returns the string rules that `text` violates: keyword and words. Allocates only for violated rules.
pub(crate) fn broken_strings(rules: &StringRules, text: &str) -> [BrokenString; 4] {
    // Characters are counted only up to the bounds.
    let short = 0 < rules.min
        && text.len() < rules.min.saturating_mul(4)
        && text.chars().count() < rules.min;
    let long = rules
        .max
        .filter(|max| *max < text.len() && text.chars().nth(*max).is_some());
    [
        short.then(|| {
            (
                "minLength",
                format!("at least {}", counted(rules.min, "character")).into(),
            )
        }),
        long.map(|max| {
            (
                "maxLength",
                format!("at most {}", counted(max, "character")).into(),
            )
        }),
        rules
            .pattern
            .as_ref()
            .filter(|pattern| !pattern.matches(text))
            .map(|pattern| {
                (
                    "pattern",
                    format!("string matching `{}`", pattern.source()).into(),
                )
            }),
        rules
            .format
            .filter(|format| !format.accepts(text))
            .map(|format| ("format", format.words().into())),
    ]
}
