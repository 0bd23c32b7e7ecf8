//! What the database has: tables, views, columns, indexes.

use std::{fmt::Write as _, time::Duration};

use rusqlite::{Params, Row};
use trueform::prelude::*;

use crate::{database::Session, problem::Problem};

/// Largest text of the schema, in bytes. What does not fit is counted.
pub const MAX_SCHEMA_BYTES: usize = 200_000;
/// How long the rows of a table may be counted.
pub const COUNT_TIMEOUT: Duration = Duration::from_secs(1);

/// A table or a view.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Table {
    /// The name.
    pub name: String,
    /// The statement that made it.
    pub sql: Option<String>,
    /// The columns, in order.
    pub columns: Vec<Column>,
    /// The indexes.
    pub indexes: Vec<Index>,
    /// The foreign keys.
    pub foreign_keys: Vec<ForeignKey>,
    /// How many rows it has.
    pub rows: Option<i64>,
    /// What could not be found out, and why, such as the columns of a view whose table is gone.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub problems: Vec<String>,
}

/// A column of a table.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Column {
    /// The name.
    pub name: String,
    /// The declared type, which may be empty.
    #[serde(rename = "type")]
    pub kind: String,
    /// Whether NULL is refused.
    pub not_null: bool,
    /// The expression of the default value.
    pub default: Option<String>,
    /// Whether it is part of the primary key.
    pub primary_key: bool,
}

/// An index of a table.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Index {
    /// The name.
    pub name: String,
    /// Whether two rows may not have the same values.
    pub unique: bool,
    /// The columns, in order; `null` for an expression.
    pub columns: Vec<Option<String>>,
}

/// A column whose values are those of a column of another table.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct ForeignKey {
    /// The column.
    pub column: String,
    /// The other table.
    pub table: String,
    /// The column there; absent for the primary key.
    pub references: Option<String>,
}

impl Session {
    /// The names of the tables and views that begin with `start`, whatever its case.
    pub(crate) fn table_names(&self, start: &str) -> Result<Vec<String>, Problem> {
        self.all(
            "SELECT name FROM sqlite_schema
             WHERE type IN ('table', 'view') AND substr(name, 1, 7) <> 'sqlite_'
               AND lower(substr(name, 1, length(?1))) = lower(?1)
             ORDER BY name",
            [start],
            |row| row.get(0),
        )
    }

    /// The statements that made the schema, and how many of them did not fit.
    pub(crate) fn schema(&self) -> Result<String, Problem> {
        let statements: Vec<String> = self.all(
            "SELECT sql FROM sqlite_schema WHERE sql IS NOT NULL ORDER BY tbl_name, type <> 'table', name",
            (),
            |row| row.get(0),
        )?;
        let mut text = String::new();
        let mut left_out = 0;
        for sql in &statements {
            match text.len() + sql.len() <= MAX_SCHEMA_BYTES {
                true => {
                    text.push_str(sql);
                    text.push_str(";\n");
                }
                false => left_out += 1,
            }
        }
        if left_out > 0 {
            let _ = writeln!(text, "-- and {left_out} statements that are left out here");
        }
        Ok(text)
    }

    /// The table or view `name`; `None` if it does not exist.
    pub(crate) fn table(&self, name: &str) -> Result<Option<Table>, Problem> {
        let found = self.all(
            "SELECT name, sql FROM sqlite_schema WHERE type IN ('table', 'view') AND name = ?1 COLLATE NOCASE",
            [name],
            |row| Ok((row.get(0)?, row.get(1)?)),
        )?;
        let Some((name, sql)): Option<(String, Option<String>)> = found.into_iter().next() else {
            return Ok(None);
        };
        let columns = self.all(
            "SELECT name, type, \"notnull\", dflt_value, pk > 0 FROM pragma_table_xinfo(?1)",
            [&name],
            |row| {
                Ok(Column {
                    name: row.get(0)?,
                    kind: row.get(1)?,
                    not_null: row.get(2)?,
                    default: row.get(3)?,
                    primary_key: row.get(4)?,
                })
            },
        );
        let (columns, problems) = match columns {
            Ok(columns) => (columns, Vec::new()),
            Err(problem @ Problem::Sqlite(_)) => (Vec::new(), vec![problem.to_string()]),
            Err(problem) => return Err(problem),
        };
        let foreign_keys = self.all(
            "SELECT \"from\", \"table\", \"to\" FROM pragma_foreign_key_list(?1) ORDER BY id, seq",
            [&name],
            |row| {
                Ok(ForeignKey {
                    column: row.get(0)?,
                    table: row.get(1)?,
                    references: row.get(2)?,
                })
            },
        )?;
        let mut indexes = self.all(
            "SELECT name, \"unique\" FROM pragma_index_list(?1) ORDER BY name",
            [&name],
            |row| {
                Ok(Index {
                    name: row.get(0)?,
                    unique: row.get(1)?,
                    columns: Vec::new(),
                })
            },
        )?;
        for index in &mut indexes {
            index.columns = self.all(
                "SELECT name FROM pragma_index_info(?1) ORDER BY seqno",
                [&index.name],
                |row| row.get(0),
            )?;
        }
        Ok(Some(Table {
            name,
            sql,
            columns,
            indexes,
            foreign_keys,
            rows: None,
            problems,
        }))
    }

    /// The number of rows of the table or view `name`.
    pub(crate) fn count(&self, name: &str) -> Result<i64, Problem> {
        // A name cannot be a parameter here.
        let sql = format!("SELECT count(*) FROM \"{}\"", name.replace('"', "\"\""));
        let mut statement = self.prepare(&sql)?;
        self.explained(statement.query_row((), |row| row.get(0)))
    }

    fn all<T>(
        &self,
        sql: &str,
        parameters: impl Params,
        read: impl FnMut(&Row<'_>) -> rusqlite::Result<T>,
    ) -> Result<Vec<T>, Problem> {
        let mut statement = self.prepare(sql)?;
        let rows = statement.query_map(parameters, read)?;
        self.explained(rows.collect())
    }
}
