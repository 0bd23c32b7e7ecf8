//! A POST whose body is there: which part of the engine it goes to, and what the reply becomes.

use std::{
    future::poll_fn,
    sync::Arc,
    task::{Context, Poll},
};

use axum::response::Response;
use bytes::Bytes;
use http::{HeaderName, HeaderValue, request::Parts};
use trueform_schema::RequestId;

use super::{
    admit::Accepts,
    calls::{Calls, Held},
    config::Streams,
    endpoint::{Endpoint, HttpHeaders, State, named_session, named_version},
    limit::Permit,
    refusal::Refusal,
    reply::{self, Late, Resumable},
    sessions::{self, Active},
    shared,
};
use crate::{
    Principal,
    engine::{Answer, Look, Read, Reply, log_refused},
    exchange::TransportData,
    gate::{self, PostEra, SESSION_HEADER},
    jsonrpc::{self, Frame, Kind, Malformed, NoId},
    session::Session,
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
            return refusal.respond_without_id();
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
            State::Done(response) => response.unwrap_or_else(reply::accepted),
            State::Waiting(waiting) => waiting.await,
            // Only the start of a request receives.
            State::Receiving(_) => reply::accepted(),
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

/// Hands the messages of `body` to the engine.
fn serve(
    endpoint: &Arc<Endpoint>,
    parts: Parts,
    body: &[u8],
    accepts: Accepts,
    permit: Permit,
    cx: &mut Context<'_>,
) -> State {
    let parts = Arc::new(parts);
    let post = Post {
        endpoint,
        body,
        parts: &parts,
        accepts,
        held: Held {
            permit: Some(permit),
            active: None,
        },
        cx,
    };
    tracing::trace!(message = %String::from_utf8_lossy(body), "received");
    match Read::from_bytes(body, endpoint.engine.settings.incoming) {
        Ok(Read::Single(frame, look)) => post.single(frame, look),
        Ok(Read::Batch(frames)) => post.batch(frames),
        Err(malformed) => post.malformed(&malformed),
    }
}

struct Post<'a, 'cx> {
    endpoint: &'a Arc<Endpoint>,
    /// What was sent, for the log of what is refused.
    body: &'a [u8],
    parts: &'a Arc<Parts>,
    accepts: Accepts,
    held: Held,
    /// The task of the request: a call is polled once on the spot, and most are done by that.
    cx: &'a mut Context<'cx>,
}

impl Post<'_, '_> {
    fn single(mut self, frame: Frame<'_>, look: Look<'_>) -> State {
        let headers = HttpHeaders(&self.parts.headers);
        match gate::era_of_post(&frame, look.is_modern(), &headers) {
            PostEra::Modern => {
                let reply =
                    self.endpoint
                        .engine
                        .post_modern(frame, look, &headers, self.transport());
                self.reply(reply)
            }
            PostEra::Initialize if named_session(self.parts) == Err(Refusal::SessionMissing) => {
                self.initialize(frame)
            }
            // One more `initialize` in a session is the engine's to refuse.
            PostEra::Initialize | PostEra::Legacy => match self.endpoint.session_of(self.parts) {
                Ok(active) => {
                    let session = active.entry().session().clone();
                    self.held.active = Some(active);
                    let transport = self.transport();
                    let reply = self
                        .endpoint
                        .engine
                        .post_legacy(frame, look, &session, &headers, transport);
                    self.reply(reply)
                }
                Err(refusal) => self.refuse(&refusal, id_of(&frame)),
            },
        }
    }

    fn initialize(mut self, frame: Frame<'_>) -> State {
        let id = id_of(&frame).cloned();
        let transport = self.transport();
        let (session, reply) =
            self.endpoint
                .engine
                .post_initialize(frame, sessions::new_id(), transport);
        let Some(session) = session else {
            return self.reply(reply);
        };
        let active = match self.endpoint.sessions.insert(session.clone()) {
            Ok(active) => active,
            Err(sessions::Full) => {
                session.close();
                return self.refuse(&Refusal::TooManySessions, id.as_ref());
            }
        };
        self.held.active = Some(active);
        match self.reply(reply) {
            State::Done(Some(response)) => with_session(response, &session).into(),
            other => other,
        }
    }

    fn batch(mut self, frames: Vec<Result<Frame<'_>, Malformed>>) -> State {
        let active = match self.endpoint.session_of(self.parts) {
            Ok(active) => active,
            // without a session there is no revision at which an array is a message.
            Err(Refusal::SessionMissing) => return self.refuse(&Refusal::Body(NO_BATCH), None),
            Err(refusal) => return self.refuse(&refusal, None),
        };
        let session = active.entry().session().clone();
        self.held.active = Some(active);
        let nothing_good = frames.iter().all(Result::is_err);
        let reply = self
            .endpoint
            .engine
            .legacy_batch(frames, &session, &self.transport());
        match reply {
            // As for a single message (F-5).
            Reply::Silent if nothing_good => State::refused(&Refusal::Body(NO_MESSAGE)),
            Reply::Batch(replies) if nothing_good => {
                let answers = replies.into_iter().filter_map(|reply| match reply {
                    Reply::Ready(answer) => Some(answer),
                    Reply::Silent | Reply::Running(_) | Reply::Batch(_) => None,
                });
                reply::refused_batch(&answers.collect::<Vec<_>>()).into()
            }
            reply => self.reply(reply),
        }
    }

    /// Every malformed body is refused with a status (F-5); what a session waits for may fail by it.
    fn malformed(mut self, malformed: &Malformed) -> State {
        self.held.active = self.endpoint.session_of(self.parts).ok();
        let session = self
            .held
            .active
            .as_ref()
            .map(|active| active.entry().session());
        gate::log_raw(self.body);
        let reply = self.endpoint.engine.malformed(malformed, session);
        match (malformed.kind, reply) {
            (Kind::Request | Kind::Unknown, Reply::Ready(_)) => {
                let no_id = NoId::at(self.revision());
                let mut body = Vec::with_capacity(192);
                jsonrpc::write_error(malformed.id.as_ref(), no_id, &malformed.error, &mut body);
                reply::json(Answer {
                    status: 400,
                    body,
                    is_refusal: true,
                })
                .into()
            }
            _ => {
                let mut body = Vec::with_capacity(192);
                jsonrpc::write_error(None, NoId::Absent, &malformed.error, &mut body);
                reply::json(Answer {
                    status: 400,
                    body,
                    is_refusal: true,
                })
                .into()
            }
        }
    }

    fn transport(&self) -> TransportData {
        TransportData {
            extension: Some(self.parts.clone()),
            principal: self.parts.extensions.get::<Principal>().cloned(),
        }
    }

    /// The revision of the session, or else the one that the request names.
    fn revision(&self) -> Option<trueform_schema::Revision> {
        let session = self
            .held
            .active
            .as_ref()
            .and_then(|active| active.entry().session().revision());
        session.or_else(|| named_version(self.parts))
    }

    fn refuse(&self, refusal: &Refusal, id: Option<&RequestId>) -> State {
        tracing::debug!(?refusal, "request refused");
        refusal.respond(id, NoId::at(self.revision())).into()
    }

    fn reply(self, reply: Reply) -> State {
        log_refused(&reply, self.body);
        match reply {
            Reply::Silent => reply::accepted().into(),
            // The most common case: one body, nothing to wait for.
            Reply::Ready(answer) if self.accepts.json => reply::json(answer).into(),
            Reply::Ready(answer) => reply::complete(vec![answer], false, self.accepts).into(),
            Reply::Running(running) => self.late(vec![running], Vec::new(), false),
            Reply::Batch(replies) => {
                let (mut running, mut answers) = (Vec::new(), Vec::new());
                for reply in replies {
                    match reply {
                        Reply::Running(call) => running.push(call),
                        Reply::Ready(answer) => answers.push(answer),
                        // A batch has no batches in it, and the engine leaves out what is not answered.
                        Reply::Silent | Reply::Batch(_) => {}
                    }
                }
                match running.is_empty() {
                    true => reply::complete(answers, true, self.accepts).into(),
                    false => self.late(running, answers, true),
                }
            }
        }
    }

    #[expect(clippy::vec_box, reason = "the engine boxes what is not done at once")]
    fn late(
        self,
        running: Vec<Box<crate::engine::Running>>,
        answers: Vec<Answer>,
        batch: bool,
    ) -> State {
        let entry = self
            .held
            .active
            .as_ref()
            .map(|active: &Active| active.entry().clone());
        let resumable = entry.and_then(|entry| Resumable::of(&entry, self.endpoint.event_store()));
        let calls = Calls::new(running, self.held);
        let only_listens = calls.only_listen();
        if only_listens && !self.accepts.events {
            return State::refused(&Refusal::Accept(
                "`text/event-stream`, which is how this request is answered",
            ));
        }
        let wanted = only_listens || self.endpoint.config.streams == Streams::WhereAccepted;
        let late = Late {
            calls,
            answers,
            batch,
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

const NO_BATCH: &str = "an array is no message here; batches exist only in a session of 2025-03-26";

const NO_MESSAGE: &str = "nothing in this array is a message";

fn id_of<'a>(frame: &'a Frame<'_>) -> Option<&'a RequestId> {
    match frame {
        Frame::Request { id, .. } => Some(id),
        Frame::Notification { .. } | Frame::Response { .. } => None,
    }
}

/// Tells the client the id of the session that its `initialize` opened (F-19).
fn with_session(mut response: Response, session: &Session) -> Response {
    // Ids are made of hexadecimal digits and dashes.
    if let Some(id) = session.id().and_then(|id| HeaderValue::from_str(id).ok()) {
        response
            .headers_mut()
            .insert(HeaderName::from_static(SESSION_HEADER), id);
    }
    response
}
