//! A POST whose body is there: what the engine replies becomes a response.

use std::{
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
    limit::Permit,
    media::Accepts,
    reply::{self, Late, Resumable},
    sessions::{self, Active},
    shared,
    state::State,
    status,
};
use crate::{
    drive::{self, Batch, Reply, Responses, Sorted},
    engine::{HttpSource, Named, Source},
    exchange::TransportData,
    feature::job::Job,
    gate::{Outgoing, Refusal, SESSION_HEADER},
    peer::Session,
    principal::Principal,
};

/// Serves a POST. If its session is not known here and sessions are shared, it is fetched first.
pub(super) fn received(
    endpoint: &Arc<Endpoint>,
    parts: Parts,
    body: Bytes,
    accepts: Accepts,
    permit: Permit,
    cx: &mut Context<'_>,
) -> State {
    if endpoint.config.session_store.is_none() {
        return serve(endpoint, parts, &body, accepts, permit, cx);
    }
    let endpoint = endpoint.clone();
    State::waiting(async move {
        if let Err(refusal) = shared::fetch(&endpoint, &parts).await {
            return status::refused(&refusal, None, None);
        }
        let session = named_session(&parts).ok().map(str::to_owned);
        let mut whole = Some((parts, permit));
        let served = poll_fn(|cx| match whole.take() {
            Some((parts, permit)) => {
                Poll::Ready(serve(&endpoint, parts, &body, accepts, permit, cx))
            }
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
    permit: Permit,
    cx: &mut Context<'_>,
) -> State {
    let parts = Arc::new(parts);
    tracing::trace!(message = %String::from_utf8_lossy(body), "received");
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
    let source = Source::post(
        named,
        HttpSource {
            headers: &headers,
            transport: TransportData {
                extension: Some(parts.clone()),
                principal: parts.extensions.get::<Principal>().cloned(),
            },
            new_id: sessions::new_id,
        },
    );
    let reply = endpoint.engine.receive(&source, body);
    let post = Post {
        endpoint,
        accepts,
        guards: RequestGuards {
            permit: Some(permit),
            active,
        },
        cx,
    };
    post.reply(reply)
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
            Reply::Background(job) => self.unanswered(vec![job]),
            Reply::Batch(replies) => {
                let mut sorted = Sorted::of(replies);
                if sorted.is_unanswered() {
                    return self.unanswered(sorted.background);
                }
                // One request holds one permit, so the answer waits for the notifications beside it.
                let last = usize::MAX;
                let background = sorted.background.into_iter();
                sorted.jobs.extend(background.map(|job| (last, job)));
                match sorted.jobs.is_empty() {
                    true => reply::complete(sorted.responses, self.accepts).into(),
                    false => self.late(drive::Calls::of_batch(sorted.jobs), sorted.responses),
                }
            }
        }
    }

    /// Lets work go on that is never answered. It counts as a call at work until it has ended.
    fn unanswered(self, jobs: Vec<Box<dyn Job>>) -> State {
        let guards = self.guards;
        tokio::spawn(async move {
            let _guards = guards;
            let jobs = jobs.into_iter().map(|job| (0, job)).collect();
            Batch::new(Responses::of_batch(), jobs).await;
        });
        status::accepted().into()
    }

    /// Keeps the session that an `initialize` opened, and gives the client its id (F-19).
    fn opened(self, id: &RequestId, session: &Arc<Session>, response: Outgoing) -> State {
        // The session is in use until the response is made.
        let _active = match self.endpoint.sessions.insert(session.clone()) {
            Ok(active) => active,
            Err(sessions::Full) => {
                session.close();
                return status::refused(&Refusal::TooManySessions, Some(id), None).into();
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

    fn late(self, calls: drive::Calls, responses: Responses) -> State {
        let entry = self
            .guards
            .active
            .as_ref()
            .map(|active: &Active| active.entry().clone());
        let resumable = entry.and_then(|entry| Resumable::of(&entry, self.endpoint.event_store()));
        let calls = Calls::new(calls, self.guards);
        let only_listens = calls.only_listen();
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
