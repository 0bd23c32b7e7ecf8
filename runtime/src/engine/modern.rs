//! Requests of the modern era: each stands on its own, with its version and capabilities in `params._meta`.

use std::sync::Arc;

use serde_json::value::RawValue;
use trueform_schema::{
    Conform, DiscoverResult, ErrorObject, Method, PaginatedRequestParams, RequestId,
    RequestMetaObject, RequestParams, Revision, Revisions,
};

use super::{
    Answer, Engine, Look, Reply,
    line::Link,
    running::{record_outcome, span_of},
};
use crate::{
    exchange::{Exchange, Outlet, Peer, PeerFacts, TransportData},
    gate::{self, Headers},
    jsonrpc,
    logging::{self, Threshold},
    outbox::Outbox,
};

/// Where a modern request came from.
pub(super) enum Site<'a> {
    #[cfg_attr(not(feature = "http"), expect(dead_code, reason = "what HTTP adds"))]
    Post {
        headers: &'a dyn Headers,
        transport: TransportData,
    },
    Line(&'a Arc<Link>),
}

impl Engine {
    pub(super) fn modern_request(
        &self,
        id: &RequestId,
        name: &str,
        params: Option<&RawValue>,
        look: Look<'_>,
        site: Site<'_>,
    ) -> Reply {
        let span = span_of(id, name, Some(Revision::V2026_07_28));
        let _entered = span.enter();
        let method = Method::from_wire(name);
        let revision = Revision::V2026_07_28;
        let rules = method.and_then(|method| method.rules(revision));
        let name_member = rules.and_then(|rules| rules.header_name);
        if let Err(refusal) = self.modern_gate(name, name_member, &look, &site) {
            return Reply::Ready(refusal.answer(id));
        }
        let (Some(method), Some(rules)) = (method, rules) else {
            return Reply::error(
                id,
                revision,
                &jsonrpc::method_not_found(name, "is unknown at 2026-07-28"),
            );
        };
        if method.is_notification()
            || rules.direction == trueform_schema::methods::Direction::ServerToClient
        {
            return Reply::error(
                id,
                revision,
                &jsonrpc::method_not_found(name, "is no request of a client"),
            );
        }
        if let Some(capability) = rules
            .capability
            .filter(|capability| !self.offers(capability))
        {
            let why =
                format!("needs the capability `{capability}`, which this server does not declare");
            return Reply::error(id, revision, &jsonrpc::method_not_found(name, &why));
        }
        let reply = match method {
            Method::CallTool => self.call_tool_modern(id, params, look, site),
            Method::ListTools => self.list_tools_modern(id, params),
            Method::Discover => self.discover(id, params),
            Method::SubscriptionsListen => self.listen(id, params, site),
            _ => Err(jsonrpc::method_not_found(name, "is not served here")),
        };
        match reply {
            Ok(reply) => {
                if method != Method::CallTool {
                    record_outcome(&span, Ok("ok"));
                }
                reply
            }
            Err(error) => {
                record_outcome(&span, Err(&error));
                Reply::error(id, revision, &error)
            }
        }
    }

    /// Everything that must hold before the method is looked at (GAP-2).
    fn modern_gate(
        &self,
        method: &str,
        name_member: Option<&'static str>,
        look: &Look<'_>,
        site: &Site<'_>,
    ) -> Result<(), Refusal> {
        if let Site::Post { headers, .. } = site {
            gate::check_standard_headers(*headers, method, name_member, look).map_err(Refusal)?;
        }
        let Some(version) = look.version() else {
            return Err(Refusal(gate::missing_version(look)));
        };
        let served = self.served(Revisions::since(Revision::V2026_07_28));
        if !served.iter().any(|revision| *revision.as_str() == *version) {
            // The whole list, because a client may well go on in the legacy era (C-7, GAP-3).
            return Err(Refusal(jsonrpc::unsupported_version(
                &version,
                &self.served(Revisions::ALL),
            )));
        }
        if !look.has_capabilities() {
            let found = look.raw_capabilities();
            return Err(Refusal(gate::missing_meta(
                "clientCapabilities",
                "an object",
                found,
            )));
        }
        Ok(())
    }

    /// Params of a modern request.
    pub(super) fn params<T: Conform + for<'de> serde::Deserialize<'de>>(
        &self,
        method: Method,
        params: Option<&RawValue>,
    ) -> Result<T, ErrorObject> {
        self.settings
            .incoming
            .params(method, Revision::V2026_07_28, params)
    }

    // C-9
    fn discover(&self, id: &RequestId, params: Option<&RawValue>) -> Result<Reply, ErrorObject> {
        let params: RequestParams = self.params(Method::Discover, params)?;
        check_level(params.meta.as_ref())?;
        let supported: Vec<String> = self
            .served(Revisions::ALL)
            .iter()
            .map(|revision| revision.as_str().to_owned())
            .collect();
        let mut result = DiscoverResult::new(self.capabilities(), supported);
        result.instructions = self.settings.instructions.clone();
        self.answer(id, Method::Discover, Revision::V2026_07_28, &result)
    }

    fn list_tools_modern(
        &self,
        id: &RequestId,
        params: Option<&RawValue>,
    ) -> Result<Reply, ErrorObject> {
        let params: PaginatedRequestParams = self.params(Method::ListTools, params)?;
        check_level(params.meta.as_ref())?;
        self.list_tools(id, Revision::V2026_07_28, params.cursor.as_deref())
    }

    /// The exchange of a modern request, from what is taken out of its decoded `_meta`.
    pub(super) fn modern_exchange(
        &self,
        id: &RequestId,
        method: Method,
        meta: Option<&mut RequestMetaObject>,
        site: Site<'_>,
    ) -> Result<Arc<Exchange>, ErrorObject> {
        check_level(meta.as_deref())?;
        let mut none = None;
        let meta = match meta {
            Some(meta) => meta,
            None => none.insert(RequestMetaObject::default()),
        };
        let (outlet, session, transport) = match site {
            Site::Post { transport, .. } => (Outlet::Own(Outbox::new()), None, transport),
            Site::Line(link) => {
                let session = link.session();
                (
                    Outlet::Link(session.outbox.clone()),
                    Some(session.clone()),
                    TransportData::default(),
                )
            }
        };
        Ok(Exchange::new(
            self.clone(),
            id.clone(),
            method,
            Revision::V2026_07_28,
            Peer::Request(PeerFacts {
                client_info: meta.client_info.take(),
                capabilities: meta.client_capabilities.take().unwrap_or_default(),
            }),
            session,
            transport,
            meta.progress_token.take(),
            Threshold::of_request(meta.log_level.as_ref()),
            outlet,
        ))
    }
}

/// M-3
fn check_level(meta: Option<&RequestMetaObject>) -> Result<(), ErrorObject> {
    match meta.and_then(|meta| meta.log_level.as_ref()) {
        Some(level) => logging::check(level, "/params/_meta/io.modelcontextprotocol~1logLevel"),
        None => Ok(()),
    }
}

/// A request that the gate turned away: over HTTP always status 400.
struct Refusal(ErrorObject);

impl Refusal {
    fn answer(self, id: &RequestId) -> Answer {
        tracing::debug!(%id, code = self.0.code, problem = %self.0.message, "request refused");
        Answer::error_with_status(400, Some(id), Some(Revision::V2026_07_28), &self.0)
    }
}
