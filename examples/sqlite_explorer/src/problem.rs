//! The errors, with texts for the model.

use std::time::Duration;

use crate::rows::MAX_ANSWER_BYTES;

/// Most characters of a message of SQLite, which repeats names of the statement as long as they are.
const MAX_MESSAGE_CHARS: usize = 1000;

/// Why a statement gave no result. None of the texts names the file.
#[derive(Debug, thiserror::Error)]
pub enum Problem {
    /// The file is absent, may not be read, or is locked.
    #[error("the database file cannot be opened")]
    Unopened(#[source] rusqlite::Error),
    /// The texts of the file are UTF-16.
    #[error("the database has texts in UTF-16, and this server works with UTF-8 only")]
    Encoding,
    /// The server was started without writes.
    #[error(
        "the database is opened for reading only; who runs the server can start it with `--write`"
    )]
    NotWritable,
    /// The server may write, but the operating system does not let it.
    #[error("the database file is write-protected")]
    WriteProtected,
    /// `execute` got a statement that writes nothing.
    #[error("the statement only reads; run it with the tool `query`")]
    OnlyReads,
    /// The statement does what this server does not allow.
    #[error("not allowed: {0}")]
    Refused(String),
    /// The statement took too long.
    #[error(
        "the statement did not finish within {0:?} and was stopped; narrow it down, or look at its plan with EXPLAIN QUERY PLAN"
    )]
    TimedOut(Duration),
    /// The client no longer wants the result.
    #[error("cancelled")]
    Cancelled,
    /// The text has no statement.
    #[error("`sql` has no statement")]
    NoStatement,
    /// The text goes on after the first statement.
    #[error("`sql` has more than one statement; send them one by one")]
    SeveralStatements,
    /// The text has the character NUL. SQLite takes it for the end: the user would be asked about another statement than runs.
    #[error("`sql` has the character NUL; a value with it goes into `parameters`")]
    Nul,
    /// The names of the columns are too long together.
    #[error(
        "the names of the columns have {bytes} bytes, and at most {MAX_ANSWER_BYTES} are allowed; give them shorter ones with AS"
    )]
    ColumnNames {
        /// How many bytes they have together.
        bytes: usize,
    },
    /// The parameters do not fit the statement.
    #[error("the statement takes {wanted} parameters, and `parameters` has {given}")]
    Parameters {
        /// How many the statement takes.
        wanted: usize,
        /// How many there are.
        given: usize,
    },
    /// SQLite refused the statement.
    #[error("{}", words(.0))]
    Sqlite(#[from] rusqlite::Error),
}

/// The text of an error without the statement, which the model knows.
fn words(error: &rusqlite::Error) -> String {
    match error {
        rusqlite::Error::SqlInputError { msg, offset, .. } => {
            format!("{}, at byte {offset} of `sql`", short(msg))
        }
        rusqlite::Error::SqliteFailure(_, Some(message)) => short(message),
        other => short(&other.to_string()),
    }
}

/// At most [`MAX_MESSAGE_CHARS`] characters of `message`, and `…` if there are more.
pub(crate) fn short(message: &str) -> String {
    match message.char_indices().nth(MAX_MESSAGE_CHARS) {
        Some((end, _)) => format!("{}…", &message[..end]),
        None => message.to_owned(),
    }
}
