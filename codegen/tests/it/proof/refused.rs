//! The exact list of values that the bindings refuse although the official schema of a revision accepts them, with reasons.

use serde_json::Value;
use trueform_codegen::model::{Model, Shape, TypeRef};
use trueform_schema::DecodeError;

/// The exceptions: type, member and reason.
const LISTED: [(&str, &[&str], &str); 5] = [
    (
        "PrimitiveSchemaDefinition",
        &["enum", "enumNames", "oneOf"],
        "these announce a select, although a plain text field may have unknown members",
    ),
    (
        "SamplingMessageContentBlock",
        WHOLE,
        "where one stands, a list of them may stand too, which is another type",
    ),
    ("GetTaskResult", OF_SOME, OF_ONE_STATE),
    ("TaskStatusNotificationParams", OF_SOME, OF_ONE_STATE),
    (
        ANY,
        &["resultType"],
        "the schema allows any text, the specification knows which results there are",
    ),
];

/// Any type with such a member.
const ANY: &str = "";

/// The value itself, not one of its members.
const WHOLE: &[&str] = &[""];

/// Members that a task has in some states only.
const OF_SOME: &[&str] = &["error", "inputRequests", "result"];

const OF_ONE_STATE: &str = "the schema has a type for each state of a task, and elsewhere these are extra members that may be \
    anything; the model has one type for all states";

/// Whether `error` is of a number in `value` that the type of its member cannot hold exactly, and the message names the remedy: an
/// integer for a double, one beyond 64 bits, a float from ±2^53 on for an integer.
pub(super) fn is_inexact(error: &DecodeError, value: &Value) -> bool {
    const EXACT: f64 = 9_007_199_254_740_992.0;
    let is_beyond = |number: &Value| {
        let is_float = number.is_f64() && number.as_f64().is_some_and(|found| EXACT <= found.abs());
        is_float || number.is_u64() && !number.is_i64()
    };
    let expected = error.expected();
    error.rule() == "value"
        && (expected.contains("a double holds exactly")
            || expected.contains("of 64 bits")
                && value.pointer(error.pointer()).is_some_and(is_beyond))
}

/// Whether a value of the type `name` may be refused for what is at `pointer`, although the schema `of_place` of `revision`
/// accepts it. The type is of the first of `models`, and what that refers to may be of the others.
///
/// Beside what is [`LISTED`]: an object of one revision may have any member beside its own. One that is called like a member of
/// another revision has the form of that member all the same: it is one Rust field, and nothing else could hold it. `_meta` is a
/// member of all params and results, also where the official schema does not repeat it.
pub(super) fn is_excused(
    models: &[&Model],
    name: &str,
    pointer: &str,
    revision: usize,
    of_place: Option<&Value>,
) -> bool {
    let path: Vec<String> = pointer
        .split('/')
        .skip(1)
        .map(|name| name.replace("~1", "/").replace("~0", "~"))
        .collect();
    let path: Vec<&str> = path.iter().map(String::as_str).collect();
    let has_no_meta = of_place.is_none_or(|schema| schema["properties"].get("_meta").is_none());
    has_no_meta && path.first() == Some(&"_meta") || leads_elsewhere(models, name, &path, revision)
}

/// Whether `path`, from a value of the type `name`, leads into a member or an alternative that `revision` does not have, or into
/// one that is listed.
fn leads_elsewhere(models: &[&Model], name: &str, path: &[&str], revision: usize) -> bool {
    let Some(ty) = models.iter().find_map(|model| model.types.get(name)) else {
        return false;
    };
    let (member, rest) = path.split_first().unwrap_or((&"", &[]));
    let is_listed = |(of, members, _): &(&str, &[&str], &str)| {
        (*of == name || *of == ANY) && members.contains(member)
    };
    if LISTED.iter().any(is_listed) {
        return true;
    }
    match &ty.shape {
        Shape::Struct { fields } => {
            let found = fields.iter().find(|field| field.json_name == *member);
            found.is_some_and(|field| {
                !field.known.has(revision) || within(models, &field.ty, rest, revision)
            })
        }
        Shape::Union { variants, .. } => variants
            .iter()
            .any(|variant| within(models, &variant.ty, path, revision)),
        _ => false,
    }
}

fn within(models: &[&Model], ty: &TypeRef, path: &[&str], revision: usize) -> bool {
    match ty {
        TypeRef::Named(name) => leads_elsewhere(models, name, path, revision),
        TypeRef::Nullable(inner) => within(models, inner, path, revision),
        TypeRef::Vec(item) | TypeRef::Map(item) => match path.split_first() {
            Some((_, rest)) => within(models, item, rest, revision),
            None => false,
        },
        _ => false,
    }
}
