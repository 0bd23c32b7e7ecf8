//! One server process: what is known of it, and the task that supervises it.

use std::{process::ExitStatus, sync::Arc, time::Duration};

use tokio::{sync::watch, time::timeout};

use super::{
    command::{ServerCommand, Waits},
    group::ProcessGroup,
    pipes::{ServerInput, ServerOutput},
    stderr::{self, StderrTail},
};
use crate::{
    client::{
        error::LocalError,
        failure::{ServerFailure, ServerFault},
        wire::Wire,
    },
    jsonrpc::sentence,
};

/// What the tasks and the pipes of one process share.
#[derive(Debug)]
pub(super) struct ServerProcess {
    program: String,
    pid: Option<u32>,
    waits: Waits,
    write_timeout: Duration,
    stderr: StderrTail,
    state: watch::Sender<ProcessState>,
    wire: Arc<Wire>,
}

/// How far a process is.
#[derive(Clone, Copy, Debug, Default)]
struct ProcessState {
    /// The client has asked for its end.
    is_closing: bool,
    /// It did something that no connection survives, and has to end.
    has_failed: bool,
    has_exited: bool,
    status: Option<ExitStatus>,
    /// All of its standard error was read.
    has_stderr_ended: bool,
    /// Nothing is left of it and of its group.
    is_gone: bool,
}

/// Notes in the state of a process, when it is dropped, that a task has ended, be it with its runtime.
struct AtEnd(Arc<ServerProcess>, fn(&mut ProcessState));

impl Drop for AtEnd {
    fn drop(&mut self) {
        self.0.state.send_modify(self.1);
    }
}

/// What the task has that supervises a process. Its group ends before that is noted.
struct Supervised {
    group: ProcessGroup,
    gone: AtEnd,
}

/// The client's hold on a process: dropped, it ends it.
#[derive(Debug)]
pub(in crate::client) struct Held(Arc<ServerProcess>);

impl ServerProcess {
    /// Starts a process, and the tasks that supervise it and read its standard error.
    pub(super) fn spawn(
        command: &ServerCommand,
        wire: &Arc<Wire>,
        write_timeout: Duration,
    ) -> Result<(Held, ServerInput, ServerOutput), LocalError> {
        let mut child = command
            .command()
            .spawn()
            .map_err(|error| LocalError::Spawn(command.failed(error)))?;
        let (input, output, errors) =
            (child.stdin.take(), child.stdout.take(), child.stderr.take());
        let process = Arc::new(Self {
            program: command.name(),
            pid: child.id(),
            waits: command.waits,
            write_timeout,
            stderr: StderrTail::default(),
            state: watch::Sender::default(),
            wire: wire.clone(),
        });
        tracing::debug!(
            pid = process.pid,
            program = &*sentence(&process.program),
            "the server process was started"
        );
        let supervised = Supervised {
            group: ProcessGroup::new(child),
            gone: AtEnd(process.clone(), |state| state.is_gone = true),
        };
        let (Some(input), Some(output), Some(errors)) = (input, output, errors) else {
            // They are piped.
            return Err(LocalError::Closed);
        };
        tokio::spawn(process.clone().supervise(supervised));
        let read = AtEnd(process.clone(), |state| state.has_stderr_ended = true);
        tokio::spawn(process.clone().read_stderr(errors, read));
        let input = ServerInput::new(input, process.clone());
        let output = ServerOutput::new(output, process.clone());
        Ok((Held(process), input, output))
    }

    /// Waits for the exit, or ends the process when it has to. Dropped with its runtime, it kills the group.
    async fn supervise(self: Arc<Self>, supervised: Supervised) {
        // The last one is dropped first.
        let Supervised { gone, mut group } = supervised;
        let has_to_end = self.reached(|state| state.is_closing || state.has_failed);
        let exit = tokio::select! {
            biased;
            exit = group.exit() => Some(exit),
            () = has_to_end => group.end_leader(self.waits).await,
        };
        let status = match exit {
            Some(Ok(status)) => Some(status),
            Some(Err(error)) => {
                tracing::warn!(%error, "the exit of the server process cannot be waited for");
                None
            }
            None => None,
        };
        let exit_status = status.map(tracing::field::display);
        tracing::debug!(pid = self.pid, exit_status, "the server process exited");
        self.state.send_modify(|state| {
            state.has_exited = true;
            state.status = status;
        });
        group.end_rest(self.waits).await;
        drop(group);
        drop(gone);
    }

    async fn read_stderr(self: Arc<Self>, errors: tokio::process::ChildStderr, read: AtEnd) {
        let gone = async {
            self.reached(|state| state.is_gone).await;
            // One that has left the group may hold it open.
            tokio::time::sleep(self.waits.last_output).await;
        };
        tokio::select! {
            biased;
            () = stderr::read(self.program.clone(), errors, &self.stderr) => {}
            () = gone => {}
        }
        drop(read);
    }

    /// Ready when the process has exited and others have held its output open for too long.
    pub(super) async fn orphaned(self: Arc<Self>) {
        self.reached(|state| state.has_exited).await;
        tokio::time::sleep(self.waits.last_output).await;
    }

    /// Notes that the process did `fault`, or what is behind that: it exits. Ends it if it does not.
    pub(super) async fn ended(self: Arc<Self>, fault: ServerFault) {
        let exited = self.reached(|state| state.has_exited || state.is_closing);
        let _ = timeout(self.waits.last_output, exited).await;
        let state = *self.state.borrow();
        if state.is_closing {
            return;
        }
        let fault = match state.has_exited && !state.has_failed {
            true => ServerFault::Exited,
            false => fault,
        };
        self.fail(fault).await;
    }

    /// Notes that the process has read nothing for too long, and ends it.
    pub(super) fn not_read(&self) {
        let is_closing = self.state.borrow().is_closing;
        if is_closing {
            return;
        }
        self.wire
            .fail(self.failure(ServerFault::StoppedReading(self.write_timeout), None));
        self.state.send_modify(|state| state.has_failed = true);
    }

    async fn fail(&self, fault: ServerFault) {
        // What it wrote last explains the most.
        let stderr = self.reached(|state| state.has_stderr_ended);
        if self.state.borrow().has_exited {
            let _ = timeout(self.waits.last_output, stderr).await;
        }
        let status = self.state.borrow().status;
        self.wire.fail(self.failure(fault, status));
        self.state.send_modify(|state| state.has_failed = true);
    }

    fn failure(&self, fault: ServerFault, status: Option<ExitStatus>) -> ServerFailure {
        ServerFailure {
            program: self.program.clone(),
            pid: self.pid,
            fault,
            exit_status: status,
            stderr: self.stderr.text(),
            skipped_lines: self.wire.skipped_lines(),
            has_long_line: self.wire.has_long_line(),
            is_connecting: false,
        }
    }

    async fn reached(&self, is_reached: impl Fn(&ProcessState) -> bool) {
        // The sender is this one's own.
        let _ = self
            .state
            .subscribe()
            .wait_for(|state| is_reached(state))
            .await;
    }
}

impl Held {
    /// Ends the process, whose input is being closed, and waits until nothing is left of it and the log has its last lines.
    pub(in crate::client) async fn close(&self) {
        self.0.state.send_modify(|state| state.is_closing = true);
        self.0
            .reached(|state| state.is_gone && state.has_stderr_ended)
            .await;
    }

    /// The error of a client that could not connect, with what is known of the process. Ends it.
    pub(super) fn explained(self, error: LocalError) -> LocalError {
        let failure = match error {
            LocalError::Server(failure) => ServerFailure {
                is_connecting: true,
                ..(*failure).clone()
            },
            LocalError::NoHandshake(silent) => ServerFailure {
                is_connecting: true,
                ..self.0.failure(ServerFault::NoAnswer(silent), None)
            },
            other => return other,
        };
        LocalError::Server(Arc::new(failure))
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        self.0.state.send_modify(|state| state.is_closing = true);
    }
}
