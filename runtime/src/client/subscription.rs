//! A running `subscriptions/listen` (2026-07-28): the notifications it brings, and its end.

use std::fmt;

use tokio::sync::mpsc;
use trueform_schema::{SubscriptionFilter, methods};

use super::{
    Client,
    error::{ClientError, LocalError},
    link::Pending,
    notified::Notified,
};

/// Notifications that the client asked for. Dropping it ends the subscription.
pub struct Subscription {
    pub(super) pending: Pending,
    pub(super) notified: mpsc::UnboundedReceiver<Notified>,
    pub(super) honoured: SubscriptionFilter,
    /// Keeps the connection open.
    pub(super) _client: Client,
}

impl Subscription {
    /// What the server agreed to send: never more than was asked for.
    // U-5
    #[must_use]
    pub fn honoured(&self) -> &SubscriptionFilter {
        &self.honoured
    }

    /// The next notification; `None` once the subscription is over.
    pub async fn next(&mut self) -> Option<Notified> {
        tokio::select! {
            biased;
            notified = self.notified.recv() => notified,
            _ = &mut self.pending.answer => {
                self.pending.done();
                // What came before the end may still wait.
                self.notified.close();
                self.notified.recv().await
            }
        }
    }

    /// Waits for the acknowledgement, which comes before anything else (U-3).
    pub(super) async fn acknowledged(
        client: Client,
        mut pending: Pending,
        mut notified: mpsc::UnboundedReceiver<Notified>,
    ) -> Result<Self, ClientError> {
        tokio::select! {
            biased;
            first = notified.recv() => {
                let Some(first) = first else { return Err(LocalError::Closed.into()) };
                let Some(params) = first.get::<methods::SubscriptionsAcknowledged>()? else {
                    let problem = format!("`{}` before the subscription was acknowledged", first.method());
                    return Err(trueform_schema::DecodeError::new("", problem).into());
                };
                Ok(Self { pending, notified, honoured: params.notifications, _client: client })
            }
            answer = &mut pending.answer => {
                pending.done();
                match answer {
                    Ok(Err(error)) => Err(error),
                    Ok(Ok(_)) | Err(_) => Err(LocalError::Closed.into()),
                }
            }
        }
    }
}

impl fmt::Debug for Subscription {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Subscription")
            .field("id", &self.pending.id)
            .field("honoured", &self.honoured)
            .finish_non_exhaustive()
    }
}
