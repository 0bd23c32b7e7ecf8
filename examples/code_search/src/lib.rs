//! A server that lets a model search a folder of code and read its files.
//!
//! Both see the same files as ripgrep: no ignored files, no hidden files, and nothing behind a link.

mod completion;
mod contents;
mod folder;
mod query;
mod search;

use trueform::{
    completion::CompletionQuery,
    prelude::*,
    prompt::user,
    schema::{Completion, EmbeddedResource, PromptMessage, ResourceContents},
};

pub use self::{
    completion::MAX_COMPLETION_TIME,
    folder::{Folder, MAX_FILE_BYTES},
    query::{MAX_GLOB_CHARS, MAX_MATCHES, MAX_PATTERN_CHARS, MAX_REGEX_BYTES, Match, Page, Query},
    search::{MAX_LINE_BYTES, MAX_SEARCH_TIME, MAX_SEARCHED_BYTES, PROGRESS_FILES},
};
use self::{completion::beginning_with, contents::contents};

/// The server of `folder`.
pub fn server(folder: Folder) -> Server {
    Server::new("code-search", env!("CARGO_PKG_VERSION"))
        .title("Code search")
        .instructions("Find code with `search`; read the file `src/main.rs` as the resource `code://src/main.rs`.")
        .features(folder)
}

#[server]
impl Folder {
    /// Search the files of the folder line by line. Ignored, hidden, binary and very large files are left out, and what is beyond 64 KiB
    /// of a line. The matches are in the order of their paths.
    #[tool(title = "Search code", read_only, blocking)]
    fn search(&self, context: Context, Args(query): Args<Query>) -> Result<Json<Page>, ToolError> {
        query.run(self, &context).map(Json)
    }

    /// A file of the folder, by its path.
    #[resource("code://{+path}", title = "File", file_like, blocking)]
    fn file(
        &self,
        #[arg(complete = Self::paths, blocking)] path: String,
    ) -> Result<ResourceContents, ToolError> {
        Ok(contents(&path, self.read(&path)?))
    }

    /// Review a file.
    #[prompt(title = "Review a file", blocking)]
    fn review(
        &self,
        /// The path of the file.
        #[arg(complete = Self::paths, blocking)]
        path: String,
        /// What to look at above all.
        #[arg(complete = ["bugs", "security", "speed", "tests", "readability"])]
        focus: Option<String>,
    ) -> Result<Vec<PromptMessage>, ToolError> {
        let wrong = |message: &str| ToolError::invalid_argument("path", message);
        let bytes = self
            .read(&path)
            .map_err(|error| match error.is_not_found() {
                true => wrong(error.message()),
                false => error,
            })?;
        let file = contents(&path, bytes);
        if !matches!(file, ResourceContents::Text(_)) {
            return Err(wrong(&format!(
                "`{path}` is not text: there is nothing to review"
            )));
        }
        let focus = focus.map_or(String::new(), |focus| {
            format!(" Look at {focus} above all.")
        });
        Ok(vec![
            user(format!(
                "Review `{path}`.{focus} Name each problem with its line, say why it is one, and how to solve it. \
                 Search the code for whatever the file alone does not tell."
            )),
            user(EmbeddedResource::new(file)),
        ])
    }

    fn paths(&self, query: CompletionQuery) -> Completion {
        beginning_with(self, &query.into_value())
    }
}
