//! A registered tool: how it is called and how its result is finished.

use std::fmt;

use serde_json::Value;
use trueform_schema::{
    CallToolResult, ContentBlock, ErrorObject, Json, Revision, TextContent, Tool, ToolAnnotations,
    View, rewrite::Wrapped,
};

use super::{
    header_params::{HeaderParam, header_params},
    rejected::Rejected,
};
use crate::{
    check::{CompileOptions, Schema, SchemaError},
    exchange::Context,
    feature::{
        callable::Timeout,
        failure::{Chain, ToolError},
        form::Forms,
        function::{Enforced, Function, Place, RequiredState},
        listing::Item,
        lost::ReportedLosses,
        offered::Named,
        tasks::TaskMode,
    },
    jsonrpc,
    lint::Profile,
    needs::RequiredCapabilities,
    projection,
};

/// A tool, ready to be listed and called.
pub(crate) struct ToolRoute {
    pub(super) definition: Definition,
    pub(super) function: Function<CallToolResult>,
    /// What arguments are held to. It accepts what the advertised schema does, and `null` where that leaves it out.
    pub(super) input: Schema,
    output: Option<Schema>,
    header_params: Vec<HeaderParam>,
    /// Whether older revisions get the structured content wrapped; `None` without an output schema.
    wraps_output: Option<bool>,
    reported: ReportedLosses,
}

/// What is known of a tool apart from its code.
#[derive(Debug)]
pub(super) struct Definition {
    pub(super) tool: Tool,
    pub(super) place: Place,
    /// How arguments are held to the input schema.
    pub(super) enforced: Enforced,
    pub(super) states: Vec<RequiredState>,
    /// What the function asks clients for.
    pub(super) forms: Forms,
    pub(super) timeout: Option<Timeout>,
    /// Whether its calls run as tasks; `None` if they never do.
    pub(super) task: Option<TaskMode>,
    /// Whether its code says where the task begins.
    pub(super) starts_task: bool,
    pub(super) needs: RequiredCapabilities,
    /// How the schemas are advertised; `None` as the server says.
    pub(super) profile: Option<Profile>,
    /// How they are advertised if the server does not say it either.
    pub(super) usual_profile: Profile,
}

impl ToolRoute {
    /// Compiles the schemas and checks what clients would stumble over. Arguments are held to `checked`, and `definition` has the
    /// schemas as they are advertised. `problems` are those known already.
    pub(super) fn new(
        definition: Definition,
        checked: &Value,
        function: Function<CallToolResult>,
        options: CompileOptions,
        mut problems: Vec<String>,
    ) -> Result<Self, Rejected> {
        let Definition { tool, place, .. } = &definition;
        if !is_tool_name(&tool.name) {
            problems.push(illegal_name(&tool.name, place));
        }
        let input_schema = tool.input_schema.to_value();
        // Z-5
        if input_schema.get("type").and_then(Value::as_str) != Some("object") {
            problems.push(format!(
                "the input schema of tool `{}` ({place}) needs `\"type\": \"object\"` at its root",
                tool.name
            ));
        }
        let mut compile = |schema: &Value, which: &str, options: CompileOptions| {
            let complain = |error: SchemaError| schema_problem(which, &tool.name, place, &error);
            let compiled = Schema::compile(schema, options);
            compiled
                .map_err(|errors| problems.extend(errors.into_iter().map(complain)))
                .ok()
        };
        let is_exact = matches!(definition.enforced, Enforced::Bounded(_));
        let input = compile(checked, "input", options.exact_integers(is_exact));
        let output = tool
            .output_schema
            .as_ref()
            .map(|schema| compile(&schema.to_value(), "output", options));
        let header_params = match header_params(&input_schema) {
            Ok(params) => params,
            Err(errors) => {
                let complain = |error: String| schema_problem("input", &tool.name, place, &error);
                problems.extend(errors.into_iter().map(complain));
                Vec::new()
            }
        };
        let (kind, name) = (ToolRoute::KIND, &*tool.name);
        let named = Named { kind, name, place };
        problems.extend(named.no_time(definition.timeout));
        if let Some(meta) = &tool.meta {
            problems.extend(named.illegal_meta(meta));
        }
        match (input, output, problems.is_empty()) {
            (Some(input), output, true) => {
                let wraps_output = definition
                    .tool
                    .output_schema
                    .as_ref()
                    .map(|schema| !projection::has_object_root(schema));
                Ok(Self {
                    input,
                    output: output.flatten(),
                    definition,
                    function,
                    header_params,
                    wraps_output,
                    reported: ReportedLosses::default(),
                })
            }
            _ => Err(Rejected::of(definition, problems)),
        }
    }

    /// The tool as `tools/list` shows it, as the revision of `view` can decode it.
    pub(crate) fn definition_at(&self, view: View<'_>) -> Tool {
        match view.revision() {
            Some(revision) => projection::tool(&self.definition.tool, revision).into_owned(),
            None => self.definition.tool.clone(),
        }
    }

    pub(crate) fn name(&self) -> &str {
        &self.definition.tool.name
    }

    /// Where the tool was written.
    pub(crate) fn place(&self) -> &Place {
        &self.definition.place
    }

    /// What the client must be able to do.
    pub(crate) fn needs(&self) -> RequiredCapabilities {
        self.definition.needs
    }

    /// Arguments that HTTP headers repeat.
    pub(crate) fn header_params(&self) -> &[HeaderParam] {
        &self.header_params
    }

    /// The hints for clients.
    pub(crate) fn annotations(&self) -> Option<&ToolAnnotations> {
        self.definition.tool.annotations.as_ref()
    }

    pub(crate) fn timeout(&self) -> Option<Timeout> {
        self.definition.timeout
    }

    /// Whether its calls run as tasks; `None` if they never do.
    pub(crate) fn task(&self) -> Option<TaskMode> {
        self.definition.task
    }

    /// Whether its code says where the task begins.
    pub(crate) fn starts_task(&self) -> bool {
        self.definition.starts_task
    }

    /// State that the server must have.
    pub(crate) fn required_states(&self) -> &[RequiredState] {
        &self.definition.states
    }

    /// What the function asks clients for.
    pub(crate) fn forms(&self) -> &Forms {
        &self.definition.forms
    }

    /// The result for a call that failed with `error`, or the error of the protocol that it asks for.
    #[cold]
    pub(crate) fn failure(&self, error: ToolError) -> Result<CallToolResult, ErrorObject> {
        if let Some(source) = error.source() {
            tracing::warn!(tool = self.name(), place = %self.place(), error = %Chain(source), "a tool failed");
        }
        if let Some(argument) = error.argument() {
            let error = ToolError::new(format!(
                "the arguments of tool `{}` do not fit:\n`{argument}`: {}",
                self.name(),
                error.message()
            ));
            return failed_result(error);
        }
        failed_result(error)
    }

    /// Makes `result` keep what the tool's definition promises.
    ///
    /// # Errors
    /// The error that the client gets for a result that cannot.
    pub(crate) fn complete(
        &self,
        context: &Context,
        result: &mut CallToolResult,
    ) -> Result<(), ErrorObject> {
        if result.is_error == Some(true) {
            // It need not match the output schema, so it would hide the real error from clients that check.
            result.structured_content = None;
        } else {
            self.check_output(result, context.0.host.settings.max_check_steps)?;
        }
        if let Some(structured) = &result.structured_content
            && result.content.is_empty()
        {
            // I-9
            let text = ContentBlock::Text(TextContent::new(structured.get()));
            // A list that grows by itself would have room for four.
            result.content = vec![text];
        }
        let (kind, name, place) = (Self::KIND, self.name(), self.place());
        Named { kind, name, place }.finish_meta(&context.0, result, |result| &mut result.meta)
    }

    /// Logs what `revision` loses of `result`, which is sent to it; `wraps` as [`wraps`](Self::wraps) has it.
    #[inline]
    pub(crate) fn log_losses(&self, result: &CallToolResult, wraps: bool, revision: Revision) {
        // Where structured content must be an object, one that is an object stays as it is.
        let keeps = !wraps && Wrapped::REVISIONS.contains(revision);
        let kept = keeps.then_some(("CallToolResult", "structuredContent"));
        self.reported
            .log((Self::KIND, self.name()), result, kept, revision);
    }

    /// Whether `revision` sees the structured content of `result` wrapped in an object.
    pub(crate) fn wraps(&self, result: &CallToolResult, revision: Revision) -> bool {
        projection::wraps(result, self.wraps_output, revision)
    }

    /// I-7: nothing leaves that the output schema forbids.
    fn check_output(&self, result: &mut CallToolResult, steps: u64) -> Result<(), ErrorObject> {
        let Some(schema) = &self.output else {
            return Ok(());
        };
        let structured = result.structured_content.get_or_insert_with(Json::null);
        match schema.check_str_up_to(structured.get(), steps) {
            Ok(()) => Ok(()),
            Err(violations) if violations.iter().any(|found| found.keyword == "limit") => {
                tracing::error!(
                    tool = self.name(),
                    place = %self.place(),
                    steps,
                    "a result was held back because it is too large to be checked against the output schema; `Server::max_check_steps` is the limit"
                );
                Err(jsonrpc::internal(format!(
                    "tool `{}` returned a result that is too large to be checked",
                    self.name()
                )))
            }
            Err(violations) => {
                tracing::error!(
                    tool = self.name(),
                    place = %self.place(),
                    violations = &*jsonrpc::one_line(&violations.for_log().to_string()),
                    "a result that the output schema forbids was held back"
                );
                Err(jsonrpc::internal(format!(
                    "tool `{}` returned a result that its output schema forbids",
                    self.name()
                )))
            }
        }
    }
}

impl fmt::Debug for ToolRoute {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ToolRoute")
            .field("definition", &self.definition)
            .finish_non_exhaustive()
    }
}

/// The result that says that the tool failed (I-5), or the protocol error that it failed with.
fn failed_result(error: ToolError) -> Result<CallToolResult, ErrorObject> {
    let (message, content, protocol) = error.into_parts();
    if let Some(error) = protocol {
        return Err(error);
    }
    let mut blocks = vec![ContentBlock::Text(TextContent::new(message))];
    blocks.extend(content);
    Ok(CallToolResult::new(blocks).with_is_error(true))
}

/// Z-7.
fn is_tool_name(name: &str) -> bool {
    (1..=128).contains(&name.len())
        && name
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'.'))
}

/// What is wrong with the schema `which` of the tool `name`, as `error` says.
pub(super) fn schema_problem(
    which: &str,
    name: &str,
    place: &Place,
    error: &dyn fmt::Display,
) -> String {
    format!("the {which} schema of tool `{name}` ({place}): {error}")
}

fn illegal_name(name: &str, place: &Place) -> String {
    format!(
        "`{name}` ({place}) is not a tool name: it has 1 to 128 of the characters \
         `A`-`Z`, `a`-`z`, `0`-`9`, `_`, `-` and `.`"
    )
}
