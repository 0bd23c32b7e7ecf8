//! Threads for tools that block.
//!
//! Like the blocking pool of tokio, with one difference that matters to a server: a runtime that shuts down does not wait for these
//! threads. So a tool that never returns cannot keep the process alive.

use std::{
    collections::VecDeque,
    sync::{Condvar, Mutex, MutexGuard, PoisonError},
    thread,
    time::Duration,
};

use tokio::runtime::Handle;

use crate::feature::job::PoolWork;

/// Most threads at a time for tools that block; work beyond that waits.
pub const MAX_BLOCKING_THREADS: usize = 512;
/// Most calls that wait for such a thread. One more is answered with an error.
pub const MAX_BLOCKING_QUEUE: usize = 1024;
/// How long an idle thread is kept.
const KEEP: Duration = Duration::from_secs(10);

static POOL: BlockingPool = BlockingPool {
    state: Mutex::new(PoolState {
        jobs: VecDeque::new(),
        threads: 0,
        idle: 0,
    }),
    work: Condvar::new(),
};

struct BlockingPool {
    state: Mutex<PoolState>,
    work: Condvar,
}

struct PoolState {
    jobs: VecDeque<PoolWork>,
    threads: usize,
    idle: usize,
}

/// Runs `work` on a thread of the pool, inside the calling task's runtime. The work is dropped without being run if its caller no longer
/// waits when its turn comes, if no thread can be started, or if [`MAX_BLOCKING_QUEUE`] other calls wait.
pub(super) fn run(work: PoolWork) {
    let runtime = Handle::try_current().ok();
    let PoolWork { run, caller } = work;
    let run = Box::new(move || {
        let _inside = runtime.as_ref().map(Handle::enter);
        run();
    });
    POOL.push(PoolWork { run, caller });
}

impl BlockingPool {
    fn push(&'static self, job: PoolWork) {
        let mut state = self.lock();
        if state.jobs.len() >= MAX_BLOCKING_QUEUE {
            // Dropped without the lock, because dropping a job may run an author's code.
            let jobs = std::mem::take(&mut state.jobs);
            let (wanted, unwanted): (Vec<_>, Vec<_>) =
                jobs.into_iter().partition(PoolWork::is_wanted);
            state.jobs = wanted.into();
            drop(state);
            if unwanted.is_empty() {
                return;
            }
            drop(unwanted);
            state = self.lock();
        }
        state.jobs.push_back(job);
        if state.idle >= state.jobs.len() || state.threads >= MAX_BLOCKING_THREADS {
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
                let jobs = std::mem::take(&mut state.jobs);
                drop(state);
                drop(jobs);
            }
        }
    }

    fn serve(&self) {
        let mut state = self.lock();
        loop {
            if let Some(job) = state.jobs.pop_front() {
                drop(state);
                // A panic belongs to the tool. The receiver notices it because the sender is dropped, and the thread continues.
                let run = || match job.is_wanted() {
                    true => (job.run)(),
                    false => drop(job),
                };
                let _ = std::panic::catch_unwind(std::panic::AssertUnwindSafe(run));
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

    fn lock(&self) -> MutexGuard<'_, PoolState> {
        // Jobs run without the lock, so it is never poisoned by them.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::{Arc, Barrier};

    use tokio::sync::oneshot;

    use super::*;

    /// Returns the result of `work`; an error if it panicked.
    fn returned<T: Send + 'static>(
        work: impl FnOnce() -> T + Send + 'static,
    ) -> oneshot::Receiver<T> {
        let (sender, receiver) = oneshot::channel();
        let caller = Arc::new(());
        run(PoolWork {
            caller: Arc::downgrade(&caller),
            run: Box::new(move || {
                let _caller = caller;
                let _ = sender.send(work());
            }),
        });
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

    // A job whose caller has gone uses neither a thread nor a place in the queue.
    #[test]
    fn what_nobody_waits_for_is_dropped() {
        static SMALL: BlockingPool = BlockingPool {
            state: Mutex::new(PoolState {
                jobs: VecDeque::new(),
                // Simulates that all threads are busy.
                threads: MAX_BLOCKING_THREADS,
                idle: 0,
            }),
            work: Condvar::new(),
        };
        let callers: Vec<Arc<()>> = (0..MAX_BLOCKING_QUEUE).map(|_| Arc::default()).collect();
        let (ran, has_run) = std::sync::mpsc::channel();
        let job = |caller: &Arc<()>, number: usize| {
            let ran = ran.clone();
            PoolWork {
                caller: Arc::downgrade(caller),
                run: Box::new(move || ran.send(number).expect("the test waits")),
            }
        };
        for (number, caller) in callers.iter().enumerate() {
            SMALL.push(job(caller, number));
        }
        let late = Arc::new(());
        SMALL.push(job(&late, MAX_BLOCKING_QUEUE));
        assert_eq!(
            SMALL.lock().jobs.len(),
            MAX_BLOCKING_QUEUE,
            "the queue is full"
        );
        let kept = callers[0].clone();
        drop(callers);
        SMALL.push(job(&late, MAX_BLOCKING_QUEUE + 1));
        assert_eq!(SMALL.lock().jobs.len(), 2, "the others are dropped");
        drop(kept);
        // One thread becomes free.
        thread::spawn(|| SMALL.serve());
        let limit = Duration::from_secs(20);
        assert_eq!(has_run.recv_timeout(limit), Ok(MAX_BLOCKING_QUEUE + 1));
    }
}
