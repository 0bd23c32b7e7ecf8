//! A setting that calls of one name may have apart from all others.

use std::collections::HashMap;

/// A setting for all calls, and others for those of some names.
#[derive(Clone, Debug)]
pub(super) struct ByName<T> {
    all: Option<T>,
    named: HashMap<Box<str>, T>,
}

impl<T: Copy> ByName<T> {
    /// `all` for each call; `None` for no setting.
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

    /// The setting for calls of `name`.
    pub(super) fn of(&self, name: &str) -> Option<T> {
        self.named.get(name).copied().or(self.all)
    }
}
