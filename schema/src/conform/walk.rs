//! One check of one value: the revision, the sink, and the checks that generated code calls.

use std::fmt;

use super::{Conform, Flow, Needs, Path, Rule, Sink, Violation, later};
use crate::{Extras, Json, JsonKind, Revision, Revisions, View, rewrite::Rewrite, support};

/// The check of a value against one revision.
pub struct Walk<'s> {
    revision: Revision,
    sink: &'s mut dyn Sink,
    /// Whether the value is to be judged as it came.
    is_incoming: bool,
    /// Whether what `_meta` lacks is added before the value is written.
    is_stamped: bool,
}

impl fmt::Debug for Walk<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Walk")
            .field("revision", &self.revision)
            .finish_non_exhaustive()
    }
}

impl<'s> Walk<'s> {
    /// A check against `revision` that reports to `sink`.
    pub fn new(revision: Revision, sink: &'s mut dyn Sink) -> Self {
        Self {
            revision,
            sink,
            is_incoming: false,
            is_stamped: false,
        }
    }

    /// A check of a value that came as one of `revision`: an alternative that the revision does not have is reported, also where it
    /// would be written as something else. With [`differences`](super::differences) this is all that the revision refuses.
    pub fn incoming(revision: Revision, sink: &'s mut dyn Sink) -> Self {
        Self {
            revision,
            sink,
            is_incoming: true,
            is_stamped: false,
        }
    }

    /// The same check for params to whose `_meta` the required members are added before they are written: neither the `_meta` of the whole
    /// value nor a member in it is reported as missing.
    ///
    /// ```
    /// use std::ops::ControlFlow;
    ///
    /// use trueform_schema::{
    ///     CallToolRequestParams, Conform, Revision, Violation, conform,
    ///     conform::{Path, Walk},
    /// };
    ///
    /// let params = CallToolRequestParams::new("add");
    /// let violation = conform(&params, Revision::V2026_07_28).unwrap_err();
    /// assert_eq!(violation.pointer(), "/_meta");
    ///
    /// let mut refuse = |_: Violation| ControlFlow::Break(());
    /// let mut walk = Walk::new(Revision::V2026_07_28, &mut refuse).stamped();
    /// assert!(params.conform(&mut walk, &Path::ROOT).is_continue());
    /// ```
    #[must_use]
    pub fn stamped(mut self) -> Self {
        self.is_stamped = true;
        self
    }

    /// The revision.
    #[must_use]
    pub const fn revision(&self) -> Revision {
        self.revision
    }

    /// Reports that `value`, `None` if missing, violates `rule`; `since` is the first later revision that allows it.
    #[cold]
    pub fn report(
        &mut self,
        path: &Path<'_>,
        rule: Rule,
        value: Option<&dyn Conform>,
        since: Option<Revision>,
    ) -> Flow {
        let found = value.map(|value| {
            let json = support::to_json(value, View::at(self.revision));
            (json.kind(), json.get().len())
        });
        self.report_found(path, rule, found, since)
    }

    /// Reports a violation that has no value of its own, such as an alternative.
    #[cold]
    pub(super) fn report_found(
        &mut self,
        path: &Path<'_>,
        rule: Rule,
        found: Option<(JsonKind, usize)>,
        since: Option<Revision>,
    ) -> Flow {
        self.sink.take(Violation {
            pointer: path.pointer(),
            rule,
            revision: self.revision,
            found,
            since,
        })
    }

    /// Begins the check of an object.
    pub fn object<'w, 'p>(&'w mut self, path: &'p Path<'p>) -> ObjectWalk<'w, 's, 'p> {
        ObjectWalk { walk: self, path }
    }

    /// Checks the type at `path`, which only `known` revisions have.
    pub fn available(&mut self, path: &Path<'_>, known: Revisions, value: &dyn Conform) -> Flow {
        match known.contains(self.revision) {
            true => Flow::Continue(()),
            false => self.report(
                path,
                Rule::Unavailable,
                Some(value),
                later(self.revision, known),
            ),
        }
    }

    /// Checks an alternative that only `known` revisions have.
    pub fn variant(&mut self, path: &Path<'_>, known: Revisions, value: &dyn Conform) -> Flow {
        match known.contains(self.revision) {
            true => value.conform(self, path),
            false => self.report(
                path,
                Rule::Unavailable,
                Some(value),
                later(self.revision, known),
            ),
        }
    }

    /// Checks an alternative that only `known` revisions have, and that others may see in a rewritten form.
    pub fn rewritten(&mut self, path: &Path<'_>, known: Revisions, value: &dyn Rewrite) -> Flow {
        let is_written = !known.contains(self.revision) && !self.is_incoming;
        match is_written && value.stands(self.revision) {
            true => value.conform_older(self, path),
            false => self.variant(path, known, value),
        }
    }

    /// Checks a list of alternatives that only `known` revisions have; at others a list of one is written as its item.
    pub fn many<T: Conform>(&mut self, path: &Path<'_>, known: Revisions, items: &Vec<T>) -> Flow {
        match items.as_slice() {
            [one] if !known.contains(self.revision) && !self.is_incoming => one.conform(self, path),
            _ => self.variant(path, known, items),
        }
    }

    /// Reports an alternative that no known revision has.
    #[cold]
    pub fn unknown(&mut self, path: &Path<'_>, json: &Json) -> Flow {
        self.report(path, Rule::Unknown, Some(json), None)
    }

    /// Checks a value of an enumeration, which only `known` revisions have; `known` is empty for an unknown value.
    pub fn value(&mut self, path: &Path<'_>, known: Revisions, value: &dyn Conform) -> Flow {
        if known.contains(self.revision) {
            return Flow::Continue(());
        }
        let rule = if known.is_empty() {
            Rule::Unknown
        } else {
            Rule::Unavailable
        };
        self.report(path, rule, Some(value), later(self.revision, known))
    }

    /// The first later revision of `known` in which `value` meets `needs`.
    pub(super) fn met_later(
        &self,
        known: Revisions,
        value: &dyn Conform,
        needs: &Needs,
    ) -> Option<Revision> {
        known
            .iter()
            .filter(|later| *later > self.revision)
            .find(|later| {
                let mut refuse = |_| Flow::Break(());
                value
                    .meets(needs, &mut Walk::new(*later, &mut refuse), &Path::ROOT)
                    .is_continue()
            })
    }
}

/// The check of an object, member by member.
#[derive(Debug)]
pub struct ObjectWalk<'w, 's, 'p> {
    walk: &'w mut Walk<'s>,
    path: &'p Path<'p>,
}

impl ObjectWalk<'_, '_, '_> {
    /// Checks the member `key`, which only `known` revisions have; at others it is not written.
    pub fn member(&mut self, key: &str, known: Revisions, value: &dyn Conform) -> Flow {
        match known.contains(self.walk.revision) {
            true => value.conform(self.walk, &self.path.key(key)),
            false => Flow::Continue(()),
        }
    }

    /// Checks a member whose place has constraints beyond its type.
    pub fn needing(
        &mut self,
        key: &str,
        known: Revisions,
        needs: &Needs,
        value: &dyn Conform,
    ) -> Flow {
        match known.contains(self.walk.revision) {
            true => value.meets(needs, self.walk, &self.path.key(key)),
            false => Flow::Continue(()),
        }
    }

    /// Checks that the optional member `key` is `there` if the revision is among `required`.
    pub fn required(&mut self, key: &str, required: Revisions, there: bool) -> Flow {
        let may_be_absent = there || !required.contains(self.walk.revision);
        if may_be_absent || (self.walk.is_stamped && self.path.key(key).is_in_meta()) {
            return Flow::Continue(());
        }
        let others = Revisions::from_bits(!required.bits());
        let since = later(self.walk.revision, others);
        self.walk
            .report(&self.path.key(key), Rule::Missing, None, since)
    }

    /// [`end`](Self::end) of an object that has no extra members at `closed` revisions, save those called like one of `open`.
    pub fn closed(self, closed: Revisions, extras: &Extras, known: &[&str], open: &[&str]) -> Flow {
        if closed.contains(self.walk.revision) {
            for (key, json) in extras.iter() {
                if !known.contains(&key) && !open.contains(&key) {
                    self.walk
                        .report(&self.path.key(key), Rule::Additional, Some(json), None)?;
                }
            }
        }
        self.end(extras, known)
    }

    /// Checks that no extra member has the name of a `known` one.
    pub fn end(self, extras: &Extras, known: &[&str]) -> Flow {
        if extras.is_empty() {
            return Flow::Continue(());
        }
        for (key, json) in extras.iter() {
            if known.contains(&key) {
                self.walk
                    .report(&self.path.key(key), Rule::Shadows, Some(json), None)?;
            }
        }
        Flow::Continue(())
    }
}
