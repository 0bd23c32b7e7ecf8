//! What known clients make of the tools a server lists: the lint of [`lint`](crate::lint), over what is advertised.

use std::fmt;

use serde_json::Value;
use trueform_schema::{At, Era, Revision, Revisions};

use super::Service;
use crate::{
    engine::Engine,
    feature::tools::Tools,
    lint::{Effect, Finding, Position, Profile, lint},
};

/// A finding about one of a server's tools. `Display` is one line.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ToolFinding {
    /// Name of the tool.
    pub tool: String,
    /// Where the tool was written.
    pub place: String,
    /// Which of its schemas.
    pub position: Position,
    /// The newest revision at which it is listed so; what older ones cannot read is rewritten for them.
    pub revision: Revision,
    /// What is wrong with it, for whom.
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
    /// What known clients would stumble over in the tools as they are listed now; empty if all of them take all.
    ///
    /// [`Server::profile`](super::Server::profile) cures most of it.
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
    /// assert_eq!(codes, ["reference", "numeric-format"]);
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

/// Logs one line for each finding by which a client loses one of the tools that `told` selects.
pub(super) fn warn_of_lint(engine: &Engine, told: impl Fn(&str) -> bool) {
    if !tracing::enabled!(tracing::Level::WARN) {
        return;
    }
    for found in findings(engine, told) {
        if Effect::LosesTool <= found.finding.effect {
            let cure = match engine
                .features
                .tools
                .as_ref()
                .map(Tools::profile)
                .unwrap_or_default()
            {
                Profile::Portable => "",
                Profile::Strict2020 => {
                    "; `Profile::Portable` cures most of that, for one tool or for the server"
                }
            };
            tracing::warn!("{found}{cure}");
        }
    }
}

fn findings(engine: &Engine, told: impl Fn(&str) -> bool) -> Vec<ToolFinding> {
    let served = engine.host.served(Revisions::ALL);
    // Newest first; between the newest of each era and older ones nothing changes that the lint looks at.
    let newest = served.iter().find(|revision| revision.era() == Era::Modern);
    let revisions: Vec<Revision> = newest
        .into_iter()
        .chain(served.iter().find(|revision| revision.era() == Era::Legacy))
        .copied()
        .collect();
    let mut all: Vec<ToolFinding> = Vec::new();
    for tool in engine.tools_now().iter().filter(|tool| told(tool.name())) {
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
        // Z-6: any schema is legal there, and who speaks it knows.
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
