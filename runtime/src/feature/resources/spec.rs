//! The builder that expansions call: the data of a resource or template before it is registered.

use std::time::Duration;

use trueform_schema::{Annotations, Role};

use super::{
    contents::ResourceOutput,
    draft::{DraftCode, ResourceDraft, Shown},
};
use crate::feature::{
    caching::Caching,
    completion::Completer,
    function::{Function, Handler, MethodReceiver},
    offered::{OfferedFacts, facts_methods},
};

/// A resource or template that is being built.
pub struct ResourceSpec {
    facts: OfferedFacts,
    uri: &'static str,
    mime_type: Option<&'static str>,
    size: Option<u64>,
    annotations: Option<Annotations>,
    ttl: Duration,
    is_public: bool,
    is_file_like: bool,
    completers: Vec<(&'static str, Completer)>,
    handler: Option<Handler<ResourceOutput>>,
}

facts_methods!(ResourceSpec);

/// Begins a resource, or a template if `uri` has a `{`, for the function `function` of `file`.
#[must_use]
pub fn resource(
    uri: &'static str,
    name: &'static str,
    description: &'static str,
    function: &'static str,
    file: &'static str,
    line: u32,
) -> ResourceSpec {
    ResourceSpec {
        facts: OfferedFacts::new(name, description, function, file, line),
        uri,
        mime_type: None,
        size: None,
        annotations: None,
        ttl: Duration::ZERO,
        is_public: false,
        is_file_like: false,
        completers: Vec::new(),
        handler: None,
    }
}

impl ResourceSpec {
    /// Sets the completer of the variable `name`.
    #[must_use]
    pub fn complete(mut self, name: &'static str, completer: Completer) -> Self {
        self.completers.push((name, completer));
        self
    }

    /// Sets the code.
    #[must_use]
    pub fn call(mut self, handler: Handler<ResourceOutput>) -> Self {
        self.handler = Some(handler);
        self
    }

    /// Sets the media type.
    #[must_use]
    pub fn mime_type(mut self, mime_type: &'static str) -> Self {
        self.mime_type = Some(mime_type);
        self
    }

    /// Sets the size in bytes.
    #[must_use]
    pub fn size(mut self, bytes: u64) -> Self {
        self.size = Some(bytes);
        self
    }

    /// Marks the content as meant for users.
    #[must_use]
    pub fn audience_user(self) -> Self {
        self.audience(Role::User)
    }

    /// Marks the content as meant for the model.
    #[must_use]
    pub fn audience_assistant(self) -> Self {
        self.audience(Role::Assistant)
    }

    fn audience(mut self, role: Role) -> Self {
        let annotations = self.annotations.get_or_insert_default();
        annotations.audience.get_or_insert_default().push(role);
        self
    }

    /// Sets the annotation `priority`.
    #[must_use]
    pub fn priority(mut self, priority: f64) -> Self {
        self.annotations.get_or_insert_default().priority = Some(priority);
        self
    }

    /// Sets the annotation `lastModified`.
    #[must_use]
    pub fn last_modified(mut self, time: &str) -> Self {
        let annotations = self.annotations.get_or_insert_default();
        annotations.last_modified = Some(time.to_owned());
        self
    }

    /// Sets how long the content may be cached, in milliseconds.
    #[must_use]
    pub fn ttl(mut self, milliseconds: u64) -> Self {
        self.ttl = Duration::from_millis(milliseconds);
        self
    }

    /// Allows all callers to share a cached copy.
    #[must_use]
    pub fn public(mut self) -> Self {
        self.is_public = true;
        self
    }

    /// Marks the values of the variables as paths that stay below a folder. This always applies to the scheme `file`.
    #[must_use]
    pub fn file_like(mut self) -> Self {
        self.is_file_like = true;
        self
    }

    /// Returns the resource before the server is built; `receiver` is the value whose method it is.
    pub(super) fn draft(mut self, receiver: &MethodReceiver) -> ResourceDraft {
        let mut input = std::mem::take(&mut self.facts.input).finish();
        let shown = Shown {
            uri: self.uri.to_owned(),
            name: self.facts.name.to_owned(),
            title: self.facts.title.map(str::to_owned),
            description: self.facts.description(),
            mime_type: self.mime_type.map(str::to_owned),
            size: self.size,
            annotations: self.annotations,
            icons: self.facts.take_icons(),
            meta: self.facts.take_meta(),
        };
        let completers = self.completers.into_iter();
        ResourceDraft {
            timeout: self.facts.timeout,
            needs: self.facts.needs,
            caching: match self.is_public {
                true => Caching::public(self.ttl),
                false => Caching::private(self.ttl),
            },
            is_file_like: self.is_file_like,
            states: std::mem::take(&mut input.states),
            forms: std::mem::take(&mut input.forms),
            completers: completers
                .map(|(name, completer)| (name.to_owned(), completer.bound(receiver)))
                .collect(),
            code: Some(DraftCode::Function {
                function: Function {
                    names: std::mem::take(&mut input.names),
                    handler: self.handler.expect("expansions end with `call`"),
                    receiver: receiver.clone(),
                },
                input: Box::new(input),
            }),
            ..ResourceDraft::new(shown, self.facts.place)
        }
    }
}
