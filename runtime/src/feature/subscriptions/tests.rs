use trueform_schema::Revision;

use super::*;
use crate::peer::Negotiated;

const PEERS: usize = 10_000;

fn session() -> Arc<Session> {
    let session = Session::new(None, None);
    let negotiated = Negotiated {
        revision: Revision::V2025_11_25,
        facts: Arc::default(),
    };
    session.open(Ok(negotiated)).expect("it is fresh");
    session.confirm();
    Arc::new(session)
}

fn subscribed(subscriptions: &Subscriptions, uri: &str) -> Arc<Session> {
    let session = session();
    subscriptions.remember(&session);
    let added = session.watched.add(uri, &subscriptions.bytes);
    added.expect("there is room");
    subscriptions.watch(&session, uri);
    session
}

fn waiting(session: &Session) -> Vec<String> {
    let taken = std::iter::from_fn(|| session.outbox.try_next());
    taken
        .map(|message| String::from_utf8(message.into_bytes()).expect("it is JSON"))
        .collect()
}

// J-7: 10,000 subscribers that do not read. A storm of updates leaves one message for each of them, and those who did not ask hear
// nothing.
#[test]
fn many_subscribers_of_one_resource() {
    const STORM: usize = 5;
    let subscriptions = Subscriptions::new();
    let subscribers: Vec<_> = (0..PEERS)
        .map(|_| subscribed(&subscriptions, "x:one"))
        .collect();
    let others: Vec<_> = (0..PEERS)
        .map(|_| subscribed(&subscriptions, "x:other"))
        .collect();
    // One of them is somewhere else meanwhile.
    subscriptions.unwatch(&subscribers[7], "x:one");
    for _ in 0..STORM {
        subscriptions.notify_updated("x:one");
    }
    let updated =
        r#"{"jsonrpc":"2.0","method":"notifications/resources/updated","params":{"uri":"x:one"}}"#;
    for (at, session) in subscribers.iter().enumerate() {
        let expected = match at {
            7 => &[][..],
            _ => &[updated],
        };
        assert_eq!(waiting(session), expected, "subscriber {at}");
    }
    assert!(others.iter().all(|session| session.outbox.is_empty()));
    // What was read is told anew.
    subscriptions.notify_updated("x:one");
    assert_eq!(waiting(&subscribers[0]), [updated]);
    // A session that has ended hears nothing, though it may be subscribed still.
    subscribers[1].close();
    subscriptions.notify_updated("x:one");
    assert_eq!(waiting(&subscribers[1]), [updated], "of the time before");
}

// J-7: an update of a resource looks at its subscribers alone: 100,000 of them beside 10,000 other peers are done at once.
#[test]
fn a_storm_looks_at_nobody_else() {
    let subscriptions = Subscriptions::new();
    let one = subscribed(&subscriptions, "x:one");
    let others: Vec<_> = (0..PEERS)
        .map(|_| subscribed(&subscriptions, "x:other"))
        .collect();
    let begun = std::time::Instant::now();
    for _ in 0..100_000 {
        subscriptions.notify_updated("x:one");
        subscriptions.notify_updated("x:nobody");
    }
    // Looking at all of them took minutes.
    assert!(begun.elapsed().as_secs() < 30, "{:?}", begun.elapsed());
    assert_eq!(waiting(&one).len(), 1);
    drop(others);
}

// J-7: whether something waits already is found at once, whatever else waits.
#[test]
fn a_storm_of_many_resources() {
    let subscriptions = Subscriptions::new();
    let session = session();
    let uris: Vec<_> = (0..MAX_RESOURCE_SUBSCRIPTIONS)
        .map(|at| format!("x:{at}"))
        .collect();
    for uri in &uris {
        let added = session.watched.add(uri, &subscriptions.bytes);
        added.expect("there is room");
        subscriptions.watch(&session, uri);
    }
    for _ in 0..20 {
        for uri in &uris {
            subscriptions.notify_updated(uri);
        }
    }
    assert_eq!(waiting(&session).len(), uris.len());
}
