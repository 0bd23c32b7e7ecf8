//! Schemas outside the compiled vocabulary, which the `jsonschema` crate checks.
//!
//! The crate determines the verdict; its errors become the same violations as those of `walk`. It cannot fetch documents, and it
//! asserts the formats of `format`. It recurses without a limit, so this module limits the depth of a check.

mod branches;
mod faults;
mod report;

use std::thread;

use jsonschema::{Draft, PatternOptions, Retrieve, Uri, Validator};
use serde_json::Value;

use super::{
    CompileOptions, Formats, Schema, SchemaError,
    SchemaErrorKind::{TooLarge, Unsupported},
    compile::{Outline, outline},
    equal::size,
    format::Format,
    run::Limit,
    steps::Steps,
    violation::{Found, Violations},
};

/// Maximum number of subschemas in a document that needs this engine.
const MAX_SUBSCHEMAS: usize = 1_000;

/// How often one string may make one pattern backtrack. Beyond that, the pattern does not match.
const MAX_BACKTRACKS: usize = 100_000;

/// Levels of the value times schemas that fit on the caller's stack.
const INLINE_LEVELS: usize = 300;

/// Maximum number of levels of a check.
const MAX_LEVELS: usize = 64_000;

/// Stack space for one level, in bytes: more than twice the measured need of unoptimised builds.
const LEVEL: usize = 6 << 10;

/// Formats that `jsonschema` asserts and this crate does not.
const ANNOTATIONS: [&str; 9] = [
    "duration",
    "idn-email",
    "idn-hostname",
    "iri",
    "iri-reference",
    "json-pointer",
    "regex",
    "relative-json-pointer",
    "uri-template",
];

/// A compiled schema of the full vocabulary.
pub(super) struct Full {
    validator: Validator,
    outline: Outline,
    subschemas: usize,
}

/// Compiles a document that `compile` refused for `errors`.
///
/// # Errors
/// `errors`, if they do not concern the vocabulary, and faults that concern both engines.
pub(super) fn compile(
    root: &Value,
    options: &CompileOptions,
    errors: Vec<SchemaError>,
) -> Result<Schema, Vec<SchemaError>> {
    let vocabulary = |error: &SchemaError| error.kind == Unsupported;
    if !errors.iter().any(vocabulary) {
        return Err(errors);
    }
    let outline = outline(root, options)?;
    let subschemas = outline.nodes.list.len().max(objects(root));
    if MAX_SUBSCHEMAS < subschemas {
        let reason = format!(
            "more than {MAX_SUBSCHEMAS} subschemas, in a schema that needs the feature `json-schema`"
        );
        return Err(vec![SchemaError::new("", TooLarge, reason)]);
    }
    let built = with_room(subschemas * 4, || builder(root, options).build(root));
    match built {
        Some(Ok(validator)) => Ok(Schema::full(Full {
            validator,
            outline,
            subschemas,
        })),
        Some(Err(error)) => Err(vec![faults::fault(root, &error)]),
        None => Err(vec![SchemaError::new(
            "",
            TooLarge,
            "there is no memory to compile it",
        )]),
    }
}

fn builder(root: &Value, options: &CompileOptions) -> jsonschema::ValidationOptions<'static> {
    let mut builder = jsonschema::options()
        .with_retriever(Never)
        .with_pattern_options(PatternOptions::fancy_regex().backtrack_limit(MAX_BACKTRACKS))
        // These are annotations, as in `compile`.
        .without_content_encoding_support("base64")
        .without_content_media_type_support("application/json")
        .should_validate_formats(options.formats == Formats::Assert);
    if root.get("$schema").is_none() {
        builder = builder.with_draft(Draft::Draft202012);
    }
    for (name, format) in Format::ALL {
        builder = builder.with_format(name, move |text: &str| format.accepts(text));
    }
    for name in ANNOTATIONS {
        builder = builder.with_format(name, |_: &str| true);
    }
    builder
}

/// Fetches nothing.
struct Never;

impl Retrieve for Never {
    fn retrieve(&self, _: &Uri<String>) -> Result<Value, Box<dyn std::error::Error + Send + Sync>> {
        Err("other documents are never fetched".into())
    }
}

impl Full {
    pub(super) fn outline(&self) -> &Outline {
        &self.outline
    }

    pub(super) fn check(&self, value: &Value, steps: &Steps) -> Result<(), Violations> {
        if !steps.take(size(value)) {
            return Err(Limit::Steps.violation(steps, Found::size(value)));
        }
        let levels = self.levels(value);
        let verdict = with_room(levels, || match self.validator.is_valid(value) {
            true => Ok(()),
            false => Err(report::violations(self, value)),
        });
        verdict.unwrap_or_else(|| Err(Limit::Depth.violation(steps, Found::size(value))))
    }

    pub(super) fn accepts(&self, value: &Value, steps: &Steps) -> bool {
        if !steps.take(size(value)) {
            return false;
        }
        let levels = self.levels(value);
        with_room(levels, || self.validator.is_valid(value)).unwrap_or(false)
    }

    /// Returns how deep the check may recurse: at every level of the value, no schema is applied within itself.
    fn levels(&self, value: &Value) -> usize {
        depth(value).saturating_mul(self.subschemas)
    }
}

/// Runs `work` on a stack with room for that many levels. Returns `None` if there are too many.
fn with_room<T: Send>(levels: usize, work: impl FnOnce() -> T + Send) -> Option<T> {
    if levels <= INLINE_LEVELS {
        return Some(work());
    }
    if MAX_LEVELS < levels {
        return None;
    }
    thread::scope(|scope| {
        let builder = thread::Builder::new().stack_size(levels * LEVEL);
        let thread = builder.spawn_scoped(scope, work).ok()?;
        match thread.join() {
            Ok(done) => Some(done),
            Err(panic) => std::panic::resume_unwind(panic),
        }
    })
}

fn depth(value: &Value) -> usize {
    match value {
        Value::Array(items) => 1 + items.iter().map(depth).max().unwrap_or(0),
        Value::Object(members) => 1 + members.values().map(depth).max().unwrap_or(0),
        _ => 1,
    }
}

fn objects(value: &Value) -> usize {
    match value {
        Value::Array(items) => items.iter().map(objects).sum(),
        Value::Object(members) => 1 + members.values().map(objects).sum::<usize>(),
        _ => 0,
    }
}
