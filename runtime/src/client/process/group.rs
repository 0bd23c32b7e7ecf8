//! A child process and the process group that it leads: signals to all of it, and its end in steps.

use std::{io, process::ExitStatus, time::Duration};

use tokio::{process::Child, time::timeout};

use super::command::Waits;

/// How often it is looked whether the rest of a group is gone: nothing reports that.
const LOOK: Duration = Duration::from_millis(10);

/// What a group is asked to do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum End {
    Terminate,
    Kill,
}

/// A child process and its group. Dropped before all of it is gone, it is killed.
pub(super) struct ProcessGroup {
    leader: Child,
    /// The id of the group, which is that of its leader.
    #[cfg(unix)]
    group: Option<rustix::process::Pid>,
    is_gone: bool,
}

impl ProcessGroup {
    pub(super) fn new(leader: Child) -> Self {
        Self {
            #[cfg(unix)]
            group: leader
                .id()
                .and_then(|id| i32::try_from(id).ok())
                .and_then(rustix::process::Pid::from_raw),
            leader,
            is_gone: false,
        }
    }

    /// Waits for the exit of the leader. Nothing is lost when it is dropped.
    pub(super) async fn exit(&mut self) -> io::Result<ExitStatus> {
        self.leader.wait().await
    }

    /// Ends the leader, whose input is being closed, in steps. `None` if it does not end even after it was killed.
    pub(super) async fn end_leader(&mut self, waits: Waits) -> Option<io::Result<ExitStatus>> {
        for (wait, next) in [(waits.close, End::Terminate), (waits.term, End::Kill)] {
            if let Ok(status) = timeout(wait, self.exit()).await {
                return Some(status);
            }
            tracing::info!(?next, "the server process did not exit within {wait:?}");
            self.signal(next);
        }
        let killed = timeout(waits.kill, self.exit()).await;
        if killed.is_err() {
            let wait = waits.kill;
            tracing::error!("the server process was killed and did not exit within {wait:?}");
        }
        killed.ok()
    }

    /// Ends what the leader has left behind.
    pub(super) async fn end_rest(&mut self, waits: Waits) {
        // As long as one of the group lives, its id is not given to another one.
        if self.is_inhabited() {
            self.signal(End::Terminate);
            let emptied = async {
                while self.is_inhabited() {
                    tokio::time::sleep(LOOK).await;
                }
            };
            if timeout(waits.term, emptied).await.is_err() {
                tracing::info!("processes that the server started are killed");
                self.signal(End::Kill);
            }
        }
        self.is_gone = true;
    }

    #[cfg(unix)]
    fn is_inhabited(&self) -> bool {
        let alive = rustix::process::test_kill_process_group;
        self.group.is_some_and(|group| alive(group).is_ok())
    }

    #[cfg(not(unix))]
    fn is_inhabited(&self) -> bool {
        false
    }

    #[cfg(unix)]
    fn signal(&mut self, end: End) {
        use rustix::process::{Signal, kill_process_group};
        let signal = match end {
            End::Terminate => Signal::TERM,
            End::Kill => Signal::KILL,
        };
        if let Some(group) = self.group {
            // All of it may be gone already.
            if let Err(error) = kill_process_group(group, signal) {
                tracing::debug!(%error, ?end, "the process group was not signalled");
            }
        }
    }

    #[cfg(not(unix))]
    fn signal(&mut self, end: End) {
        if end == End::Kill
            && let Err(error) = self.leader.start_kill()
        {
            tracing::debug!(%error, "the server process was not killed");
        }
    }
}

impl Drop for ProcessGroup {
    fn drop(&mut self) {
        if !self.is_gone {
            self.signal(End::Kill);
        }
    }
}
