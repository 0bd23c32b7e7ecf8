//! Which capabilities are declared, and which a request requires: the common logic of servers and clients.

use std::{borrow::Cow, fmt};

use serde::{Deserialize, de::IgnoredAny};
use serde_json::{Value, json};
use trueform_schema::{
    ClientCapabilities, JsonObject, Map, Method, Revision, View, methods::Rules,
};

use crate::gate::shown;

/// Client capabilities that a request requires.
///
/// They are checked before the tool runs. A modern client that did not declare them gets -32021, which lists them; a legacy client gets a
/// result with `isError`. A tool that can work without them does not name them, and checks
/// [`Context::client_capabilities`](crate::Context::client_capabilities) before it asks.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
pub struct RequiredCapabilities(u8);

impl RequiredCapabilities {
    /// No capability.
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
    /// `tasks.requests.sampling.createMessage`, which only 2025-11-25 has, so no tool can generally require it.
    pub(crate) const SAMPLING_TASKS: Self = Self(1 << 5);
    /// `tasks.requests.elicitation.create`, likewise.
    pub(crate) const ELICITATION_TASKS: Self = Self(1 << 6);
    /// `sampling.context`, for sampling requests that include context of servers. Revisions before 2025-11-25 do not have it: there,
    /// `sampling` is sufficient.
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

    /// Returns what a client must have declared before it can be sent `method` with these `params`, as JSON text (Q-2, R-1, R-2). The
    /// method table has the capability of the method; some params need more.
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

    /// Returns what a client must also have declared before it can be asked to run `method` as a task, if these `params` ask for this
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

    /// Returns what a client must also have declared before it can be sent `method` with these `params`, if they include the context of
    /// servers (Q-3). A client may ignore this request, so only servers are checked.
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

    /// Returns the capability of `method`, if a server may need it.
    fn of_method(method: Method) -> Self {
        let named = capability_of(method).and_then(|capability| {
            let named = Self::NAMES
                .into_iter()
                .find(|(_, name)| *name == capability);
            named.map(|(need, _)| need)
        });
        named.unwrap_or(Self::NONE)
    }

    /// Returns the capabilities of both.
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

    /// Returns whether no capability is required.
    #[must_use]
    pub const fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// Returns the names of the capabilities in the specification.
    #[cfg(feature = "testing")]
    pub(crate) fn names(self) -> impl Iterator<Item = &'static str> {
        let needed = Self::NAMES
            .into_iter()
            .filter(move |(need, _)| self.0 & need.0 != 0);
        needed.map(|(_, name)| name)
    }

    /// Returns the part that `capabilities` do not declare.
    pub(crate) fn missing_from(self, capabilities: &ClientCapabilities) -> Self {
        match self.is_empty() {
            true => self,
            false => self.missing_in(&shown(capabilities, View::ALL)),
        }
    }

    /// Returns the part that no client of `revision` can declare.
    pub(crate) fn unknown_at(self, revision: Revision) -> Self {
        let declared = serde_json::from_value::<ClientCapabilities>(self.as_capabilities());
        let declared = declared.expect("it is written as an object of capabilities");
        self.missing_in(&shown(&declared, View::at(revision)))
    }

    /// Returns the part that `declared`, a serialized capabilities object, does not declare.
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

    /// Returns the `ClientCapabilities` object that declares it (C-10).
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

/// Something that a message of the client needs and that the client did not declare.
pub(crate) struct Undeclared {
    /// Its name in messages.
    pub(crate) what: String,
    /// The `ClientCapabilities` object that declares it.
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

/// Returns whether `declared`, a serialized capabilities object, has `capability`, with a name from the method table: `tools`,
/// `resources.subscribe`.
pub(crate) fn declares(declared: &Value, capability: &str) -> bool {
    let found = capability
        .split('.')
        .try_fold(declared, |value, name| value.get(name));
    found.is_some_and(|value| *value != Value::Bool(false))
}

/// Returns whether `extensions`, the member of a capabilities object, names the extension `identifier` (C-14).
pub(crate) fn declares_extension(extensions: Option<&Map<JsonObject>>, identifier: &str) -> bool {
    extensions.is_some_and(|extensions| extensions.contains_key(identifier))
}

/// Returns the capability that the receiver of `method` must have declared, at the newest revision that has the method.
pub(crate) fn capability_of(method: Method) -> Option<&'static str> {
    let mut revisions = Revision::ALL.into_iter().rev();
    revisions.find_map(|at| method.rules(at))?.capability
}

/// Returns whether the method with these `rules` is a request that a client may send. Notifications have no results.
pub(crate) fn is_request_of_client(rules: &Rules) -> bool {
    rules.direction.from_client() && !rules.results.is_empty()
}

/// Returns whether `params`, as JSON text, ask for a task, if `method` has tasks at `revision` (W-1).
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

/// Returns whether a request of `method` may ask for a task at `revision` (W-1).
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
