//! A tool before the server is built: its schemas are compiled when it is known how the server advertises them.

use serde_json::Value;
use trueform_schema::{CallToolResult, JsonObject};

use super::{
    rejected::Rejected,
    route::{Definition, ToolRoute, schema_problem},
};
use crate::{
    check::{CompileOptions, contradictions},
    feature::function::{Enforced, Function},
    jsonrpc::sentence,
    lint::{Position, Profile, portable},
    projection,
};

/// How the schemas of a server's tools are treated.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct SchemaSettings {
    /// How they are advertised, if a tool has no profile of its own. `None`: the default of the kind of tool.
    pub(crate) profile: Option<Profile>,
    pub(crate) compile: CompileOptions,
}

/// A tool whose schemas are not compiled.
#[derive(Debug)]
pub(super) struct ToolDraft {
    pub(super) definition: Definition,
    pub(super) function: Function<CallToolResult>,
}

impl ToolDraft {
    pub(super) fn name(&self) -> &str {
        &self.definition.tool.name
    }

    /// Returns the finished tool, with its schemas in its own profile or in that of `settings`.
    pub(super) fn finished(self, settings: SchemaSettings) -> Result<ToolRoute, Rejected> {
        let Self {
            mut definition,
            function,
        } = self;
        let profile = definition.profile.or(settings.profile);
        let profile = profile.unwrap_or(definition.usual_profile);
        let tool = &mut definition.tool;
        if let Some(schema) = projection::with_properties(&tool.input_schema) {
            tool.input_schema = schema;
        }
        let mut checked = match &definition.enforced {
            Enforced::Decoded | Enforced::Advertised => tool.input_schema.to_value(),
            Enforced::Bounded(bounds) => bounds.to_value(),
        };
        // In the schemas as they were written: the portable form may repeat a place.
        let output = tool.output_schema.as_ref().map(|schema| schema.to_value());
        let mut problems = Vec::new();
        for (which, schema) in [("input", Some(&checked)), ("output", output.as_ref())] {
            let found = schema.into_iter().flat_map(contradictions);
            let found =
                found.map(|error| schema_problem(which, &tool.name, &definition.place, &error));
            match definition.enforced {
                // A dynamic tool may pass on the schema of another server, which is legal, and need not meet all of its places.
                Enforced::Advertised => {
                    found.for_each(|problem| tracing::warn!("{}", sentence(&problem)));
                }
                Enforced::Decoded | Enforced::Bounded(_) => problems.extend(found),
            }
        }
        if profile == Profile::Portable {
            // Null is still accepted if it is not advertised: it is another way to leave an argument out.
            checked = portable(&checked, Position::Output);
            tool.input_schema = rewritten(&tool.input_schema, Position::Input);
            let output = tool.output_schema.as_ref();
            tool.output_schema = output.map(|schema| rewritten(schema, Position::Output));
        }
        ToolRoute::new(definition, &checked, function, settings.compile, problems)
    }
}

fn rewritten(schema: &JsonObject, position: Position) -> JsonObject {
    match portable(&schema.to_value(), position) {
        Value::Object(rewritten) => JsonObject::from(rewritten),
        // Only a boolean schema does not become an object, and the root is an object.
        _ => schema.clone(),
    }
}
