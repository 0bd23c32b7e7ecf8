//! Sessions that several servers share: any of them answers, wherever the session was opened.

use std::sync::Arc;

use trueform::{
    HttpConfig,
    store::{MemoryEventStore, MemorySessionStore},
};

use super::support::{App, Recorder, Req, staged};

fn pair() -> [App; 2] {
    let sessions = Arc::new(MemorySessionStore::new());
    let events = Arc::new(MemoryEventStore::new());
    let recorder = Recorder::new();
    [(), ()].map(|()| {
        let config = HttpConfig::default()
            .session_store(Some(sessions.clone()))
            .event_store(Some(events.clone()));
        App::recorded(staged(config), &recorder)
    })
}

#[tokio::test]
async fn opened_here_served_there() {
    let [here, there] = pair();
    for revision in ["2025-03-26", "2025-11-25"] {
        let session = here.session_as(revision, Some("ann")).await;
        let call = Req::call(&session, "1", "whoami", "{}");
        assert_eq!(
            there.send(call.clone().principal(Some("ann"))).await.text(),
            "ann"
        );
        assert_eq!(
            there.send(call.clone().principal(Some("bob"))).await.status,
            404,
            "Y-1"
        );
        // The revision goes with the session.
        let batch = format!("[{}]", String::from_utf8_lossy(&call.body));
        let got = there
            .send(Req::post(batch).session(&session).principal(Some("ann")))
            .await;
        assert_eq!(got.status, if revision == "2025-03-26" { 200 } else { 400 });

        assert_eq!(
            there
                .send(Req::delete(&session).principal(Some("ann")))
                .await
                .status,
            204
        );
        assert_eq!(
            here.send(call.principal(Some("ann"))).await.status,
            404,
            "ended everywhere"
        );
    }
}

// C-15: what one server kept, another replays.
#[tokio::test]
async fn resumed_elsewhere() {
    let [here, there] = pair();
    let session = here.session("2025-11-25").await;
    here.director.open();
    let mut stream = here.open(Req::call(&session, "1", "talk", "{}")).await;
    let first = stream
        .event()
        .await
        .and_then(|event| event.id)
        .expect("an id");
    let rest = stream.events().await;
    assert_eq!(rest.len(), 3);
    let resumed = there
        .open(Req::get(&session).header("last-event-id", &first))
        .await;
    assert_eq!(resumed.events().await, rest);
}
