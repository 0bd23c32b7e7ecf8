//! What tools, prompts and resources have in common: facts that authors state, and the checks of them when a server is built.

use std::{fmt::Display, time::Duration};

use serde::Serialize;
use trueform_schema::{
    ErrorObject, Icon, IconTheme, Json, Meta, ResultMetaObject, Revision, Revisions,
    parts::{Part, Parts},
};

use super::{
    callable::Timeout,
    function::{InputSchema, Place, RequiredState},
    tasks::TaskStart,
};
use crate::{
    exchange::Exchange,
    gate::{is_illegal_meta_key, is_meta_key, is_reserved},
    host::States,
    jsonrpc,
    needs::RequiredCapabilities,
};

/// What expansions state about a function before it is registered.
#[derive(Debug)]
pub(crate) struct OfferedFacts {
    pub(crate) name: &'static str,
    pub(crate) description: &'static str,
    pub(crate) place: Place,
    pub(crate) input: InputSchema,
    pub(crate) title: Option<&'static str>,
    pub(crate) icons: Vec<Icon>,
    pub(crate) meta: Meta,
    pub(crate) timeout: Option<Timeout>,
    pub(crate) needs: RequiredCapabilities,
}

impl OfferedFacts {
    /// Creates the facts about the function `function` of `file`.
    pub(crate) fn new(
        name: &'static str,
        description: &'static str,
        function: &'static str,
        file: &'static str,
        line: u32,
    ) -> Self {
        Self {
            name,
            description,
            place: Place::function(function, file, line),
            input: InputSchema::new(),
            title: None,
            icons: Vec::new(),
            meta: Meta::new(),
            timeout: None,
            needs: RequiredCapabilities::NONE,
        }
    }

    /// Returns the description, unless it is empty.
    pub(crate) fn description(&self) -> Option<String> {
        let description = self.description.trim();
        (!description.is_empty()).then(|| description.to_owned())
    }

    /// Returns the icons; `None` without icons.
    pub(crate) fn take_icons(&mut self) -> Option<Vec<Icon>> {
        Some(std::mem::take(&mut self.icons)).filter(|icons| !icons.is_empty())
    }

    /// Returns the members of `_meta`; `None` without members.
    pub(crate) fn take_meta(&mut self) -> Option<Meta> {
        Some(std::mem::take(&mut self.meta)).filter(|meta| !meta.is_empty())
    }
}

/// Creates an icon; `sizes` are separated by spaces.
pub(crate) fn icon(
    src: &str,
    mime_type: Option<&str>,
    sizes: Option<&str>,
    theme: Option<&str>,
) -> Icon {
    let mut icon = Icon::new(src);
    icon.mime_type = mime_type.map(str::to_owned);
    icon.sizes = sizes.map(|sizes| sizes.split_whitespace().map(str::to_owned).collect());
    icon.theme = theme.map(IconTheme::from);
    icon
}

/// Creates a timeout from milliseconds.
pub(crate) fn timeout(limit: u64, reset_by_progress: bool, hard_limit: Option<u64>) -> Timeout {
    Timeout {
        limit: Duration::from_millis(limit),
        reset_by_progress,
        hard_limit: hard_limit.map(Duration::from_millis),
    }
}

/// Defines the methods that set the [`OfferedFacts`] in the member `facts` of the builder `$spec`.
macro_rules! facts_methods {
    ($spec:ident) => {
        impl $spec {
            /// Adds a parameter.
            #[must_use]
            pub fn input(
                mut self,
                name: &'static str,
                description: &'static str,
                describe: fn(&mut $crate::feature::function::InputSchema),
            ) -> Self {
                self.facts.input.parameter(name, description, describe);
                self
            }

            /// The attribute `attribute` bounds the argument just added: its schema has something at one of `pointers`.
            #[must_use]
            pub fn constrained(
                mut self,
                attribute: &'static str,
                pointers: &'static [&'static str],
            ) -> Self {
                self.facts.input.constrained(attribute, pointers);
                self
            }

            /// Sets the title.
            #[must_use]
            pub fn title(mut self, title: &'static str) -> Self {
                self.facts.title = Some(title);
                self
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
                let icon = $crate::feature::offered::icon(src, mime_type, sizes, theme);
                self.facts.icons.push(icon);
                self
            }

            /// Adds a member to `_meta`.
            #[must_use]
            pub fn meta(
                mut self,
                key: &str,
                value: &dyn $crate::feature::offered::MetaValue,
            ) -> Self {
                self.facts.meta.insert(key, value.to_json());
                self
            }

            /// Sets the timeout, in milliseconds.
            #[must_use]
            pub fn timeout(
                mut self,
                limit: u64,
                reset_by_progress: bool,
                hard_limit: Option<u64>,
            ) -> Self {
                let timeout =
                    $crate::feature::offered::timeout(limit, reset_by_progress, hard_limit);
                self.facts.timeout = Some(timeout);
                self
            }

            /// Adds a form that the function asks clients for.
            #[must_use]
            pub fn asks(
                mut self,
                form: fn() -> Option<$crate::feature::form::macro_support::AskedForm>,
            ) -> Self {
                self.facts.input.asks(form);
                self
            }

            /// Adds required capabilities of the client.
            #[must_use]
            pub fn needs(mut self, needs: $crate::needs::RequiredCapabilities) -> Self {
                self.facts.needs = self.facts.needs.and(needs);
                self
            }
        }

        impl std::fmt::Debug for $spec {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.debug_struct(stringify!($spec))
                    .field("name", &self.facts.name)
                    .field("place", &self.facts.place)
                    .finish_non_exhaustive()
            }
        }
    };
}
pub(crate) use facts_methods;

/// A literal in `meta(…)`.
pub trait MetaValue {
    /// Returns the value as JSON.
    fn to_json(&self) -> Json;
}

impl<T: Serialize> MetaValue for T {
    fn to_json(&self) -> Json {
        Json::from_value(self).expect("a literal serialises")
    }
}

/// How messages to the author name a tool, prompt or resource.
#[derive(Clone, Copy)]
pub(crate) struct Named<'a> {
    /// The kind, such as `tool`.
    pub(crate) kind: &'static str,
    pub(crate) name: &'a str,
    pub(crate) place: &'a dyn Display,
}

impl Named<'_> {
    /// Returns the problems of `needed` states that are not registered.
    pub(crate) fn missing_states(
        self,
        needed: &[RequiredState],
        states: &States,
    ) -> impl Iterator<Item = String> {
        let Self { kind, name, place } = self;
        needed
            .iter()
            .filter(|needed| !states.contains_key(&needed.id))
            .map(move |needed| match TaskStart::is(needed) {
                true => format!(
                    "{kind} `{name}` ({place}) takes a `TaskStart`, and its calls never become tasks; mark a tool `#[tool(task = optional)]` or `#[tool(task = required)]`"
                ),
                false => format!(
                    "{kind} `{name}` ({place}) takes `State<{}>`, but no such value was registered; call `Server::state` with one of exactly that type: it needs no `Arc`",
                    needed.name
                ),
            })
    }

    /// Returns the problem with `needs`, if no client of a served revision can declare them.
    pub(crate) fn undeclarable(
        self,
        needs: RequiredCapabilities,
        revisions: Revisions,
    ) -> Option<String> {
        if needs.is_empty() {
            return None;
        }
        let newest_first = Revision::ALL.into_iter().rev();
        let served = newest_first.filter(|revision| revisions.contains(*revision));
        let mut unknown = served.map(|revision| needs.unknown_at(revision));
        let newest = unknown.next().filter(|unknown| !unknown.is_empty())?;
        let nowhere = unknown.all(|unknown| !unknown.is_empty());
        let Self { kind, name, place } = self;
        nowhere.then(|| {
            format!(
                "{kind} `{name}` ({place}) needs the client capability {newest}, which no client can declare at a revision that is served; serve one that has it"
            )
        })
    }

    /// Returns the problem of a time limit of zero: every call would be abandoned.
    pub(crate) fn no_time(self, timeout: Option<Timeout>) -> Option<String> {
        let Self { kind, name, place } = self;
        timeout.filter(|timeout| timeout.limit.is_zero()).map(|_| {
            format!("{kind} `{name}` ({place}): its `timeout` is zero; expected a longer time")
        })
    }

    /// Returns the keys of `meta` that are reserved or illegal (Z-10, Z-11).
    pub(crate) fn illegal_meta(self, meta: &Meta) -> impl Iterator<Item = String> {
        let Self { kind, name, place } = self;
        meta.keys().filter_map(move |key| {
            let problem = match (is_reserved(key), is_meta_key(key)) {
                (true, _) => "is reserved for the protocol",
                (false, false) => {
                    "is not a key: it has an optional prefix of dotted labels and `/`, then letters, digits, `-`, `_` and `.`"
                }
                (false, true) => return None,
            };
            Some(format!("`{key}` in the `_meta` of {kind} `{name}` ({place}) {problem}"))
        })
    }

    /// Adds the handler's members to the `_meta` of `result`, and checks all its keys (Z-10, Z-11).
    ///
    /// # Errors
    /// -32603 if a key is reserved or illegal. The log has the key.
    pub(crate) fn finish_meta<T: Parts>(
        self,
        exchange: &Exchange,
        result: &mut T,
        own: impl FnOnce(&mut T) -> &mut Option<ResultMetaObject>,
    ) -> Result<(), ErrorObject> {
        if let Some(meta) = exchange.take_result_meta() {
            let own = own(result).get_or_insert_default();
            for (key, value) in *meta {
                if own.extras().get(&key).is_none() {
                    own.extras_mut().insert(key, value);
                }
            }
        }
        let mut first = None;
        result.each_part(&mut |part| {
            if let Part::MetaKey(key) = part
                && first.is_none()
                && is_illegal_meta_key(key)
            {
                first = Some(key);
            }
        });
        match first {
            None => Ok(()),
            Some(key) => Err(self.illegal_key(key)),
        }
    }

    #[cold]
    fn illegal_key(self, key: &str) -> ErrorObject {
        let Self { kind, name, place } = self;
        tracing::error!(
            kind, name, %place, key,
            "a result whose `_meta` has a key that is reserved or illegal was held back"
        );
        jsonrpc::internal(format!(
            "{kind} `{name}` returned a result that cannot be sent"
        ))
    }
}
