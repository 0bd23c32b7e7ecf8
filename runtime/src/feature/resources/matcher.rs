//! Finds the template of a URI.

use std::{borrow::Cow, sync::Arc};

use super::{items::TemplateResource, template::Mismatch, trie::Trie};
use crate::feature::{
    listing::{Listing, sees},
    visibility::Sight,
};

/// Finds the template that a URI has the form of.
#[derive(Debug)]
pub(super) struct Matcher {
    pub(super) listing: Arc<Listing<TemplateResource>>,
    /// Those that are listed, the more specific first, else in the order of the list.
    templates: Vec<Arc<TemplateResource>>,
    trie: Trie,
}

impl Matcher {
    pub(super) fn new(listing: Arc<Listing<TemplateResource>>) -> Self {
        let mut templates: Vec<_> = listing.visible().cloned().collect();
        templates.sort_by_cached_key(|resource| resource.template.specificity());
        Self {
            trie: Trie::new(templates.iter().map(|resource| resource.template.prefix())),
            templates,
            listing,
        }
    }

    /// The template of `uri` that a caller with `sight` sees, and the values of its variables or what is wrong with one of them.
    pub(super) fn find(
        &self,
        uri: &str,
        sight: Option<&Sight<'_>>,
    ) -> Option<(&TemplateResource, Result<Vec<String>, Mismatch<'_>>)> {
        self.trie.candidates(uri).find_map(|at| {
            let resource = &self.templates[at];
            if sight.is_some_and(|sight| !sees(sight, resource)) {
                return None;
            }
            let values = resource.template.values(uri)?;
            let owned = |values: Vec<_>| values.into_iter().map(Cow::into_owned).collect();
            Some((&**resource, values.map(owned)))
        })
    }
}
