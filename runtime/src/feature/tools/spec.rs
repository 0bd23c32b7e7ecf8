//! The builder that expansions call: the data of a tool before it is registered.

use trueform_schema::{CallToolResult, JsonObject, Tool, ToolAnnotations};

use super::{draft::ToolDraft, output::OutputSchema, rejected::Rejected, route::Definition};
use crate::{
    feature::{
        function::{Function, Handler, Input, MethodReceiver},
        offered::{OfferedFacts, facts_methods},
        tasks::{TaskMode, TaskStart},
    },
    lint::Profile,
};

/// A tool that is being built.
pub struct ToolSpec {
    facts: OfferedFacts,
    output: Option<fn(&mut OutputSchema)>,
    annotations: Option<ToolAnnotations>,
    profile: Option<Profile>,
    task: Option<TaskMode>,
    handler: Option<Handler<CallToolResult>>,
}

facts_methods!(ToolSpec);

/// Begins a tool for the function `function` of `file`.
#[must_use]
pub fn tool(
    name: &'static str,
    description: &'static str,
    function: &'static str,
    file: &'static str,
    line: u32,
) -> ToolSpec {
    ToolSpec {
        facts: OfferedFacts::new(name, description, function, file, line),
        output: None,
        annotations: None,
        profile: None,
        task: None,
        handler: None,
    }
}

impl ToolSpec {
    /// Sets how the result type describes itself.
    #[must_use]
    pub fn returns(mut self, describe: fn(&mut OutputSchema)) -> Self {
        self.output = Some(describe);
        self
    }

    /// Sets the code.
    #[must_use]
    pub fn call(mut self, handler: Handler<CallToolResult>) -> Self {
        self.handler = Some(handler);
        self
    }

    /// Sets the annotation `readOnlyHint`.
    #[must_use]
    pub fn read_only(mut self, value: bool) -> Self {
        self.annotations().read_only_hint = Some(value);
        self
    }

    /// Sets the annotation `destructiveHint`.
    #[must_use]
    pub fn destructive(mut self, value: bool) -> Self {
        self.annotations().destructive_hint = Some(value);
        self
    }

    /// Sets the annotation `idempotentHint`.
    #[must_use]
    pub fn idempotent(mut self, value: bool) -> Self {
        self.annotations().idempotent_hint = Some(value);
        self
    }

    /// Sets the annotation `openWorldHint`.
    #[must_use]
    pub fn open_world(mut self, value: bool) -> Self {
        self.annotations().open_world_hint = Some(value);
        self
    }

    fn annotations(&mut self) -> &mut ToolAnnotations {
        self.annotations.get_or_insert_default()
    }

    /// Sets how the schemas are advertised, whatever the server's profile is.
    #[must_use]
    pub fn profile(mut self, profile: Profile) -> Self {
        self.profile = Some(profile);
        self
    }

    /// Sets whether its calls run as tasks.
    #[must_use]
    pub fn task(mut self, mode: TaskMode) -> Self {
        self.task = Some(mode);
        self
    }

    /// Registers the tool; `server` is the value whose method it is.
    pub(super) fn register(mut self, server: &MethodReceiver) -> Result<ToolDraft, Rejected> {
        let Input {
            schema,
            names,
            enforced,
            mut states,
            forms,
            problems,
        } = std::mem::take(&mut self.facts.input).finish();
        if !problems.is_empty() {
            let place = &self.facts.place;
            let problems = problems.iter().map(|problem| format!("{place} {problem}"));
            return Err(Rejected {
                name: self.facts.name.to_owned(),
                problems: problems.collect(),
                place: self.facts.place,
                states,
            });
        }
        let mut starts_task = false;
        if self.task.is_some() {
            starts_task = states.iter().any(TaskStart::is);
            states.retain(|state| !TaskStart::is(state));
        }
        let mut tool = Tool::new(JsonObject::from(schema), self.facts.name);
        tool.description = self.facts.description();
        tool.title = self.facts.title.map(str::to_owned);
        tool.output_schema = self.output.and_then(OutputSchema::of).map(JsonObject::from);
        tool.annotations = self.annotations;
        tool.icons = self.facts.take_icons();
        tool.meta = self.facts.take_meta();
        tool.execution = self.task.map(TaskMode::execution);
        let definition = Definition {
            tool,
            place: self.facts.place,
            enforced,
            states,
            forms,
            timeout: self.facts.timeout,
            task: self.task,
            starts_task,
            needs: self.facts.needs,
            profile: self.profile,
            usual_profile: Profile::Portable,
        };
        let handler = self.handler.expect("expansions end with `call`");
        Ok(ToolDraft {
            definition,
            function: Function {
                names,
                handler,
                receiver: server.clone(),
            },
        })
    }
}
