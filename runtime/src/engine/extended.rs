//! Requests and notifications that are not in the core at a revision. An extension may define them.

use std::sync::Arc;

use serde_json::value::RawValue;
use trueform_schema::{
    DecodeError, Encode, ErrorObject, RequestId, RequestMetaObject, Revision, View, decode,
};

use super::{
    Engine,
    admit::{Admitted, Entered, Received, check_log_level},
    notified::{log_dropped, log_unknown},
    route::RefusedMessage,
    source::Source,
};
use crate::{
    drive::Reply,
    exchange::Exchange,
    feature::{extension::ExtensionParams, job::Capacity},
    gate::{Claims, Inbound, Stage},
    jsonrpc::{self, ErrorDetail},
    peer::{Caller, Phase, Session},
};

impl Engine {
    /// Answers a method that is not in the core at the revision, if an extension defines it.
    #[cold]
    pub(super) fn extended(
        &self,
        received: &Received<'_>,
        claims: &Claims<'_>,
        entered: Entered,
    ) -> Result<Reply, RefusedMessage> {
        let (name, revision) = (received.method, entered.revision);
        let reread = reread(claims);
        let params = received.params.or(reread.as_deref());
        let refuse = |error| RefusedMessage::at(Stage::Call(revision.era()), Some(revision), error);
        let incoming = self.host.settings.incoming;
        let (mut meta, fault) = match request_meta(name, revision, params, incoming) {
            Ok(meta) => (meta, None),
            Err(error) => (None, Some(error)),
        };
        let unfit;
        let declared = match (&entered.negotiated, &meta) {
            (Some(negotiated), _) => Some(&negotiated.facts.capabilities),
            (None, Some(meta)) => meta.client_capabilities.as_ref(),
            // The capability comes before the `_meta` (GAP-2).
            (None, None) => {
                unfit = claims.capabilities();
                unfit.as_deref()
            }
        };
        let sent = ExtensionParams {
            params,
            declared,
            fault,
        };
        let found = self
            .features
            .extensions
            .request(name, revision, sent, incoming);
        let Some(request) = found else {
            return Err(refuse(jsonrpc::method_not_found(
                name,
                &format!("is unknown at {revision}"),
            )));
        };
        let request = request.map_err(refuse)?;
        let mut admitted = Admitted::new(received, request.method, entered);
        let exchange = admitted.exchange(self, meta.as_mut());
        let called = request.call(
            exchange,
            &self.conditions(received.source, received.message),
        );
        Ok(self.called(received.id, revision, called))
    }

    /// Handles a notification that is not in the core at `revision`, if an extension defines it.
    #[cold]
    pub(super) fn extension_notified(
        &self,
        source: &Source<'_>,
        name: &str,
        params: Option<&RawValue>,
        revision: Revision,
        session: Option<&Arc<Session>>,
    ) -> Reply {
        let incoming = self.host.settings.incoming;
        let open = session.and_then(|session| match session.phase() {
            Phase::Open { negotiated, .. } => Some((session, negotiated)),
            Phase::Fresh | Phase::Closed => None,
        });
        let declared = open.as_ref().map(|(_, open)| &open.facts.capabilities);
        let found = self
            .features
            .extensions
            .notification(name, revision, params, declared, incoming);
        let notification = match found {
            Some(Ok(notification)) => notification,
            Some(Err(error)) => {
                log_dropped(name, &error, params);
                return Reply::Silent;
            }
            None => {
                log_unknown(name, revision);
                return Reply::Silent;
            }
        };
        let meta = request_meta(name, revision, params, incoming);
        let mut meta = match meta {
            Ok(meta) => meta,
            Err(error) => {
                log_dropped(name, &error, params);
                return Reply::Silent;
            }
        };
        if let Some(meta) = &mut meta {
            // Progress and log messages must precede a response, and a notification has none.
            (meta.progress_token, meta.log_level) = (None, None);
        }
        if let Some(Err(refusal)) = source.capacity().map(Capacity::call) {
            let refused = RefusedMessage::turned_away(&refusal, revision);
            return Self::not_taken(source, refused);
        }
        let caller = match &open {
            Some((session, negotiated)) => Caller::in_session(session, negotiated, meta.as_mut()),
            None => Caller::stateless(revision, meta.as_mut()),
        };
        let exchange = Exchange::new(
            self.host_ref(),
            // A notification has no id; nothing is ever sent with this one.
            RequestId::Integer(0),
            notification.method,
            caller,
            session.cloned(),
            source.transport(),
            source.sink(),
        );
        if !source.is_stream() {
            // A notification over HTTP is answered by a status, so nothing can be sent along with it.
            exchange.finish();
        }
        Reply::Background(notification.begin(exchange))
    }
}

/// Returns the text of params that were decoded as those of a core method, for an extension that has a method of that name at a revision
/// whose core does not have it. `None` if they were not decoded: then the request still has their text.
pub(super) fn reread(claims: &Claims<'_>) -> Option<Box<RawValue>> {
    let quick;
    let request = match claims {
        Claims::Decoded(request) => request,
        Claims::Quick(request) => {
            quick = request.to_request();
            &quick
        }
        Claims::Undecoded(_) => return None,
    };
    let mut text = Vec::new();
    request.encode(View::ALL, &mut text);
    Some(serde_json::from_slice(&text).expect("what is encoded is JSON"))
}

/// Returns the `_meta` of the params of `method`, which no core type describes, as `revision` allows it. `None` if the params have no
/// `_meta`.
///
/// # Errors
/// -32602 for a malformed `_meta`.
fn request_meta(
    method: &str,
    revision: Revision,
    params: Option<&RawValue>,
    incoming: Inbound,
) -> Result<Option<RequestMetaObject>, ErrorObject> {
    #[derive(serde::Deserialize)]
    struct Params<'a> {
        #[serde(default, rename = "_meta", borrow)]
        meta: Option<&'a RawValue>,
    }
    // Serde would read an array as the members in their order.
    if let Some(params) = params.filter(|params| !params.get().starts_with('{')) {
        let found = jsonrpc::described(params.get());
        let fault = ErrorDetail::new("/params", "type", "an object", found);
        return Err(jsonrpc::params_error(method, &fault));
    }
    let read = |text| decode::from_str::<Params<'_>>(text).map(|params| params.meta);
    let found = params.map_or(Ok(None), |params| read(params.get()));
    let text = found.map_err(|error| unfit(method, &error, "/params"))?;
    let Some(text) = text.map(RawValue::get) else {
        return Ok(None);
    };
    let prefix = "/params/_meta";
    let (meta, shorter): (RequestMetaObject, _) = incoming
        .decode(text, prefix, method, revision, |text| {
            decode::from_str(text)
        })
        .map_err(|fault| jsonrpc::params_error(method, &fault))?;
    incoming.check_meta(&meta, method, revision, shorter.as_deref().unwrap_or(text))?;
    check_log_level(&meta, revision)?;
    Ok(Some(meta))
}

fn unfit(method: &str, error: &DecodeError, prefix: &str) -> ErrorObject {
    jsonrpc::params_error(method, &ErrorDetail::of_decoding(error, prefix))
}
