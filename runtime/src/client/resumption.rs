//! Taking the rest of an answer over: from which event of a stream, and where the ids of further events are reported.

use std::{
    collections::HashMap,
    fmt,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use trueform_schema::{Era, RequestId, Revision};

use super::error::{ClientError, LocalError};
use crate::contained::contained;

/// Longest event id that is sent back, in bytes: 4 KiB. A stream with a longer one is not resumed.
pub(super) const MAX_EVENT_ID: usize = 4 << 10;

/// Called with the id of each event of a stream.
type OnToken = Box<dyn FnMut(&str) + Send>;

/// What one request does with event ids.
#[derive(Default)]
pub(super) struct Resumption {
    /// The event whose stream is resumed; the request is not sent then.
    from: Option<String>,
    report: Arc<Report>,
}

/// Where event ids are reported, for each time that a request is sent.
#[derive(Default)]
struct Report(Mutex<Option<OnToken>>);

impl Resumption {
    pub(super) fn resume_from(&mut self, token: String) {
        self.from = Some(token);
    }

    pub(super) fn on_token(&mut self, report: impl FnMut(&str) + Send + 'static) {
        *self.report.lock() = Some(Box::new(report));
    }

    /// The same for a request that is sent again.
    pub(super) fn again(&self) -> Self {
        Self {
            from: self.from.clone(),
            report: self.report.clone(),
        }
    }

    /// The event after which a stream is resumed.
    pub(super) fn event(&self) -> Option<&str> {
        self.from.as_deref()
    }

    /// Reports the id of an event whose message has been taken.
    pub(super) fn note(&self, token: &str) {
        // It is taken out while it runs, so one that panics is not called again.
        let report = self.report.lock().take();
        if let Some(mut report) = report {
            let report = contained("a callback for resumption tokens", move || {
                report(token);
                report
            });
            *self.report.lock() = report;
        }
    }
}

impl Report {
    fn lock(&self) -> MutexGuard<'_, Option<OnToken>> {
        // Nothing that can panic runs under the lock.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// What the callback holds belongs to the caller, and may panic when it is dropped.
impl Drop for Report {
    fn drop(&mut self) {
        let report = self.lock().take();
        contained("a callback for resumption tokens", move || drop(report));
    }
}

impl fmt::Debug for Resumption {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Resumption")
            .field("from", &self.from)
            .finish_non_exhaustive()
    }
}

/// Whether `id` can be sent back, as the value of a header.
pub(super) fn is_event_id(id: &[u8]) -> bool {
    (1..=MAX_EVENT_ID).contains(&id.len()) && !id.iter().any(u8::is_ascii_control)
}

/// The requests of a connection that resume a stream or report event ids, until the transport takes them.
#[derive(Debug, Default)]
pub(super) struct Resumptions(Mutex<Option<Kept>>);

type Kept = HashMap<RequestId, Arc<Resumption>>;

impl Resumptions {
    /// The transport has event ids, and takes what is kept here.
    pub(super) fn allow(&self) {
        self.lock().get_or_insert_default();
    }

    /// Keeps `resumption` for the request `id`, which is about to be sent at `revision`.
    ///
    /// # Errors
    /// The transport or the revision has no event ids, or the token cannot be one.
    pub(super) fn keep(
        &self,
        id: &RequestId,
        resumption: Resumption,
        revision: Revision,
    ) -> Result<(), ClientError> {
        let mut kept = self.lock();
        let Some(kept) = kept.as_mut() else {
            return Err(LocalError::NoResumption.into());
        };
        // G-12
        if revision.era() == Era::Modern {
            return Err(LocalError::Unavailable("the resumption of a request", revision).into());
        }
        if let Some(event) = resumption.event()
            && !is_event_id(event.as_bytes())
        {
            let problem = format!(
                "expected a resumption token of 1 to {MAX_EVENT_ID} bytes without control characters, found one of {} bytes",
                event.len()
            );
            return Err(LocalError::Encode(problem).into());
        }
        kept.insert(id.clone(), Arc::new(resumption));
        Ok(())
    }

    /// What is kept for the request `id`.
    pub(super) fn take(&self, id: &RequestId) -> Option<Arc<Resumption>> {
        self.lock().as_mut()?.remove(id)
    }

    fn lock(&self) -> MutexGuard<'_, Option<Kept>> {
        // Nothing that can panic runs under the lock.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
