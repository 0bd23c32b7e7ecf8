//! Which capabilities are declared, and which a request cannot do without: the one reading of both, for servers and for clients.

use std::{borrow::Cow, fmt};

use serde::{Deserialize, de::IgnoredAny};
use serde_json::{Value, json};
use trueform_schema::{
    ClientCapabilities, JsonObject, Map, Method, Revision, View, methods::Rules,
};

use crate::gate::shown;

/// Client capabilities that a request cannot do without.
///
/// Checked before the tool runs. A modern client that did not declare them gets -32021, which lists them, and a legacy one a
/// result with `isError`. A tool that can do without does not name them, and looks at
/// [`Context::client_capabilities`](crate::Context::client_capabilities) before it asks.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
pub struct RequiredCapabilities(u8);

impl RequiredCapabilities {
    /// Nothing.
    pub const NONE: Self = Self(0);
    /// `sampling`.
    pub const SAMPLING: Self = Self(1);
    /// `sampling.tools`.
    pub const SAMPLING_TOOLS: Self = Self(1 << 1);
    /// `elicitation`, in form mode.
    pub const ELICITATION: Self = Self(1 << 2);
    /// `elicitation.url`.
    pub const ELICITATION_URL: Self = Self(1 << 3);
    /// `roots`.
    pub const ROOTS: Self = Self(1 << 4);
    /// `tasks.requests.sampling.createMessage`, which only 2025-11-25 has: no tool can need it in general.
    pub(crate) const SAMPLING_TASKS: Self = Self(1 << 5);
    /// `tasks.requests.elicitation.create`, likewise.
    pub(crate) const ELICITATION_TASKS: Self = Self(1 << 6);
    /// `sampling.context`, for what a sampling request includes of servers' context. Revisions before 2025-11-25 do not have it: there
    /// `sampling` is enough.
    pub const SAMPLING_CONTEXT: Self = Self(1 << 7);

    const NAMES: [(Self, &'static str); 8] = [
        (Self::SAMPLING, "sampling"),
        (Self::SAMPLING_TOOLS, "sampling.tools"),
        (Self::SAMPLING_CONTEXT, "sampling.context"),
        (Self::ELICITATION, "elicitation"),
        (Self::ELICITATION_URL, "elicitation.url"),
        (Self::ROOTS, "roots"),
        (
            Self::SAMPLING_TASKS,
            "tasks.requests.sampling.createMessage",
        ),
        (Self::ELICITATION_TASKS, "tasks.requests.elicitation.create"),
    ];

    /// What a client must have declared to be sent `method` with these `params`, as JSON text (Q-2, R-1, R-2). The method table
    /// names the capability of the method; some params need more.
    pub(crate) fn of_request(method: Method, params: &str) -> Self {
        #[derive(Default, Deserialize)]
        #[serde(default)]
        struct Asked<'a> {
            mode: Option<Cow<'a, str>>,
            tools: Option<IgnoredAny>,
            #[serde(rename = "toolChoice")]
            tool_choice: Option<IgnoredAny>,
        }
        let method = Self::of_method(method);
        if !matches!(method, Self::SAMPLING | Self::ELICITATION) {
            return method;
        }
        // Decoding reports malformed params.
        let asked: Asked<'_> = serde_json::from_str(params).unwrap_or_default();
        if method == Self::ELICITATION {
            return match asked.mode.as_deref() {
                Some("url") => Self::ELICITATION_URL,
                _ => Self::ELICITATION,
            };
        }
        match asked.tools.is_some() || asked.tool_choice.is_some() {
            true => Self::SAMPLING.and(Self::SAMPLING_TOOLS),
            false => Self::SAMPLING,
        }
    }

    /// What a client must have declared, beside that, to be asked to do `method` as a task, if these `params` ask for that
    /// (W-1).
    pub(crate) fn of_task(method: Method, revision: Revision, params: &str) -> Self {
        let need = match Self::of_method(method) {
            Self::SAMPLING => Self::SAMPLING_TASKS,
            Self::ELICITATION => Self::ELICITATION_TASKS,
            _ => return Self::NONE,
        };
        match asks_for_task(method, revision, params) {
            true => need,
            false => Self::NONE,
        }
    }

    /// What a client must have declared, beside that, to be sent `method` with these `params`, if they include the context of servers
    /// (Q-3). A client may ignore what it is asked to include, so that only servers are held to this.
    pub(crate) fn of_context(method: Method, revision: Revision, params: &str) -> Self {
        #[derive(Default, Deserialize)]
        #[serde(default)]
        struct Asked<'a> {
            #[serde(borrow, rename = "includeContext")]
            include_context: Option<Cow<'a, str>>,
        }
        let has_capability = || Self::SAMPLING_CONTEXT.unknown_at(revision).is_empty();
        if method != Method::CreateMessage || !has_capability() {
            return Self::NONE;
        }
        // Decoding reports malformed params.
        let asked: Asked<'_> = serde_json::from_str(params).unwrap_or_default();
        match asked.include_context.as_deref() {
            None | Some("none") => Self::NONE,
            Some(_) => Self::SAMPLING_CONTEXT,
        }
    }

    /// The capability of `method`, if a server may need it.
    fn of_method(method: Method) -> Self {
        let named = capability_of(method).and_then(|capability| {
            let named = Self::NAMES
                .into_iter()
                .find(|(_, name)| *name == capability);
            named.map(|(need, _)| need)
        });
        named.unwrap_or(Self::NONE)
    }

    /// Both.
    ///
    /// ```
    /// use trueform::RequiredCapabilities;
    ///
    /// const BOTH: RequiredCapabilities = RequiredCapabilities::ROOTS.and(RequiredCapabilities::SAMPLING);
    /// assert!(!BOTH.is_empty());
    /// ```
    #[must_use]
    pub const fn and(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    /// Whether nothing is needed.
    #[must_use]
    pub const fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// The capabilities, as the specification spells them.
    #[cfg(feature = "testing")]
    pub(crate) fn names(self) -> impl Iterator<Item = &'static str> {
        let needed = Self::NAMES
            .into_iter()
            .filter(move |(need, _)| self.0 & need.0 != 0);
        needed.map(|(_, name)| name)
    }

    /// What of it `capabilities` do not declare.
    pub(crate) fn missing_from(self, capabilities: &ClientCapabilities) -> Self {
        match self.is_empty() {
            true => self,
            false => self.missing_in(&shown(capabilities, View::ALL)),
        }
    }

    /// What of it no client of `revision` can declare.
    pub(crate) fn unknown_at(self, revision: Revision) -> Self {
        let declared = serde_json::from_value::<ClientCapabilities>(self.as_capabilities());
        let declared = declared.expect("it is written as an object of capabilities");
        self.missing_in(&shown(&declared, View::at(revision)))
    }

    /// What of it `declared`, a written capabilities object, does not declare.
    fn missing_in(self, declared: &Value) -> Self {
        let is_missing = |(need, name): &(Self, &'static str)| {
            if self.0 & need.0 == 0 {
                return false;
            }
            let is_declared = declares(declared, name);
            // R-1: an `elicitation` without modes means form mode.
            let other_mode_only = *need == Self::ELICITATION
                && declares(declared, "elicitation.url")
                && !declares(declared, "elicitation.form");
            !is_declared || other_mode_only
        };
        let missing = Self::NAMES.into_iter().filter(is_missing);
        missing.fold(Self::NONE, |missing, (need, _)| missing.and(need))
    }

    /// The `ClientCapabilities` object that would declare it (C-10).
    pub(crate) fn as_capabilities(self) -> Value {
        let mut capabilities = serde_json::Map::new();
        for (need, name) in Self::NAMES {
            if self.0 & need.0 == 0 {
                continue;
            }
            let mut names = name.split('.');
            let first = names.next().unwrap_or(name);
            let mut settings = capabilities.entry(first).or_insert_with(|| json!({}));
            for member in names {
                if settings.get(member).is_none() {
                    settings[member] = json!({});
                }
                settings = &mut settings[member];
            }
        }
        Value::Object(capabilities)
    }
}

/// Something that the client did not declare and a message of it needs.
pub(crate) struct Undeclared {
    /// Its name in messages.
    pub(crate) what: String,
    /// The `ClientCapabilities` object that would declare it.
    pub(crate) required: Value,
}

impl Undeclared {
    pub(crate) fn extension(identifier: &str) -> Self {
        Self {
            what: format!("`extensions[\"{identifier}\"]`"),
            required: json!({ "extensions": { identifier: {} } }),
        }
    }
}

impl From<RequiredCapabilities> for Undeclared {
    fn from(missing: RequiredCapabilities) -> Self {
        Self {
            what: missing.to_string(),
            required: missing.as_capabilities(),
        }
    }
}

/// Whether `declared`, a written capabilities object, has `capability`, as the method table names it: `tools`,
/// `resources.subscribe`.
pub(crate) fn declares(declared: &Value, capability: &str) -> bool {
    let found = capability
        .split('.')
        .try_fold(declared, |value, name| value.get(name));
    found.is_some_and(|value| *value != Value::Bool(false))
}

/// Whether `extensions`, the member of a capabilities object, names the extension `identifier` (C-14).
pub(crate) fn declares_extension(extensions: Option<&Map<JsonObject>>, identifier: &str) -> bool {
    extensions.is_some_and(|extensions| extensions.contains_key(identifier))
}

/// The capability that the side which answers `method` must have declared, at the newest revision that has the method.
pub(crate) fn capability_of(method: Method) -> Option<&'static str> {
    let mut revisions = Revision::ALL.into_iter().rev();
    revisions.find_map(|at| method.rules(at))?.capability
}

/// Whether the method with these `rules` is a request that a client may send. Notifications have no results.
pub(crate) fn is_request_of_client(rules: &Rules) -> bool {
    rules.direction.from_client() && !rules.results.is_empty()
}

/// Whether `params`, as JSON text, ask for a task, where `method` has tasks at `revision` (W-1).
pub(crate) fn asks_for_task(method: Method, revision: Revision, params: &str) -> bool {
    #[derive(Default, Deserialize)]
    #[serde(default)]
    struct Asked {
        task: Option<IgnoredAny>,
    }
    // Decoding reports malformed params.
    has_tasks(method, revision)
        && serde_json::from_str::<Asked>(params).is_ok_and(|asked| asked.task.is_some())
}

/// Whether a request of `method` may ask for a task at `revision` (W-1).
pub(crate) fn has_tasks(method: Method, revision: Revision) -> bool {
    let rules = method.rules(revision);
    rules.is_some_and(|rules| rules.results.contains(&"CreateTaskResult"))
}

impl fmt::Display for RequiredCapabilities {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut first = true;
        for (need, name) in Self::NAMES {
            if self.0 & need.0 != 0 {
                write!(f, "{}`{name}`", if first { "" } else { ", " })?;
                first = false;
            }
        }
        Ok(())
    }
}

impl fmt::Debug for RequiredCapabilities {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "RequiredCapabilities({self})")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    // C-10
    #[test]
    fn what_is_missing() {
        let needs = RequiredCapabilities::SAMPLING.and(RequiredCapabilities::ELICITATION_URL);
        let capabilities: ClientCapabilities =
            serde_json::from_str(r#"{"sampling":{},"elicitation":{}}"#).unwrap();
        let missing = needs.missing_from(&capabilities);
        assert_eq!(missing, RequiredCapabilities::ELICITATION_URL);
        assert_eq!(
            missing.as_capabilities(),
            json!({"elicitation": {"url": {}}})
        );
        assert_eq!(
            RequiredCapabilities::SAMPLING.as_capabilities(),
            json!({"sampling": {}})
        );
        assert!(
            RequiredCapabilities::ELICITATION
                .missing_from(&capabilities)
                .is_empty()
        );
    }

    // R-1, R-2
    #[test]
    fn what_a_revision_has() {
        let url = RequiredCapabilities::ELICITATION_URL;
        let both = url.and(RequiredCapabilities::SAMPLING);
        assert_eq!(both.unknown_at(Revision::V2025_06_18), url);
        assert!(both.unknown_at(Revision::V2025_11_25).is_empty());
        let form = RequiredCapabilities::ELICITATION;
        assert_eq!(form.unknown_at(Revision::V2025_03_26), form);
        assert!(form.unknown_at(Revision::V2025_06_18).is_empty());
    }

    // Q-3
    #[test]
    fn what_included_context_needs() {
        let at = |revision, context: &str| {
            let params = json!({ "includeContext": context, "maxTokens": 1, "messages": [] });
            RequiredCapabilities::of_context(Method::CreateMessage, revision, &params.to_string())
        };
        for (revision, context, needs) in [
            (Revision::V2024_11_05, "allServers", ""),
            (Revision::V2025_06_18, "thisServer", ""),
            (Revision::V2025_11_25, "none", ""),
            (Revision::V2025_11_25, "thisServer", "`sampling.context`"),
            (Revision::V2026_07_28, "allServers", "`sampling.context`"),
        ] {
            let found = at(revision, context).to_string();
            assert_eq!(found, needs, "{context} at {revision}");
        }
        let of = |method, params| {
            RequiredCapabilities::of_context(method, Revision::V2025_11_25, params)
        };
        assert!(of(Method::CreateMessage, "{}").is_empty());
        assert!(of(Method::Elicit, r#"{"includeContext":"allServers"}"#).is_empty());
    }

    // W-1
    #[test]
    fn what_a_task_needs() {
        let at = |revision, params| RequiredCapabilities::of_task(Method::Elicit, revision, params);
        let needs = at(Revision::V2025_11_25, r#"{"task":{}}"#);
        assert_eq!(needs, RequiredCapabilities::ELICITATION_TASKS);
        assert!(at(Revision::V2025_11_25, "{}").is_empty());
        assert!(at(Revision::V2026_07_28, r#"{"task":{}}"#).is_empty());
        let mut declared = needs.as_capabilities();
        assert_eq!(
            declared,
            json!({"tasks": {"requests": {"elicitation": {"create": {}}}}})
        );
        let capabilities = |declared: &Value| serde_json::from_value(declared.clone()).unwrap();
        assert!(needs.missing_from(&capabilities(&declared)).is_empty());
        declared["tasks"]["requests"] = json!({"sampling": {"createMessage": {}}});
        assert_eq!(needs.missing_from(&capabilities(&declared)), needs);
    }
}
