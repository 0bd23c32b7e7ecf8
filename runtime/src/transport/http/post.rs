//! A POST whose body is there: what the engine replies becomes a response.

use std::{
    cell::RefCell,
    future::poll_fn,
    sync::Arc,
    task::{Context, Poll},
};

use bytes::Bytes;
use http::{HeaderName, HeaderValue, request::Parts};
use trueform_schema::RequestId;

use super::{
    calls::{Calls, RequestGuards},
    config::Streams,
    endpoint::{Endpoint, named_session},
    fields::HttpHeaders,
    limit::{Limit, Permit},
    media::Accepts,
    reply::{self, Late, Resumable},
    sessions::{self, Active},
    shared,
    state::State,
    status,
};
use crate::{
    drive::{self, CallFuture, Reply, Responses, Sorted},
    engine::{CallPermits, HttpSource, Named, Source},
    exchange::TransportData,
    feature::job::Job,
    gate::{Outgoing, Refusal, SESSION_HEADER},
    jsonrpc,
    peer::Session,
    principal::Principal,
};

/// Serves a POST. If its session is not known here and sessions are shared, it is fetched first.
pub(super) fn received(
    endpoint: &Arc<Endpoint>,
    parts: Parts,
    body: Bytes,
    accepts: Accepts,
    cx: &mut Context<'_>,
) -> State {
    if endpoint.config.session_store.is_none() {
        return serve(endpoint, parts, &body, accepts, cx);
    }
    let endpoint = endpoint.clone();
    State::waiting(async move {
        if let Err(refusal) = shared::fetch(&endpoint, &parts).await {
            return status::refused(&refusal, None);
        }
        let session = named_session(&parts).ok().map(str::to_owned);
        let mut whole = Some(parts);
        let served = poll_fn(|cx| match whole.take() {
            Some(parts) => Poll::Ready(serve(&endpoint, parts, &body, accepts, cx)),
            None => Poll::Pending,
        });
        let response = match served.await {
            State::Done(response) => response.unwrap_or_else(status::accepted),
            State::Waiting(waiting) => waiting.await,
        };
        let opened = response
            .headers()
            .get(SESSION_HEADER)
            .and_then(|id| id.to_str().ok())
            .map(str::to_owned);
        if let Some(id) = opened.or(session) {
            shared::save(&endpoint, &id).await;
        }
        response
    })
}

/// Hands `body` to the engine.
fn serve(
    endpoint: &Arc<Endpoint>,
    parts: Parts,
    body: &[u8],
    accepts: Accepts,
    cx: &mut Context<'_>,
) -> State {
    let parts = Arc::new(parts);
    let body = jsonrpc::without_mark(body);
    tracing::trace!(message = %jsonrpc::WholeMessage(body), "received");
    // A request that stands on its own may name a session that is not there.
    let (active, missing) = match endpoint.session_of(&parts) {
        Ok(active) => (Some(active), Named::Absent),
        Err(Refusal::SessionMissing) => (None, Named::Absent),
        Err(Refusal::SessionHeaderUnusable) => (None, Named::Unusable),
        Err(_) => (None, Named::Unknown),
    };
    let session = active
        .as_ref()
        .map(|active| active.entry().session().clone());
    let named = session.as_ref().map_or(missing, Named::Found);
    let headers = HttpHeaders(&parts.headers);
    let taken = Taken::new(&endpoint.at_work);
    let source = Source::post(
        named,
        HttpSource {
            headers: &headers,
            transport: TransportData {
                extension: Some(parts.clone()),
                principal: parts.extensions.get::<Principal>().cloned(),
            },
            new_id: sessions::new_id,
            permits: &taken,
        },
    );
    let reply = endpoint.engine.receive(&source, body);
    let post = Post {
        endpoint,
        accepts,
        guards: RequestGuards {
            permit: taken.into_permit(),
            active,
        },
        cx,
    };
    post.reply(reply)
}

/// The room that the calls of one POST take: each counts, also in a batch. What runs no call takes none, so a server that is full
/// still hears the answers and cancellations that free it.
struct Taken<'a> {
    limit: &'a Arc<Limit>,
    permit: RefCell<Option<Permit>>,
}

impl<'a> Taken<'a> {
    fn new(limit: &'a Arc<Limit>) -> Self {
        Self {
            limit,
            permit: RefCell::new(None),
        }
    }

    fn into_permit(self) -> Option<Permit> {
        self.permit.into_inner()
    }
}

impl CallPermits for Taken<'_> {
    fn take(&self) -> bool {
        let mut taken = self.permit.borrow_mut();
        match &mut *taken {
            Some(permit) => permit.grow(),
            None => {
                *taken = self.limit.enter();
                taken.is_some()
            }
        }
    }
}

struct Post<'a, 'cx> {
    endpoint: &'a Arc<Endpoint>,
    accepts: Accepts,
    guards: RequestGuards,
    /// The task of the request: a call is polled once on the spot, and most are done by that.
    cx: &'a mut Context<'cx>,
}

impl Post<'_, '_> {
    fn reply(self, reply: Reply) -> State {
        match reply {
            Reply::Silent => status::accepted().into(),
            // The most common case: one body, nothing to wait for.
            Reply::Ready(response) if self.accepts.json => status::json(response).into(),
            Reply::Ready(response) => reply::complete(response.into(), self.accepts).into(),
            Reply::Opened(id, session, response) => self.opened(&id, &session, response),
            Reply::Running(job) => self.late(drive::Calls::one(job), Responses::default()),
            Reply::Background(job) => match self.unanswered(job) {
                true => status::accepted().into(),
                false => State::refused(&Refusal::Busy),
            },
            Reply::Batch(replies) => self.batch(Sorted::of(replies)),
        }
    }

    fn batch(mut self, sorted: Sorted) -> State {
        let is_unanswered = sorted.is_unanswered();
        for job in sorted.background {
            if !self.unanswered(job) {
                tracing::warn!("a notification was dropped: too many calls are at work");
            }
        }
        if let Some(permit) = &mut self.guards.permit {
            permit.keep(sorted.jobs.len());
        }
        match sorted.jobs.is_empty() {
            true if is_unanswered => status::accepted().into(),
            true => reply::complete(sorted.responses, self.accepts).into(),
            false => self.late(drive::Calls::of_batch(sorted.jobs), sorted.responses),
        }
    }

    /// Starts work that is never answered. It counts as a call until it has ended. Returns `false` if all permits are taken.
    fn unanswered(&self, job: Box<dyn Job>) -> bool {
        let Some(permit) = self.endpoint.at_work.enter() else {
            return false;
        };
        let (active, sessions) = (self.guards.active.as_ref(), &self.endpoint.sessions);
        let guards = RequestGuards {
            permit: Some(permit),
            active: active.map(|active| sessions.activate(active.entry().clone())),
        };
        tokio::spawn(async move {
            let _guards = guards;
            CallFuture::new(job).await;
        });
        true
    }

    /// Keeps the session that an `initialize` opened, and gives the client its id (F-19).
    fn opened(self, id: &RequestId, session: &Arc<Session>, response: Outgoing) -> State {
        // The session is in use until the response is made.
        let _active = match self.endpoint.sessions.insert(session.clone()) {
            Ok(active) => active,
            Err(sessions::Full) => {
                session.close();
                return status::refused(&Refusal::TooManySessions, Some(id)).into();
            }
        };
        let mut response = reply::complete(response.into(), self.accepts);
        // Ids are made of hexadecimal digits and dashes.
        if let Some(id) = session.id().and_then(|id| HeaderValue::from_str(id).ok()) {
            response
                .headers_mut()
                .insert(HeaderName::from_static(SESSION_HEADER), id);
        }
        response.into()
    }

    fn late(mut self, calls: drive::Calls, responses: Responses) -> State {
        let only_listens = calls.only_listen();
        if only_listens {
            self.guards.permit = self.endpoint.listening.enter();
        }
        let has_room = !only_listens || self.guards.permit.is_some();
        let entry = self
            .guards
            .active
            .as_ref()
            .map(|active: &Active| active.entry().clone());
        let resumable = entry.and_then(|entry| Resumable::of(&entry, self.endpoint.event_store()));
        let calls = Calls::new(calls, self.guards);
        if !has_room {
            return status::refused(&Refusal::TooManyStreams, calls.id()).into();
        }
        if only_listens && !self.accepts.events {
            return State::refused(&Refusal::Accept(
                "`text/event-stream`, which is how this request is answered",
            ));
        }
        let wanted = only_listens || self.endpoint.config.streams == Streams::WhereAccepted;
        let late = Late {
            calls,
            responses,
            accepts: self.accepts,
            may_stream: wanted && self.accepts.events,
            resumable,
            cut: self.endpoint.cut(),
        };
        match late.at_once(&self.endpoint.config, self.cx) {
            Ok(response) => response.into(),
            Err(late) => {
                let config = self.endpoint.config.clone();
                State::waiting(async move { late.respond(&config).await })
            }
        }
    }
}
