//! What the server said has changed: what is kept of its lists and resources is out of date from then on.

use std::sync::atomic::{AtomicU64, Ordering};

/// How often the server said of each kind of thing that it has changed.
#[derive(Debug, Default)]
pub(super) struct Changes {
    tools: AtomicU64,
    prompts: AtomicU64,
    resources: AtomicU64,
    contents: AtomicU64,
}

/// A kind of thing that changes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Changing {
    Tools,
    Prompts,
    /// Resources and templates of resources, as they are listed.
    Resources,
    /// What resources contain.
    Contents,
}

impl Changes {
    /// Notes a change.
    pub(super) fn note(&self, of: Changing) {
        self.count(of).fetch_add(1, Ordering::Relaxed);
    }

    /// A number that differs after each change.
    pub(super) fn version(&self, of: Changing) -> u64 {
        self.count(of).load(Ordering::Relaxed)
    }

    fn count(&self, of: Changing) -> &AtomicU64 {
        match of {
            Changing::Tools => &self.tools,
            Changing::Prompts => &self.prompts,
            Changing::Resources => &self.resources,
            Changing::Contents => &self.contents,
        }
    }
}
