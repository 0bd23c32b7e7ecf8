//! What a feature offers now, by name and as lists whose pages are checked and written once for each revision.
//!
//! A [`Listing`] never changes; changing what is offered makes the next one. Knows no peer and no transport.

mod places;

use std::{
    collections::HashMap,
    fmt::{self, Display},
    sync::{Arc, OnceLock, PoisonError, RwLock},
};

use trueform_schema::{
    Conform, ErrorObject, Method, Revision, Revisions, View, Violation, violations,
};

use self::places::{Mark, Place, Places, Words};
use super::{caching::Caching, form::Forms, visibility::Sight};
use crate::{
    error::Error,
    gate::{Checked, Policy},
    jsonrpc::{self, ErrorDetail},
};

/// Something that a list shows.
pub(crate) trait Item: Send + Sync + Sized + 'static {
    /// What one is called in messages, such as `tool`.
    const KIND: &'static str;
    /// How a message says what the items are called.
    const IDENTIFIED: &'static str = "are named";
    /// What one is looked up by: `name`, or `URI`.
    const KEY: &'static str = "name";
    /// The rule in the `data` of an error for a name that is not listed, such as `known-tool`.
    const RULE: &'static str;
    /// JSON pointer to the name in the params of the request that looks one up.
    const POINTER: &'static str;

    /// The method that answers with pages of the list.
    const METHOD: Method;
    /// Its result.
    type Page: Conform;
    /// What the list shows of an item.
    type Shown: Conform;

    /// The name that it is looked up by.
    fn name(&self) -> &str;

    /// Where it was written, for messages to the author.
    fn place(&self) -> &dyn Display;

    /// What its function asks clients for; `None` if nothing is known of that.
    fn forms(&self) -> Option<&Forms> {
        None
    }

    /// What the list shows of it, for `view`.
    fn shown(&self, view: View<'_>) -> Self::Shown;

    /// One page of the list.
    fn page(shown: Vec<Self::Shown>, next_cursor: Option<String>) -> Self::Page;

    /// Writes into `page` how long it may be kept. Does nothing for a list that no client keeps.
    fn cache(_page: &mut Self::Page, _caching: Caching) {}
}

/// One registered item.
#[derive(Debug)]
pub(crate) struct Entry<T> {
    pub(crate) item: Arc<T>,
    pub(crate) mark: Mark,
}

impl<T> Entry<T> {
    /// `item`, listed.
    pub(crate) fn new(item: T) -> Self {
        Self {
            item: Arc::new(item),
            mark: Mark::NEW,
        }
    }
}

impl<T> Clone for Entry<T> {
    fn clone(&self) -> Self {
        Self {
            item: self.item.clone(),
            mark: self.mark,
        }
    }
}

/// Which of `items` could not be listed at one of `revisions`, and why: a start error, never a broken list.
pub(crate) fn unlistable<'i, T: Item>(
    items: impl Iterator<Item = &'i T>,
    revisions: Revisions,
) -> Vec<String> {
    let mut problems = Vec::new();
    for item in items {
        let has_list = |at: &Revision| T::METHOD.rules(*at).is_some();
        for revision in revisions.iter().filter(has_list) {
            let found = violations(&item.shown(View::at(revision)), revision);
            add_unlistable(&mut problems, T::KIND, item.name(), item.place(), &found);
        }
    }
    problems
}

/// Says of the item `name` what a list of its kind cannot show of it.
fn add_unlistable(
    problems: &mut Vec<String>,
    kind: &str,
    name: &str,
    place: &dyn Display,
    found: &[Violation],
) {
    for violation in found {
        let revision = violation.revision();
        problems.push(format!(
            "{kind} `{name}` ({place}) cannot be listed at {revision}: {violation}"
        ));
    }
}

/// Says that a name is taken, with both places.
pub(crate) fn name_taken<T: Item>(name: &str, first: &dyn Display, second: &dyn Display) -> String {
    format!(
        "two {}s {} `{name}`: {first} and {second}",
        T::KIND,
        T::IDENTIFIED
    )
}

type Pages = Result<Vec<Checked>, ErrorObject>;

/// The items of a feature at one moment.
pub(crate) struct Listing<T> {
    entries: Vec<Entry<T>>,
    /// Where the entries stand.
    places: Places,
    page_size: usize,
    /// The same on every page (V-8).
    caching: Caching,
    /// Per revision, the pages of the list.
    pages: [OnceLock<Pages>; Revision::ALL.len()],
}

impl<T: Item> Listing<T> {
    const WORDS: Words = Words {
        kind: T::KIND,
        key: T::KEY,
        rule: T::RULE,
        method: T::METHOD,
    };

    /// A listing of `entries`, whose names differ.
    pub(crate) fn new(entries: Vec<Entry<T>>, page_size: usize) -> Self {
        let places = Places::new(placed(&entries));
        Self::at(entries, places, page_size.max(1), Caching::default())
    }

    /// A listing of `entries` at `places`.
    fn at(mut entries: Vec<Entry<T>>, places: Places, page_size: usize, caching: Caching) -> Self {
        for (entry, mark) in entries.iter_mut().zip(places.marks()) {
            entry.mark = mark;
        }
        Self {
            entries,
            places,
            page_size,
            caching,
            pages: Default::default(),
        }
    }

    pub(crate) fn entries(&self) -> &[Entry<T>] {
        &self.entries
    }

    /// The same listing with other entries, new ones at the end.
    pub(crate) fn with_entries(&self, entries: Vec<Entry<T>>) -> Self {
        let places = self.places.followed_by(placed(&entries));
        Self::at(entries, places, self.page_size, self.caching)
    }

    /// The items that are enabled, in order. A caller may see fewer of them.
    pub(crate) fn visible(&self) -> impl Iterator<Item = &Arc<T>> {
        self.entries
            .iter()
            .filter(|entry| entry.mark.enabled)
            .map(|entry| &entry.item)
    }

    /// The item that is listed as `name` for a caller with `sight`.
    pub(crate) fn get(&self, name: &str, sight: Option<&Sight<'_>>) -> Option<&Arc<T>> {
        let item = &self.entries[self.places.get(name)?].item;
        match sight {
            Some(sight) if !sees(sight, item) => None,
            _ => Some(item),
        }
    }

    /// Whether there is an item `name`, listed or hidden.
    pub(crate) fn has(&self, name: &str) -> bool {
        self.places.has(name)
    }

    /// Whether any item is disabled.
    pub(crate) fn has_disabled(&self) -> bool {
        self.places.has_disabled()
    }

    /// As [`get`](Self::get).
    ///
    /// # Errors
    /// -32602 with the names that the caller sees (I-5). The name of an item that is disabled, or that the caller does not see, is
    /// unknown.
    pub(crate) fn find(
        &self,
        name: &str,
        sight: Option<&Sight<'_>>,
    ) -> Result<&Arc<T>, ErrorObject> {
        self.find_at(name, T::POINTER, sight)
    }

    /// As [`find`](Self::find), where the name stands at `pointer` in the request.
    ///
    /// # Errors
    /// Those of [`find`](Self::find).
    pub(crate) fn find_at(
        &self,
        name: &str,
        pointer: &'static str,
        sight: Option<&Sight<'_>>,
    ) -> Result<&Arc<T>, ErrorObject> {
        self.get(name, sight)
            .ok_or_else(|| self.places.unknown(&Self::WORDS, name, pointer, sight))
    }

    /// The page that `cursor` asks for (P-1, P-3), as `view` shows it to a caller with `sight`. Without one the pages are written
    /// once, and copied from then on.
    ///
    /// # Errors
    /// -32602 for a cursor that this listing never gave out, or whose item the caller does not see. Of a cursor whose item is gone the
    /// page begins where the item stood.
    pub(crate) fn page(
        &self,
        cursor: Option<&str>,
        sight: Option<&Sight<'_>>,
        view: View<'_>,
        policy: Policy,
    ) -> Result<Checked, ErrorObject> {
        let entry = match cursor {
            None => 0,
            Some(cursor) => self
                .places
                .of_cursor(&Self::WORDS, cursor, sight)
                .ok_or_else(|| invalid_cursor(cursor))?,
        };
        if sight.is_some() {
            // Not kept: another caller may see something else (I-2).
            let seen = self.places.seen_from(entry, T::METHOD, sight);
            return self.write_page(&self.first(seen), view, policy);
        }
        let start = self.places.enabled_before(entry);
        if !start.is_multiple_of(self.page_size) {
            // A cursor from before the list changed: the page starts where no written one does.
            let enabled = self.places.enabled_from(entry);
            return self.write_page(&self.first(enabled), view, policy);
        }
        let revision = view.revision().unwrap_or(Revision::LATEST);
        let pages = self.pages[revision as usize].get_or_init(|| {
            let enabled: Vec<usize> = self.places.enabled_from(0).collect();
            let starts = (0..enabled.len().max(1)).step_by(self.page_size);
            starts
                .map(|start| self.write_page(&enabled[start..], view, policy))
                .collect()
        });
        match pages {
            Ok(pages) => Ok(pages[start / self.page_size].clone()),
            Err(error) => Err(error.clone()),
        }
    }

    /// As many of `items` as [`write_page`](Self::write_page) looks at.
    fn first(&self, items: impl Iterator<Item = usize>) -> Vec<usize> {
        items.take(self.page_size.saturating_add(1)).collect()
    }

    /// A page of the first of `items`, which stand at these places.
    fn write_page(
        &self,
        items: &[usize],
        view: View<'_>,
        policy: Policy,
    ) -> Result<Checked, ErrorObject> {
        let mut shown = Vec::with_capacity(items.len().min(self.page_size));
        for at in items.iter().take(self.page_size) {
            shown.push(self.entries[*at].item.shown(view));
        }
        let next = items.get(self.page_size);
        let next = next.map(|next| self.places.cursor(&Self::WORDS, *next));
        let mut page = T::page(shown, next);
        T::cache(&mut page, self.caching);
        Checked::new(&page, view, policy, T::METHOD.as_str())
    }
}

/// The places of `entries`, before they are in a list.
fn placed<T: Item>(entries: &[Entry<T>]) -> Vec<Place> {
    let place = |entry: &Entry<T>| Place {
        name: entry.item.name().into(),
        mark: entry.mark,
    };
    entries.iter().map(place).collect()
}

/// Whether a caller with `sight` sees `item`.
#[inline(never)]
pub(crate) fn sees<T: Item>(sight: &Sight<'_>, item: &Arc<T>) -> bool {
    sight.sees(T::METHOD, item.name())
}

fn invalid_cursor(cursor: &str) -> ErrorObject {
    let found = format!("string of {} bytes", cursor.len() + 2);
    let expected = "a cursor that this list gave out";
    let fault = ErrorDetail::new("/params/cursor", "cursor", expected, found);
    jsonrpc::invalid_params("invalid cursor", &fault)
}

impl<T: Item> fmt::Debug for Listing<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list()
            .entries(self.entries.iter().map(|entry| entry.item.name()))
            .finish()
    }
}

/// A listing that is replaced while the server runs.
#[derive(Debug)]
pub(crate) struct Listed<T: Item>(RwLock<Arc<Listing<T>>>);

impl<T: Item> Listed<T> {
    /// A list of `items`, whose names differ, in pages of `page_size`.
    pub(crate) fn new(items: Vec<T>, page_size: usize) -> Self {
        let entries = items.into_iter().map(Entry::new).collect();
        Self(RwLock::new(Arc::new(Listing::new(entries, page_size))))
    }

    /// The same list, whose pages may be kept as `caching` says.
    pub(crate) fn with_caching(self, caching: Caching) -> Self {
        let mut listing = self.0.write().unwrap_or_else(PoisonError::into_inner);
        let entries = listing.entries().to_vec();
        *listing = Arc::new(Listing {
            caching,
            ..listing.with_entries(entries)
        });
        drop(listing);
        self
    }

    /// The listing as it is now.
    pub(crate) fn now(&self) -> Arc<Listing<T>> {
        self.0
            .read()
            .unwrap_or_else(PoisonError::into_inner)
            .clone()
    }

    /// Replaces the entries if `change` says that it changed them; whether it did.
    ///
    /// # Errors
    /// Those of `change`; then nothing is replaced.
    pub(crate) fn change<E>(
        &self,
        change: impl FnOnce(&mut Vec<Entry<T>>) -> Result<bool, E>,
    ) -> Result<bool, E> {
        let mut listing = self.0.write().unwrap_or_else(PoisonError::into_inner);
        let mut entries = listing.entries().to_vec();
        let changed = change(&mut entries)?;
        if changed {
            *listing = Arc::new(listing.with_entries(entries));
        }
        Ok(changed)
    }

    /// Adds `items` at the end. Changes nothing if `problems` is not empty, or a name is taken.
    ///
    /// # Errors
    /// `problems`, and the names that are taken.
    pub(crate) fn add(&self, items: Vec<T>, mut problems: Vec<String>) -> Result<(), Error> {
        let added = self.change(|entries| {
            let mut places: HashMap<&str, &dyn Display> = HashMap::new();
            for entry in &*entries {
                places.insert(entry.item.name(), entry.item.place());
            }
            for item in &items {
                if let Some(first) = places.get(item.name()) {
                    problems.push(name_taken::<T>(item.name(), *first, item.place()));
                }
            }
            if !problems.is_empty() {
                return Err(Error::registration(problems));
            }
            let is_changed = !items.is_empty();
            entries.extend(items.into_iter().map(Entry::new));
            Ok(is_changed)
        });
        added.map(drop)
    }

    /// Removes the item `name`. Returns `false` if there is no such item.
    pub(crate) fn remove(&self, name: &str) -> bool {
        let removed = self.change(|entries| {
            let before = entries.len();
            entries.retain(|entry| entry.item.name() != name);
            Ok::<_, std::convert::Infallible>(entries.len() != before)
        });
        removed.unwrap_or_else(|never| match never {})
    }

    /// Lists the item `name`, or hides it. Returns `false` if there is no such item, or if it was so already.
    pub(crate) fn enable(&self, name: &str, enabled: bool) -> bool {
        let changed = self.change(|entries| {
            let entry = entries.iter_mut().find(|entry| entry.item.name() == name);
            let changed = entry.is_some_and(|entry| {
                std::mem::replace(&mut entry.mark.enabled, enabled) != enabled
            });
            Ok::<_, std::convert::Infallible>(changed)
        });
        changed.unwrap_or_else(|never| match never {})
    }
}

#[cfg(test)]
mod tests;
