use trueform_schema::Revision;

use super::{watchers::tests::visits, *};
use crate::{
    client::{Client, ClientOptions, Negotiation},
    feature::resources::DynamicResource,
    peer::Negotiated,
    server::Server,
};

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

// J-7: 10,000 subscribers that do not read. Many updates leave one message for each of them, and the others are not notified.
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
    // One of them unsubscribes meanwhile.
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
    // After a read, a change is reported again.
    subscriptions.notify_updated("x:one");
    assert_eq!(waiting(&subscribers[0]), [updated]);
    // A session that has ended is not notified, although it may still be subscribed.
    subscribers[1].close();
    subscriptions.notify_updated("x:one");
    assert_eq!(waiting(&subscribers[1]), [updated], "of the time before");
}

// J-7: an update of a resource visits only its subscribers, each once, however many others exist.
#[test]
fn a_storm_looks_at_nobody_else() {
    const STORM: usize = 1_000;
    let subscriptions = Subscriptions::new();
    let one = subscribed(&subscriptions, "x:one");
    let others: Vec<_> = (0..PEERS)
        .map(|_| subscribed(&subscriptions, "x:other"))
        .collect();
    let visits = visits(|| {
        for _ in 0..STORM {
            subscriptions.notify_updated("x:one");
            subscriptions.notify_updated("x:nobody");
        }
    });
    assert_eq!(visits, STORM);
    assert_eq!(waiting(&one).len(), 1);
    drop(others);
}

/// A server with a resource with a long URI, and `count` streams of 2026-07-28 that subscribe to it.
async fn listening(count: usize, uri: &str) -> (crate::Service, Vec<Client>) {
    let news = DynamicResource::new(uri, "news").handler(|_context| async { "none yet" });
    let service = Server::new("news", "1").resources(news);
    let service = service.build().expect("it is fine");
    let mut links = Vec::new();
    let mut left = count;
    while left != 0 {
        let silent = ClientOptions::new().negotiation(Negotiation::Nothing);
        let link = service.connect_as(silent).await.expect("nothing is said");
        let streams = left.min(MAX_SUBSCRIPTIONS);
        for id in 0..streams {
            let listen = format!(
                r#"{{"jsonrpc":"2.0","id":{id},"method":"subscriptions/listen","params":{{"notifications":{{"resourceSubscriptions":["{uri}"]}},"_meta":{{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{{}}}}}}}}"#
            );
            link.send_raw(listen).expect("the link is open");
        }
        for _ in 0..streams {
            let first = link.next_message().await.expect("the link is open");
            assert!(first.contains("subscriptions/acknowledged") && first.contains(uri));
        }
        left -= streams;
        links.push(link);
    }
    (service, links)
}

// J-7, U-4: 10,000 streams that do not read. An update visits each once. After many updates, one message waits for each stream, and all
// messages share the URI: the memory does not depend on its length.
#[tokio::test]
async fn many_streams_of_one_resource() {
    const STORM: usize = 20;
    let uri = format!("x:{}", "long".repeat(500));
    let (service, links) = listening(PEERS, &uri).await;
    let subscriptions = &service.engine.subscriptions;
    let shared = || subscriptions.watchers.of(&uri).expect("there are streams");
    let (before, streams) = shared();
    assert_eq!(streams.len(), PEERS);
    let kept = Arc::strong_count(&before);
    // Nothing is written meanwhile: this thread does all the work.
    let visits = visits(|| (0..STORM).for_each(|_| subscriptions.notify_updated(&uri)));
    assert_eq!(visits, STORM * PEERS);
    // Once in the queue and once in the set of waiting messages.
    assert_eq!(Arc::strong_count(&before) - kept, 2 * PEERS);
    let mut subscribers = HashSet::new();
    for (at, link) in links.iter().enumerate() {
        for _ in 0..MAX_SUBSCRIPTIONS.min(PEERS - at * MAX_SUBSCRIPTIONS) {
            let update = link.next_message().await.expect("the link is open");
            assert!(update.contains("resources/updated") && update.contains(&uri));
            let id = update.split("subscriptionId\":").nth(1);
            let id = id.and_then(|rest| rest.split(['}', ',']).next());
            subscribers.insert((at, id.expect("it names its stream").to_owned()));
        }
    }
    assert_eq!(subscribers.len(), PEERS, "each stream once");
    // Nothing else waits.
    assert_eq!(Arc::strong_count(&before), kept);
    for link in &links {
        let ping = r#"{"jsonrpc":"2.0","id":"last","method":"server/discover","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}}}"#;
        link.send_raw(ping.to_owned()).expect("the link is open");
        let next = link.next_message().await.expect("the link is open");
        assert!(next.contains(r#""id":"last""#), "{next}");
    }
}

// J-7: the check whether a message waits already takes constant time, whatever else waits.
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
