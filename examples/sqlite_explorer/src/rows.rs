//! Statements and their rows, in a form that fits into a model's context.

use rusqlite::{
    Statement, ToSql,
    types::{ToSqlOutput, ValueRef},
};
use trueform::prelude::*;

use crate::{database::Session, problem::Problem};

/// Most rows of one answer.
pub const MAX_ROWS: u32 = 1000;
/// Rows of an answer if the caller does not set a number.
pub const DEFAULT_ROWS: u32 = 100;
/// Largest text that is shown whole, in bytes.
pub const MAX_CELL_BYTES: usize = 2000;
/// How many bytes of a BLOB are shown.
pub const SHOWN_BLOB_BYTES: usize = 16;
/// Size at which an answer ends, in bytes of its cells. The row that reaches it is the last one. The names of the columns may have as
/// many bytes.
pub const MAX_ANSWER_BYTES: usize = 200_000;
/// Largest text that is shown whole in what is left of a row once its answer has [`MAX_ANSWER_BYTES`], in bytes: a row may have 2000
/// columns.
const MAX_LAST_CELL_BYTES: usize = 64;
/// Largest integer that every reader of JSON keeps exact.
const MAX_EXACT: u64 = 1 << 53;

/// A value for a parameter of a statement. NULL is not among them: schemas with it make widely used clients drop the tool, as
/// `Service::lint` says, and a statement may spell it out.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum Scalar {
    /// 0 or 1.
    Bool(bool),
    /// An INTEGER.
    Integer(i64),
    /// A REAL.
    Real(f64),
    /// A TEXT.
    Text(String),
}

impl ToSql for Scalar {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        let value = match self {
            Self::Bool(value) => ValueRef::Integer((*value).into()),
            Self::Integer(value) => ValueRef::Integer(*value),
            Self::Real(value) => ValueRef::Real(*value),
            Self::Text(value) => ValueRef::Text(value.as_bytes()),
        };
        Ok(ToSqlOutput::Borrowed(value))
    }
}

/// One value of a row.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[serde(untagged)]
pub enum Cell {
    /// NULL.
    Null,
    /// An INTEGER up to 2^53.
    Integer(i64),
    /// A REAL.
    Real(f64),
    /// A TEXT, an INTEGER above 2^53, or an infinite REAL.
    Text(String),
    /// The beginning of a long TEXT.
    Cut {
        /// How it begins.
        begins: String,
        /// Its length in bytes.
        text_bytes: usize,
    },
    /// A BLOB, which is not shown.
    Blob {
        /// Its first bytes, in hexadecimal digits.
        begins_hex: String,
        /// Its length in bytes.
        blob_bytes: usize,
    },
}

impl Cell {
    /// `value`, of which a text has at most `most` bytes.
    fn new(value: ValueRef<'_>, most: usize) -> Self {
        match value {
            ValueRef::Null => Self::Null,
            ValueRef::Integer(value) if value.unsigned_abs() <= MAX_EXACT => Self::Integer(value),
            ValueRef::Integer(value) => Self::Text(value.to_string()),
            ValueRef::Real(value) if value.is_finite() => Self::Real(value),
            ValueRef::Real(value) => Self::Text(value.to_string()),
            ValueRef::Text(bytes) if bytes.len() <= most => {
                Self::Text(String::from_utf8_lossy(bytes).into_owned())
            }
            ValueRef::Text(bytes) => Self::Cut {
                begins: beginning(bytes, most),
                text_bytes: bytes.len(),
            },
            ValueRef::Blob(bytes) => Self::Blob {
                begins_hex: bytes
                    .iter()
                    .take(SHOWN_BLOB_BYTES)
                    .map(|byte| format!("{byte:02x}"))
                    .collect(),
                blob_bytes: bytes.len(),
            },
        }
    }
}

/// The first `most` bytes of `text`, which has more, without a character that is cut in two.
fn beginning(text: &[u8], most: usize) -> String {
    let is_inside = |at: usize| text[at] & 0b1100_0000 == 0b1000_0000;
    let end = (most - 3..=most).rev().find(|&at| !is_inside(at));
    String::from_utf8_lossy(&text[..end.unwrap_or(most)]).into_owned()
}

impl Cell {
    fn bytes(&self) -> usize {
        match self {
            Self::Null | Self::Integer(_) | Self::Real(_) => 8,
            // Quotes and the comma count: an answer of empty texts ends too.
            Self::Text(text) => text.len() + 8,
            Self::Cut { begins: shown, .. }
            | Self::Blob {
                begins_hex: shown, ..
            } => shown.len() + 32,
        }
    }
}

/// The rows of a statement, or a page of them.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Rows {
    /// The names of the columns.
    pub columns: Vec<String>,
    /// The rows, each with one value for each column.
    pub rows: Vec<Vec<Cell>>,
    /// Whether there are more rows. The next page begins at `offset` plus the number of these rows.
    pub more: bool,
}

/// Which of the rows to return.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Page {
    pub(crate) offset: u64,
    pub(crate) limit: u32,
}

impl Session {
    /// Checks that `sql` is a statement that writes, takes `parameters`, and may run. It does not run.
    pub(crate) fn check_write(&self, sql: &str, parameters: &[Scalar]) -> Result<(), Problem> {
        match self.prepare_for(sql, parameters)?.readonly() {
            true => Err(Problem::OnlyReads),
            false => Ok(()),
        }
    }

    fn prepare_for(&self, sql: &str, parameters: &[Scalar]) -> Result<Statement<'_>, Problem> {
        let statement = self.prepare(sql)?;
        // `SELECT t.*, t.*, …` repeats long names, once for each item of the statement.
        let bytes: usize = statement.column_names().map(str::len).sum();
        if MAX_ANSWER_BYTES < bytes {
            return Err(Problem::ColumnNames { bytes });
        }
        let (wanted, given) = (statement.parameter_count(), parameters.len());
        match wanted == given {
            true => Ok(statement),
            false => Err(Problem::Parameters { wanted, given }),
        }
    }

    /// Runs `sql`, and returns the rows of the `page`.
    pub(crate) fn run(
        &self,
        sql: &str,
        parameters: &[Scalar],
        page: Page,
    ) -> Result<Rows, Problem> {
        let mut statement = self.prepare_for(sql, parameters)?;
        let columns: Vec<String> = statement.column_names().map(str::to_owned).collect();
        let mut found = Rows {
            columns,
            rows: Vec::new(),
            more: false,
        };
        let writes = !statement.readonly();
        let mut left = MAX_ANSWER_BYTES;
        let mut rows = statement.query(rusqlite::params_from_iter(parameters))?;
        for _ in 0..page.offset {
            if self.explained(rows.next())?.is_none() {
                return Ok(found);
            }
        }
        while let Some(row) = self.explained(rows.next())? {
            if found.rows.len() as u64 == u64::from(page.limit) || left == 0 {
                found.more = true;
                if writes {
                    // Only the last step says whether the statement succeeded.
                    while self.explained(rows.next())?.is_some() {}
                }
                break;
            }
            let cells = (0..found.columns.len()).map(|at| {
                let most = match left {
                    0 => MAX_LAST_CELL_BYTES,
                    _ => MAX_CELL_BYTES,
                };
                let cell = Cell::new(row.get_ref(at)?, most);
                left = left.saturating_sub(cell.bytes());
                Ok(cell)
            });
            let cells: Vec<Cell> = cells.collect::<rusqlite::Result<_>>()?;
            found.rows.push(cells);
        }
        Ok(found)
    }
}
