//! The items of the two lists of resources.

use std::{fmt::Display, sync::Arc};

use trueform_schema::{
    ListResourceTemplatesResult, ListResourcesResult, Method, Resource, ResourceTemplate, View,
};

use super::{
    reading::{POINTER, Reader},
    template::Template,
};
use crate::feature::{caching::Caching, form::Forms, listing::Item};

/// A resource with its own URI.
#[derive(Debug)]
pub(crate) struct StaticResource {
    pub(super) shown: Resource,
    pub(super) reader: Arc<Reader>,
}

/// The resources whose URIs match a template.
#[derive(Debug)]
pub(crate) struct TemplateResource {
    pub(super) shown: ResourceTemplate,
    pub(super) template: Template,
    pub(super) reader: Arc<Reader>,
}

#[cfg(feature = "testing")]
impl StaticResource {
    /// Returns the required capabilities of the client.
    pub(crate) fn needs(&self) -> crate::needs::RequiredCapabilities {
        self.reader.needs
    }
}

#[cfg(feature = "testing")]
impl TemplateResource {
    /// Returns the required capabilities of the client.
    pub(crate) fn needs(&self) -> crate::needs::RequiredCapabilities {
        self.reader.needs
    }
}

impl TemplateResource {
    /// Returns whether a variable has a completer.
    pub(super) fn completes(&self) -> bool {
        self.reader.completers.iter().any(Option::is_some)
    }
}

impl Item for StaticResource {
    const KIND: &'static str = "resource";
    const IDENTIFIED: &'static str = "have the URI";
    const KEY: &'static str = "URI";
    const RULE: &'static str = "known-resource";
    const POINTER: &'static str = POINTER;
    const METHOD: Method = Method::ListResources;
    type Page = ListResourcesResult;
    type Shown = Resource;

    fn name(&self) -> &str {
        &self.reader.uri
    }

    fn place(&self) -> &dyn Display {
        &self.reader.place
    }

    fn forms(&self) -> Option<&Forms> {
        Some(&self.reader.forms)
    }

    fn shown(&self, _: View<'_>) -> Resource {
        self.shown.clone()
    }

    fn page(shown: Vec<Resource>, next_cursor: Option<String>) -> ListResourcesResult {
        let mut result = ListResourcesResult::new(shown);
        result.next_cursor = next_cursor;
        result
    }

    fn cache(page: &mut ListResourcesResult, caching: Caching) {
        if let Some((ttl, scope)) = caching.members() {
            (page.ttl_ms, page.cache_scope) = (Some(ttl), Some(scope));
        }
    }
}

impl Item for TemplateResource {
    const KIND: &'static str = "resource template";
    const IDENTIFIED: &'static str = "have the URI template";
    const KEY: &'static str = "URI template";
    const RULE: &'static str = "known-resource-template";
    const POINTER: &'static str = POINTER;
    const METHOD: Method = Method::ListResourceTemplates;
    type Page = ListResourceTemplatesResult;
    type Shown = ResourceTemplate;

    fn name(&self) -> &str {
        &self.reader.uri
    }

    fn place(&self) -> &dyn Display {
        &self.reader.place
    }

    fn forms(&self) -> Option<&Forms> {
        Some(&self.reader.forms)
    }

    fn shown(&self, _: View<'_>) -> ResourceTemplate {
        self.shown.clone()
    }

    fn page(
        shown: Vec<ResourceTemplate>,
        next_cursor: Option<String>,
    ) -> ListResourceTemplatesResult {
        let mut result = ListResourceTemplatesResult::new(shown);
        result.next_cursor = next_cursor;
        result
    }

    fn cache(page: &mut ListResourceTemplatesResult, caching: Caching) {
        if let Some((ttl, scope)) = caching.members() {
            (page.ttl_ms, page.cache_scope) = (Some(ttl), Some(scope));
        }
    }
}
