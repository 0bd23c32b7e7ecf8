//! What can go wrong, in words for the model.

use std::time::Duration;

/// Why a statement gave no result. None of the texts names the file.
#[derive(Debug, thiserror::Error)]
pub enum Problem {
    /// The file is absent, may not be read, or is locked.
    #[error("the database file cannot be opened")]
    Unopened(#[source] rusqlite::Error),
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
            format!("{msg}, at byte {offset} of `sql`")
        }
        rusqlite::Error::SqliteFailure(_, Some(message)) => message.clone(),
        other => other.to_string(),
    }
}
