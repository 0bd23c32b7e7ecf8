//! What is kept of the server's tools: the schemas of their results, and what the server says of their effects.

use std::{
    collections::HashMap,
    fmt,
    sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError},
};

use trueform_schema::{CallToolResult, Json, JsonObject, Tool};

use super::{Client, changes::Changing, error::ClientError};
use crate::{
    check::{CompileOptions, Schema},
    jsonrpc::{sentence, shortened},
};

/// The list of tools that was read last.
#[derive(Default)]
pub(super) struct Catalog {
    kept: Mutex<Option<Arc<KnownTools>>>,
    /// One reads the list, the others wait for it.
    reading: tokio::sync::Mutex<()>,
}

/// A list of tools.
pub(super) struct KnownTools {
    /// Of the tools, when the reading began.
    version: u64,
    by_name: HashMap<String, KnownTool>,
}

struct KnownTool {
    output: Option<JsonObject>,
    /// Compiled when it is needed first; `None` if it cannot be.
    compiled: OnceLock<Option<Schema>>,
    is_repeatable: bool,
}

impl KnownTools {
    fn new(version: u64, tools: Vec<Tool>) -> Self {
        let by_name = tools.into_iter().map(|tool| {
            let hints = tool.annotations.unwrap_or_default();
            let is_repeatable =
                hints.read_only_hint == Some(true) || hints.idempotent_hint == Some(true);
            let known = KnownTool {
                output: tool.output_schema,
                compiled: OnceLock::new(),
                is_repeatable,
            };
            (tool.name, known)
        });
        Self {
            version,
            by_name: by_name.collect(),
        }
    }

    /// Whether the server says that a second call of the tool `name` has no further effect.
    pub(super) fn is_repeatable(&self, name: &str) -> bool {
        self.by_name
            .get(name)
            .is_some_and(|tool| tool.is_repeatable)
    }

    /// Checks the structured content of `result` against the output schema of the tool `name`, if it has one.
    ///
    /// # Errors
    /// What is wrong with it.
    pub(super) fn check(&self, name: &str, result: &CallToolResult) -> Result<(), String> {
        let Some(tool) = self.by_name.get(name) else {
            return Ok(());
        };
        let Some(schema) = tool.schema(name) else {
            return Ok(());
        };
        let Some(content) = &result.structured_content else {
            return Err(
                "/structuredContent: missing, and the output schema requires it".to_owned(),
            );
        };
        match schema.check_str(content.get()) {
            Ok(()) => Ok(()),
            Err(violations) => Err(format!("in /structuredContent: {violations}")),
        }
    }
}

impl KnownTool {
    fn schema(&self, name: &str) -> Option<&Schema> {
        let document = self.output.as_ref()?;
        let compiled = self.compiled.get_or_init(|| {
            let document = Json::from(document.clone()).to_value();
            let compiled = Schema::compile(&document, CompileOptions::default());
            let explain = |errors: &Vec<crate::check::SchemaError>| {
                let problem = errors.first().map(ToString::to_string).unwrap_or_default();
                tracing::warn!(
                    tool = &*shortened(name),
                    problem = &*sentence(&problem),
                    "results are not checked: the output schema cannot be compiled"
                );
            };
            compiled.inspect_err(explain).ok()
        });
        compiled.as_ref()
    }
}

impl Client {
    /// The tools of the server, read if they were not before, or have changed since.
    pub(super) async fn known_tools(&self) -> Result<Arc<KnownTools>, ClientError> {
        match self.current_tools() {
            Some(tools) => Ok(tools),
            None => self.read_tools(None).await,
        }
    }

    /// The tools of the server, read again, unless that was done after `old` was.
    pub(super) async fn tools_after(
        &self,
        old: &Arc<KnownTools>,
    ) -> Result<Arc<KnownTools>, ClientError> {
        self.read_tools(Some(old)).await
    }

    async fn read_tools(
        &self,
        old: Option<&Arc<KnownTools>>,
    ) -> Result<Arc<KnownTools>, ClientError> {
        let catalog = &self.inner.catalog;
        let _reading = catalog.reading.lock().await;
        let is_new = |tools: &Arc<KnownTools>| old.is_none_or(|old| !Arc::ptr_eq(tools, old));
        if let Some(tools) = self.current_tools().filter(is_new) {
            return Ok(tools);
        }
        let changes = &self.inner.link.changes;
        if old.is_some() {
            // What is kept of the list is not to be trusted.
            changes.note(Changing::Tools);
        }
        let version = changes.version(Changing::Tools);
        let tools = Arc::new(KnownTools::new(version, self.list_tools().await?));
        *catalog.lock() = Some(tools.clone());
        Ok(tools)
    }

    fn current_tools(&self) -> Option<Arc<KnownTools>> {
        let version = self.inner.link.changes.version(Changing::Tools);
        let kept = self.inner.catalog.lock();
        kept.clone().filter(|tools| tools.version == version)
    }
}

impl Catalog {
    fn lock(&self) -> MutexGuard<'_, Option<Arc<KnownTools>>> {
        // Nothing that can panic runs under the lock.
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl fmt::Debug for Catalog {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let tools = self.lock().as_ref().map(|tools| tools.by_name.len());
        f.debug_struct("Catalog")
            .field("tools", &tools)
            .finish_non_exhaustive()
    }
}
