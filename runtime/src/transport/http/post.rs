//! A POST whose body is there: what the engine replies becomes a response.

use std::{
    cell::RefCell,
    future::poll_fn,
    sync::Arc,
    task::{Context, Poll},
};

use bytes::Bytes;
use http::{HeaderName, HeaderValue, request::Parts};

use super::{
    calls::{HttpCalls, RequestGuards},
    config::Streams,
    endpoint::{Endpoint, named_session},
    fields::HttpHeaders,
    limit::Permit,
    media::Accepts,
    reply::{self, Late, Resumable},
    sessions::{self, Active},
    shared,
    spare::WORTH_KEEPING,
    state::ResponseState,
    status,
};
use crate::{
    drive::{self, CallFuture, Reply, Responses, Sorted},
    engine::{HttpSource, NamedSession, Source},
    exchange::TransportData,
    feature::job::{Capacity, Job},
    gate::{Refusal, SESSION_HEADER},
    jsonrpc,
    peer::Session,
    principal::Principal,
};

/// Serves a POST. If its session is not known here and sessions are shared, it is fetched first.
pub(super) fn received(
    endpoint: &Arc<Endpoint>,
    parts: Arc<Parts>,
    body: Bytes,
    accepts: Accepts,
    cx: &mut Context<'_>,
) -> ResponseState {
    if endpoint.config.session_store.is_none() {
        let served = serve(endpoint, &parts, &body, accepts, cx);
        if WORTH_KEEPING <= body.len() {
            endpoint.spare.keep(body);
        }
        return served;
    }
    let endpoint = endpoint.clone();
    ResponseState::waiting(async move {
        if let Err(refusal) = shared::fetch(&endpoint, &parts).await {
            return status::refused(&refusal, None);
        }
        let session = named_session(&parts).ok().map(str::to_owned);
        let mut whole = Some(parts);
        let served = poll_fn(|cx| match whole.take() {
            Some(parts) => Poll::Ready(serve(&endpoint, &parts, &body, accepts, cx)),
            None => Poll::Pending,
        });
        let response = match served.await {
            ResponseState::Done(response) => response.unwrap_or_else(status::accepted),
            ResponseState::Waiting(waiting) => waiting.await,
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
    parts: &Arc<Parts>,
    body: &[u8],
    accepts: Accepts,
    cx: &mut Context<'_>,
) -> ResponseState {
    let body = jsonrpc::without_mark(body);
    tracing::trace!(message = %jsonrpc::WholeMessage(body), "received");
    let headers = HttpHeaders::of(&parts.headers);
    // A request that stands on its own may name a session that is not there.
    let (active, missing) = match endpoint.session_named(headers.session(), parts) {
        Ok(active) => (Some(active), NamedSession::Absent),
        Err(Refusal::SessionMissing) => (None, NamedSession::Absent),
        Err(Refusal::SessionHeaderUnusable) => (None, NamedSession::Unusable),
        Err(_) => (None, NamedSession::Unknown),
    };
    let session = active
        .as_ref()
        .map(|active| active.entry().session().clone());
    let named = session.as_ref().map_or(missing, NamedSession::Found);
    let taken = Taken {
        endpoint,
        accepts,
        permit: RefCell::default(),
        opened: RefCell::default(),
    };
    let source = Source::post(
        named,
        HttpSource {
            headers: &headers,
            transport: TransportData {
                extension: Some(parts.clone()),
                principal: parts.extensions.get::<Principal>().cloned(),
            },
            new_id: sessions::new_id,
            capacity: &taken,
        },
    );
    let reply = endpoint.engine.receive(&source, body);
    let opened = taken.opened.into_inner();
    let post = Post {
        endpoint,
        accepts,
        guards: RequestGuards {
            permit: taken.permit.into_inner(),
            active,
        },
        cx,
    };
    match opened {
        None => post.reply(reply),
        Some(opened) => post.opened(&opened, reply),
    }
}

/// What one POST takes of its endpoint: each call counts, also in a batch. What runs no call takes none, so a server that is full
/// still hears the answers and cancellations that free it.
struct Taken<'a> {
    endpoint: &'a Arc<Endpoint>,
    accepts: Accepts,
    permit: RefCell<Option<Permit>>,
    /// The session that it opened, in use until the response is made.
    opened: RefCell<Option<Active>>,
}

impl Capacity for Taken<'_> {
    fn call(&self) -> Result<(), Refusal> {
        let mut taken = self.permit.borrow_mut();
        let has_room = match &mut *taken {
            Some(permit) => permit.grow(),
            None => {
                *taken = self.endpoint.at_work.enter();
                taken.is_some()
            }
        };
        match has_room {
            true => Ok(()),
            false => Err(Refusal::Busy),
        }
    }

    fn listener(&self) -> Result<(), Refusal> {
        if !self.accepts.events {
            return Err(Refusal::Accept(
                "`text/event-stream`, which is how this request is answered",
            ));
        }
        // The body has no other request: the era of such streams has no batches.
        let permit = self.endpoint.listening.enter();
        *self.permit.borrow_mut() = Some(permit.ok_or(Refusal::TooManyStreams)?);
        Ok(())
    }

    fn session(&self, session: &Arc<Session>) -> Result<(), Refusal> {
        let opened = self.endpoint.sessions.insert(session.clone());
        let opened = opened.map_err(|sessions::Full| Refusal::TooManySessions)?;
        *self.opened.borrow_mut() = Some(opened);
        Ok(())
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
    fn reply(mut self, reply: Reply) -> ResponseState {
        match reply {
            Reply::Silent => status::accepted().into(),
            // The most common case: one body, nothing to wait for.
            Reply::Ready(response) if self.accepts.json => status::json(response).into(),
            Reply::Ready(response) => reply::complete(response.into(), self.accepts).into(),
            Reply::Running(job) => self.late(drive::Calls::one(job), Responses::default()),
            Reply::Background(job) => {
                self.unanswered(job);
                status::accepted().into()
            }
            Reply::Batch(replies) => self.batch(Sorted::of(replies)),
        }
    }

    fn batch(mut self, sorted: Sorted) -> ResponseState {
        let is_unanswered = sorted.is_unanswered();
        for job in sorted.background {
            self.unanswered(job);
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

    /// Starts work that is never answered. It counts as a call until it has ended.
    fn unanswered(&mut self, job: Box<dyn Job>) {
        let active = self.guards.active.as_ref();
        let guards = RequestGuards {
            permit: self.guards.permit.as_mut().map(Permit::split),
            active: active.map(|active| active.entry().activate()),
        };
        tokio::spawn(async move {
            let _guards = guards;
            CallFuture::new(job).await;
        });
    }

    /// Gives the client the id of the session that its `initialize` opened (F-19).
    fn opened(self, session: &Active, reply: Reply) -> ResponseState {
        let state = self.reply(reply);
        let ResponseState::Done(Some(mut response)) = state else {
            return state;
        };
        // Ids are made of hexadecimal digits and dashes.
        if let Ok(id) = HeaderValue::from_str(session.entry().id()) {
            let name = HeaderName::from_static(SESSION_HEADER);
            response.headers_mut().insert(name, id);
        }
        response.into()
    }

    fn late(self, calls: drive::Calls, responses: Responses) -> ResponseState {
        let only_listens = calls.only_listen();
        let active = self.guards.active.as_ref();
        let resumable =
            active.and_then(|active| Resumable::of(active.entry(), self.endpoint.event_store()));
        let wanted = only_listens || self.endpoint.config.streams == Streams::WhereAccepted;
        let late = Late {
            calls: HttpCalls::new(calls, self.guards),
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
                ResponseState::waiting(async move { late.respond(&config).await })
            }
        }
    }
}
