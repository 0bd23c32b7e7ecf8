//! GET and DELETE, which only legacy sessions have: the stream that belongs to no request, resumption, and the end.

use std::{collections::VecDeque, sync::Arc};

use bytes::Bytes;
use http::{header, request::Parts};
use trueform_schema::Era;

use super::{
    body::{Piped, Unrelated, event_stream},
    endpoint::{Endpoint, named_session, named_version},
    fields::{self, One},
    live::keep,
    media,
    message_body::Response,
    pipe::Pipe,
    reply::Resumable,
    sessions::{Active, SessionEntry},
    shared, sse,
    standalone::StreamReader,
    state::ResponseState,
    status,
};
use crate::{
    gate::{Refusal, Unread},
    peer::ShortId,
    store::{EventId, EventStore, Replay},
};

/// Header by which a client says what it has seen of a stream.
const LAST_EVENT: &str = "last-event-id";

/// Opens the session's own stream, or resumes one of its streams.
pub(super) fn get(endpoint: &Arc<Endpoint>, parts: Parts) -> ResponseState {
    let last = match fields::single(&parts.headers, LAST_EVENT) {
        One::Absent => None,
        One::Text(last) => Some(last.parse::<EventId>()),
        One::Unusable => return ResponseState::refused(&Refusal::Event),
    };
    if !media::accepts(parts.headers.get_all(header::ACCEPT)).events {
        return ResponseState::refused(&Refusal::Accept("`text/event-stream`"));
    }
    if let Err(refusal) = legacy_only(endpoint, &parts) {
        return ResponseState::refused(&refusal);
    }
    let endpoint = endpoint.clone();
    ResponseState::waiting(async move {
        let served = async {
            let active = session(&endpoint, &parts).await?;
            match last {
                None => open(&endpoint, active).await,
                Some(Ok(last)) => resume(&endpoint, active, last).await,
                Some(Err(_)) => Err(Refusal::Event),
            }
        };
        served
            .await
            .unwrap_or_else(|refusal| status::refused(&refusal, None))
    })
}

/// Ends a session (F-21, F-22).
pub(super) fn delete(endpoint: &Arc<Endpoint>, parts: Parts) -> ResponseState {
    if let Err(refusal) = legacy_only(endpoint, &parts) {
        return ResponseState::refused(&refusal);
    }
    let endpoint = endpoint.clone();
    ResponseState::waiting(async move {
        let active = match session(&endpoint, &parts).await {
            Ok(active) => active,
            Err(refusal) => return status::refused(&refusal, None),
        };
        let entry = active.entry();
        endpoint.sessions.end(entry);
        tracing::info!(session = %ShortId(entry.id()), "session ended by its client");
        shared::forget(&endpoint, entry).await;
        status::ended()
    })
}

/// The modern era has neither GET nor DELETE (F-33).
fn legacy_only(endpoint: &Endpoint, parts: &Parts) -> Result<(), Refusal> {
    let is_modern = named_version(parts).era() == Some(Era::Modern);
    if is_modern || !endpoint.engine.host.serves_legacy() {
        return Err(Refusal::NoStreamInModernEra);
    }
    Ok(())
}

async fn session(endpoint: &Arc<Endpoint>, parts: &Parts) -> Result<Active, Refusal> {
    named_session(parts)?;
    shared::fetch(endpoint, parts).await?;
    let active = endpoint.session_of(parts)?;
    // F-23
    match endpoint.engine.is_version_of_session(named_version(parts)) {
        true => Ok(active),
        false => Err(Refusal::Version),
    }
}

/// Opens the stream of what belongs to no request. A session has one (F-16); the newest connection reads it (DEC-3).
async fn open(endpoint: &Arc<Endpoint>, active: Active) -> Result<Response, Refusal> {
    let entry = active.entry().clone();
    let reader = take_over(endpoint, &entry)?;
    let store = Resumable::of(&entry, endpoint.event_store()).map(|resumable| resumable.store);
    let source = Unrelated::new(active, reader, store.clone(), endpoint.stopping());
    let mut first = VecDeque::new();
    if let Some(store) = store {
        let (stream, position) = entry.lock_standalone().next_place();
        let id = EventId { stream, position };
        keep(&*store, entry.id(), id, Bytes::new()).await;
        first.push_back(sse::priming(id, endpoint.config.retry));
    }
    if endpoint.is_stopping() {
        return Err(Refusal::Stopping);
    }
    Ok(event_stream(first, source, endpoint.config.keep_alive))
}

/// Makes a new connection the reader of the session's own stream.
fn take_over(endpoint: &Endpoint, entry: &SessionEntry) -> Result<Arc<StreamReader>, Refusal> {
    let mut stream = entry.lock_standalone();
    stream
        .take_over(|| endpoint.listening.enter())
        .ok_or(Refusal::TooManyStreams)
}

/// Goes on with a stream after the event `last` (F-18, G-7).
async fn resume(
    endpoint: &Arc<Endpoint>,
    active: Active,
    last: EventId,
) -> Result<Response, Refusal> {
    let entry = active.entry().clone();
    let Resumable { store, .. } =
        Resumable::of(&entry, endpoint.event_store()).ok_or(Refusal::Event)?;
    let keep_alive = endpoint.config.keep_alive;
    let unread = &endpoint.engine.host.unread;
    // What is replayed waits for its reader as an answer does.
    unread.check()?;

    if entry.lock_standalone().number() == Some(last.stream) {
        let missed = replay(&*store, entry.id(), last).await?;
        // Made at once: dropping it frees the stream.
        let reader = take_over(endpoint, &entry)?;
        let source = Unrelated::new(active, reader, Some(store.clone()), endpoint.stopping());
        // The reader before may have taken one more message: looked at again after it cannot any more.
        let missed = replay(&*store, entry.id(), last).await.unwrap_or(missed);
        let first = events(last.stream, missed, u64::MAX, unread);
        return Ok(event_stream(first, source, keep_alive));
    }

    let pipe = Arc::new(Pipe::default());
    // Before the look into the store, so that no event falls between the two.
    let live = entry
        .live(last.stream)
        .and_then(|live| Some((live.attach(pipe.clone())?, live)));
    let missed = replay(&*store, entry.id(), last).await;
    let from = match &live {
        Some((from, _)) => *from,
        None => {
            pipe.end();
            u64::MAX
        }
    };
    if let (Err(_), Some((_, live))) = (&missed, &live) {
        live.detach();
    }
    let first = events(last.stream, missed?, from, unread);
    Ok(event_stream(
        first,
        Piped {
            pipe,
            _active: Some(active),
        },
        keep_alive,
    ))
}

async fn replay(store: &dyn EventStore, session: &str, last: EventId) -> Result<Replay, Refusal> {
    match store.replay(session, last).await {
        Ok(Some(replay)) => Ok(replay),
        Ok(None) => Err(Refusal::Event),
        Err(error) => {
            tracing::error!(%error, session = %ShortId(session), "events could not be looked up");
            Err(Refusal::Store)
        }
    }
}

/// The events before position `until`; those from there on come by the pipe.
fn events(stream: u64, replay: Replay, until: u64, unread: &Arc<Unread>) -> VecDeque<Bytes> {
    let missed = replay
        .events
        .into_iter()
        .filter(|event| event.position < until);
    missed
        .map(|event| {
            let id = EventId {
                stream,
                position: event.position,
            };
            sse::replayed(id, &event, unread)
        })
        .collect()
}
