//! The form of params and results at a revision: they are decoded by the generated types, and compared with what these types write at that
//! revision.

use std::collections::HashMap;

use serde::de::DeserializeOwned;
use serde_json::Value;
use trueform_schema::{
    At, Era, InputRequiredResult, Method, Revision, TYPES,
    conform::{self, Conform},
    decode,
    methods::{self, Notification, Request},
    pointer, types,
};

use super::{Report, reading::MessageText};
use crate::check::{CompileOptions, Schema};

/// Output schemas of tools, as listed.
#[derive(Debug, Default)]
pub(super) struct Schemas {
    by_tool: HashMap<(Revision, String), Schema>,
}

/// Checks the params of a message that the revision has.
pub(super) fn params(
    report: &mut Report<'_>,
    revision: Revision,
    known: Method,
    raw: &MessageText<'_>,
) {
    let requirements = requirements_of_params(revision);
    if let Some(encoded) = form_of_params(report, revision, known, raw, requirements) {
        check_members(report, revision, "params", raw, &encoded);
    }
}

/// Like [`params`], without the check for members that only other revisions know. Returns the params in the form of the revision, if they
/// are valid there.
pub(super) fn form_of_params(
    report: &mut Report<'_>,
    revision: Revision,
    known: Method,
    raw: &MessageText<'_>,
    requirements: &'static [&'static str],
) -> Option<String> {
    match encoded_params(revision, known, &raw.json)? {
        Ok(encoded) => return Some(encoded),
        Err(problem) if raw.hides(&problem.pointer) => {}
        Err(Problem { message, .. }) => {
            let message = format!(
                "the params of `{}` do not have the form of {revision}: {message}",
                known.as_str()
            );
            report.error(requirements, message);
        }
    }
    None
}

pub(super) fn requirements_of_params(revision: Revision) -> &'static [&'static str] {
    match revision.era() {
        Era::Modern => &["C-13"],
        Era::Legacy => &["B-8", "B-12"],
    }
}

/// Checks a result that asks for input (T-2, T-3).
pub(super) fn asked(report: &mut Report<'_>, raw: &MessageText<'_>) {
    let revision = Revision::V2026_07_28;
    match encoded::<InputRequiredResult>(revision, &raw.json) {
        Ok(encoded) => check_members(report, revision, "result", raw, &encoded),
        Err(problem) if raw.hides(&problem.pointer) => {}
        Err(Problem { pointer, message }) => {
            let requirements: &[&str] = match pointer.split('/').nth(1) {
                Some("inputRequests") => &["T-3", "C-13"],
                Some("requestState") => &["T-2", "C-13"],
                _ => &["C-13"],
            };
            let message =
                format!("the input requests do not have the form of {revision}: {message}");
            report.error(requirements, message);
        }
    }
}

/// Checks a complete result. Returns whether it has the form of the revision.
pub(super) fn result(
    report: &mut Report<'_>,
    revision: Revision,
    known: Method,
    raw: &MessageText<'_>,
    result: &Value,
) -> bool {
    if let Some((requirements, message)) = special(revision, known, result) {
        report.error(requirements, message);
        return false;
    }
    if let Some(missing) = missing(revision, known, result) {
        let requirements: &[&str] = match missing {
            "ttlMs" | "cacheScope" => &["V-1"],
            "content" if known == Method::CallTool => &["I-4"],
            _ => requirements_of(revision, known),
        };
        report.error(
            requirements,
            format!("the result of `{}` lacks `{missing}`", known.as_str()),
        );
        return false;
    }
    match encoded_result(revision, known, &raw.json) {
        None => true,
        Some(Ok(encoded)) => {
            check_members(report, revision, "result", raw, &encoded);
            true
        }
        Some(Err(problem)) if raw.hides(&problem.pointer) => true,
        Some(Err(Problem { message, .. })) => {
            let message = format!(
                "the result of `{}` does not have the form of {revision}: {message}",
                known.as_str()
            );
            report.error(requirements_of(revision, known), message);
            false
        }
    }
}

/// Rules that have requirements of their own.
fn special(
    revision: Revision,
    known: Method,
    result: &Value,
) -> Option<(&'static [&'static str], String)> {
    let list = |name: &str| {
        result
            .get(name)
            .and_then(Value::as_array)
            .into_iter()
            .flatten()
    };
    match known {
        Method::CallTool => {
            if let Some(block) = list("content").find(|block| is_later(block, revision)) {
                return Some((
                    &["B-12", "TRAP-11"],
                    format!("{revision} has no content of type {}", block["type"]),
                ));
            }
            let structured = result.get("structuredContent")?;
            let message = match revision {
                Revision::V2024_11_05 | Revision::V2025_03_26 => {
                    format!("{revision} has no `structuredContent`")
                }
                Revision::V2025_06_18 | Revision::V2025_11_25 if !structured.is_object() => {
                    format!("`structuredContent` must be an object at {revision}")
                }
                _ => return None,
            };
            let requirements: &[&str] = if structured.is_null() {
                &["I-10", "TRAP-03"]
            } else {
                &["I-10"]
            };
            Some((requirements, message))
        }
        Method::GetPrompt => {
            let mut blocks = list("messages").map(|message| &message["content"]);
            let block = blocks.find(|block| is_later(block, revision))?;
            Some((
                &["K-5", "TRAP-11"],
                format!("{revision} has no content of type {}", block["type"]),
            ))
        }
        Method::ListTools if revision.era() == Era::Legacy => {
            let is_object = |schema: &Value| schema.get("type").is_some_and(|ty| ty == "object");
            let tool = list("tools").find(|tool| {
                tool.get("outputSchema")
                    .is_some_and(|schema| !is_object(schema))
            })?;
            // Before 2025-06-18 the member itself is reported, as one of a later revision.
            (Revision::V2025_06_18 <= revision).then(|| {
                (
                    &["Z-6", "TRAP-11"] as &[_],
                    format!(
                        "the `outputSchema` of tool {} has no `\"type\": \"object\"`",
                        tool["name"]
                    ),
                )
            })
        }
        _ if result
            .get("ttlMs")
            .and_then(Value::as_f64)
            .is_some_and(|ttl| ttl < 0.0) =>
        {
            Some((&["V-1"], "`ttlMs` is negative".to_owned()))
        }
        _ => None,
    }
}

/// Returns whether the content block is of a type that only later revisions have.
fn is_later(block: &Value, revision: Revision) -> bool {
    match block.get("type").and_then(Value::as_str) {
        Some("audio") => revision < Revision::V2025_03_26,
        Some("resource_link") => revision < Revision::V2025_06_18,
        _ => false,
    }
}

/// Returns a member that the revision requires in the result, and that is missing.
fn missing(revision: Revision, known: Method, result: &Value) -> Option<&'static str> {
    let rules = known.rules(revision)?;
    let complete = rules
        .results
        .iter()
        .filter(|name| !matches!(**name, "InputRequiredResult" | "CreateTaskResult"));
    let [name] = complete.collect::<Vec<_>>()[..] else {
        return None;
    };
    let is_task = result.get("task").is_some();
    let members = types::find(TYPES, name)?.members();
    let mut required = members.filter(|member| member.required.contains(revision) && !is_task);
    required
        .find(|member| result.get(member.name).is_none())
        .map(|member| member.name)
}

fn requirements_of(revision: Revision, known: Method) -> &'static [&'static str] {
    match (known, revision.era()) {
        (Method::Initialize, _) => &["B-2"],
        (Method::Discover, _) => &["C-9"],
        (Method::CallTool, _) => &["I-4", "B-12"],
        (_, Era::Legacy) => &["B-8", "B-12"],
        (_, Era::Modern) => &["C-13"],
    }
}

/// Returns the params in the form of the revision, or the violation.
fn encoded_params(revision: Revision, known: Method, raw: &str) -> Option<Result<String, Problem>> {
    /// The first pattern is of requests, the second of notifications.
    macro_rules! table {
        ($($request:ident)*; $($notification:ident)*) => {
            match known {
                $(Method::$request => encoded::<<methods::$request as Request>::Params>,)*
                $(Method::$notification => encoded::<<methods::$notification as Notification>::Params>,)*
                _ => return None,
            }
        };
    }
    let encode = table! {
        Initialize CallTool ListTools Complete GetPrompt ListPrompts ListResources ListResourceTemplates ReadResource Subscribe Unsubscribe
        SetLevel Ping Discover SubscriptionsListen CreateMessage Elicit ListRoots GetTaskPayload ListTasks;
        Cancelled ElicitationComplete Initialized LoggingMessage Progress PromptListChanged ResourceListChanged ResourceUpdated
        RootsListChanged SubscriptionsAcknowledged TaskStatus ToolListChanged
    };
    Some(encode(revision, raw))
}

/// Returns the result in the form of the revision, or the violation.
fn encoded_result(revision: Revision, known: Method, raw: &str) -> Option<Result<String, Problem>> {
    macro_rules! table {
        ($($request:ident)*) => {
            match known {
                $(Method::$request => encoded::<<methods::$request as Request>::Result>,)*
                _ => return None,
            }
        };
    }
    let encode = table! {
        CallTool ListTools Initialize Discover Complete GetPrompt ListPrompts ListResources ListResourceTemplates ReadResource
        Subscribe Unsubscribe SetLevel CreateMessage Elicit ListRoots SubscriptionsListen ListTasks
    };
    Some(encode(revision, raw))
}

/// Reads and encodes a value. `None` in the tables above is for methods without their own type.
fn encoded<T: DeserializeOwned + Conform>(
    revision: Revision,
    raw: &str,
) -> Result<String, Problem> {
    let value: T = decode::from_str(raw).map_err(|error| Problem {
        pointer: error.pointer().to_owned(),
        message: error.to_string(),
    })?;
    match conform::conform(&value, revision) {
        Ok(()) => Ok(At::new(&value, revision).to_string()),
        Err(violation) => Err(Problem {
            pointer: violation.pointer().to_owned(),
            message: violation.to_string(),
        }),
    }
}

/// A violation of a revision's rules, and its place.
struct Problem {
    pointer: String,
    message: String,
}

/// B-12: checks for members that only other revisions know. Strict peers ignore them.
fn check_members(
    report: &mut Report<'_>,
    revision: Revision,
    what: &str,
    raw: &MessageText<'_>,
    encoded: &str,
) {
    let (Ok(said), Ok(kept)) = (
        serde_json::from_str::<Value>(&raw.json),
        serde_json::from_str::<Value>(encoded),
    ) else {
        return;
    };
    if let Some(pointer) = dropped(&said, &kept) {
        report.warning(
            &["B-12", "TRAP-11"],
            format!("{what}{pointer} is a member that {revision} does not have"),
        );
    }
}

/// Pointer to the first member of `said` that `kept` lacks.
fn dropped(said: &Value, kept: &Value) -> Option<String> {
    match (said, kept) {
        (Value::Object(said), Value::Object(kept)) => said.iter().find_map(|(name, value)| {
            let step = || format!("/{}", pointer::escape(name));
            match kept.get(name) {
                None => Some(step()),
                Some(other) => dropped(value, other).map(|below| step() + &below),
            }
        }),
        (Value::Array(said), Value::Array(kept)) => {
            let mut pairs = said.iter().zip(kept).enumerate();
            pairs.find_map(|(index, (value, other))| {
                dropped(value, other).map(|below| format!("/{index}{below}"))
            })
        }
        _ => None,
    }
}

impl Schemas {
    /// Drops the schemas, because the list of tools may have changed.
    pub(super) fn forget(&mut self) {
        self.by_tool.clear();
    }

    /// Returns whether parts of the schemas in a list, or of values to check against one, cannot be read. Then the schemas are dropped.
    pub(super) fn is_beyond(&mut self, known: Method, raw: &MessageText<'_>) -> bool {
        match known {
            Method::ListTools if raw.hides("/tools") => {
                self.forget();
                true
            }
            Method::CallTool => raw.hides("/structuredContent"),
            _ => false,
        }
    }

    /// Reads schemas from lists, and checks results of calls (I-7, TRAP-10).
    pub(super) fn check(
        &mut self,
        report: &mut Report<'_>,
        revision: Revision,
        known: Method,
        params: &Value,
        result: &Value,
    ) {
        match known {
            Method::ListTools => {
                for tool in result
                    .get("tools")
                    .and_then(Value::as_array)
                    .into_iter()
                    .flatten()
                {
                    let Some(name) = tool.get("name").and_then(Value::as_str) else {
                        continue;
                    };
                    let key = (revision, name.to_owned());
                    let schema = tool
                        .get("outputSchema")
                        .map(|schema| Schema::compile(schema, CompileOptions::default()));
                    match schema {
                        Some(Ok(schema)) => self.by_tool.insert(key, schema),
                        Some(Err(_)) | None => self.by_tool.remove(&key),
                    };
                }
            }
            Method::CallTool
                if result.get("isError") != Some(&Value::Bool(true))
                    && result.get("task").is_none() =>
            {
                let name = params
                    .get("name")
                    .and_then(Value::as_str)
                    .unwrap_or_default();
                let Some(schema) = self.by_tool.get(&(revision, name.to_owned())) else {
                    return;
                };
                let Some(structured) = result.get("structuredContent") else {
                    report.error(&["I-7", "TRAP-10"], format!("tool `{name}` has an output schema, but its result has no `structuredContent`"));
                    return;
                };
                if let Err(violations) = schema.check(structured) {
                    report.error(&["I-7"], format!("the result of tool `{name}` does not fit its output schema: {violations}"));
                }
            }
            _ => {}
        }
    }
}
