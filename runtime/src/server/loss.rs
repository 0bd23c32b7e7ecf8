//! Losses: the parts that clients of older revisions do not receive, found by comparing the form written for them with the full one.
//!
//! This module reports losses of definitions. `feature::lost` reports those of results as they are sent.

use std::fmt;

use serde_json::Value;
use trueform_schema::{Revision, Revisions, View};

use super::{Service, definition_name::DefinitionName};
use crate::{
    engine::Engine,
    feature::listing::{Item, Listing},
    gate,
};

/// What the log says of them.
const SEES_LESS: &str = "older revisions see less";

/// A part that clients of one revision do not see, or see in another form. `Display` is one line.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Loss {
    /// The definition that it is in.
    pub subject: DefinitionName,
    /// The revision, one of those served.
    pub revision: Revision,
    /// The reason.
    pub rule: LossRule,
    /// JSON pointer to the member, in the definition or in the server's `serverInfo`.
    pub pointer: String,
}

/// Reason of a loss.
#[non_exhaustive]
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum LossRule {
    /// The revision does not have the member, so it is left out.
    Unknown,
    /// The revision has no structured results: they are left out, and only the text remains.
    NoStructuredResult,
    /// The revision requires an object: schema and results are wrapped as `{"result": …}`.
    // GAP-15
    Wrapped,
    /// It is rewritten; a schema to an equivalent one in the vocabulary of the revision.
    Rewritten,
}

impl LossRule {
    /// A stable name, such as `unknown-member`.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Unknown => "unknown-member",
            Self::NoStructuredResult => "no-structured-result",
            Self::Wrapped => "wrapped-result",
            Self::Rewritten => "rewritten-schema",
        }
    }
}

impl fmt::Display for Loss {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            subject,
            revision,
            rule,
            pointer,
        } = self;
        let what = match rule {
            LossRule::Unknown => "is left out",
            LossRule::NoStructuredResult => "is left out, and structured results with it",
            LossRule::Wrapped => "and results are wrapped as `{\"result\": …}`",
            LossRule::Rewritten => "is rewritten",
        };
        write!(f, "{subject} at {revision}: `{pointer}` {what}")
    }
}

impl Service {
    /// The parts of the current tools, prompts, resources and resource templates, and of the server's identity, that each served
    /// revision does not receive.
    ///
    /// Results are projected too, depending on their content; only losses that follow from a definition are known in
    /// advance. These are logged at level `DEBUG` when something is registered, one line for each definition and rule. Those of
    /// the results of tools, prompts and resources are logged when they are sent, one line for each tool, prompt or resource, rule
    /// and revision, however often it is called.
    ///
    /// ```
    /// use trueform::prelude::*;
    ///
    /// /// Lists the first primes.
    /// #[tool(title = "Primes")]
    /// fn primes() -> Json<Vec<u32>> {
    ///     Json(vec![2, 3, 5])
    /// }
    ///
    /// # fn main() -> trueform::Result {
    /// let server = Server::new("numbers", "1.0.0").tools(tools![primes]);
    /// let service = server.revisions([Revision::V2025_03_26, Revision::V2025_11_25, Revision::V2026_07_28]).build()?;
    /// let losses: Vec<_> = service.projections().iter().map(ToString::to_string).collect();
    /// assert_eq!(
    ///     losses,
    ///     [
    ///         "tool `primes` at 2025-03-26: `/outputSchema` is left out, and structured results with it",
    ///         "tool `primes` at 2025-03-26: `/title` is left out",
    ///         "tool `primes` at 2025-11-25: `/outputSchema` and results are wrapped as `{\"result\": …}`",
    ///     ]
    /// );
    /// # Ok(())
    /// # }
    /// ```
    #[must_use]
    pub fn projections(&self) -> Vec<Loss> {
        losses(&self.engine)
    }
}

fn losses(engine: &Engine) -> Vec<Loss> {
    let mut revisions = engine.host.served(Revisions::ALL);
    revisions.sort();
    let mut losses = Vec::new();
    let info = &engine.host.settings.info;
    add(&mut losses, &DefinitionName::Server, &revisions, |view| {
        gate::shown(info, view)
    });
    for tool in engine.tools_now() {
        let subject = DefinitionName::Tool(tool.name().to_owned());
        add(&mut losses, &subject, &revisions, |view| {
            gate::shown(&tool.definition_at(view), view)
        });
    }
    if let Some(prompts) = &engine.features.prompts {
        add_listed(
            &mut losses,
            &prompts.now(),
            DefinitionName::Prompt,
            &revisions,
        );
    }
    if let Some(resources) = &engine.features.resources {
        let (listed, templates) = (resources.now(), resources.templates_now());
        add_listed(&mut losses, &listed, DefinitionName::Resource, &revisions);
        add_listed(
            &mut losses,
            &templates,
            DefinitionName::ResourceTemplate,
            &revisions,
        );
    }
    losses
}

fn add_listed<T: Item>(
    losses: &mut Vec<Loss>,
    listing: &Listing<T>,
    subject: fn(String) -> DefinitionName,
    revisions: &[Revision],
) {
    for item in listing.visible() {
        let subject = subject(item.name().to_owned());
        add(losses, &subject, revisions, |view| {
            gate::shown(&item.shown(view), view)
        });
    }
}

/// The order in the log: what is on one line stands together.
fn order(loss: &Loss) -> (&DefinitionName, LossRule, &str, Revision) {
    (&loss.subject, loss.rule, &loss.pointer, loss.revision)
}

/// Logs one line for each rule and each definition that `select` accepts.
pub(super) fn log_losses(engine: &Engine, select: impl Fn(&DefinitionName) -> bool) {
    if !tracing::enabled!(tracing::Level::DEBUG) {
        return;
    }
    let mut losses = losses(engine);
    losses.retain(|loss| select(&loss.subject));
    losses.sort_unstable_by(|one, other| order(one).cmp(&order(other)));
    for line in
        losses.chunk_by(|one, other| (&one.subject, one.rule) == (&other.subject, other.rule))
    {
        let (subject, rule) = (&line[0].subject, line[0].rule.as_str());
        let mut members = Vec::new();
        for member in line.chunk_by(|one, other| one.pointer == other.pointer) {
            if let Some(last) = member.last() {
                members.push(format!("{} (until {})", last.pointer, last.revision));
            }
        }
        let members = members.join(", ");
        match subject {
            DefinitionName::Server => {
                tracing::debug!(tool = "(the server)", rule, members, "{SEES_LESS}");
            }
            DefinitionName::Tool(tool) => tracing::debug!(tool, rule, members, "{SEES_LESS}"),
            DefinitionName::Prompt(prompt) => tracing::debug!(prompt, rule, members, "{SEES_LESS}"),
            DefinitionName::Resource(uri) | DefinitionName::ResourceTemplate(uri) => {
                tracing::debug!(resource = uri, rule, members, "{SEES_LESS}");
            }
        }
    }
}

/// Appends what each of `revisions` does not get of the definition that `shown` writes. Schemas are compared as a whole: below
/// them nothing is a member of the protocol.
fn add(
    losses: &mut Vec<Loss>,
    subject: &DefinitionName,
    revisions: &[Revision],
    shown: impl Fn(View<'_>) -> Value,
) {
    let is_schema = |pointer: &str| matches!(pointer, "/inputSchema" | "/outputSchema");
    let all = shown(View::ALL);
    for &revision in revisions {
        for loss in gate::losses(&all, &shown(View::at(revision)), &is_schema) {
            let pointer = loss.pointer;
            let rule = match &*pointer {
                "/outputSchema" if loss.is_left_out => LossRule::NoStructuredResult,
                "/outputSchema" if !is_object(&all["outputSchema"]) => LossRule::Wrapped,
                _ if loss.is_left_out => LossRule::Unknown,
                _ => LossRule::Rewritten,
            };
            losses.push(Loss {
                subject: subject.clone(),
                revision,
                rule,
                pointer,
            });
        }
    }
}

fn is_object(schema: &Value) -> bool {
    schema.get("type").is_some_and(|ty| ty == "object")
}
