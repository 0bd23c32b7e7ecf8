//! A statement that writes: checked, shown to the user, run.

use std::sync::Arc;

use trueform::prelude::*;

use crate::{
    Database, MAX_ROWS, Rows, Scalar, database::Session, permission::Access, problem::Problem,
    rows::Page, watch,
};

/// A statement for `execute`. Clones are cheap.
#[derive(Clone, Debug)]
pub(crate) struct Write {
    database: Database,
    statement: Arc<(String, Vec<Scalar>)>,
}

/// What became of a statement.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Executed {
    /// Whether the statement ran.
    outcome: Outcome,
    /// How many rows were inserted, updated or deleted.
    changed_rows: u64,
    /// The rows of a RETURNING clause. Absent unless the statement ran.
    #[serde(skip_serializing_if = "Option::is_none")]
    returned: Option<Rows>,
}

/// How a call of `execute` ends that does not fail.
#[derive(Clone, Copy, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Outcome {
    /// The user agreed, and the statement ran.
    Executed,
    /// The user declined. Nothing was written.
    Declined,
    /// The user closed the question without an answer. Nothing was written.
    Cancelled,
}

impl From<Outcome> for Executed {
    fn from(outcome: Outcome) -> Self {
        Self {
            outcome,
            changed_rows: 0,
            returned: None,
        }
    }
}

impl Write {
    pub(crate) fn new(database: &Database, sql: String, parameters: Vec<Scalar>) -> Self {
        Self {
            database: database.clone(),
            statement: Arc::new((sql, parameters)),
        }
    }

    /// Returns the errors of the statement that are known before it runs.
    pub(crate) async fn check(&self, context: &Context) -> Result<(), ToolError> {
        self.in_session(context, |session, sql, parameters| {
            session.check_write(sql, parameters)
        })
        .await
    }

    /// The question for the user. The statement comes last, so that no text in it can look like a part of the question.
    pub(crate) fn question(&self) -> String {
        let (sql, parameters) = &*self.statement;
        let parameters = match &parameters[..] {
            [] => "none".to_owned(),
            some => serde_json::to_string(some).expect("scalars can be written as JSON"),
        };
        format!(
            "This statement writes to the database. Run it?\n\nParameters: {parameters}\n\n{sql}"
        )
    }

    /// Runs the statement. A call that is cancelled meanwhile rolls it back.
    pub(crate) async fn run(&self, context: &Context) -> Result<Executed, ToolError> {
        self.in_session(context, |session, sql, parameters| {
            let page = Page {
                offset: 0,
                limit: MAX_ROWS,
            };
            let returned = session.run(sql, parameters, page)?;
            Ok(Executed {
                outcome: Outcome::Executed,
                changed_rows: session.changed_rows(),
                returned: Some(returned),
            })
        })
        .await
    }

    /// Calls `work` on a thread for blocking work, with a connection that is closed afterwards: no connection is open while the user
    /// decides.
    async fn in_session<T: Send + 'static>(
        &self,
        context: &Context,
        work: impl FnOnce(&Session, &str, &[Scalar]) -> Result<T, Problem> + Send + 'static,
    ) -> Result<T, ToolError> {
        let (this, is_cancelled) = (self.clone(), watch(context));
        let done = tokio::task::spawn_blocking(move || {
            let session = this.database.session(Access::Write, is_cancelled)?;
            let (sql, parameters) = &*this.statement;
            work(&session, sql, parameters)
        });
        Ok(done.await.map_err(ToolError::internal)??)
    }
}
