//! The end of a server that still runs tasks.

use std::time::Duration;

use super::Service;
use crate::transport::asked_to_end;

/// How long the ends of tasks that are cut off may take to be kept: 1 s.
const LAST_WORDS: Duration = Duration::from_secs(1);

impl Service {
    /// If the server stops, waits until its tasks have ended and their ends are stored: at most for their drain, and shorter if the process
    /// is asked to end a second time (DEC-11).
    pub(super) async fn tasks_ended(&self) {
        let host = &self.engine.host;
        let Some(tasks) = self.engine.features.tasks.as_ref() else {
            return;
        };
        if !host.shutdown.is_fired() {
            return;
        }
        let drained = tokio::time::timeout(tasks.drain() + LAST_WORDS, tasks.none_runs());
        let ended = tokio::select! {
            ended = drained => ended.is_ok(),
            () = asked_to_end() => {
                host.at_once.fire();
                tokio::time::timeout(LAST_WORDS, tasks.none_runs()).await.is_ok()
            }
        };
        if !ended {
            tracing::warn!("the store of tasks does not know of the end of all of them");
        }
    }

    /// Ends the tasks of a server whose only client has gone, as after a second request to stop.
    pub(super) async fn end_tasks(&self) {
        let host = &self.engine.host;
        if host.shutdown.fire() {
            host.at_once.fire();
        }
        self.tasks_ended().await;
    }
}
