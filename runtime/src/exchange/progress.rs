//! Progress of one request: it only rises, comes no faster than the server's limit allows, and its last report is not lost.

use std::{
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use tokio::{runtime::Handle, time::Instant};
use trueform_schema::{Method, ProgressNotificationParams, ProgressToken, methods::BoxFuture};

use super::{Exchange, Sent};
use crate::gate;

/// What was reported of one request.
#[derive(Debug)]
pub(super) struct Progress(Mutex<Reported>);

#[derive(Debug)]
struct Reported {
    /// The highest value, whether it was sent or is kept.
    highest: f64,
    /// The last value that was sent.
    sent: f64,
    /// When that was; only where reports are limited.
    at: Option<Instant>,
    /// The last report that came too soon. The next one replaces it; without a next one it is sent when it may be, and before the
    /// answer in any case.
    kept: Option<Box<Report>>,
    /// Whether a timer will send what is kept.
    has_timer: bool,
}

#[derive(Debug)]
struct Report {
    progress: f64,
    total: Option<f64>,
    message: Option<String>,
}

impl Progress {
    pub(super) const fn new() -> Self {
        Self(Mutex::new(Reported {
            highest: f64::NEG_INFINITY,
            sent: f64::NEG_INFINITY,
            at: None,
            kept: None,
            has_timer: false,
        }))
    }

    fn lock(&self) -> MutexGuard<'_, Reported> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Reported {
    /// How long the next report has to wait.
    fn wait(&self, interval: Duration) -> Option<Duration> {
        if interval.is_zero() {
            return None;
        }
        let wait = interval.checked_sub(self.at?.elapsed())?;
        (!wait.is_zero()).then_some(wait)
    }
}

impl Exchange {
    // N-1, N-2, N-3
    pub(crate) fn report_progress(
        self: &Arc<Self>,
        progress: f64,
        total: Option<f64>,
        message: Option<&str>,
    ) -> Sent<'_> {
        self.note_progress();
        let Some(token) = &self.caller.progress else {
            return Sent::nothing(self);
        };
        // Reports leave under the lock, so that none overtakes another.
        let mut reported = self.progress.lock();
        if !progress.is_finite() || progress <= reported.highest {
            return Sent::nothing(self);
        }
        reported.highest = progress;
        // The last report of all is worth sending however soon it comes.
        let done = total.is_some_and(|total| total <= progress);
        let interval = self.host.settings.progress_interval;
        if let Some(wait) = reported.wait(interval).filter(|_| !done) {
            let message = message.map(str::to_owned);
            let report = Report {
                progress,
                total,
                message,
            };
            reported.kept = Some(Box::new(report));
            self.start_timer(&mut reported, wait);
            return Sent::nothing(self);
        }
        reported.at = (!interval.is_zero()).then(Instant::now);
        reported.kept = None;
        self.send_report(&mut reported, token, progress, total, message)
    }

    fn send_report(
        self: &Arc<Self>,
        reported: &mut Reported,
        token: &ProgressToken,
        progress: f64,
        total: Option<f64>,
        message: Option<&str>,
    ) -> Sent<'_> {
        let is_first = reported.sent == f64::NEG_INFINITY;
        reported.sent = progress;
        let mut params = ProgressNotificationParams::new(progress, token.clone());
        params.total = total.filter(|total| total.is_finite());
        params.message = message.map(str::to_owned);
        params.meta = self.notification_meta();
        let kind = self.kind_of(Method::Progress);
        let subject = self.subject(&kind);
        let sent = self.sent(&kind, &params, Some(subject), Some(progress));
        // What the first report loses, the others lose too.
        if is_first && sent.was_sent() {
            gate::log_loss(&params, &params, self.revision(), Method::Progress.as_str());
        }
        sent
    }

    /// Sends the report that is kept, if one is.
    #[inline]
    pub(super) fn send_kept_progress(self: &Arc<Self>) {
        if self.host.settings.progress_interval.is_zero() || self.caller.progress.is_none() {
            return;
        }
        self.send_kept();
    }

    #[cold]
    fn send_kept(self: &Arc<Self>) {
        let Some(token) = &self.caller.progress else {
            return;
        };
        let mut reported = self.progress.lock();
        let Some(report) = reported.kept.take() else {
            return;
        };
        reported.at = Some(Instant::now());
        let Report {
            progress,
            total,
            message,
        } = *report;
        let sent = self.send_report(&mut reported, token, progress, total, message.as_deref());
        // Dropping it looks at what was reported.
        drop(reported);
        drop(sent);
    }

    /// Has what is kept sent in `wait`: a handler may report nothing more for long. One timer runs at a time.
    #[cold]
    fn start_timer(self: &Arc<Self>, reported: &mut Reported, wait: Duration) {
        if reported.has_timer {
            return;
        }
        let driver = self.runtime();
        // The driver sets its runtime after the first poll, which it makes in place.
        let Some(runtime) = driver.or_else(|| Handle::try_current().ok()) else {
            return;
        };
        reported.has_timer = true;
        let exchange = Arc::downgrade(self);
        // Boxed, so that a task of the runtime is compiled once for all futures of this type.
        let timer: BoxFuture<'static, ()> = Box::pin(async move {
            tokio::time::sleep(wait).await;
            if let Some(exchange) = exchange.upgrade() {
                exchange.progress.lock().has_timer = false;
                exchange.send_kept();
            }
        });
        runtime.spawn(timer);
    }

    /// The last progress that was sent.
    pub(super) fn progress_sent(&self) -> f64 {
        self.progress.lock().sent
    }
}
