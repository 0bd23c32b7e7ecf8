//! Compiled JSON Schema: checks values and JSON text, and reports violations in plain words.
//!
//! ```
//! use serde_json::json;
//! use trueform_check::{CompileOptions, Schema};
//!
//! let schema = json!({"type": "object", "properties": {"unit": {"enum": ["m", "km"]}}, "required": ["unit"]});
//! let schema = Schema::compile(&schema, CompileOptions::default()).expect("a valid schema");
//!
//! assert!(schema.check_str(r#"{"unit":"km"}"#).is_ok());
//! let violations = schema.check_str(r#"{"unit":"Km"}"#).expect_err("units are lower case");
//! assert_eq!(violations.to_string(), r#"/unit: expected one of "m", "km", found string "Km"; did you mean "km"?"#);
//! ```
//!
//! A schema is compiled once. Text is checked as it is read, without a tree and without an allocation, if the
//! schema allows it. Only an invalid value is walked a second time, to collect the violations. Nothing is ever fetched.
//!
//! # Vocabulary
//!
//! The compiled vocabulary covers the keywords of 2020-12 and draft-07 that schemars writes and that are in common use:
//!
//! | about | keywords |
//! | --- | --- |
//! | any value | `type`, `enum`, `const` |
//! | objects | `properties`, `required`, `additionalProperties`, `patternProperties`, `propertyNames`, `minProperties`, `maxProperties`, `dependentRequired`, `dependentSchemas`, `dependencies` |
//! | arrays | `items`, `prefixItems`, `additionalItems`, `contains`, `minContains`, `maxContains`, `minItems`, `maxItems`, `uniqueItems` |
//! | strings | `minLength`, `maxLength`, `pattern` (ECMA-262, matched in linear time), `format` ([`Formats`] lists those that are checked) |
//! | numbers | `minimum`, `maximum`, `exclusiveMinimum`, `exclusiveMaximum`, `multipleOf`; all compared exactly |
//! | combinations | `allOf`, `anyOf`, `oneOf`, `not`, `if`, `then`, `else` |
//! | references | `$ref` inside of the document: JSON pointers, `$anchor`, the root's own `$id`; `$defs`, `definitions` |
//!
//! Other keywords (`unevaluatedProperties`, dynamic references, `$id` below the root, look-around in patterns, older dialects) are compile
//! errors that name them. They are never ignored without a report. With the feature `json-schema`, the `jsonschema` crate checks such
//! documents, and its violations have the same wording. Unknown keywords are annotations.
//!
//! # Features
//!
//! | feature | default? | what it adds |
//! | --- | --- | --- |
//! | `json-schema` | no | the rest of the vocabulary, and the dialects 2019-09, draft-06 and draft-04 |
//!
//! The crate checks the arguments and results of tools for the library `trueform`, but does not depend on the protocol.

mod coerce;
mod compile;
mod contradiction;
mod describe;
mod equal;
mod error;
mod format;
#[cfg(feature = "json-schema")]
mod full;
mod node;
mod number;
mod path;
mod pattern;
pub mod positions;
mod run;
mod steps;
mod stream;
mod suggest;
#[cfg(test)]
mod tests;
mod violation;
mod walk;

use std::fmt;

use serde_json::Value;

use self::run::{Limit, Run};
pub use self::{
    contradiction::{MAX_CONTRADICTIONS, contradictions},
    error::{SchemaError, SchemaErrorKind},
    steps::Steps,
    suggest::closest as did_you_mean,
    violation::{Found, MAX_POINTER, MAX_SHOWN, MAX_VIOLATIONS, Violation, Violations},
};

/// How deep subschemas may be nested in a document, in JSON levels; as deep as a message may be.
pub const MAX_SCHEMA_DEPTH: usize = 128;

/// How many subschemas one document may have. The largest published tool schemas have some hundreds.
pub const MAX_SUBSCHEMAS: usize = 20_000;

/// How deep the check of one value may go, counting levels of the value and of the schemas applied to it.
pub const MAX_CHECK_DEPTH: usize = 320;

/// Default of [`CompileOptions::max_steps`], in [`Steps`]: enough for some MB of JSON.
pub const MAX_STEPS: u64 = 1_000_000;

/// Default of [`CompileOptions::max_pattern_size`], in bytes.
pub const DEFAULT_MAX_PATTERN_SIZE: usize = 256 << 10;

/// A JSON Schema, ready to check values.
///
/// ```
/// # use trueform_check::{CompileOptions, Schema};
/// # use serde_json::json;
/// let schema = Schema::compile(
///     &json!({
///         "type": "object",
///         "properties": {"path": {"type": "string"}, "token_budget": {"type": "integer"}},
///         "required": ["path"],
///         "additionalProperties": false,
///     }),
///     CompileOptions::default(),
/// )
/// .expect("a valid schema");
///
/// assert!(schema.check_str(r#"{"path":"/tmp"}"#).is_ok());
/// let violations = schema.check(&json!({"path": 5, "tokenBudget": 1})).expect_err("both are wrong");
/// assert_eq!(
///     violations.to_string(),
///     "/path: expected string, found integer 5\n\
///      /tokenBudget: expected only `path`, `token_budget`, found unknown property `tokenBudget`; \
///      did you mean `token_budget`?"
/// );
/// ```
pub struct Schema {
    engine: Engine,
}

enum Engine {
    Nodes(node::Nodes),
    #[cfg(feature = "json-schema")]
    Full(Box<full::Full>),
}

/// How a schema is compiled.
#[non_exhaustive]
#[derive(Clone, Copy, Debug)]
pub struct CompileOptions {
    /// Whether `format` is checked. Default: [`Formats::Assert`].
    pub formats: Formats,
    /// Maximum work of one check, in [`Steps`]. Default: [`MAX_STEPS`]. A check that needs more fails with the keyword `limit`. If a schema
    /// needs the feature `json-schema`, every value counts as one step, however many schemas are applied to it. The depth, and how often a
    /// pattern may backtrack, are limited.
    pub max_steps: u64,
    /// Whether an integral float of ±2^53 or beyond is refused where only integers are allowed, because it may represent several integers.
    /// Default: `false`, as in JSON Schema. Has no effect if `minimum` or `maximum` is beyond 64 bits, because such integers are read as
    /// floats, however they are written. Has no effect in schemas that need the feature `json-schema`.
    pub exact_integers: bool,
    /// Maximum size of each compiled pattern, in bytes of memory. Default: [`DEFAULT_MAX_PATTERN_SIZE`]. A pattern that needs more
    /// is a [`SchemaErrorKind::TooLarge`]. Counted repetitions, such as `([a-z]{99}){99}`, need the most. It does not apply to
    /// patterns that need the feature `json-schema`.
    pub max_pattern_size: usize,
}

impl Default for CompileOptions {
    fn default() -> Self {
        Self {
            formats: Formats::Assert,
            max_steps: MAX_STEPS,
            exact_integers: false,
            max_pattern_size: DEFAULT_MAX_PATTERN_SIZE,
        }
    }
}

impl CompileOptions {
    /// Sets [`formats`](Self::formats).
    ///
    /// ```
    /// use trueform_check::{CompileOptions, Formats};
    ///
    /// let options = CompileOptions::default().formats(Formats::Annotate);
    /// assert_eq!(options.formats, Formats::Annotate);
    /// ```
    #[must_use]
    pub fn formats(mut self, formats: Formats) -> Self {
        self.formats = formats;
        self
    }

    /// Sets [`max_steps`](Self::max_steps).
    ///
    /// ```
    /// use trueform_check::CompileOptions;
    ///
    /// let options = CompileOptions::default().max_steps(10_000);
    /// assert_eq!(options.max_steps, 10_000);
    /// ```
    #[must_use]
    pub fn max_steps(mut self, max_steps: u64) -> Self {
        self.max_steps = max_steps;
        self
    }

    /// Sets [`exact_integers`](Self::exact_integers).
    ///
    /// ```
    /// use trueform_check::CompileOptions;
    ///
    /// let options = CompileOptions::default().exact_integers(true);
    /// assert!(options.exact_integers);
    /// ```
    #[must_use]
    pub fn exact_integers(mut self, exact_integers: bool) -> Self {
        self.exact_integers = exact_integers;
        self
    }

    /// Sets [`max_pattern_size`](Self::max_pattern_size).
    ///
    /// ```
    /// use trueform_check::CompileOptions;
    ///
    /// let options = CompileOptions::default().max_pattern_size(64 << 10);
    /// assert_eq!(options.max_pattern_size, 64 << 10);
    /// ```
    #[must_use]
    pub fn max_pattern_size(mut self, bytes: usize) -> Self {
        self.max_pattern_size = bytes;
        self
    }
}

/// Facts about text that passed its check.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Passed {
    integral_floats: bool,
}

impl Passed {
    /// Returns whether [`normalise_integral_floats`](Schema::normalise_integral_floats) may change something. If `false`, it certainly
    /// changes nothing.
    #[must_use]
    pub fn has_integral_floats(self) -> bool {
        self.integral_floats
    }
}

/// Whether `format` is asserted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Formats {
    /// `date`, `time`, `date-time`, `email`, `hostname`, `ipv4`, `ipv6`, `uri`, `uri-reference` and `uuid` are checked. Other names,
    /// including the numeric ones of schemars, are annotations.
    #[default]
    Assert,
    /// All formats are annotations.
    Annotate,
}

impl Schema {
    /// Compiles a schema document.
    ///
    /// `$schema` may be absent, 2020-12 or draft-07; with the feature `json-schema` also 2019-09, draft-06 or draft-04.
    ///
    /// # Errors
    /// All faults found, at least one: malformed keywords, unknown dialects, references that leave the document or have no target,
    /// vocabulary that is not supported, and documents beyond [`MAX_SCHEMA_DEPTH`] or [`MAX_SUBSCHEMAS`] (a thousand subschemas, if the
    /// feature `json-schema` is needed).
    pub fn compile(schema: &Value, options: CompileOptions) -> Result<Self, Vec<SchemaError>> {
        match compile::compile(schema, &options) {
            Ok(nodes) => Ok(Self {
                engine: Engine::Nodes(nodes),
            }),
            #[cfg(feature = "json-schema")]
            Err(errors) => full::compile(schema, &options, errors),
            #[cfg(not(feature = "json-schema"))]
            Err(errors) => Err(errors),
        }
    }

    #[cfg(feature = "json-schema")]
    fn full(full: full::Full) -> Self {
        Self {
            engine: Engine::Full(Box::new(full)),
        }
    }

    /// Returns the nodes of the schema: all of it, or the part that they can express.
    fn nodes(&self) -> &node::Nodes {
        match &self.engine {
            Engine::Nodes(nodes) => nodes,
            #[cfg(feature = "json-schema")]
            Engine::Full(full) => &full.outline().nodes,
        }
    }

    /// Checks a value.
    ///
    /// # Errors
    /// All violations of the value.
    pub fn check(&self, value: &Value) -> Result<(), Violations> {
        self.check_within(value, &self.steps()).map(drop)
    }

    /// Checks a value like [`check`](Self::check), but with the work that is left in `steps` in place of [`CompileOptions::max_steps`].
    /// Finding the violations takes the same work again.
    ///
    /// # Errors
    /// As [`check`](Self::check). If the [`Steps`] are spent, the keyword `limit`.
    pub fn check_within(&self, value: &Value, steps: &Steps) -> Result<Passed, Violations> {
        match &self.engine {
            Engine::Nodes(nodes) => {
                let run = Run::new(nodes, steps);
                walk::check(&run, value).map(|()| run.passed())
            }
            #[cfg(feature = "json-schema")]
            Engine::Full(full) => full.check(value, steps).map(|()| Passed {
                integral_floats: true,
            }),
        }
    }

    /// Returns the steps of one check.
    fn steps(&self) -> Steps {
        Steps::new(self.nodes().max_steps)
    }

    /// Checks JSON text. Builds no tree if the schema allows that; otherwise works like [`check`](Self::check).
    ///
    /// # Errors
    /// As [`check`](Self::check); text that is not JSON is a violation of the keyword `json`.
    #[inline]
    pub fn check_str(&self, text: &str) -> Result<(), Violations> {
        self.check_str_up_to(text, self.nodes().max_steps)
    }

    /// Checks JSON text like [`check_str`](Self::check_str), but with this number of steps in place of [`CompileOptions::max_steps`].
    ///
    /// # Errors
    /// As [`check_str`](Self::check_str).
    #[inline]
    pub fn check_str_up_to(&self, text: &str, max_steps: u64) -> Result<(), Violations> {
        let steps = Steps::new(max_steps);
        match self.accepts_str_within(text, &steps) {
            Some(_) => Ok(()),
            None => self.check_parsed(text, &steps),
        }
    }

    /// Returns whether the text passes, as far as that can be determined without a tree, with the work that is left in `steps`. `None`: it
    /// does not pass, or a tree must be [checked](Self::check_within), or the [`Steps`] are spent.
    #[inline]
    pub fn accepts_str_within(&self, text: &str, steps: &Steps) -> Option<Passed> {
        match &self.engine {
            Engine::Nodes(nodes) => {
                let run = Run::new(nodes, steps);
                stream::accepts(&run, text).then(|| run.passed())
            }
            #[cfg(feature = "json-schema")]
            Engine::Full(_) => None,
        }
    }

    #[cold]
    fn check_parsed(&self, text: &str, streamed: &Steps) -> Result<(), Violations> {
        if streamed.are_spent() {
            return Err(Limit::Steps.violation(streamed, Found::text(text)));
        }
        match serde_json::from_str(text) {
            Ok(value) => self.check_within(&value, &streamed.anew()).map(drop),
            Err(error) => Err(Violations::one(violation::not_json(text, &error))),
        }
    }

    /// Returns whether the value passes. Cheaper than [`check`](Self::check) if the violations are not needed.
    #[must_use]
    pub fn accepts(&self, value: &Value) -> bool {
        match &self.engine {
            Engine::Nodes(nodes) => {
                walk::Walk::new(&Run::new(nodes, &self.steps())).passes(nodes.root, value)
            }
            #[cfg(feature = "json-schema")]
            Engine::Full(full) => full.accepts(value, &self.steps()),
        }
    }

    /// Converts integral floats between −2^53 and 2^53 to integers where the schema requires an integer.
    ///
    /// Models send `30.0` for 30. JSON Schema treats that as an integer, but serde does not. A place that also allows fractions is not
    /// changed. Returns the JSON pointers of the changes, at most [`MAX_VIOLATIONS`] of them.
    pub fn normalise_integral_floats(&self, value: &mut Value) -> Vec<String> {
        self.normalise_integral_floats_within(value, &self.steps())
    }

    /// Works like [`normalise_integral_floats`](Self::normalise_integral_floats), with the work that is left in `steps`. If the [`Steps`]
    /// are spent, some floats were not changed.
    pub fn normalise_integral_floats_within(
        &self,
        value: &mut Value,
        steps: &Steps,
    ) -> Vec<String> {
        coerce::integral_floats(&Run::new(self.nodes(), steps), value)
    }
}

impl fmt::Debug for Schema {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Schema")
            .field("subschemas", &self.nodes().list.len())
            .finish_non_exhaustive()
    }
}
