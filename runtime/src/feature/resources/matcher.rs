//! Finds the template of a URI.

use std::{borrow::Cow, sync::Arc};

use super::{items::TemplateResource, spelling::decoded_uri, template::Mismatch, trie::Trie};
use crate::feature::{
    listing::{Entry, Listing, sees},
    visibility::Sight,
};

/// Finds the template that a URI has the form of.
#[derive(Debug)]
pub(super) struct Matcher {
    pub(super) listing: Arc<Listing<TemplateResource>>,
    /// The more specific first, else in the order of the list.
    templates: Vec<Entry<TemplateResource>>,
    trie: Trie,
}

impl Matcher {
    pub(super) fn new(listing: Arc<Listing<TemplateResource>>) -> Self {
        let mut templates = listing.entries().to_vec();
        templates.sort_by_cached_key(|entry| entry.item.template.specificity());
        let prefixes = templates.iter().map(|entry| entry.item.template.prefix());
        Self {
            trie: Trie::new(prefixes),
            templates,
            listing,
        }
    }

    /// The template of `uri`, and the values of its variables or what is wrong with one of them. A URI whose template is disabled,
    /// or that a caller with `sight` does not see, has no template: another one does not stand in for it.
    pub(super) fn find(
        &self,
        uri: &str,
        sight: Option<&Sight<'_>>,
    ) -> Option<(&TemplateResource, Result<Vec<String>, Mismatch<'_>>)> {
        let (entry, values) = self.trie.candidates(uri).find_map(|at| {
            let entry = &self.templates[at];
            Some((entry, entry.item.template.values(uri)?))
        })?;
        if is_hidden(entry, sight) || self.hides(uri, sight) {
            return None;
        }
        let owned = |values: Vec<_>| values.into_iter().map(Cow::into_owned).collect();
        Some((&*entry.item, values.map(owned)))
    }

    /// Whether the template of `uri`, with what it encodes decoded, is one that a caller with `sight` does not see: its text can be
    /// written in many ways. Costs nothing if all see everything.
    fn hides(&self, uri: &str, sight: Option<&Sight<'_>>) -> bool {
        if sight.is_none() && !self.listing.has_disabled() {
            return false;
        }
        let Some(uri) = decoded_uri(uri) else {
            return false;
        };
        let mut meant = self.trie.candidates(&uri).map(|at| &self.templates[at]);
        let meant = meant.find(|entry| entry.item.template.values(&uri).is_some());
        meant.is_some_and(|entry| is_hidden(entry, sight))
    }
}

fn is_hidden(entry: &Entry<TemplateResource>, sight: Option<&Sight<'_>>) -> bool {
    !entry.mark.enabled || sight.is_some_and(|sight| !sees(sight, &entry.item))
}
