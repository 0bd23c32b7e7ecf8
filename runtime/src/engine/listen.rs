//! `subscriptions/listen`: a request that stays open and hears of changes until it is cancelled (U-1 to U-10).

use std::sync::{Arc, PoisonError, Weak};

use serde_json::value::RawValue;
use trueform_schema::{
    ErrorObject, Method, NotificationMetaObject, NotificationParams, RequestId, SubscriptionFilter,
    SubscriptionsAcknowledgedNotificationParams, SubscriptionsListenRequestParams,
    SubscriptionsListenResult, SubscriptionsListenResultMetaObject,
};

use super::{Answer, Engine, Reply, Running, Shared, Work, modern::Site, tools::Entered};
use crate::{
    context::Context,
    exchange::{Exchange, Outlet},
    jsonrpc,
};

/// Most subscriptions that one stdio link may have open. Over HTTP each is a request of its own, and counts as one.
pub const MAX_SUBSCRIPTIONS: usize = 64;

/// One open subscription.
#[derive(Debug)]
pub(crate) struct Listener {
    exchange: Weak<Exchange>,
    /// Whether it hears of changes to the list of tools.
    tools: bool,
}

impl Engine {
    pub(super) fn listen(
        &self,
        id: &RequestId,
        params: Option<&RawValue>,
        site: Site<'_>,
    ) -> Result<Reply, ErrorObject> {
        let mut params: SubscriptionsListenRequestParams =
            self.params(Method::SubscriptionsListen, params)?;
        let meta = Some(&mut params.meta);
        let exchange = self.modern_exchange(id, Method::SubscriptionsListen, meta, site)?;
        if let Some(session) = &exchange.session {
            let open = |listener: &&Listener| {
                let exchange = listener.exchange.upgrade();
                exchange.is_some_and(|exchange| {
                    exchange
                        .session
                        .as_ref()
                        .is_some_and(|other| Arc::ptr_eq(other, session))
                })
            };
            let listeners = self
                .listeners
                .lock()
                .unwrap_or_else(PoisonError::into_inner);
            if listeners.iter().filter(open).count() >= MAX_SUBSCRIPTIONS {
                return Err(jsonrpc::internal(format!(
                    "too many subscriptions are open: this server takes {MAX_SUBSCRIPTIONS} on one link"
                )));
            }
        }
        // U-3: what this server does not have is left out.
        let mut honoured = SubscriptionFilter::default();
        honoured.tools_list_changed = params
            .notifications
            .tools_list_changed
            .filter(|wanted| *wanted && self.offers("tools"));
        let listener = Listener {
            exchange: Arc::downgrade(&exchange),
            tools: honoured.tools_list_changed.is_some(),
        };
        let ticket = match self.enter(&exchange)? {
            Entered::Silently => return Ok(Reply::Silent),
            Entered::With(ticket) => ticket,
        };
        let acknowledged =
            SubscriptionsAcknowledgedNotificationParams::new(honoured).with_meta(meta_of(id));
        // Acknowledged before anything can be told, so that the acknowledgement comes first.
        if !exchange.notify(Method::SubscriptionsAcknowledged, &acknowledged) {
            return Err(jsonrpc::internal("too many messages wait for this client"));
        }
        let mut listeners = self
            .listeners
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        listeners.retain(|listener| listener.exchange.strong_count() > 0);
        listeners.push(listener);
        drop(listeners);
        let span = tracing::Span::current();
        Ok(Reply::Running(Box::new(Running::new(
            Context(exchange),
            Work::Listen,
            ticket,
            span,
        ))))
    }
}

impl Shared {
    // U-2, U-4
    pub(super) fn notify_listeners_of_tools(&self) {
        let listening: Vec<_> = {
            let listeners = self
                .listeners
                .lock()
                .unwrap_or_else(PoisonError::into_inner);
            listeners
                .iter()
                .filter(|listener| listener.tools)
                .filter_map(|listener| listener.exchange.upgrade())
                .collect()
        };
        for exchange in listening {
            let params = NotificationParams::default().with_meta(meta_of(&exchange.id));
            exchange.notify(Method::ToolListChanged, &params);
        }
    }
}

impl Running {
    /// The answer to a subscription that the server ends (U-7). On a shared link a cancelled notification follows it, for
    /// clients that wait for that instead (GAP-1).
    pub(crate) fn conclude_listen(&self) -> Option<Answer> {
        let exchange = self.exchange();
        if exchange.cancelled.is_fired() {
            return None;
        }
        let meta = SubscriptionsListenResultMetaObject::new(exchange.id.clone());
        let result = SubscriptionsListenResult::new(meta);
        let mut answer = Answer::result(&exchange.id, exchange.view(), |view, out| {
            trueform_schema::Encode::encode(&result, view, out)
        });
        if let Outlet::Link(_) = exchange.outlet {
            let mut params = trueform_schema::CancelledNotificationParams::default();
            params.request_id = Some(exchange.id.clone());
            answer.body.push(b'\n');
            jsonrpc::write_notification(
                Method::Cancelled.as_str(),
                Some(&params),
                exchange.view(),
                &mut answer.body,
            );
        }
        exchange.finish();
        Some(answer)
    }
}

fn meta_of(id: &RequestId) -> NotificationMetaObject {
    let mut meta = NotificationMetaObject::default();
    meta.subscription_id = Some(id.clone());
    meta
}
