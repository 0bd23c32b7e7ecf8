//! Where the items of a list stand, by name. Apart from the items, so that it is compiled once for all kinds of them.

use std::{
    collections::{HashMap, VecDeque},
    sync::Arc,
};

use base64::{Engine as _, engine::general_purpose::URL_SAFE_NO_PAD};
use trueform_schema::{ErrorObject, Method};

use crate::{
    check::did_you_mean,
    feature::visibility::Sight,
    jsonrpc::{self, ErrorDetail},
};

/// How messages speak of the items of a list.
pub(super) struct Words {
    /// What one is called, such as `tool`.
    pub(super) kind: &'static str,
    /// What one is looked up by: `name`, or `URI`.
    pub(super) key: &'static str,
    /// The rule in the `data` of an error for a name that is not listed.
    pub(super) rule: &'static str,
    /// The method that answers with pages of the list.
    pub(super) method: Method,
}

/// What tells an item from others of its name, and whether it is listed.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Mark {
    /// Grows in the order of the list and never changes; 0 before the item is in a list.
    order: u64,
    /// How many items of this name the list remembers from before: tells their cursors from those of this one.
    round: u32,
    /// Whether it is listed and can be looked up.
    pub(crate) enabled: bool,
}

impl Mark {
    /// That of a listed item which is new.
    pub(super) const NEW: Self = Self {
        order: 0,
        round: 0,
        enabled: true,
    };
}

/// An item of the list, or one that was listed.
#[derive(Clone, Debug)]
pub(super) struct Place {
    pub(super) name: Arc<str>,
    pub(super) mark: Mark,
}

impl Place {
    fn is(&self, name: &str, round: u32) -> bool {
        *self.name == *name && self.mark.round == round
    }
}

/// Most items that a list remembers after they were removed or disabled, for the cursors that lead to them. The oldest is forgotten
/// first.
pub(super) const MAX_GONE: usize = 1024;

/// Where items stand, in the order of the list.
pub(super) struct Places {
    all: Vec<Place>,
    by_name: HashMap<Arc<str>, usize>,
    /// The disabled ones, in order.
    disabled: Box<[usize]>,
    /// What was listed before, the oldest first.
    pub(super) gone: VecDeque<Place>,
}

impl Places {
    /// Those of items whose names differ.
    pub(super) fn new(mut all: Vec<Place>) -> Self {
        let mut last = all.iter().map(|place| place.mark.order).max().unwrap_or(0);
        for place in all.iter_mut().filter(|place| place.mark.order == 0) {
            last += 1;
            place.mark.order = last;
        }
        let names = all.iter().enumerate();
        let is_disabled = |at: &usize| !all[*at].mark.enabled;
        Self {
            by_name: names.map(|(at, place)| (place.name.clone(), at)).collect(),
            disabled: (0..all.len()).filter(is_disabled).collect(),
            all,
            gone: VecDeque::new(),
        }
    }

    /// Those of other items, new ones at the end, which stand in place of these.
    pub(super) fn followed_by(&self, mut all: Vec<Place>) -> Self {
        for place in all.iter_mut().filter(|place| place.mark.order == 0) {
            let before = self.gone.iter().rfind(|gone| gone.name == place.name);
            place.mark.round = before.map_or(0, |gone| gone.mark.round.wrapping_add(1));
        }
        let mut next = Self::new(all);
        let was_listed = self.all.iter().filter(|place| place.mark.enabled);
        let gone = was_listed.filter(|place| next.get(&place.name).is_none());
        let gone: Vec<Place> = gone.cloned().collect();
        // One that is disabled again and again takes one place.
        let before = self.gone.iter();
        let before = before.filter(|one| !gone.iter().any(|new| new.is(&one.name, one.mark.round)));
        let mut all: VecDeque<Place> = before.chain(&gone).cloned().collect();
        all.drain(..all.len().saturating_sub(MAX_GONE));
        next.gone = all;
        next
    }

    /// The marks, in order.
    pub(super) fn marks(&self) -> impl Iterator<Item = Mark> {
        self.all.iter().map(|place| place.mark)
    }

    /// Where the enabled item `name` stands.
    pub(super) fn get(&self, name: &str) -> Option<usize> {
        /// Up to here comparing names is cheaper than hashing one.
        const FEW: usize = 12;
        let at = match self.all.len() {
            ..=FEW => self.all.iter().position(|place| *place.name == *name),
            _ => self.by_name.get(name).copied(),
        };
        at.filter(|at| self.all[*at].mark.enabled)
    }

    /// Whether there is an item `name`, listed or hidden.
    pub(super) fn has(&self, name: &str) -> bool {
        self.by_name.contains_key(name)
    }

    /// Whether any item is disabled.
    pub(super) fn has_disabled(&self) -> bool {
        !self.disabled.is_empty()
    }

    /// How many enabled items stand before `at`.
    pub(super) fn enabled_before(&self, at: usize) -> usize {
        at - self.disabled.partition_point(|disabled| *disabled < at)
    }

    /// Where the enabled items stand, from `at` on.
    pub(super) fn enabled_from(&self, at: usize) -> impl Iterator<Item = usize> {
        (at..self.all.len()).filter(|at| self.all[*at].mark.enabled)
    }

    /// Those of [`enabled_from`](Self::enabled_from) that a caller with `sight` sees in the list of `method`.
    pub(super) fn seen_from(
        &self,
        at: usize,
        method: Method,
        sight: Option<&Sight<'_>>,
    ) -> impl Iterator<Item = usize> {
        let is_seen = move |at: &usize| {
            let name = &self.all[*at].name;
            sight.is_none_or(|sight| sight.sees(method, name))
        };
        self.enabled_from(at).filter(is_seen)
    }

    /// Where the item stands that `cursor` names, or stood; `None` if the caller does not see it.
    pub(super) fn of_cursor(
        &self,
        words: &Words,
        cursor: &str,
        sight: Option<&Sight<'_>>,
    ) -> Option<usize> {
        let text = String::from_utf8(URL_SAFE_NO_PAD.decode(cursor).ok()?).ok()?;
        let (round, name) = text.strip_prefix(words.kind)?.split_once(':')?;
        let round = match round {
            "" => 0,
            round => round.strip_prefix('+')?.parse().ok()?,
        };
        if sight.is_some_and(|sight| !sight.sees(words.method, name)) {
            return None;
        }
        let now = self.by_name.get(name).copied();
        if let Some(at) = now.filter(|at| self.all[*at].mark.round == round) {
            // One that is disabled: the page begins with what comes after it.
            let was_listed = || self.gone.iter().any(|gone| gone.is(name, round));
            return (self.all[at].mark.enabled || was_listed()).then_some(at);
        }
        // An item of that name that comes again is another one, at the end: what is between the two would be left out.
        let gone = self.gone.iter().rfind(|gone| gone.is(name, round))?;
        let is_before = |place: &Place| place.mark.order < gone.mark.order;
        Some(self.all.partition_point(is_before))
    }

    /// The cursor of the page that begins with the item at `at`. It has the kind of the items too, so that another list, which may
    /// have an item of the same name, refuses it (P-3).
    pub(super) fn cursor(&self, words: &Words, at: usize) -> String {
        let Place { name, mark } = &self.all[at];
        let text = match mark.round {
            0 => format!("{}:{name}", words.kind),
            round => format!("{}+{round}:{name}", words.kind),
        };
        URL_SAFE_NO_PAD.encode(text)
    }

    /// The error for `name`, which stands at `pointer` in a request and which a caller with `sight` does not find.
    #[cold]
    pub(super) fn unknown(
        &self,
        words: &Words,
        name: &str,
        pointer: &'static str,
        sight: Option<&Sight<'_>>,
    ) -> ErrorObject {
        /// Most names that an error lists.
        const LISTED: usize = 20;
        let kind = words.kind;
        let seen = self.seen_from(0, words.method, sight);
        let visible: Vec<&str> = seen.map(|at| &*self.all[at].name).collect();
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
            words.rule,
            format!("the {} of a {kind}", words.key),
            found,
        );
        jsonrpc::invalid_params(message, &fault)
    }
}
