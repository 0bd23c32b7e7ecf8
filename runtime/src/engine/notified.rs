//! Notifications of clients: the generated dispatch selects the handler of each.

use std::sync::Arc;

use serde_json::value::RawValue;
use trueform_schema::{
    CancelledNotificationParams, ClientNotification, Method, NotificationParams, Revision,
    serve::server::{ServeNotifications, dispatch_notification},
};

use super::{Engine, route::Door, source::Source};
use crate::{
    drive::Reply,
    gate::{self, Claims},
    jsonrpc,
    peer::{Cancelled, Phase, Session},
};

/// The sender of a notification.
pub(crate) struct Notifier<'a> {
    /// `None` if it belongs to no session: then it has no effect (D-3).
    session: Option<&'a Arc<Session>>,
}

impl Engine {
    /// Handles a notification. None is ever answered; over HTTP, however, a refusal has a body.
    pub(super) fn notified(
        &self,
        source: &Source<'_>,
        name: &str,
        params: Option<&RawValue>,
        claims: &Claims<'_>,
    ) -> Reply {
        let door = match self.route_unanswered(source, claims.is_modern(), false) {
            Ok(door) => door,
            Err(refused) => return Self::not_taken(source, refused),
        };
        // For a notification that belongs to no session.
        let named = match claims.version() {
            Some(_) => claims.revision(),
            None => source.version_header().revision(),
        };
        let stateless = self
            .served_modern(named)
            .unwrap_or_else(|| self.newest_modern());
        let (session, revision) = match door {
            // In this era a client cancels by closing the response stream.
            Door::Stateless | Door::Opening => (None, stateless),
            Door::Session(session) => match session.phase() {
                Phase::Open { negotiated, .. } => (Some(session), negotiated.revision),
                // On a shared stream it may belong to the modern era, which has no handshake.
                Phase::Fresh
                    if source.is_stream()
                        && self.host.serves(stateless)
                        && !is_legacy_only(name, stateless) =>
                {
                    (Some(session), stateless)
                }
                Phase::Fresh | Phase::Closed => {
                    let method = &*jsonrpc::shortened(name);
                    tracing::debug!(
                        method,
                        "a notification outside of an open session was dropped"
                    );
                    return Reply::Silent;
                }
            },
        };
        let sent_by_clients = |method: &Method| {
            let rules = method.rules(revision).filter(|_| method.is_notification());
            rules.is_some_and(|rules| rules.direction.from_client())
        };
        let Some(method) = Method::from_wire(name).filter(sent_by_clients) else {
            if !self.host.serves(revision) {
                log_unknown(name, revision);
                return Reply::Silent;
            }
            return self.extension_notified(source, name, params, revision, session);
        };
        let decode = ClientNotification::decode;
        let incoming = self.host.settings.incoming;
        match incoming.message(method, revision, params, decode) {
            Ok((notification, _)) => {
                dispatch_notification(self, Notifier { session }, notification);
            }
            Err(error) => log_dropped(name, &error, params),
        }
        Reply::Silent
    }
}

/// Returns whether the core has the notification `name`, but not at the revision `modern`.
fn is_legacy_only(name: &str, modern: Revision) -> bool {
    Method::from_wire(name).is_some_and(|method| method.rules(modern).is_none())
}

/// Logs a notification that is malformed.
pub(super) fn log_dropped(
    name: &str,
    error: &trueform_schema::ErrorObject,
    params: Option<&RawValue>,
) {
    let params = params.map_or("", RawValue::get).as_bytes();
    tracing::debug!(
        method = &*jsonrpc::shortened(name),
        code = error.code,
        problem = &*error.message,
        params = %gate::Redacted(params),
        "a notification was dropped"
    );
}

/// Logs a notification that the revision does not have.
pub(super) fn log_unknown(name: &str, revision: Revision) {
    let method = &*jsonrpc::shortened(name);
    tracing::debug!(method, %revision, "an unknown notification was dropped");
}

impl ServeNotifications for Engine {
    type Cx<'a> = Notifier<'a>;

    fn ignored(&self, _: Notifier<'_>, method: Method) {
        tracing::debug!(%method, "notification ignored");
    }

    fn initialized(&self, cx: Notifier<'_>, _: Box<NotificationParams>) {
        match cx.session {
            Some(session) => session.confirm(),
            None => self.ignored(cx, Method::Initialized),
        }
    }

    /// O-2: cancellations of requests that are unknown or finished are ignored.
    fn cancelled(&self, cx: Notifier<'_>, params: Box<CancelledNotificationParams>) {
        let (Some(session), Some(id)) = (cx.session, &params.request_id) else {
            return self.ignored(cx, Method::Cancelled);
        };
        let id_shown = jsonrpc::ShortRequestId(id);
        match session.in_flight.cancel(id) {
            Cancelled::One => {
                let reason = params.reason.as_deref().map(str::len);
                tracing::debug!(id = %id_shown, reason, "cancelled by the client");
            }
            // DEC-1
            Cancelled::Ambiguous => {
                tracing::warn!(id = %id_shown, "a cancellation was ignored: several requests have its id");
            }
            Cancelled::Unknown => {}
        }
    }
}
