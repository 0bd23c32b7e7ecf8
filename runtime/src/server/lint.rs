//! The lint of [`lint`](crate::lint), applied to all that a server lists.

use std::{collections::HashSet, fmt};

use serde_json::Value;
use trueform_schema::{At, Era, Prompt, Resource, ResourceTemplate, Revision, Revisions, View};

use super::{Service, definition_name::DefinitionName};
use crate::{
    engine::Engine,
    feature::{
        listing::{Item, Listing},
        tools::ToolRoute,
    },
    lint::{Effect, Finding, Position, lint, lint_prompt, lint_resource, lint_resource_template},
};

/// A finding about a tool, prompt, resource or resource template of a server. `Display` is one line.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct LintFinding {
    /// The definition.
    pub subject: DefinitionName,
    /// Its source location.
    pub place: String,
    /// The schema concerned; `None` for a finding about the definition of a prompt, resource or template.
    pub position: Option<Position>,
    /// The newest revision at which it is listed in this form; older revisions may get a rewritten form.
    pub revision: Revision,
    /// The fault and the clients concerned.
    pub finding: Finding,
}

impl fmt::Display for LintFinding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            subject,
            place,
            position,
            revision,
            finding,
        } = self;
        let schema = match position {
            Some(Position::Input) => ", input schema",
            Some(Position::Output) => ", output schema",
            None => "",
        };
        write!(f, "{subject} ({place}){schema} at {revision}: {finding}")
    }
}

impl Service {
    /// Returns the problems that known clients have with the tools, prompts, resources and resource templates as listed now. Empty if there
    /// are no problems.
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
    pub fn lint(&self) -> Vec<LintFinding> {
        findings(&self.engine, |_| true)
    }
}

/// Logs one line with the number of findings about the definitions that `select` accepts, if there are any.
pub(super) fn log_lint(engine: &Engine, select: impl Fn(&DefinitionName) -> bool) {
    if !tracing::enabled!(tracing::Level::WARN) {
        return;
    }
    let found = findings(engine, select);
    let (of_forms, found): (Vec<_>, Vec<_>) = found
        .into_iter()
        .partition(|found| found.finding.code.starts_with("form-"));
    let of_forms: Vec<&LintFinding> = of_forms.iter().collect();
    let (one, many) = (
        "tool, prompt or resource asks",
        "tools, prompts and resources ask",
    );
    if let Some((findings, definitions, _)) = summary(&of_forms, one, many) {
        tracing::warn!(
            "there are {findings} with the forms for which {definitions}; `Service::lint` lists them"
        );
    }
    let is_of_tool = |found: &&LintFinding| found.position.is_some();
    let of_tools: Vec<&LintFinding> = found.iter().filter(is_of_tool).collect();
    if let Some((findings, tools, worst)) = summary(&of_tools, "tool", "tools") {
        let effect = match worst {
            Effect::Noise => "and warn of them",
            Effect::LosesItem => "and may drop the tools",
            Effect::LosesServer => "and may drop all tools of the server",
        };
        tracing::warn!(
            "some clients have {findings} with the schemas of {tools}, {effect}; `Service::lint` lists them"
        );
    }
    let others: Vec<&LintFinding> = found.iter().filter(|found| !is_of_tool(found)).collect();
    let unit = "prompts and resources";
    if let Some((findings, definitions, worst)) = summary(&others, "prompt or resource", unit) {
        let effect = match worst {
            Effect::Noise => "and show less of them",
            Effect::LosesItem | Effect::LosesServer => "and may fail to use them",
        };
        tracing::warn!(
            "some clients have {findings} with {definitions}, {effect}; `Service::lint` lists them"
        );
    }
}

/// Returns how many findings there are, about how many definitions, and the worst effect; `None` without findings.
fn summary(found: &[&LintFinding], one: &str, many: &str) -> Option<(String, String, Effect)> {
    let worst = found.iter().map(|found| found.finding.effect).max()?;
    let subjects: HashSet<&DefinitionName> = found.iter().map(|found| &found.subject).collect();
    Some((
        counted(found.len(), "problem", "problems"),
        counted(subjects.len(), one, many),
        worst,
    ))
}

fn counted(count: usize, one: &str, many: &str) -> String {
    let unit = if count == 1 { one } else { many };
    format!("{count} {unit}")
}

fn findings(engine: &Engine, select: impl Fn(&DefinitionName) -> bool) -> Vec<LintFinding> {
    let served = engine.host.served(Revisions::ALL);
    // Newest first; within an era older revisions do not differ in anything that the lint checks.
    let newest = served.iter().find(|revision| revision.era() == Era::Modern);
    let revisions: Vec<Revision> = newest
        .into_iter()
        .chain(served.iter().find(|revision| revision.era() == Era::Legacy))
        .copied()
        .collect();
    let mut all: Vec<LintFinding> = Vec::new();
    for tool in engine.tools_now() {
        let subject = DefinitionName::Tool(tool.name().to_owned());
        if !select(&subject) {
            continue;
        }
        let first = all.len();
        for &revision in &revisions {
            for (position, finding) in of_tool(&tool, revision) {
                let position = Some(position);
                let known = all[first..]
                    .iter()
                    .any(|known| known.position == position && known.finding == finding);
                if !known {
                    all.push(LintFinding {
                        subject: subject.clone(),
                        place: tool.place().to_string(),
                        position,
                        revision,
                        finding,
                    });
                }
            }
        }
        add_forms(&mut all, &subject, &*tool, &served);
    }
    let features = &engine.features;
    if let Some(prompts) = &features.prompts {
        let lint = |prompt: &Prompt| lint_prompt(prompt);
        add_listed(
            &mut all,
            &prompts.now(),
            (DefinitionName::Prompt, lint),
            &served,
            &select,
        );
    }
    if let Some(resources) = &features.resources {
        let lint = |resource: &Resource| lint_resource(resource);
        let kind = (DefinitionName::Resource as fn(_) -> _, lint);
        add_listed(&mut all, &resources.now(), kind, &served, &select);
        let lint = |template: &ResourceTemplate| lint_resource_template(template);
        let kind = (DefinitionName::ResourceTemplate as fn(_) -> _, lint);
        add_listed(&mut all, &resources.templates_now(), kind, &served, &select);
    }
    all
}

/// Adds what `lint` finds in the definitions of `listing` that `select` accepts.
fn add_listed<T: Item>(
    all: &mut Vec<LintFinding>,
    listing: &Listing<T>,
    (subject, lint): (
        fn(String) -> DefinitionName,
        impl Fn(&T::Shown) -> Vec<Finding>,
    ),
    served: &[Revision],
    select: &impl Fn(&DefinitionName) -> bool,
) {
    // The parts of a prompt, resource or template that the lint checks are the same at all revisions.
    let Some(&revision) = served.first() else {
        return;
    };
    for item in listing.visible() {
        let subject = subject(item.name().to_owned());
        if !select(&subject) {
            continue;
        }
        let found = lint(&item.shown(View::at(revision)));
        all.extend(found.into_iter().map(|finding| LintFinding {
            subject: subject.clone(),
            place: item.place().to_string(),
            position: None,
            revision,
            finding,
        }));
        add_forms(all, &subject, &**item, served);
    }
}

/// Adds the findings about the forms that `item` asks clients for.
fn add_forms(
    all: &mut Vec<LintFinding>,
    subject: &DefinitionName,
    item: &impl Item,
    served: &[Revision],
) {
    for form in item.forms().iter().flat_map(|forms| forms.iter()) {
        let found = form.lint(served).into_iter();
        all.extend(found.map(|(revision, finding)| LintFinding {
            subject: subject.clone(),
            place: item.place().to_string(),
            position: None,
            revision,
            finding,
        }));
    }
}

fn of_tool(route: &ToolRoute, revision: Revision) -> Vec<(Position, Finding)> {
    let tool = route.definition_at(View::at(revision));
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
