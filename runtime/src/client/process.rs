//! A client that starts its server as a child process.
//!
//! One task supervises the process, one reads its standard error. They share [`ServerProcess`] with the two pipes that the connection
//! runs over. Whatever ends the connection ends the process, in steps; whatever ends the process ends the connection, with a reason.

mod child;
mod command;
mod group;
mod pipes;
mod stderr;

use std::sync::Arc;

use trueform_schema::{Era, Revision};

pub(super) use self::child::Held;
use self::child::ServerProcess;
pub use self::command::{ServerCommand, SpawnError};
use super::{
    Client, ClientError, ClientOptions, Inner, LocalError, Negotiation, ServerFault,
    profile::ServerProfile, wire::Wire,
};

impl Client {
    /// Starts a server as a child process and connects to it over its standard input and output.
    ///
    /// The process leads a process group of its own, so that signals to the client's group, such as Ctrl-C in a terminal, do not reach it; the
    /// end of its input does. What it writes to standard error goes to the log, line by line, at level `INFO` under the target
    /// `trueform::server_stderr`: escaped, at most 1,000 characters of a line and 200 lines a second. Lines on its standard output that are not messages
    /// are skipped, counted ([`Client::skipped_lines`]) and logged without the values in them.
    ///
    /// If the process exits, or closes its standard output, all calls end with [`LocalError::Server`], which has the exit status and the last
    /// 64 KiB of standard error. Processes that it started and that still hold its output open do not delay this for longer than
    /// [`ServerCommand::last_output`]. Spawn the server again to continue.
    ///
    /// [`Client::close`] closes the server's standard input, waits for its exit ([`ServerCommand::close_wait`]), sends SIGTERM to its group,
    /// waits ([`ServerCommand::term_wait`]), and kills the group. What is left of the group when the process has exited is ended as well. When
    /// the last clone of a client is dropped, the same happens in the background. If the tokio runtime ends before that is done, the
    /// group is killed at once. Systems other than Unix have no groups and no SIGTERM: the process itself is killed after both waits.
    /// This is not verified.
    ///
    /// With [`Negotiation::Automatic`], a server that ends instead of answering `server/discover` is started once more, and spoken to in
    /// the legacy era. With [`Client::profile`] in [`ClientOptions::profile`], this is not needed the next time.
    ///
    /// Must be called within a tokio runtime that has I/O and time enabled.
    ///
    /// ```no_run
    /// use trueform::client::{Client, ClientOptions, ServerCommand};
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> trueform::Result {
    /// let command = ServerCommand::new("my-server").arg("--read-only").env("MY_SERVER_TOKEN", "secret");
    /// let client = Client::spawn(&command, ClientOptions::new()).await?;
    /// for tool in client.list_tools().await? {
    ///     println!("{}", tool.name);
    /// }
    /// client.close().await;
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// [`LocalError::Spawn`] if the process cannot be started; [`LocalError::Server`] if it exits, closes its output or does not answer
    /// while the client connects; otherwise those of [`Client::over`]. The process is ended then.
    pub async fn spawn(
        command: &ServerCommand,
        options: ClientOptions,
    ) -> Result<Self, ClientError> {
        let may_begin_again = options.negotiation == Negotiation::Automatic
            && options
                .profile
                .as_ref()
                .and_then(ServerProfile::revision)
                .is_none_or(|revision| revision.era() == Era::Modern);
        let again = may_begin_again.then(|| {
            let legacy = Negotiation::Offer(Revision::LATEST_LEGACY);
            options.clone().negotiation(legacy)
        });
        match (start(command, options).await, again) {
            // D-6
            (Err(ClientError::Local(LocalError::Server(failure))), Some(again))
                if matches!(
                    failure.fault(),
                    ServerFault::Exited | ServerFault::ClosedOutput
                ) =>
            {
                tracing::info!(%failure, "the server ended while the client connected; it is started again, for `initialize` without a probe");
                start(command, again).await
            }
            (started, _) => started,
        }
    }
}

async fn start(command: &ServerCommand, options: ClientOptions) -> Result<Client, ClientError> {
    // Before the process is started.
    options.check()?;
    let wire = Arc::<Wire>::default();
    let (held, input, output) = ServerProcess::spawn(command, &wire, options.write_timeout)?;
    match Inner::connect(output, input, options, wire).await {
        Ok(mut inner) => {
            inner.process = Some(held);
            Ok(Client {
                inner: Arc::new(inner),
            })
        }
        Err(ClientError::Local(error)) => Err(held.explained(error).into()),
        Err(error) => Err(error),
    }
}
