//! Threads for tools that block.
//!
//! Like the blocking pool of tokio, with one difference that matters to a server: a runtime that shuts down does not wait
//! for these threads, so one tool that never returns cannot keep the process alive.

use std::{
    collections::VecDeque,
    sync::{Condvar, Mutex, MutexGuard, PoisonError},
    thread,
    time::Duration,
};

use tokio::runtime::Handle;

/// Most threads at a time; work beyond that waits.
const MOST_THREADS: usize = 512;
/// How long a thread without work stays.
const KEEP: Duration = Duration::from_secs(10);

type Job = Box<dyn FnOnce() + Send>;

static POOL: Pool = Pool {
    state: Mutex::new(State {
        jobs: VecDeque::new(),
        threads: 0,
        idle: 0,
    }),
    work: Condvar::new(),
};

struct Pool {
    state: Mutex<State>,
    work: Condvar,
}

struct State {
    jobs: VecDeque<Job>,
    threads: usize,
    idle: usize,
}

/// Runs `work` on a thread of the pool, inside the calling task's runtime. It is dropped without being run if no thread can be
/// started.
pub(super) fn run(work: Job) {
    let runtime = Handle::try_current().ok();
    POOL.push(Box::new(move || {
        let _inside = runtime.as_ref().map(Handle::enter);
        work();
    }));
}

impl Pool {
    fn push(&'static self, job: Job) {
        let mut state = self.lock();
        state.jobs.push_back(job);
        if state.idle >= state.jobs.len() || state.threads >= MOST_THREADS {
            drop(state);
            self.work.notify_one();
            return;
        }
        state.threads += 1;
        drop(state);
        let started = thread::Builder::new()
            .name("trueform-blocking".to_owned())
            .spawn(|| self.serve());
        if let Err(error) = started {
            tracing::error!(%error, "no thread for a blocking call");
            let mut state = self.lock();
            state.threads -= 1;
            if state.threads == 0 {
                // Dropping the work ends the wait for it.
                state.jobs.clear();
            }
        }
    }

    fn serve(&self) {
        let mut state = self.lock();
        loop {
            if let Some(job) = state.jobs.pop_front() {
                drop(state);
                // A panic is the tool's; the receiver learns of it by the dropped sender, and the thread lives on.
                let _ = std::panic::catch_unwind(std::panic::AssertUnwindSafe(job));
                state = self.lock();
                continue;
            }
            state.idle += 1;
            let (next, waited) = self
                .work
                .wait_timeout(state, KEEP)
                .unwrap_or_else(PoisonError::into_inner);
            state = next;
            state.idle -= 1;
            if waited.timed_out() && state.jobs.is_empty() {
                state.threads -= 1;
                return;
            }
        }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        // Jobs run without the lock, so it is never poisoned by them.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Barrier;

    use tokio::sync::oneshot;

    use super::*;

    /// What `work` returns; an error says that it panicked.
    fn returned<T: Send + 'static>(
        work: impl FnOnce() -> T + Send + 'static,
    ) -> oneshot::Receiver<T> {
        let (sender, receiver) = oneshot::channel();
        run(Box::new(move || {
            let _ = sender.send(work());
        }));
        receiver
    }

    #[tokio::test]
    async fn work_runs_side_by_side_inside_the_runtime() {
        static TOGETHER: Barrier = Barrier::new(3);
        let work = || {
            TOGETHER.wait();
            Handle::current().id()
        };
        let (a, b, c) = tokio::join!(returned(work), returned(work), returned(work));
        assert_eq!(
            [a.unwrap(), b.unwrap(), c.unwrap()],
            [Handle::current().id(); 3]
        );
    }

    #[tokio::test]
    async fn a_panic_costs_no_thread() {
        assert!(returned(|| panic!("meant")).await.is_err());
        assert_eq!(returned(|| 5).await, Ok(5));
    }
}
