//! `code_search FOLDER` speaks MCP on standard input and output; `code_search FOLDER --http 127.0.0.1:8000` serves
//! `http://127.0.0.1:8000/mcp`.

use code_search::{Folder, server};

#[tokio::main]
async fn main() -> trueform::Result {
    let mut arguments = std::env::args().skip(1);
    let folder = arguments.next().filter(|folder| !folder.starts_with('-'));
    let folder = folder.ok_or_else(|| {
        trueform::Error::other("which folder? usage: code_search FOLDER [--http ADDRESS]")
    })?;
    server(Folder::open(&folder)?).run_with(arguments).await
}
