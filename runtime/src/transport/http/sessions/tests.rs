//! Which sessions are kept, and which are ended.

use trueform_schema::{Implementation, Revision};

use super::{super::limit::Limit, *};
use crate::{
    peer::{MAX_SESSION_FACTS, Negotiated, PeerFacts},
    store::{EventId, MemoryEventStore},
};

fn session(principal: Option<&str>) -> (Box<str>, Arc<Session>) {
    let id = new_id();
    let principal = principal.map(|name| Principal::new(name.to_owned()));
    (id.clone(), Arc::new(Session::new(Some(id), principal)))
}

// F-19
#[test]
fn ids_are_visible_ascii_and_differ() {
    let (one, two) = (new_id(), new_id());
    assert!(one.bytes().all(|byte| (0x21..=0x7e).contains(&byte)));
    assert!(one != two && key(&one).is_some());
    let used: std::collections::HashSet<_> = (0..1000)
        .filter_map(|_| key(&new_id()))
        .map(index)
        .collect();
    assert!(SHARDS / 2 < used.len(), "they are spread: {}", used.len());
    for text in [
        "",
        "x",
        "00000000000000000000000000000000",
        "00000000-0000-0000-0000-00000000000g",
    ] {
        assert_eq!(key(text), None, "{text}");
    }
}

// Y-1
#[test]
fn sessions_belong_to_their_principal() {
    let sessions = Sessions::new(10, usize::MAX, Duration::from_secs(60), None);
    let (id, opened) = session(Some("ann"));
    drop(sessions.insert(opened).expect("room"));
    assert!(sessions.find(&id, Some(&Principal::new("ann"))).is_some());
    assert!(sessions.find(&id, Some(&Principal::new("bob"))).is_none());
    assert!(sessions.find(&id, None).is_none());
    assert!(sessions.find(&new_id(), None).is_none());
}

// F-21
#[test]
fn ended_sessions_are_gone_and_closed() {
    let sessions = Sessions::new(10, usize::MAX, Duration::from_secs(60), None);
    let (id, opened) = session(None);
    let active = sessions.insert(opened.clone()).expect("room");
    for _ in 0..2 {
        sessions.end(active.entry());
        assert_eq!(sessions.count.load(Ordering::Relaxed), 0);
    }
    assert!(sessions.find(&id, None).is_none());
    assert!(matches!(opened.phase(), crate::peer::Phase::Closed));

    let (_, opened) = session(None);
    drop(sessions.insert(opened.clone()).expect("room"));
    sessions.close_all();
    assert!(matches!(opened.phase(), crate::peer::Phase::Closed));
    assert_eq!(sessions.len(), 0);
}

#[test]
fn idle_sessions_end_and_busy_ones_do_not() {
    let sessions = Sessions::new(10, usize::MAX, Duration::ZERO, None);
    let (idle, over) = session(None);
    drop(sessions.insert(over.clone()).expect("room"));
    let (busy, opened) = session(None);
    let active = sessions.insert(opened).expect("room");
    assert!(sessions.find(&idle, None).is_none());
    assert!(matches!(over.phase(), crate::peer::Phase::Closed));
    assert!(sessions.find(&busy, None).is_some());
    drop(active);
    assert!(sessions.find(&busy, None).is_none());
    assert_eq!(sessions.len(), 0);
    assert_eq!(sessions.count.load(Ordering::Relaxed), 0);
}

/// Creates a session in the part of the table that contains `key`.
fn beside(key: u128) -> (Box<str>, Arc<Session>) {
    std::iter::repeat_with(|| session(None))
        .find(|(id, _)| super::key(id).is_some_and(|other| index(other) == index(key)))
        .expect("one in 32")
}

#[test]
fn a_session_that_is_over_ends_between_two_looks_too() {
    let second = Duration::from_secs(1);
    let mut sessions = Sessions::new(10, usize::MAX, 20 * second, None);
    let (early, opened) = session(None);
    drop(sessions.insert(opened).expect("room"));
    let part = key(&early).expect("an id");
    sessions.started -= 5 * second;
    let ((one, opened), (other, another)) = (beside(part), beside(part));
    drop(sessions.insert(opened).expect("room"));
    drop(sessions.insert(another).expect("room"));
    sessions.started -= 15 * second;
    assert!(sessions.find(&beside(part).0, None).is_none());
    assert!(sessions.peek(&early).is_none(), "idle for 20 s");
    sessions.started -= 6 * second;
    assert!(sessions.find(&one, None).is_none(), "idle for 21 s");
    assert!(sessions.peek(&other).is_some(), "no look yet");
    sessions.started -= 14 * second;
    assert!(sessions.find(&beside(part).0, None).is_none());
    assert!(sessions.peek(&other).is_none(), "20 s after the last look");
}

#[tokio::test]
async fn events_of_ended_sessions_are_forgotten() {
    let events = Arc::new(MemoryEventStore::new());
    let sessions = Sessions::new(1, usize::MAX, Duration::ZERO, Some(events.clone()));
    let ways: [fn(&Sessions, &str); 2] = [
        |sessions, id| assert!(sessions.find(id, None).is_none()),
        |sessions, _| assert!(sessions.insert(session(None).1).is_ok()),
    ];
    for end in ways {
        let (id, opened) = session(None);
        drop(sessions.insert(opened).expect("room"));
        let event = EventId {
            stream: 1,
            position: 0,
        };
        let kept = events.append(&id, event, Bytes::from_static(b"{}"));
        kept.await.expect("memory does not fail");
        end(&sessions, &id);
        tokio::task::yield_now().await;
        assert_eq!(events.bytes(), 0);
    }
}

#[test]
fn a_full_table_lets_an_idle_one_go_and_keeps_the_busy() {
    let mut sessions = Sessions::new(50, usize::MAX, Duration::from_secs(60), None);
    sessions.kept = Duration::ZERO;
    let busy: Vec<_> = (0..49)
        .map(|_| sessions.insert(session(None).1).expect("room"))
        .collect();
    for _ in 0..200 {
        drop(
            sessions
                .insert(session(None).1)
                .expect("an idle one makes room"),
        );
        assert_eq!(sessions.len(), 50);
    }
    let last = sessions
        .insert(session(None).1)
        .expect("an idle one makes room");
    assert_eq!(sessions.insert(session(None).1).err(), Some(Full));
    assert_eq!(sessions.len(), 50);
    for active in busy.iter().chain([&last]) {
        assert!(sessions.find(active.entry().id(), None).is_some());
    }
    sessions.end(last.entry());
    sessions.end(last.entry());
    assert!(sessions.insert(session(None).1).is_ok());
    sessions.close_all();
    assert_eq!(sessions.count.load(Ordering::Relaxed), 0);
}

// Issue 8: a client that opens sessions without end ends no session of others that is in use; its own sessions live 10 s at least.
#[tokio::test(start_paused = true)]
async fn newcomers_end_only_sessions_without_a_second_message() {
    let sessions = Sessions::new(2, usize::MAX, Duration::from_secs(3600), None);
    let (proven, opened) = session(None);
    drop(sessions.insert(opened).expect("room"));
    assert!(sessions.find(&proven, None).is_some());
    let (unproven, opened) = session(None);
    drop(sessions.insert(opened).expect("room"));
    for _ in 0..100 {
        assert_eq!(sessions.insert(session(None).1).err(), Some(Full));
    }
    tokio::time::advance(UNPROVEN_KEPT).await;
    for _ in 0..3 {
        drop(
            sessions
                .insert(session(None).1)
                .expect("in place of the unproven one"),
        );
        assert!(sessions.peek(&unproven).is_none());
        assert_eq!(
            sessions.insert(session(None).1).err(),
            Some(Full),
            "the next one is new"
        );
        tokio::time::advance(UNPROVEN_KEPT).await;
    }
    tokio::time::advance(Duration::from_secs(3000)).await;
    let (last, opened) = session(None);
    drop(
        sessions
            .insert(opened)
            .expect("in place of the unproven one"),
    );
    assert!(sessions.find(&last, None).is_some() && sessions.find(&proven, None).is_some());
    tokio::time::advance(Duration::from_secs(3000)).await;
    assert_eq!(
        sessions.insert(session(None).1).err(),
        Some(Full),
        "both are proven"
    );
    tokio::time::advance(Duration::from_secs(600)).await;
    assert!(
        sessions.insert(session(None).1).is_ok(),
        "one of them is over"
    );
}

// Issue 8: all sessions together keep no more bytes than the setting permits.
#[tokio::test(start_paused = true)]
async fn bounded_in_bytes() {
    let facts = |name: &str| PeerFacts {
        client_info: Some(Implementation::new(name, "1")),
        ..PeerFacts::default()
    };
    let opened = |name: &str| {
        let session = session(None).1;
        let opened = session.open(Ok(Negotiated {
            revision: Revision::LATEST_LEGACY,
            facts: Arc::new(facts(name)),
        }));
        assert!(opened.is_ok());
        session
    };
    let bytes = size_of::<SessionEntry>() + opened("n").footprint();
    let sessions = Sessions::new(100, 10 * bytes, Duration::from_secs(60), None);
    let all: Vec<_> = (0..10)
        .map(|_| sessions.insert(opened("n")).expect("room"))
        .collect();
    assert_eq!(sessions.insert(opened("n")).err(), Some(Full));
    sessions.end(all[0].entry());
    assert_eq!(
        sessions.insert(opened("nn")).err(),
        Some(Full),
        "one byte too much"
    );
    let last = sessions.insert(opened("n")).expect("room again");
    drop((all, last));
    tokio::time::advance(UNPROVEN_KEPT).await;
    let large = "n".repeat(2 * bytes);
    sessions.full_until.store(0, Ordering::Relaxed);
    drop(
        sessions
            .insert(opened(&large))
            .expect("several make room for one"),
    );
    sessions.close_all();
    assert_eq!(sessions.bytes.load(Ordering::Relaxed), 0);
}

// Design §8: an idle session keeps at most 4 KiB, most of which is data that the client stated about itself.
#[test]
fn sessions_are_small() {
    let state = size_of::<SessionEntry>() + size_of::<Session>();
    assert!(state <= 1024, "{state}");
    let whole = size_of::<SessionEntry>() + session(None).1.footprint() + MAX_SESSION_FACTS;
    assert!(whole <= 4096, "{whole}");
}

// Issue 8: a full table is searched again when a session in it may be ended for another, neither later nor earlier.
#[test]
fn a_full_table_is_looked_through_in_time() {
    let second = Duration::from_secs(1);
    let mut sessions = Sessions::new(1, usize::MAX, 3600 * second, None);
    drop(sessions.insert(session(None).1).expect("room"));
    sessions.started -= 4 * second;
    assert_eq!(sessions.insert(session(None).1).err(), Some(Full));
    let until = sessions.full_until.load(Ordering::Relaxed);
    let kept = UNPROVEN_KEPT.as_millis() as u64;
    assert!((kept..kept + 3000).contains(&until), "{until}");
    sessions.started -= 7 * second;
    assert!(sessions.insert(session(None).1).is_ok(), "11 s");
}

#[test]
fn what_is_at_work_in_a_session() {
    let sessions = Sessions::new(1, usize::MAX, Duration::from_secs(60), None);
    let active = sessions.insert(session(None).1).expect("room");
    let entry = active.entry().clone();
    assert!(entry.is_busy());
    drop(active);
    assert!(!entry.is_busy());
    let active = entry.activate();
    assert!(entry.is_busy());
    drop(active);
    assert!(!entry.is_busy());

    let [one, two] = [(); 2].map(|()| Arc::new(LiveStream::new(Arc::default())));
    for stream in [&one, &two] {
        entry.add_live(stream.clone());
    }
    let is_live = |stream: &Arc<LiveStream>| {
        let found = entry.live(stream.number());
        found.is_some_and(|found| Arc::ptr_eq(&found, stream))
    };
    assert!(is_live(&one) && is_live(&two));
    entry.remove_live(&one);
    assert!(!is_live(&one) && is_live(&two));
    entry.remove_live(&two);
    assert!(!is_live(&two));
    assert_eq!(entry.lock_live().capacity(), 0);
}

#[test]
fn an_ended_session_holds_no_room_for_listeners() {
    let sessions = Sessions::new(1, usize::MAX, Duration::from_secs(60), None);
    let active = sessions.insert(session(None).1).expect("room");
    let limit = Limit::new(1);
    let reader = active.entry().lock_standalone().take_over(|| limit.enter());
    assert!(reader.is_some() && limit.enter().is_none());
    sessions.end(active.entry());
    assert!(limit.enter().is_some());
}
