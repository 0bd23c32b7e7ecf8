//! Tasks that outlive what made them: the connection, and for their status the server. Stores that take a while, and stores that fail.

use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicUsize, Ordering},
    },
    time::Duration,
};

use serde_json::json;
use tokio::sync::Semaphore;
use trueform::{
    Principal,
    client::ClientOptions,
    store::{MemoryTaskStore, StoreError, StoreFuture, TaskRecord, TaskStore},
    task::TaskSettings,
};

use super::support::{Peer, code, server, service, service_with, text};
use crate::support::soon;

const R4: &str = "2025-11-25";

#[tokio::test]
async fn the_connection() {
    let (service, director) = service();
    let ann = || ClientOptions::new().principal(Principal::new("ann"));
    let mut legacy = Peer::legacy_as(&service, R4, ann()).await;
    let mut modern = Peer::modern(&service).await;
    let of_session = legacy.start("work", json!({ "label": "a" })).await;
    let of_nobody = modern.start("work", json!({ "label": "b" })).await;
    legacy.close().await;
    modern.close().await;
    assert_eq!([director.begun().await, director.begun().await], ["a", "b"]);
    director.open();
    let mut legacy = Peer::legacy_as(&service, R4, ann()).await;
    assert_eq!(
        text(&legacy.about("tasks/result", &of_session).await["result"]),
        "did a"
    );
    let mut modern = Peer::modern(&service).await;
    assert_eq!(
        text(&modern.until(&of_nobody, "completed").await["result"]),
        "did b"
    );
    director.none_dropped().await;
}

/// A store that others share, whose steps wait until the test lets them go on, or fail.
#[derive(Clone, Debug)]
struct Shared {
    memory: Arc<MemoryTaskStore>,
    steps: Arc<Semaphore>,
    fails: Arc<AtomicBool>,
}

impl Shared {
    fn new(steps: usize) -> Self {
        Self {
            memory: Arc::new(MemoryTaskStore::new()),
            steps: Arc::new(Semaphore::new(steps)),
            fails: Arc::default(),
        }
    }

    fn after_a_step<'a, T: Send + Unpin + 'a>(
        &'a self,
        step: impl FnOnce() -> StoreFuture<'a, Result<T, StoreError>> + Send + 'a,
    ) -> StoreFuture<'a, Result<T, StoreError>> {
        StoreFuture::later(async move {
            let permit = self.steps.acquire().await;
            permit.expect("it stays open").forget();
            match self.fails.load(Ordering::SeqCst) {
                true => Err(StoreError::new("no disk")),
                false => step().await,
            }
        })
    }
}

impl TaskStore for Shared {
    fn create(&self, record: TaskRecord) -> StoreFuture<'_, Result<bool, StoreError>> {
        self.after_a_step(|| self.memory.create(record))
    }

    fn update(&self, record: TaskRecord) -> StoreFuture<'_, Result<bool, StoreError>> {
        self.after_a_step(|| self.memory.update(record))
    }

    fn load<'a>(&'a self, id: &'a str) -> StoreFuture<'a, Result<Option<TaskRecord>, StoreError>> {
        self.memory.load(id)
    }

    fn list<'a>(
        &'a self,
        owner: &'a str,
        after: Option<(std::time::SystemTime, &'a str)>,
        most: usize,
    ) -> StoreFuture<'a, Result<Vec<TaskRecord>, StoreError>> {
        self.memory.list(owner, after, most)
    }
}

// W-13: the answer waits until the store has the task.
#[tokio::test]
async fn a_store_that_takes_a_while() {
    for modern in [true, false] {
        let store = Shared::new(0);
        let (service, director) = service_with(TaskSettings::new().store(store.clone()));
        let mut peer = match modern {
            true => Peer::modern(&service).await,
            false => Peer::legacy(&service, R4).await,
        };
        let mut params = json!({ "name": "work", "arguments": { "label": "a" } });
        if !modern {
            params["task"] = json!({});
        }
        let call = peer.send("tools/call", params);
        assert!(!peer.has_answered(call).await);
        store.steps.add_permits(1);
        let answer = peer.answer(call).await;
        let created = if modern {
            &answer["result"]
        } else {
            &answer["result"]["task"]
        };
        let id = created["taskId"].as_str().unwrap().to_owned();
        assert_eq!(peer.get(&id).await["status"], "working");
        assert_eq!(director.begun().await, "a");
        // The end counts once it is kept.
        director.open();
        for _ in 0..20 {
            assert_eq!(peer.get(&id).await["status"], "working");
        }
        store.steps.add_permits(1);
        peer.until(&id, "completed").await;
    }
}

// W-9: a cancellation that the client does not wait for is made nevertheless.
#[tokio::test]
async fn a_cancellation_is_not_half_done() {
    let store = Shared::new(1);
    let (service, director) = service_with(TaskSettings::new().store(store.clone()));
    let mut peer = Peer::modern(&service).await;
    let id = peer.start("work", json!({ "label": "a" })).await;
    assert_eq!(director.begun().await, "a");
    let cancel = peer.send("tasks/cancel", json!({ "taskId": id }));
    assert!(!peer.has_answered(cancel).await);
    peer.notify("notifications/cancelled", &json!({ "requestId": cancel }));
    store.steps.add_permits(9);
    peer.until(&id, "cancelled").await;
    director.open();
    assert_eq!(peer.get(&id).await["status"], "cancelled");
}

#[tokio::test]
async fn a_store_that_fails() {
    let store = Shared::new(100);
    let (service, director) =
        service_with(TaskSettings::new().store(store.clone()).max_running(1, 1));
    let mut peer = Peer::legacy(&service, R4).await;
    store.fails.store(true, Ordering::SeqCst);
    for _ in 0..3 {
        let answer = peer.call("work", json!({ "label": "a" })).await;
        assert_eq!(
            (code(&answer), &answer["error"]["message"]),
            (-32_603, &json!("the store of the tasks failed"))
        );
    }
    store.fails.store(false, Ordering::SeqCst);
    let id = peer.start("work", json!({ "label": "b" })).await;
    assert_eq!(
        director.begun().await,
        "b",
        "no place is lost, and nothing ran that has no task"
    );
    director.open();
    peer.until(&id, "completed").await;
}

// Any process with the store answers for a task, and ends it.
#[tokio::test(start_paused = true)]
async fn another_process() {
    let store = Shared::new(100);
    let settings = || TaskSettings::new().store(store.clone());
    let ((one, director), (two, _)) = (service_with(settings()), service_with(settings()));
    let ann = || ClientOptions::new().principal(Principal::new("ann"));
    let mut here = Peer::legacy_as(&one, R4, ann()).await;
    let mut there = Peer::legacy_as(&two, R4, ann()).await;
    let first = here.start("work", json!({ "label": "a" })).await;
    let second = here.start("work", json!({ "label": "b" })).await;
    assert_eq!([director.begun().await, director.begun().await], ["a", "b"]);
    assert_eq!(
        there.request("tasks/list", json!({})).await["result"]["tasks"]
            .as_array()
            .unwrap()
            .len(),
        2
    );
    let cancelled = there.about("tasks/cancel", &first).await;
    assert_eq!(cancelled["result"]["status"], "cancelled");
    assert_eq!(code(&there.about("tasks/cancel", &first).await), -32_602);
    // Where it runs, that is seen within the poll interval, and the session that made it hears of the end.
    let begun = tokio::time::Instant::now();
    assert_eq!(director.begun().await, "dropped a");
    assert!(begun.elapsed() <= Duration::from_secs(1));
    let status = here.other().await;
    assert_eq!(
        (&status["params"]["taskId"], &status["params"]["status"]),
        (&json!(first), &json!("cancelled")),
        "{status}"
    );
    let waiting = there.send("tasks/result", json!({ "taskId": second }));
    assert!(!there.has_answered(waiting).await);
    director.open();
    here.until(&second, "completed").await;
    assert_eq!(text(&there.answer(waiting).await["result"]), "did b");
    assert_eq!(
        here.get(&first).await["status"],
        "cancelled",
        "that stays its end"
    );
}

/// A store in which another change comes before each of the first cancellations.
#[derive(Clone, Debug)]
struct Busy {
    shared: Shared,
    changes: Arc<AtomicUsize>,
}

impl TaskStore for Busy {
    fn create(&self, record: TaskRecord) -> StoreFuture<'_, Result<bool, StoreError>> {
        self.shared.create(record)
    }

    fn update(&self, record: TaskRecord) -> StoreFuture<'_, Result<bool, StoreError>> {
        let takes_one = |left: usize| left.checked_sub(1);
        let is_before = record.state.contains("cancelled")
            && (self.changes)
                .fetch_update(Ordering::SeqCst, Ordering::SeqCst, takes_one)
                .is_ok();
        StoreFuture::later(async move {
            if is_before {
                let seen = self.shared.load(&record.id).await?.expect("it is there");
                let state = seen.state.clone();
                assert!(self.shared.update(seen.changed(state, false)).await?);
            }
            self.shared.update(record).await
        })
    }

    fn load<'a>(&'a self, id: &'a str) -> StoreFuture<'a, Result<Option<TaskRecord>, StoreError>> {
        self.shared.load(id)
    }

    fn list<'a>(
        &'a self,
        owner: &'a str,
        after: Option<(std::time::SystemTime, &'a str)>,
        most: usize,
    ) -> StoreFuture<'a, Result<Vec<TaskRecord>, StoreError>> {
        self.shared.list(owner, after, most)
    }
}

// W-9: the process that runs a task may write while another one cancels it.
#[tokio::test(start_paused = true)]
async fn a_cancellation_that_comes_second() {
    let store = Busy {
        shared: Shared::new(100),
        changes: Arc::new(AtomicUsize::new(3)),
    };
    let settings = || TaskSettings::new().store(store.clone());
    let ((one, director), (two, _)) = (service_with(settings()), service_with(settings()));
    let ann = || ClientOptions::new().principal(Principal::new("ann"));
    let mut here = Peer::legacy_as(&one, R4, ann()).await;
    let mut there = Peer::legacy_as(&two, R4, ann()).await;
    let id = here.start("work", json!({ "label": "a" })).await;
    assert_eq!(director.begun().await, "a");
    let cancelled = there.about("tasks/cancel", &id).await;
    assert_eq!(cancelled["result"]["status"], "cancelled", "{cancelled}");
    assert_eq!(soon(director.begun()).await, "dropped a");
    // One that always comes too late says so.
    store.changes.store(usize::MAX, Ordering::SeqCst);
    let id = here.start("work", json!({ "label": "b" })).await;
    assert_eq!(code(&there.about("tasks/cancel", &id).await), -32_603);
}

// DEC-11: the status says what became of a task that runs when the server stops.
#[tokio::test(start_paused = true)]
async fn the_server_stops() {
    for at_once in [false, true] {
        let store = Shared::new(100);
        let (server, director) = server();
        let settings = TaskSettings::new()
            .store(store.clone())
            .drain(Duration::from_secs(2));
        let service = server.tasks(settings).build().unwrap();
        let mut peer = Peer::modern(&service).await;
        let id = peer.start("work", json!({ "label": "a" })).await;
        assert_eq!(director.begun().await, "a");
        let status = || async { store.load(&id).await.unwrap().unwrap().state };
        let begun = tokio::time::Instant::now();
        service.handle().shut_down();
        if at_once {
            service.handle().shut_down();
        }
        assert_eq!(soon(director.begun()).await, "dropped a");
        let took = begun.elapsed();
        assert_eq!(took >= Duration::from_secs(2), !at_once, "{took:?}");
        let stopped = status().await;
        assert!(
            stopped.contains("\"cancelled\"")
                && stopped.contains("the server stopped before the task ended"),
            "{stopped}"
        );
        // Another process with the store says so too.
        let (next, _director) = service_with(TaskSettings::new().store(store.clone()));
        let mut peer = Peer::modern(&next).await;
        let task = peer.get(&id).await;
        assert_eq!(
            (&task["status"], &task["statusMessage"]),
            (
                &json!("cancelled"),
                &json!("the server stopped before the task ended")
            )
        );
    }
}

// DEC-11: a server is served until the store knows the ends of its tasks.
#[cfg(feature = "http")]
#[tokio::test]
async fn serving_ends_after_the_tasks() {
    let store = Shared::new(1);
    let settings = TaskSettings::new()
        .store(store.clone())
        .drain(Duration::ZERO);
    let (service, director) = service_with(settings);
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let served = service.clone();
    let serving = tokio::spawn(async move { served.serve_http_on(listener).await });
    let mut peer = Peer::modern(&service).await;
    let id = peer.start("work", json!({ "label": "a" })).await;
    assert_eq!(director.begun().await, "a");
    service.handle().shut_down();
    assert_eq!(director.begun().await, "dropped a");
    for _ in 0..100 {
        tokio::task::yield_now().await;
    }
    assert!(!serving.is_finished());
    store.steps.add_permits(1);
    soon(serving).await.unwrap().unwrap();
    let state = store.load(&id).await.unwrap().unwrap().state;
    assert!(state.contains("\"cancelled\""), "{state}");
}
