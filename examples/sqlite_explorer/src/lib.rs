//! An MCP server to look into an SQLite file: queries, the schema as resources, a prompt about a table.

mod database;
mod functions;
mod permission;
mod problem;
mod rows;
mod schema;
mod write;

use trueform::{
    completion::CompletionQuery,
    prelude::*,
    prompt::user,
    resource::UriTemplate,
    schema::{EmbeddedResource, PromptMessage, ResourceContents, TextResourceContents},
};

pub use self::{
    database::{
        Database, LOCK_TIMEOUT, MAX_PATTERN_BYTES, MAX_SQL_BYTES, MAX_SQLITE_BYTES,
        MAX_VALUE_BYTES, STATEMENT_TIMEOUT,
    },
    problem::Problem,
    rows::{
        Cell, DEFAULT_ROWS, MAX_ANSWER_BYTES, MAX_CELL_BYTES, MAX_ROWS, Rows, SHOWN_BLOB_BYTES,
        Scalar,
    },
    schema::{COUNT_TIMEOUT, Column, ForeignKey, Index, MAX_SCHEMA_BYTES, Table},
};
use self::{
    permission::Access,
    problem::short,
    rows::Page,
    write::{Executed, Outcome, Write},
};

/// The server for `database`.
pub fn server(database: Database) -> Server {
    Server::new("sqlite-explorer", env!("CARGO_PKG_VERSION"))
        .title("SQLite explorer")
        .instructions("Looks into one SQLite database. Read the schema before you write a query.")
        .features(Explorer { database })
}

/// The template of the URI of a table.
const TABLE: &str = "sqlite://tables/{table}";

/// What the server offers.
///
/// SQLite stops a statement after [`STATEMENT_TIMEOUT`], between two of its steps. `timeout` answers the client even while one step
/// goes on. `execute` has no such limit, because its user may think for a while.
#[derive(Debug)]
struct Explorer {
    database: Database,
}

#[server]
impl Explorer {
    /// Runs one SQL statement that reads, in the dialect of SQLite, and returns its rows page by page. Without ORDER BY the order of
    /// the rows may differ from page to page. Long texts are cut, and BLOBs are described by their length and first bytes.
    #[tool(read_only, open_world = false, blocking, timeout = "20s")]
    fn query(
        &self,
        context: Context,
        /// The statement, with `?` where parameters go. EXPLAIN QUERY PLAN shows how a statement would run.
        #[schemars(length(min = 1, max = MAX_SQL_BYTES))]
        sql: String,
        /// Values for the `?` of the statement, in order. NULL is written into the statement.
        #[serde(default)]
        parameters: Vec<Scalar>,
        /// How many rows to skip.
        #[serde(default)]
        offset: u64,
        /// How many rows to return at most.
        #[schemars(range(min = 1, max = MAX_ROWS))]
        #[serde(default = "default_rows")]
        limit: u32,
    ) -> Result<Json<Rows>, Problem> {
        let session = self.database.session(Access::Read, watch(&context))?;
        let page = Page { offset, limit };
        session.run(&sql, &parameters, page).map(Json)
    }

    /// Runs one SQL statement that writes, in the dialect of SQLite, as a transaction of its own. The user is asked first, and may
    /// refuse.
    #[tool(destructive, open_world = false)]
    async fn execute(
        &self,
        context: Context,
        /// The statement, with `?` where parameters go.
        #[schemars(length(min = 1, max = MAX_SQL_BYTES))]
        sql: String,
        /// Values for the `?` of the statement, in order. NULL is written into the statement.
        #[serde(default)]
        parameters: Vec<Scalar>,
    ) -> Result<Json<Executed>, ToolError> {
        let write = Write::new(&self.database, sql, parameters);
        write.check(&context).await?;
        // At 2026-07-28 the function begins anew with the answer. Nothing is asked after the write, so it runs once.
        let asked = context.ask::<()>("run", write.question()).await?;
        let executed = match asked {
            Asked::Accepted(()) => write.run(&context).await?,
            Asked::Declined => Outcome::Declined.into(),
            Asked::Cancelled => Outcome::Cancelled.into(),
        };
        Ok(Json(executed))
    }

    /// Shows the SQL statements that made the tables, views, indexes and triggers.
    #[tool(
        name = "schema",
        read_only,
        open_world = false,
        blocking,
        timeout = "20s"
    )]
    fn schema_tool(&self, context: Context) -> Result<String, Problem> {
        self.schema(context)
    }

    /// The SQL statements that made the tables, views, indexes and triggers.
    #[resource(
        "sqlite://schema",
        title = "Schema",
        mime_type = "application/sql",
        blocking,
        timeout = "20s"
    )]
    fn schema(&self, context: Context) -> Result<String, Problem> {
        self.database
            .session(Access::Read, watch(&context))?
            .schema()
    }

    /// A table or view: its columns, indexes, foreign keys and number of rows.
    #[resource(
        "sqlite://tables/{table}",
        title = "Table",
        mime_type = "application/json",
        blocking,
        timeout = "20s"
    )]
    fn table(
        &self,
        context: Context,
        #[arg(complete = Self::tables, blocking)] table: String,
    ) -> Result<Option<Json<Table>>, Problem> {
        Ok(self.described(&context, &table)?.map(Json))
    }

    /// Explain a table: what it holds, and how it belongs to the others.
    #[prompt(title = "Explain a table", blocking, timeout = "20s")]
    fn explain_table(
        &self,
        context: Context,
        /// The table or view.
        #[arg(complete = Self::tables, blocking)]
        table: String,
        /// What you want to know about it.
        question: Option<String>,
    ) -> Result<Vec<PromptMessage>, ToolError> {
        let found = self.described(&context, &table)?;
        let found = found.ok_or_else(|| {
            let problem = format!("there is no table or view `{}`", short(&table));
            ToolError::invalid_argument("table", problem)
        })?;
        let json = serde_json::to_string(&found).map_err(ToolError::internal)?;
        let uri = UriTemplate::parse(TABLE)?.expand([("table", &found.name)])?;
        let contents = TextResourceContents::new(json, uri).with_mime_type("application/json");
        let question = question.unwrap_or_else(|| {
            "What does it hold, and how does it belong to the other tables?".to_owned()
        });
        Ok(vec![
            user(EmbeddedResource::new(ResourceContents::from(contents))),
            user(format!(
                "This is the table `{}` of an SQLite database. {question}",
                found.name
            )),
        ])
    }

    fn tables(&self, query: CompletionQuery) -> Result<Vec<String>, Problem> {
        let session = self
            .database
            .session(Access::Read, watch(query.context()))?;
        session.table_names(&query.into_value())
    }
}

impl Explorer {
    fn described(&self, context: &Context, name: &str) -> Result<Option<Table>, Problem> {
        let session = self.database.session(Access::Read, watch(context))?;
        let Some(mut table) = session.table(name)? else {
            return Ok(None);
        };
        let hurried = self.database.clone().timeout(COUNT_TIMEOUT);
        let count = hurried
            .session(Access::Read, watch(context))?
            .count(&table.name);
        match count {
            Ok(rows) => table.rows = Some(rows),
            Err(problem) => table
                .problems
                .push(format!("the rows were not counted: {problem}")),
        }
        Ok(Some(table))
    }
}

/// Whether the client no longer wants the answer of the call.
fn watch(context: &Context) -> impl Fn() -> bool + Send + Sync + 'static {
    let context = context.clone();
    move || context.is_cancelled()
}

fn default_rows() -> u32 {
    DEFAULT_ROWS
}
