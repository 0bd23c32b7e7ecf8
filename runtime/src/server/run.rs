//! A server as the main function of a program: the environment or the command line selects the transport.

use super::Server;
use crate::error::{Error, Result};

impl Server {
    /// Serves standard input and output, or HTTP if the environment variable `TRUEFORM_HTTP` contains an address.
    ///
    /// Returns when the client has disconnected or the process is asked to end, after running calls were drained. [Tasks](crate::task)
    /// that still run are cancelled, and their status shows it.
    ///
    /// # Errors
    /// The problems that [`Server::build`] finds, an address that cannot be served, standard streams that fail.
    pub async fn run(self) -> Result {
        match std::env::var("TRUEFORM_HTTP") {
            Ok(address) => self.serve_at(&address).await,
            Err(_) => {
                let service = self.build()?;
                let served = service.serve_stdio().await;
                service.end_tasks().await;
                served
            }
        }
    }

    /// Like [`Server::run`], for command lines: `--http ADDRESS` serves HTTP at that address. Without arguments, it is the same as
    /// [`Server::run`].
    ///
    /// ```no_run
    /// # use trueform::prelude::*;
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> trueform::Result {
    /// Server::new("calc", "1.0.0").run_with(std::env::args().skip(1)).await
    /// # }
    /// ```
    ///
    /// # Errors
    /// As [`Server::run`]; other arguments.
    pub async fn run_with(self, arguments: impl IntoIterator<Item = String>) -> Result {
        let arguments: Vec<String> = arguments.into_iter().collect();
        let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
        match words[..] {
            [] => self.run().await,
            ["--http", address] => self.serve_at(address).await,
            [one] if one.starts_with("--http=") => self.serve_at(&one["--http=".len()..]).await,
            ["--http"] => Err(Error::arguments(
                "`--http` needs an address, such as `--http 127.0.0.1:8000`",
            )),
            _ => Err(Error::arguments(format!(
                "unknown arguments `{}`; expected `--http ADDRESS` or none",
                words.join(" ")
            ))),
        }
    }

    #[cfg(feature = "http")]
    async fn serve_at(self, address: &str) -> Result {
        let found = tokio::net::lookup_host(address).await.map_err(|error| {
            Error::arguments(format!(
                "`{address}` is not an address to serve HTTP at ({error}); expected HOST:PORT, such as `127.0.0.1:8000`"
            ))
        })?;
        let found: Vec<_> = found.collect();
        self.build()?.serve_http(&*found).await
    }

    #[cfg(not(feature = "http"))]
    #[expect(
        clippy::unused_async,
        reason = "the same signature with and without the feature"
    )]
    async fn serve_at(self, address: &str) -> Result {
        Err(Error::arguments(format!(
            "to serve HTTP at `{address}`, build with the feature `http` of `trueform`"
        )))
    }
}
