//! Sessions that other processes serve too: loaded from the store when this process does not know them, saved when they changed.
//!
//! Without a `session_store`, these functions do nothing.

use std::sync::Arc;

use bytes::Bytes;
use http::request::Parts;
use serde::{Deserialize, Serialize};
use trueform_schema::{ClientCapabilities, Implementation, Revision};

use super::{
    endpoint::{Endpoint, named_session},
    sessions::{Full, SessionEntry},
};
use crate::{
    Principal,
    gate::Refusal,
    peer::{Negotiated, PeerFacts, Phase, Session, ShortId},
    store::{SessionRecord, StoreError},
};

/// What was negotiated, in the form in which processes share it.
#[derive(Debug, Deserialize, Serialize)]
struct Snapshot {
    revision: Box<str>,
    confirmed: bool,
    client_info: Option<Implementation>,
    capabilities: ClientCapabilities,
    log_level: u8,
}

/// Loads the session that the request names into this process, if it is open anywhere. A session that was ended elsewhere ends here too.
pub(super) async fn fetch(endpoint: &Arc<Endpoint>, parts: &Parts) -> Result<(), Refusal> {
    let Some(store) = endpoint.config.session_store.as_deref() else {
        return Ok(());
    };
    // The caller that needs the header reports its fault.
    let Ok(id) = named_session(parts) else {
        return Ok(());
    };
    let found = match endpoint.sessions.peek(id) {
        Some(entry) => {
            if !store.touch(id).await.map_err(|error| failed(&error))? {
                tracing::info!(session = %ShortId(id), "session ended elsewhere");
                endpoint.sessions.end(&entry);
            }
            return Ok(());
        }
        None => store.load(id).await.map_err(|error| failed(&error))?,
    };
    let Some(session) = found.and_then(|record| restored(id, &record)) else {
        return Ok(());
    };
    let session = Arc::new(session);
    endpoint.engine.subscriptions.remember(&session);
    match endpoint.sessions.insert(session) {
        Ok(_) => Ok(()),
        Err(Full) => Err(Refusal::TooManySessions),
    }
}

/// Saves the session `id` if it was opened or changed since it was last saved.
pub(super) async fn save(endpoint: &Endpoint, id: &str) {
    let Some(store) = endpoint.config.session_store.as_deref() else {
        return;
    };
    let Some(entry) = endpoint.sessions.peek(id) else {
        return;
    };
    let Some(state) = snapshot(entry.session()) else {
        return;
    };
    if entry
        .saved
        .lock()
        .is_ok_and(|saved| saved.as_ref() == Some(&state))
    {
        return;
    }
    let principal = entry
        .session()
        .principal()
        .map(|principal| principal.subject().into());
    let record = SessionRecord::new(state.clone()).with_principal(principal);
    match store.save(entry.id(), record).await {
        Ok(()) => {
            if let Ok(mut saved) = entry.saved.lock() {
                *saved = Some(state);
            }
        }
        Err(error) => {
            tracing::error!(%error, session = %ShortId(entry.id()), "a session could not be saved")
        }
    }
}

/// Drops the data of a session that has ended from the stores.
pub(super) async fn forget(endpoint: &Endpoint, entry: &SessionEntry) {
    if let Some(events) = endpoint.event_store() {
        entry.forget_events(&**events).await;
    }
    if let Some(store) = &endpoint.config.session_store
        && let Err(error) = store.remove(entry.id()).await
    {
        tracing::warn!(%error, session = %ShortId(entry.id()), "an ended session could not be removed from the store");
    }
}

fn failed(error: &StoreError) -> Refusal {
    tracing::error!(%error, "a session could not be looked up");
    Refusal::Store
}

fn snapshot(session: &Session) -> Option<Bytes> {
    let Phase::Open {
        negotiated,
        confirmed,
    } = session.phase()
    else {
        return None;
    };
    let snapshot = Snapshot {
        revision: negotiated.revision.as_str().into(),
        confirmed,
        client_info: negotiated.facts.client_info.clone(),
        capabilities: negotiated.facts.capabilities.clone(),
        log_level: session.log_level.rank(),
    };
    match serde_json::to_vec(&snapshot) {
        Ok(state) => Some(state.into()),
        Err(error) => {
            tracing::error!(%error, "a session could not be written");
            None
        }
    }
}

fn restored(id: &str, record: &SessionRecord) -> Option<Session> {
    let snapshot: Snapshot = match serde_json::from_slice(&record.state) {
        Ok(snapshot) => snapshot,
        Err(error) => {
            tracing::error!(%error, session = %ShortId(id), "a session of the store could not be read");
            return None;
        }
    };
    let principal = record.principal.as_deref().map(Principal::new);
    let session = Session::new(Some(id.into()), principal);
    let facts = PeerFacts {
        client_info: snapshot.client_info,
        capabilities: snapshot.capabilities,
    };
    let revision = Revision::from_wire(&snapshot.revision)?;
    let opened = session.open(Ok(Negotiated {
        revision,
        facts: Arc::new(facts),
    }));
    opened.ok()?;
    if snapshot.confirmed {
        session.confirm();
    }
    session.log_level.set_rank(snapshot.log_level);
    Some(session)
}
