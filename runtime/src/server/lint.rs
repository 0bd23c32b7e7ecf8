//! The lint of [`lint`](crate::lint), applied to the tools that a server lists.

use std::{collections::HashSet, fmt};

use serde_json::Value;
use trueform_schema::{At, Era, Revision, Revisions};

use super::Service;
use crate::{
    engine::Engine,
    lint::{Effect, Finding, Position, lint},
};

/// A finding about one of a server's tools. `Display` is one line.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ToolFinding {
    /// Name of the tool.
    pub tool: String,
    /// Source location of the tool.
    pub place: String,
    /// The schema concerned.
    pub position: Position,
    /// The newest revision at which it is listed in this form; older revisions may get a rewritten form.
    pub revision: Revision,
    /// The fault and the clients concerned.
    pub finding: Finding,
}

impl fmt::Display for ToolFinding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            tool,
            place,
            position,
            revision,
            finding,
        } = self;
        let schema = match position {
            Position::Input => "input schema",
            Position::Output => "output schema",
        };
        write!(
            f,
            "tool `{tool}` ({place}), {schema} at {revision}: {finding}"
        )
    }
}

impl Service {
    /// The problems that known clients have with the tools as listed now; empty if there are none.
    ///
    /// Schemas of functions marked `#[tool]` have few, because [`Profile::Portable`](crate::Profile::Portable) avoids most of them.
    /// For other tools [`Server::profile`](super::Server::profile) or [`DynamicTool::profile`](crate::DynamicTool::profile) sets it.
    ///
    /// ```
    /// use serde_json::json;
    /// use trueform::{lint::Profile, prelude::*};
    ///
    /// fn tool() -> DynamicTool {
    ///     let node = json!({"type": "object", "properties": {"size": {"type": "integer", "format": "uint32"}}});
    ///     let schema = json!({"type": "object", "properties": {"root": {"$ref": "#/$defs/Node"}}, "$defs": {"Node": node}});
    ///     DynamicTool::new("plant", schema).description("Plants.").handler(|_, _| async { "done" })
    /// }
    /// # fn main() -> trueform::Result {
    /// let service = Server::new("garden", "1.0.0").tools(tool()).build()?;
    /// let codes: Vec<_> = service.lint().iter().map(|found| found.finding.code).collect();
    /// assert_eq!(codes, ["reference", "unknown-format"]);
    ///
    /// let service = Server::new("garden", "1.0.0").tools(tool()).profile(Profile::Portable).build()?;
    /// assert_eq!(service.lint(), []);
    /// # Ok(())
    /// # }
    /// ```
    #[must_use]
    pub fn lint(&self) -> Vec<ToolFinding> {
        findings(&self.engine, |_| true)
    }
}

/// Logs one line that counts the findings for the tools that `select` accepts, if there are any.
pub(super) fn log_lint(engine: &Engine, select: impl Fn(&str) -> bool) {
    if !tracing::enabled!(tracing::Level::WARN) {
        return;
    }
    let found = findings(engine, select);
    let Some(worst) = found.iter().map(|found| found.finding.effect).max() else {
        return;
    };
    let tools: HashSet<&str> = found.iter().map(|found| &*found.tool).collect();
    let (findings, tools) = (
        counted(found.len(), "problem", "problems"),
        counted(tools.len(), "tool", "tools"),
    );
    let effect = match worst {
        Effect::Noise => "and warn of them",
        Effect::LosesTool => "and may drop the tools",
        Effect::LosesServer => "and may drop all tools of the server",
    };
    tracing::warn!(
        "some clients have {findings} with the schemas of {tools}, {effect}; `Service::lint` lists them"
    );
}

fn counted(count: usize, one: &str, many: &str) -> String {
    let unit = if count == 1 { one } else { many };
    format!("{count} {unit}")
}

fn findings(engine: &Engine, select: impl Fn(&str) -> bool) -> Vec<ToolFinding> {
    let served = engine.host.served(Revisions::ALL);
    // Newest first; within an era older revisions do not differ in anything that the lint checks.
    let newest = served.iter().find(|revision| revision.era() == Era::Modern);
    let revisions: Vec<Revision> = newest
        .into_iter()
        .chain(served.iter().find(|revision| revision.era() == Era::Legacy))
        .copied()
        .collect();
    let mut all: Vec<ToolFinding> = Vec::new();
    for tool in engine.tools_now().iter().filter(|tool| select(tool.name())) {
        let first = all.len();
        for &revision in &revisions {
            for (position, finding) in of_tool(tool, revision) {
                let known = all[first..]
                    .iter()
                    .any(|known| known.position == position && known.finding == finding);
                if !known {
                    all.push(ToolFinding {
                        tool: tool.name().to_owned(),
                        place: tool.place().to_string(),
                        position,
                        revision,
                        finding,
                    });
                }
            }
        }
    }
    all
}

fn of_tool(
    route: &crate::feature::tools::ToolRoute,
    revision: Revision,
) -> Vec<(Position, Finding)> {
    let tool = route.definition_at(trueform_schema::View::at(revision));
    let encoded: Value =
        serde_json::from_slice(&At::new(&tool, revision).to_vec()).expect("encoders write JSON");
    let mut all = Vec::new();
    for (position, member) in [
        (Position::Input, "inputSchema"),
        (Position::Output, "outputSchema"),
    ] {
        let findings = encoded
            .get(member)
            .map(|schema| lint(schema, position))
            .unwrap_or_default();
        // Z-6: any schema is legal there, and clients of that revision support it.
        let is_legal = |finding: &Finding| {
            finding.code == "root-type"
                && position == Position::Output
                && revision.era() == Era::Modern
        };
        all.extend(
            findings
                .into_iter()
                .filter(|finding| !is_legal(finding))
                .map(|finding| (position, finding)),
        );
    }
    all
}
