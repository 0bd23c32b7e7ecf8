//! What a feature offers now, by name and as lists whose pages are checked and written once for each revision.
//!
//! A [`Listing`] never changes; changing what is offered makes the next one. Knows no peer and no transport.

use std::{
    collections::{HashMap, VecDeque},
    fmt::{self, Display},
    sync::{Arc, OnceLock, PoisonError, RwLock},
};

use base64::{Engine as _, engine::general_purpose::URL_SAFE_NO_PAD};
use trueform_schema::{Conform, ErrorObject, Method, Revision, Revisions, View, violations};

use super::{caching::Caching, form::Forms, visibility::Sight};
use crate::{
    check::did_you_mean,
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
    /// Grows in the order of the list and never changes; 0 before the item is in a list.
    order: u64,
    /// How many items of this name the list remembers from before: tells their cursors from those of this one.
    round: u32,
    /// Whether it is listed and can be looked up.
    pub(crate) enabled: bool,
}

impl<T> Entry<T> {
    /// `item`, listed.
    pub(crate) fn new(item: T) -> Self {
        Self {
            item: Arc::new(item),
            order: 0,
            round: 0,
            enabled: true,
        }
    }
}

impl<T> Clone for Entry<T> {
    fn clone(&self) -> Self {
        Self {
            item: self.item.clone(),
            order: self.order,
            round: self.round,
            enabled: self.enabled,
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
            let (kind, name, place) = (T::KIND, item.name(), item.place());
            problems.extend(found.iter().map(|violation| {
                format!("{kind} `{name}` ({place}) cannot be listed at {revision}: {violation}")
            }));
        }
    }
    problems
}

/// Says that a name is taken, with both places.
pub(crate) fn name_taken<T: Item>(name: &str, first: &dyn Display, second: &dyn Display) -> String {
    format!(
        "two {}s {} `{name}`: {first} and {second}",
        T::KIND,
        T::IDENTIFIED
    )
}

/// Most items that a list remembers after they were removed or disabled, for the cursors that lead to them. The oldest is forgotten
/// first.
const MAX_GONE: usize = 1024;

/// An item that was listed.
#[derive(Clone, Debug)]
struct Gone {
    name: Box<str>,
    order: u64,
    round: u32,
}

impl Gone {
    fn is(&self, name: &str, round: u32) -> bool {
        *self.name == *name && self.round == round
    }
}

type Pages = Result<Vec<Checked>, ErrorObject>;

/// The items of a feature at one moment.
pub(crate) struct Listing<T> {
    entries: Vec<Entry<T>>,
    by_name: HashMap<Box<str>, usize>,
    /// Where in the entries the disabled ones are, in order.
    disabled: Box<[usize]>,
    /// What was listed before, the oldest first.
    gone: VecDeque<Gone>,
    page_size: usize,
    /// The same on every page (V-8).
    caching: Caching,
    /// Per revision, the pages of the list.
    pages: [OnceLock<Pages>; Revision::ALL.len()],
}

impl<T: Item> Listing<T> {
    /// A listing of `entries`, whose names differ.
    pub(crate) fn new(mut entries: Vec<Entry<T>>, page_size: usize) -> Self {
        let mut last = entries.iter().map(|entry| entry.order).max().unwrap_or(0);
        for entry in entries.iter_mut().filter(|entry| entry.order == 0) {
            last += 1;
            entry.order = last;
        }
        let by_name = entries
            .iter()
            .enumerate()
            .map(|(at, entry)| (entry.item.name().into(), at))
            .collect();
        let is_disabled = |at: &usize| !entries[*at].enabled;
        Self {
            disabled: (0..entries.len()).filter(is_disabled).collect(),
            entries,
            by_name,
            gone: VecDeque::new(),
            page_size: page_size.max(1),
            caching: Caching::default(),
            pages: Default::default(),
        }
    }

    pub(crate) fn entries(&self) -> &[Entry<T>] {
        &self.entries
    }

    /// The same listing with other entries, new ones at the end.
    pub(crate) fn with_entries(&self, mut entries: Vec<Entry<T>>) -> Self {
        for entry in entries.iter_mut().filter(|entry| entry.order == 0) {
            let before = self
                .gone
                .iter()
                .rfind(|gone| *gone.name == *entry.item.name());
            entry.round = before.map_or(0, |gone| gone.round.wrapping_add(1));
        }
        let mut next = Self {
            caching: self.caching,
            ..Self::new(entries, self.page_size)
        };
        let was_listed = self.entries.iter().filter(|entry| entry.enabled);
        let gone = was_listed.filter(|entry| next.get(entry.item.name(), None).is_none());
        let gone = gone.map(|entry| Gone {
            name: entry.item.name().into(),
            order: entry.order,
            round: entry.round,
        });
        let gone: Vec<Gone> = gone.collect();
        // One that is disabled again and again takes one place.
        let before = self
            .gone
            .iter()
            .filter(|one| !gone.iter().any(|new| new.is(&one.name, one.round)));
        let mut all: VecDeque<Gone> = before.chain(&gone).cloned().collect();
        all.drain(..all.len().saturating_sub(MAX_GONE));
        next.gone = all;
        next
    }

    /// The items that are enabled, in order. A caller may see fewer of them.
    pub(crate) fn visible(&self) -> impl Iterator<Item = &Arc<T>> {
        self.entries
            .iter()
            .filter(|entry| entry.enabled)
            .map(|entry| &entry.item)
    }

    /// The item that is listed as `name` for a caller with `sight`.
    pub(crate) fn get(&self, name: &str, sight: Option<&Sight<'_>>) -> Option<&Arc<T>> {
        /// Up to here comparing names is cheaper than hashing one.
        const FEW: usize = 12;
        let entry = match self.entries.len() {
            ..=FEW => self.entries.iter().find(|entry| entry.item.name() == name),
            _ => self.by_name.get(name).map(|at| &self.entries[*at]),
        };
        let item = entry.filter(|entry| entry.enabled).map(|entry| &entry.item);
        match sight {
            None => item,
            Some(sight) => item.filter(|item| sees(sight, item)),
        }
    }

    /// Whether there is an item `name`, listed or hidden.
    pub(crate) fn has(&self, name: &str) -> bool {
        self.by_name.contains_key(name)
    }

    /// Whether any item is disabled.
    pub(crate) fn has_disabled(&self) -> bool {
        !self.disabled.is_empty()
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
            .ok_or_else(|| self.unknown(name, pointer, sight))
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
                .entry_of(cursor, sight)
                .ok_or_else(|| invalid_cursor(cursor))?,
        };
        if let Some(sight) = sight {
            return self.seen_page(entry, sight, view, policy);
        }
        // Among those that are enabled.
        let start = entry - self.disabled.partition_point(|at| *at < entry);
        if start % self.page_size != 0 {
            // A cursor from before the list changed: the page starts where no written one does.
            return self.write_page(self.enabled_from(entry), view, policy);
        }
        let revision = view.revision().unwrap_or(Revision::LATEST);
        let pages = self.pages[revision as usize].get_or_init(|| {
            let visible: Vec<_> = self.visible().collect();
            let starts = (0..visible.len().max(1)).step_by(self.page_size);
            starts
                .map(|start| self.write_page(visible[start..].iter().copied(), view, policy))
                .collect()
        });
        match pages {
            Ok(pages) => Ok(pages[start / self.page_size].clone()),
            Err(error) => Err(error.clone()),
        }
    }

    /// The page of what a caller sees, from the entry `entry` on. Not kept: another caller may see something else (I-2).
    #[cold]
    fn seen_page(
        &self,
        entry: usize,
        sight: &Sight<'_>,
        view: View<'_>,
        policy: Policy,
    ) -> Result<Checked, ErrorObject> {
        let seen = self.enabled_from(entry);
        let seen = seen.filter(|item| sees(sight, item));
        self.write_page(seen, view, policy)
    }

    /// A page of the first of `items`.
    fn write_page<'i>(
        &self,
        mut items: impl Iterator<Item = &'i Arc<T>>,
        view: View<'_>,
        policy: Policy,
    ) -> Result<Checked, ErrorObject> {
        let first = items.by_ref().take(self.page_size);
        let shown = first.map(|item| item.shown(view)).collect();
        let next = items.next().map(|next| self.cursor(next.name()));
        let mut page = T::page(shown, next);
        T::cache(&mut page, self.caching);
        Checked::new(&page, view, policy, T::METHOD.as_str())
    }

    /// The enabled items from the entry `entry` on.
    fn enabled_from(&self, entry: usize) -> impl Iterator<Item = &Arc<T>> {
        let enabled = self.entries[entry..].iter().filter(|entry| entry.enabled);
        enabled.map(|entry| &entry.item)
    }

    /// Where in the entries the item stands that `cursor` names, or stood; `None` if the caller does not see it.
    fn entry_of(&self, cursor: &str, sight: Option<&Sight<'_>>) -> Option<usize> {
        let text = String::from_utf8(URL_SAFE_NO_PAD.decode(cursor).ok()?).ok()?;
        let (round, name) = text.strip_prefix(T::KIND)?.split_once(':')?;
        let round = match round {
            "" => 0,
            round => round.strip_prefix('+')?.parse().ok()?,
        };
        if sight.is_some_and(|sight| !sight.sees(T::METHOD, name)) {
            return None;
        }
        let now = self.by_name.get(name).copied();
        if let Some(at) = now.filter(|at| self.entries[*at].round == round) {
            // One that is disabled: the page begins with what comes after it.
            let was_listed = || self.gone.iter().any(|gone| gone.is(name, round));
            return (self.entries[at].enabled || was_listed()).then_some(at);
        }
        // An item of that name that comes again is another one, at the end: what is between the two would be left out.
        let gone = self.gone.iter().rfind(|gone| gone.is(name, round))?;
        Some(
            self.entries
                .partition_point(|entry| entry.order < gone.order),
        )
    }

    /// The cursor of the page that begins with the listed item `name`. It has the kind of the items too, so that another list, which
    /// may have an item of the same name, refuses it (P-3).
    fn cursor(&self, name: &str) -> String {
        let entry = self.by_name.get(name).map(|at| &self.entries[*at]);
        let text = match entry.map_or(0, |entry| entry.round) {
            0 => format!("{}:{name}", T::KIND),
            round => format!("{}+{round}:{name}", T::KIND),
        };
        URL_SAFE_NO_PAD.encode(text)
    }

    #[cold]
    fn unknown(&self, name: &str, pointer: &'static str, sight: Option<&Sight<'_>>) -> ErrorObject {
        /// Most names that an error lists.
        const LISTED: usize = 20;
        let kind = T::KIND;
        let is_seen = |item: &&Arc<T>| sight.is_none_or(|sight| sees(sight, item));
        let seen = self.visible().filter(is_seen);
        let visible: Vec<&str> = seen.map(|item| item.name()).collect();
        let mut message = format!("unknown {kind} `{}`", jsonrpc::shortened(name));
        match did_you_mean(name, visible.iter().copied()) {
            Some(near) => message.push_str(&format!("; did you mean `{near}`?")),
            None if visible.is_empty() => {
                message.push_str(&format!("; this server has no {kind}s"));
            }
            None => {
                let listed: Vec<String> = visible
                    .iter()
                    .take(LISTED)
                    .map(|name| format!("`{name}`"))
                    .collect();
                message.push_str(&format!("; this server has {}", listed.join(", ")));
                if visible.len() > LISTED {
                    message.push_str(&format!(" and {} more", visible.len() - LISTED));
                }
            }
        }
        let found = format!("string of {} bytes", name.len() + 2);
        let fault = ErrorDetail::new(
            pointer,
            T::RULE,
            format!("the {} of a {kind}", T::KEY),
            found,
        );
        jsonrpc::invalid_params(message, &fault)
    }
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
            let changed = entry
                .is_some_and(|entry| std::mem::replace(&mut entry.enabled, enabled) != enabled);
            Ok::<_, std::convert::Infallible>(changed)
        });
        changed.unwrap_or_else(|never| match never {})
    }
}

#[cfg(test)]
mod tests;
