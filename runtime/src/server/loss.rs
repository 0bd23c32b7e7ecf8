//! Losses: the parts that clients of older revisions do not receive, found by comparing the form written for them with the full one.
//!
//! This module reports losses of definitions. The tool reports those of results as they are sent.

use std::{collections::BTreeMap, fmt};

use serde_json::Value;
use trueform_schema::{Revision, Revisions, View};

use super::Service;
use crate::{engine::Engine, gate, tool::ToolRoute};

/// A part that clients of one revision do not see, or see in another form. `Display` is one line.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Loss {
    /// Name of the tool; `None` for the server's identity.
    pub tool: Option<String>,
    /// The revision, one of those served.
    pub revision: Revision,
    /// The reason.
    pub rule: LossRule,
    /// JSON pointer to the member, in the tool's definition or in the server's `serverInfo`.
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
            tool,
            revision,
            rule,
            pointer,
        } = self;
        match tool {
            Some(tool) => write!(f, "tool `{tool}`")?,
            None => f.write_str("`serverInfo`")?,
        }
        let what = match rule {
            LossRule::Unknown => "is left out",
            LossRule::NoStructuredResult => "is left out, and structured results with it",
            LossRule::Wrapped => "and results are wrapped as `{\"result\": …}`",
            LossRule::Rewritten => "is rewritten",
        };
        write!(f, " at {revision}: `{pointer}` {what}")
    }
}

impl Service {
    /// The parts of the current tools, and of the server's identity, that each served revision does not receive.
    ///
    /// Results are projected too, depending on their content; only losses that follow from a tool's definition are known in
    /// advance. Both are logged at level `DEBUG`: these when tools are registered, one line for each tool and rule; those of
    /// results when they are sent, one line for each tool, rule and revision, however often the tool is called.
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
    let info = &engine.host.settings.info;
    let all_info = gate::shown(info, View::ALL);
    let mut losses = Vec::new();
    for &revision in &revisions {
        add(
            &mut losses,
            None,
            revision,
            &all_info,
            &gate::shown(info, View::at(revision)),
        );
    }
    for tool in engine.tools_now() {
        let all = listed(&tool, View::ALL);
        for &revision in &revisions {
            add(
                &mut losses,
                Some(tool.name()),
                revision,
                &all,
                &listed(&tool, View::at(revision)),
            );
        }
    }
    losses
}

/// Logs one line for each rule and each tool that `select` accepts. Losses of the server itself have no tool.
pub(super) fn log_losses(engine: &Engine, select: impl Fn(Option<&str>) -> bool) {
    if !tracing::enabled!(tracing::Level::DEBUG) {
        return;
    }
    let mut lines: BTreeMap<(Option<String>, LossRule), BTreeMap<String, Vec<Revision>>> =
        BTreeMap::new();
    for Loss {
        tool,
        revision,
        rule,
        pointer,
    } in losses(engine)
    {
        if !select(tool.as_deref()) {
            continue;
        }
        lines
            .entry((tool, rule))
            .or_default()
            .entry(pointer)
            .or_default()
            .push(revision);
    }
    for ((tool, rule), members) in lines {
        let until = |revisions: &[Revision]| {
            revisions
                .iter()
                .max()
                .copied()
                .map_or_else(String::new, |last| format!("until {last}"))
        };
        let members: Vec<String> = members
            .iter()
            .map(|(pointer, revisions)| format!("{pointer} ({})", until(revisions)))
            .collect();
        let tool = tool.as_deref().unwrap_or("(the server)");
        tracing::debug!(
            tool,
            rule = rule.as_str(),
            members = members.join(", "),
            "older revisions see less"
        );
    }
}

fn listed(route: &ToolRoute, view: View<'_>) -> Value {
    gate::shown(&route.definition_at(view), view)
}

/// Appends what the revision does not get of `all`, of which it is sent `seen`. Schemas are compared as a whole: below them
/// nothing is a member of the protocol.
fn add(losses: &mut Vec<Loss>, tool: Option<&str>, revision: Revision, all: &Value, seen: &Value) {
    let is_schema = |pointer: &str| matches!(pointer, "/inputSchema" | "/outputSchema");
    for loss in gate::losses(all, seen, &is_schema) {
        let pointer = loss.pointer;
        let rule = match &*pointer {
            "/outputSchema" if loss.is_left_out => LossRule::NoStructuredResult,
            "/outputSchema" if !is_object(&all["outputSchema"]) => LossRule::Wrapped,
            _ if loss.is_left_out => LossRule::Unknown,
            _ => LossRule::Rewritten,
        };
        losses.push(Loss {
            tool: tool.map(str::to_owned),
            revision,
            rule,
            pointer,
        });
    }
}

fn is_object(schema: &Value) -> bool {
    schema.get("type").is_some_and(|ty| ty == "object")
}
