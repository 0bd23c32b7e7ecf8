//! A running `subscriptions/listen` (2026-07-28): the notifications it brings, and its end.

use std::{collections::HashSet, fmt, sync::Arc};

use trueform_schema::{DecodeError, SubscriptionFilter, methods};

use super::{
    Client, error::ClientError, link::PendingRequest, mailbox::Mailbox, notified::Notified,
};
use crate::gate::Policy;

/// Notifications that the client asked for. Dropping it ends the subscription.
///
/// At most 1,024 wait to be read, and 8 MiB of them; a reader that is slower loses the oldest, and the log says so.
pub struct Subscription {
    pending: PendingRequest,
    notified: Arc<Mailbox<Notified>>,
    asked: SubscriptionFilter,
    honoured: SubscriptionFilter,
    client: Client,
    /// How it ended, once the answer has come.
    end: Option<Result<(), ClientError>>,
    /// Whether all that came before the end was read.
    is_over: bool,
}

impl Subscription {
    /// What the server agreed to send, which is never more than the client asked for. If the server agrees to more, the rest is logged
    /// and left out, and so are the notifications about it, unless [`incoming`](super::ClientOptions::incoming) accepts them.
    // U-5
    #[must_use]
    pub fn honoured(&self) -> &SubscriptionFilter {
        &self.honoured
    }

    /// The next notification; `None` once the subscription is over: [`ended`](Self::ended) says how.
    ///
    /// ```
    /// # use trueform::prelude::*;
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// use trueform::schema::SubscriptionFilter;
    ///
    /// let service = Server::new("calc", "1.0.0").tools(tools![]).build()?;
    /// let client = service.connect().await?;
    /// let mut changes = client.listen(SubscriptionFilter::default()).await?;
    ///
    /// service.handle().shut_down();
    /// while let Some(change) = changes.next().await {
    ///     println!("{}", change.method());
    /// }
    /// // The server ended it; after a loss this is an error, and the client may connect and subscribe again.
    /// assert!(matches!(changes.ended(), Some(Ok(()))));
    /// # Ok(())
    /// # }
    /// ```
    pub async fn next(&mut self) -> Option<Notified> {
        loop {
            let notified = self.following().await?;
            if was_asked(&self.asked, &notified) || !self.refuses("notification") {
                return Some(notified);
            }
        }
    }

    /// How the subscription ended: `None` while it goes on, or what came before its end is still to be read; `Some(Ok(()))` if the
    /// server ended it. Otherwise it was lost, and changes may have been missed: the connection ended, or the server answered with an error.
    // U-7, U-8
    #[must_use]
    pub fn ended(&self) -> Option<Result<(), &ClientError>> {
        let end = self.end.as_ref().filter(|_| self.is_over)?;
        Some(end.as_ref().copied())
    }

    async fn following(&mut self) -> Option<Notified> {
        if self.end.is_none() {
            let answer = tokio::select! {
                biased;
                notified = self.notified.take() => match notified {
                    Some(notified) => return Some(notified),
                    // The connection has ended. The answer may have come before.
                    None => self.pending.answer.try_recv().ok(),
                },
                answer = &mut self.pending.answer => {
                    self.notified.close();
                    answer.ok()
                }
            };
            let end = answer.unwrap_or_else(|| Err(self.pending.link.wire.closed().into()));
            self.end = Some(end.map(|_| ()));
        }
        // What came before the end may still wait.
        let notified = self.notified.try_take();
        self.is_over = notified.is_none();
        notified
    }

    /// Whether what was not asked for is left out; the log reports it.
    fn refuses(&self, what: &str) -> bool {
        let policy = self.client.inner.link.gate.inbound.policy;
        let left_out = policy == Policy::Enforce;
        if policy != Policy::Off {
            tracing::warn!(id = %self.pending.id, what, left_out, "a subscription brings what was not asked for");
        }
        left_out
    }

    /// Waits for the acknowledgement, which comes before anything else (U-3).
    pub(super) async fn acknowledged(
        client: Client,
        mut pending: PendingRequest,
        notified: Arc<Mailbox<Notified>>,
        asked: SubscriptionFilter,
    ) -> Result<Self, ClientError> {
        let first = tokio::select! {
            biased;
            first = notified.take() => match first {
                Some(first) => Ok(first),
                // The connection has ended. The answer may have come before.
                None => Err(pending.answer.try_recv().ok()),
            },
            answer = &mut pending.answer => Err(answer.ok()),
        };
        let first = match first {
            Ok(first) => first,
            Err(answer) => {
                return Err(match answer {
                    Some(Err(error)) => error,
                    Some(Ok(_)) => {
                        let problem = "the server ended the subscription before it acknowledged it";
                        DecodeError::new("", problem).into()
                    }
                    None => pending.link.wire.closed().into(),
                });
            }
        };
        let Some(params) = first.get::<methods::SubscriptionsAcknowledged>()? else {
            let problem = format!(
                "`{}` before the subscription was acknowledged",
                first.method()
            );
            return Err(DecodeError::new("", problem).into());
        };
        let (honoured, all) = within(params.notifications.clone(), &asked);
        let mut subscription = Self {
            pending,
            notified,
            asked,
            honoured,
            client,
            end: None,
            is_over: false,
        };
        if !all && !subscription.refuses("acknowledgement") {
            subscription.honoured = params.notifications;
        }
        Ok(subscription)
    }
}

/// What of `honoured` was `asked` for, and whether that is all of it.
fn within(
    mut honoured: SubscriptionFilter,
    asked: &SubscriptionFilter,
) -> (SubscriptionFilter, bool) {
    let mut all = true;
    for (honoured, asked) in [
        (
            &mut honoured.prompts_list_changed,
            asked.prompts_list_changed,
        ),
        (
            &mut honoured.resources_list_changed,
            asked.resources_list_changed,
        ),
        (&mut honoured.tools_list_changed, asked.tools_list_changed),
    ] {
        if *honoured == Some(true) && asked != Some(true) {
            *honoured = None;
            all = false;
        }
    }
    if let Some(addresses) = &mut honoured.resource_subscriptions {
        let before = addresses.len();
        let asked: HashSet<&String> = asked.resource_subscriptions.iter().flatten().collect();
        addresses.retain(|address| asked.contains(address));
        all &= addresses.len() == before;
    }
    (honoured, all)
}

/// Whether `asked` has the kind of `notified`. What belongs to an extension is not known here and passes.
fn was_asked(asked: &SubscriptionFilter, notified: &Notified) -> bool {
    if notified.is::<methods::ToolListChanged>() {
        return asked.tools_list_changed == Some(true);
    }
    if notified.is::<methods::PromptListChanged>() {
        return asked.prompts_list_changed == Some(true);
    }
    if notified.is::<methods::ResourceListChanged>() {
        return asked.resources_list_changed == Some(true);
    }
    // What changed may be a part of what was asked for, with an address of its own.
    let addresses = asked.resource_subscriptions.as_deref().unwrap_or_default();
    !notified.is::<methods::ResourceUpdated>() || !addresses.is_empty()
}

impl fmt::Debug for Subscription {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Subscription")
            .field("id", &self.pending.id)
            .field("honoured", &self.honoured)
            .finish_non_exhaustive()
    }
}
