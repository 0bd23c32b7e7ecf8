//! Serves one SQLite file: on standard input and output, or over HTTP with `--http`.

use std::{net::SocketAddr, path::PathBuf};

use clap::Parser;
use trueform_sqlite_explorer::{Database, server};

/// An MCP server to look into an SQLite file.
#[derive(Parser)]
#[command(name = "sqlite_explorer", version)]
struct Arguments {
    /// The file.
    file: PathBuf,
    /// Serve HTTP at this address, such as 127.0.0.1:8000. There is no authentication.
    #[arg(long, value_name = "ADDRESS")]
    http: Option<SocketAddr>,
    /// Open the file for writes too: `execute` runs what its user agrees to.
    #[arg(long)]
    write: bool,
}

#[tokio::main]
async fn main() -> trueform::Result {
    let Arguments { file, http, write } = Arguments::parse();
    let mut database = Database::open(file).map_err(trueform::Error::other)?;
    if write {
        database = database.writable();
    }
    let server = server(database);
    match http {
        Some(address) => server.serve_http(address).await,
        None => server.run().await,
    }
}
