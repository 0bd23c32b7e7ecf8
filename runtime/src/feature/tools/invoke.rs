//! From the text of the arguments to the author's function: they are split, held to the schema, decoded.
//!
//! Arguments that fit pass once over their text. All others get a second look at a tree, which finds the words for what is wrong
//! and mends what is right but written in a way that decoding does not take. What that costs is bounded, and much of it is not done
//! on the thread that reads messages.

use std::sync::Arc;

use serde_json::Value;
use trueform_schema::{CallToolResult, ErrorObject, pointer};

use super::route::ToolRoute;
use crate::{
    check::{Passed, Steps, Violation, Violations},
    exchange::Context,
    feature::{
        callable::{Prepared, Step},
        failure::ToolError,
        function::{
            arguments::rewritten,
            invocation::Reason,
            report::{self, ArgumentFailure, in_lines},
        },
    },
    jsonrpc::{self, NotedObject},
};

/// Most steps of a check on the thread that reads messages: some milliseconds, with patterns some tens of them. A check that needs
/// more begins anew on a thread for work that blocks.
const INLINE_STEPS: u64 = 50_000;

/// Longest text of which a tree is made on that thread, in bytes.
const INLINE_BYTES: usize = 256 << 10;

/// What became of a call so far.
type ToolStep = Step<Result<CallToolResult, ToolError>>;

/// What a second look at arguments finds.
enum Examined {
    /// They are to be decoded, as this text if they were mended.
    Fit(Option<String>),
    /// What is wrong with them, in words for the model.
    Mismatch(String),
    /// They cannot be read, which is an error of the protocol.
    Unreadable(ErrorObject),
    /// The look was broken off after as many steps as it may take.
    TooLong,
}

/// Why a tree of arguments did not pass.
enum CheckFailure {
    Found(Violations),
    TooLong,
}

impl ToolRoute {
    /// Decodes the arguments and runs the tool as far as it goes without waiting. Arguments that do not fit are
    /// reported all at once (TRAP-09, GAP-13).
    #[inline(always)]
    pub(crate) fn invoke(
        self: &Arc<Self>,
        context: &Context,
        arguments: Option<&str>,
        noted: Option<&NotedObject<'_>>,
    ) -> ToolStep {
        let text = arguments.unwrap_or("{}");
        match self.attempt(context, text, noted) {
            Ok(called) => called,
            Err(failure) => self.look_again(context, text, failure),
        }
    }

    fn attempt(
        &self,
        context: &Context,
        text: &str,
        noted: Option<&NotedObject<'_>>,
    ) -> Result<ToolStep, ArgumentFailure> {
        if self.definition.enforced.is_checked() {
            self.check_in_passing(context, text)?;
        }
        self.function.decode(context, text, noted)
    }

    /// Holds arguments to the schema as far as that takes no tree.
    #[inline(never)]
    fn check_in_passing(&self, context: &Context, text: &str) -> Result<(), ArgumentFailure> {
        let steps = Steps::new(INLINE_STEPS.min(limit(context)));
        match self.input.accepts_str_within(text, &steps) {
            // serde may take a float for no integer without a word, so it gets none.
            Some(passed) if passed.has_integral_floats() => Err(ArgumentFailure::Unchecked),
            Some(_) => Ok(()),
            None if steps.are_spent() => Err(ArgumentFailure::TooLong),
            None => Err(ArgumentFailure::Unchecked),
        }
    }

    /// What becomes of arguments that did not pass at once: `failure` is why.
    #[cold]
    fn look_again(
        self: &Arc<Self>,
        context: &Context,
        text: &str,
        failure: ArgumentFailure,
    ) -> ToolStep {
        let examined = match failure {
            ArgumentFailure::Parameter(Reason::Injected(error)) => {
                return Step::Ready(Err(error));
            }
            ArgumentFailure::TooLong => Examined::TooLong,
            ArgumentFailure::Names(_)
            | ArgumentFailure::Unchecked
            | ArgumentFailure::Parameter(_) => {
                if INLINE_BYTES < text.len() {
                    return self.look_elsewhere(context, text);
                }
                self.examine(text, INLINE_STEPS.min(limit(context)))
            }
        };
        match examined {
            Examined::TooLong if INLINE_STEPS < limit(context) => {
                self.look_elsewhere(context, text)
            }
            examined => self.call_examined(context, text, examined),
        }
    }

    /// Looks at arguments on a thread that may be held for long, and calls the function where it is called otherwise.
    fn look_elsewhere(self: &Arc<Self>, context: &Context, text: &str) -> ToolStep {
        let (this, context, text) = (self.clone(), context.clone(), text.to_owned());
        Step::Preparing(Box::new(move || -> Prepared<_> {
            let examined = this.examine_at_length(&context, &text);
            Box::new(move || this.call_examined(&context, &text, examined))
        }))
    }

    fn examine_at_length(&self, context: &Context, text: &str) -> Examined {
        let steps = Steps::new(limit(context));
        match self.input.accepts_str_within(text, &steps) {
            Some(passed) if !passed.has_integral_floats() => Examined::Fit(None),
            None if steps.are_spent() => Examined::TooLong,
            _ => self.examine(text, limit(context)),
        }
    }

    /// Looks at arguments as a tree. Each check of it takes at most so many steps.
    fn examine(&self, text: &str, most: u64) -> Examined {
        let sent: Value = match serde_json::from_str(text) {
            Ok(value) => value,
            Err(error) => {
                return match report::unreadable(text, &error) {
                    Ok(error) => Examined::Unreadable(error),
                    Err(problem) => Examined::Mismatch(problem),
                };
            }
        };
        let checked = self.check(&sent, most);
        if matches!(checked, Ok(passed) if !passed.has_integral_floats()) {
            return Examined::Fit(None);
        }
        let mut value = sent.clone();
        let passed = match self.without_nulls(&mut value, checked, most) {
            Ok(passed) => passed,
            Err(CheckFailure::TooLong) => return Examined::TooLong,
            Err(CheckFailure::Found(violations)) => {
                tracing::debug!(
                    tool = self.name(),
                    violations = &*jsonrpc::one_line(&in_lines(&violations, |one| one
                        .for_log()
                        .to_string())),
                    "arguments that do not fit"
                );
                return Examined::Mismatch(in_lines(&violations, Violation::to_string));
            }
        };
        if passed.has_integral_floats() {
            // Models write 30.0 for 30: an integer to JSON Schema, a float to serde.
            let steps = Steps::new(most);
            self.input
                .normalise_integral_floats_within(&mut value, &steps);
            if steps.are_spent() {
                return Examined::TooLong;
            }
        }
        match (&sent, &value) {
            (Value::Object(before), Value::Object(after)) if before != after => {
                let mended = rewritten(text, before, after);
                Examined::Fit(Some(mended.unwrap_or_else(|| value.to_string())))
            }
            _ => Examined::Fit(None),
        }
    }

    fn check(&self, arguments: &Value, most: u64) -> Result<Passed, CheckFailure> {
        let steps = Steps::new(most);
        let checked = self.input.check_within(arguments, &steps);
        checked.map_err(|violations| match steps.are_spent() {
            true => CheckFailure::TooLong,
            false => CheckFailure::Found(violations),
        })
    }

    /// The verdict on arguments, which is `checked`, if those that are `null` where that is not allowed count as absent where they may
    /// be: they are removed.
    fn without_nulls(
        &self,
        arguments: &mut Value,
        checked: Result<Passed, CheckFailure>,
        most: u64,
    ) -> Result<Passed, CheckFailure> {
        let Err(CheckFailure::Found(violations)) = &checked else {
            return checked;
        };
        let nulls = refused_nulls(arguments, violations);
        let Some(members) = arguments.as_object_mut().filter(|_| !nulls.is_empty()) else {
            return checked;
        };
        // Those that are missing then were not optional. They are what they were, so that the words say what was found.
        let mut without = members.clone();
        without.retain(|name, _| !nulls.contains(name));
        let without = Value::Object(without);
        let violations = match self.check(&without, most) {
            Ok(passed) => {
                *arguments = without;
                return Ok(passed);
            }
            Err(CheckFailure::TooLong) => return Err(CheckFailure::TooLong),
            Err(CheckFailure::Found(violations)) => violations,
        };
        members.retain(|name, _| {
            !nulls.contains(name) || violations.iter().any(|missing| is_at(missing, name))
        });
        self.check(arguments, most)
    }

    /// Calls the function with arguments that were looked at.
    fn call_examined(&self, context: &Context, text: &str, examined: Examined) -> ToolStep {
        let mended = match examined {
            Examined::Fit(mended) => mended,
            Examined::Mismatch(problem) => return self.refuse(&problem),
            Examined::Unreadable(error) => return Step::Ready(Err(ToolError::protocol(error))),
            Examined::TooLong => {
                return self.refuse(&format!(
                    "to check them takes more than {} steps; send less, or simpler values",
                    limit(context)
                ));
            }
        };
        let text = mended.as_deref().unwrap_or(text);
        match self.function.decode(context, text, None) {
            Ok(called) => called,
            Err(ArgumentFailure::Parameter(Reason::Injected(error))) => Step::Ready(Err(error)),
            Err(failure) => self.refuse(&failure.worded(text, &self.function.names)),
        }
    }

    fn refuse(&self, problem: &str) -> ToolStep {
        let text = format!(
            "the arguments of tool `{}` do not fit:\n{problem}",
            self.name()
        );
        // I-6: a result, so that the model can mend them.
        Step::Ready(Err(ToolError::new(text)))
    }
}

fn limit(context: &Context) -> u64 {
    context.0.host.settings.max_check_steps
}

/// The arguments that are `null` and that the schema refuses for it.
fn refused_nulls(arguments: &Value, violations: &Violations) -> Vec<String> {
    let nulls = arguments
        .as_object()
        .into_iter()
        .flatten()
        .filter(|(_, value)| value.is_null());
    nulls
        .filter(|(name, _)| {
            let mut about = violations.iter().filter(|found| is_at(found, name));
            // A name that the tool does not take is wrong whatever its value is.
            about.any(|found| !NAMES.contains(&found.keyword))
        })
        .map(|(name, _)| name.clone())
        .collect()
}

/// The keywords about the names of members.
const NAMES: [&str; 3] = [
    "additionalProperties",
    "unevaluatedProperties",
    "propertyNames",
];

/// Whether `violation` is about the argument `name` itself.
fn is_at(violation: &Violation, name: &str) -> bool {
    let at = violation.pointer.strip_prefix('/');
    at.is_some_and(|at| at == pointer::escape(name))
}
