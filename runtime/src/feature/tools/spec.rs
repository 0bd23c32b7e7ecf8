//! The builder that expansions call: what is known of a tool before it is registered.

use std::{fmt, time::Duration};

use serde::Serialize;
use trueform_schema::{
    CallToolResult, Icon, IconTheme, Json, JsonObject, Meta, Tool, ToolAnnotations,
};

use super::{draft::Draft, output::OutputSchema, rejected::Rejected, route::Definition};
use crate::{
    feature::{
        callable::Timeout,
        function::{Function, Handler, Input, InputSchema, MethodReceiver, Place},
    },
    lint::Profile,
    needs::RequiredCapabilities,
};

/// A tool in the making.
pub struct ToolSpec {
    name: &'static str,
    description: &'static str,
    place: Place,
    input: InputSchema,
    output: Option<fn(&mut OutputSchema)>,
    title: Option<&'static str>,
    annotations: Option<ToolAnnotations>,
    icons: Vec<Icon>,
    meta: Meta,
    timeout: Option<Timeout>,
    needs: RequiredCapabilities,
    profile: Option<Profile>,
    handler: Option<Handler<CallToolResult>>,
}

/// Begins a tool: the function `function` of `file`.
#[must_use]
pub fn tool(
    name: &'static str,
    description: &'static str,
    function: &'static str,
    file: &'static str,
    line: u32,
) -> ToolSpec {
    ToolSpec {
        name,
        description,
        place: Place::function(function, file, line),
        input: InputSchema::new(),
        output: None,
        title: None,
        annotations: None,
        icons: Vec::new(),
        meta: Meta::new(),
        timeout: None,
        needs: RequiredCapabilities::NONE,
        profile: None,
        handler: None,
    }
}

impl ToolSpec {
    /// Adds a parameter.
    #[must_use]
    pub fn input(
        mut self,
        name: &'static str,
        description: &'static str,
        describe: fn(&mut InputSchema),
    ) -> Self {
        self.input.parameter(name, description, describe);
        self
    }

    /// Sets what the result type says of itself.
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

    /// Sets the title.
    #[must_use]
    pub fn title(mut self, title: &'static str) -> Self {
        self.title = Some(title);
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

    /// Adds an icon; `sizes` are separated by spaces.
    #[must_use]
    pub fn icon(
        mut self,
        src: &str,
        mime_type: Option<&str>,
        sizes: Option<&str>,
        theme: Option<&str>,
    ) -> Self {
        let mut icon = Icon::new(src);
        icon.mime_type = mime_type.map(str::to_owned);
        icon.sizes = sizes.map(|sizes| sizes.split_whitespace().map(str::to_owned).collect());
        icon.theme = theme.map(IconTheme::from);
        self.icons.push(icon);
        self
    }

    /// Adds a member to `_meta`.
    #[must_use]
    pub fn meta(mut self, key: &str, value: &dyn MetaValue) -> Self {
        self.meta.insert(key, value.to_json());
        self
    }

    /// Sets the timeout, in milliseconds.
    #[must_use]
    pub fn timeout(mut self, limit: u64, reset_by_progress: bool, hard_limit: Option<u64>) -> Self {
        let limit = Duration::from_millis(limit);
        self.timeout = Some(Timeout {
            limit,
            reset_by_progress,
            hard_limit: hard_limit.map(Duration::from_millis),
        });
        self
    }

    /// Adds to what the client must be able to do.
    #[must_use]
    pub fn needs(mut self, needs: RequiredCapabilities) -> Self {
        self.needs = self.needs.and(needs);
        self
    }

    /// Sets how the schemas are advertised, whatever the server's profile is.
    #[must_use]
    pub fn profile(mut self, profile: Profile) -> Self {
        self.profile = Some(profile);
        self
    }

    /// Registers the tool; `server` is the value whose method it is.
    pub(super) fn register(self, server: &MethodReceiver) -> Result<Draft, Rejected> {
        let Input {
            schema,
            names,
            enforced,
            states,
            problems,
        } = self.input.finish();
        if !problems.is_empty() {
            let place = &self.place;
            let problems = problems.iter().map(|problem| format!("{place} {problem}"));
            return Err(Rejected {
                name: self.name.to_owned(),
                problems: problems.collect(),
                place: self.place,
                states,
            });
        }
        let mut tool = Tool::new(JsonObject::from(schema), self.name);
        let description = self.description.trim();
        tool.description = (!description.is_empty()).then(|| description.to_owned());
        tool.title = self.title.map(str::to_owned);
        tool.output_schema = self.output.and_then(OutputSchema::of).map(JsonObject::from);
        tool.annotations = self.annotations;
        tool.icons = (!self.icons.is_empty()).then_some(self.icons);
        tool.meta = (!self.meta.is_empty()).then_some(self.meta);
        let definition = Definition {
            tool,
            place: self.place,
            enforced,
            states,
            timeout: self.timeout,
            needs: self.needs,
            profile: self.profile,
            usual_profile: Profile::Portable,
        };
        let handler = self.handler.expect("expansions end with `call`");
        Ok(Draft {
            definition,
            function: Function {
                names,
                handler,
                receiver: server.clone(),
            },
        })
    }
}

impl fmt::Debug for ToolSpec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ToolSpec")
            .field("name", &self.name)
            .field("place", &self.place)
            .finish_non_exhaustive()
    }
}

/// A literal in `meta(…)`.
pub trait MetaValue {
    /// The value as JSON.
    fn to_json(&self) -> Json;
}

impl<T: Serialize> MetaValue for T {
    fn to_json(&self) -> Json {
        Json::from_value(self).expect("a literal serialises")
    }
}
