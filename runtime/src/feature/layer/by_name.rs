//! A setting that may differ for calls of one name.

use std::collections::HashMap;

/// A setting for all calls, and different ones for calls of some names.
#[derive(Clone, Debug)]
pub(super) struct ByName<T> {
    all: Option<T>,
    named: HashMap<Box<str>, T>,
}

impl<T: Copy> ByName<T> {
    /// Creates a setting with `all` for each call; `None` for no setting.
    pub(super) fn new(all: Option<T>) -> Self {
        Self {
            all,
            named: HashMap::new(),
        }
    }

    /// Sets `own` for the calls of `name`. A second setting of one name replaces the first.
    pub(super) fn set(&mut self, name: String, own: T) {
        self.named.insert(name.into(), own);
    }

    /// Returns the place of a setting for which `is_unusable` holds: all calls, or the calls of the first such name in alphabetical order.
    pub(super) fn unusable(&self, is_unusable: impl Fn(T) -> bool) -> Option<String> {
        if self.all.is_some_and(&is_unusable) {
            return Some("all calls".to_owned());
        }
        let names = self.named.iter().filter(|(_, own)| is_unusable(**own));
        names
            .map(|(name, _)| name)
            .min()
            .map(|name| format!("`{name}`"))
    }

    /// Returns the setting for calls of `name`.
    pub(super) fn of(&self, name: &str) -> Option<T> {
        self.named.get(name).copied().or(self.all)
    }
}
