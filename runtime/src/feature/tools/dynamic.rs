//! Tools that are known only at run time: a schema and a closure.

use std::{fmt, future::Future, panic::Location, pin::Pin, sync::Arc};

use serde_json::Value;
use trueform_schema::{CallToolResult, Icon, Json, JsonObject, Meta, Tool, ToolAnnotations};

use super::{
    draft::ToolDraft,
    rejected::Rejected,
    result::IntoToolResult,
    route::{Definition, ToolRoute},
    set::{IntoTools, ToolSet},
};
use crate::{
    exchange::Context,
    feature::{
        callable::{Step, Timeout},
        failure::ToolError,
        form::{self, Askable, AsksFor, Forms},
        function::{ArgumentNames, Begun, Enforced, Function, Invocation, ParameterError, Place},
        listing::Item as _,
        offered::Named,
        tasks::TaskMode,
    },
    lint::Profile,
    needs::RequiredCapabilities,
};

/// A tool whose schema is not written as Rust types, for example because it is loaded from a file, a database or another server.
///
/// Arguments are checked against the schema before the handler is called, results against the output schema. The schema
/// is used unchanged: names that it does not forbid are allowed, and clients get it as written, with `properties` at its root.
/// [`profile`](Self::profile) rewrites it for clients that support less.
///
/// ```
/// use serde_json::json;
/// use trueform::prelude::*;
///
/// let schema = json!({"type": "object", "properties": {"name": {"type": "string"}}, "required": ["name"]});
/// let hello = DynamicTool::new("hello", schema)
///     .description("Says hello.")
///     .handler(|_context, arguments| async move { format!("hello to {arguments}") });
/// let server = Server::new("greeter", "1.0.0").tools(hello);
/// # assert!(server.build().is_ok());
/// ```
#[must_use = "a tool does nothing until it is registered"]
pub struct DynamicTool {
    tool: Tool,
    timeout: Option<Timeout>,
    task: Option<TaskMode>,
    profile: Option<Profile>,
    needs: RequiredCapabilities,
    asks: Vec<AsksFor>,
    place: Place,
    handler: Option<DynamicHandler>,
    problems: Vec<String>,
}

type DynamicHandler = Arc<
    dyn Fn(
            Context,
            JsonObject,
        ) -> Pin<Box<dyn Future<Output = Result<CallToolResult, ToolError>> + Send>>
        + Send
        + Sync,
>;

impl DynamicTool {
    /// Creates a tool called `name` whose arguments `input_schema` describes: a JSON Schema of type `object`.
    #[track_caller]
    pub fn new(name: impl Into<String>, input_schema: Value) -> Self {
        let name = name.into();
        let place = Place::value("dynamic tool", Location::caller());
        let mut problems = Vec::new();
        let input_schema = object(input_schema, "input", &name, &place, &mut problems);
        Self {
            tool: Tool::new(input_schema, name),
            timeout: None,
            task: None,
            profile: None,
            needs: RequiredCapabilities::NONE,
            asks: Vec::new(),
            place,
            handler: None,
            problems,
        }
    }

    /// Sets the description of the tool, for the model. A second call replaces the first, as for the other settings here.
    ///
    /// ```
    /// use serde_json::json;
    /// use trueform::prelude::*;
    ///
    /// let find = DynamicTool::new("find", json!({ "type": "object" }))
    ///     .description("Finds a book.")
    ///     .handler(|_context, _arguments| async { "found" });
    /// let server = Server::new("library", "1.0.0").tools(find);
    /// # assert!(server.build().is_ok());
    /// ```
    pub fn description(mut self, description: impl Into<String>) -> Self {
        self.tool.description = Some(description.into());
        self
    }

    /// Sets the name that clients show to people.
    ///
    /// ```
    /// use serde_json::json;
    /// use trueform::prelude::*;
    ///
    /// let find = DynamicTool::new("find", json!({ "type": "object" }))
    ///     .description("Finds a book.")
    ///     .title("Find a book")
    ///     .handler(|_context, _arguments| async { "found" });
    /// let server = Server::new("library", "1.0.0").tools(find);
    /// # assert!(server.build().is_ok());
    /// ```
    pub fn title(mut self, title: impl Into<String>) -> Self {
        self.tool.title = Some(title.into());
        self
    }

    /// Sets the JSON Schema of the structured result.
    ///
    /// ```
    /// use serde_json::json;
    /// use trueform::prelude::*;
    ///
    /// let schema = json!({ "type": "object", "properties": { "shelf": { "type": "integer" } } });
    /// let find = DynamicTool::new("find", json!({ "type": "object" }))
    ///     .description("Finds a book.")
    ///     .output_schema(schema)
    ///     .handler(|_context, _arguments| async { Json(json!({ "shelf": 7 })) });
    /// let server = Server::new("library", "1.0.0").tools(find);
    /// # assert!(server.build().is_ok());
    /// ```
    pub fn output_schema(mut self, schema: Value) -> Self {
        self.tool.output_schema = Some(object(
            schema,
            "output",
            &self.tool.name,
            &self.place,
            &mut self.problems,
        ));
        self
    }

    /// Sets the hints for clients.
    ///
    /// ```
    /// use serde_json::json;
    /// use trueform::{prelude::*, schema::ToolAnnotations};
    ///
    /// let find = DynamicTool::new("find", json!({ "type": "object" }))
    ///     .description("Finds a book.")
    ///     .annotations(ToolAnnotations::new().with_read_only_hint(true))
    ///     .handler(|_context, _arguments| async { "found" });
    /// let server = Server::new("library", "1.0.0").tools(find);
    /// # assert!(server.build().is_ok());
    /// ```
    pub fn annotations(mut self, annotations: ToolAnnotations) -> Self {
        self.tool.annotations = Some(annotations);
        self
    }

    /// Sets the icons of the tool.
    ///
    /// ```
    /// use serde_json::json;
    /// use trueform::{prelude::*, schema::Icon};
    ///
    /// let find = DynamicTool::new("find", json!({ "type": "object" }))
    ///     .description("Finds a book.")
    ///     .icons([Icon::new("https://example.com/book.png")])
    ///     .handler(|_context, _arguments| async { "found" });
    /// let server = Server::new("library", "1.0.0").tools(find);
    /// # assert!(server.build().is_ok());
    /// ```
    pub fn icons(mut self, icons: impl IntoIterator<Item = Icon>) -> Self {
        self.tool.icons = Some(icons.into_iter().collect());
        self
    }

    /// Adds a member to `_meta`.
    ///
    /// ```
    /// use serde_json::json;
    /// use trueform::prelude::*;
    ///
    /// let find = DynamicTool::new("find", json!({ "type": "object" }))
    ///     .description("Finds a book.")
    ///     .meta("example.com/shelf", json!(7))
    ///     .handler(|_context, _arguments| async { "found" });
    /// let server = Server::new("library", "1.0.0").tools(find);
    /// # assert!(server.build().is_ok());
    /// ```
    pub fn meta(mut self, key: impl Into<String>, value: impl Into<Json>) -> Self {
        self.tool
            .meta
            .get_or_insert_with(Meta::new)
            .insert(key.into(), value.into());
        self
    }

    /// Sets how long a call may take.
    ///
    /// ```
    /// use std::time::Duration;
    /// use serde_json::json;
    /// use trueform::prelude::*;
    ///
    /// let find = DynamicTool::new("find", json!({ "type": "object" }))
    ///     .description("Finds a book.")
    ///     .timeout(Duration::from_secs(5))
    ///     .handler(|_context, _arguments| async { "found" });
    /// let server = Server::new("library", "1.0.0").tools(find);
    /// # assert!(server.build().is_ok());
    /// ```
    pub fn timeout(mut self, limit: std::time::Duration) -> Self {
        self.timeout = Some(Timeout {
            limit,
            reset_by_progress: false,
            hard_limit: None,
        });
        self
    }

    /// Sets whether its calls run as tasks. Default: they never do.
    ///
    /// ```
    /// use serde_json::json;
    /// use trueform::{prelude::*, task::TaskMode};
    ///
    /// let find = DynamicTool::new("find", json!({ "type": "object" }))
    ///     .description("Finds a book.")
    ///     .task(TaskMode::Optional)
    ///     .handler(|_context, _arguments| async { "found" });
    /// let server = Server::new("library", "1.0.0").tools(find);
    /// # assert!(server.build().is_ok());
    /// ```
    pub fn task(mut self, mode: TaskMode) -> Self {
        self.task = Some(mode);
        self
    }

    /// Sets how the schemas are advertised, whatever the server's profile is. Default: [`Profile::AsWritten`], unless the server
    /// has a profile.
    ///
    /// ```
    /// use serde_json::json;
    /// use trueform::{Profile, prelude::*};
    ///
    /// let find = DynamicTool::new("find", json!({ "type": "object" }))
    ///     .description("Finds a book.")
    ///     .profile(Profile::Portable)
    ///     .handler(|_context, _arguments| async { "found" });
    /// let server = Server::new("library", "1.0.0").tools(find);
    /// # assert!(server.build().is_ok());
    /// ```
    pub fn profile(mut self, profile: Profile) -> Self {
        self.profile = Some(profile);
        self
    }

    /// Sets the required capabilities of the client.
    ///
    /// ```
    /// use serde_json::json;
    /// use trueform::{RequiredCapabilities, prelude::*};
    ///
    /// let find = DynamicTool::new("find", json!({ "type": "object" }))
    ///     .description("Finds a book.")
    ///     .needs(RequiredCapabilities::ROOTS)
    ///     .handler(|_context, _arguments| async { "found" });
    /// let server = Server::new("library", "1.0.0").tools(find);
    /// # assert!(server.build().is_ok());
    /// ```
    pub fn needs(mut self, needs: RequiredCapabilities) -> Self {
        self.needs = needs;
        self
    }

    /// Declares that the code asks clients for a `T` with [`Context::ask`]. Then a form that no served revision can express is an error
    /// when the server starts, and [`Service::lint`](crate::Service::lint) lists what some revisions lose of it. Each call adds one type.
    ///
    /// ```
    /// use serde_json::json;
    /// use trueform::prelude::*;
    ///
    /// /// A shelf.
    /// #[derive(Deserialize, JsonSchema)]
    /// struct Shelf {
    ///     number: u8,
    /// }
    ///
    /// let find = DynamicTool::new("find", json!({ "type": "object" }))
    ///     .description("Finds a book.")
    ///     .asks::<Shelf>()
    ///     .handler(|_context, _arguments| async { "found" });
    /// let server = Server::new("library", "1.0.0").tools(find);
    /// # assert!(server.build().is_ok());
    /// ```
    // R-4
    pub fn asks<T: Askable>(mut self) -> Self {
        self.asks.push(form::macro_support::form::<T>);
        self
    }

    /// Sets the code. It gets arguments that the schema allows, and may return the same types as functions marked `#[tool]`.
    ///
    /// ```
    /// use serde_json::json;
    /// use trueform::prelude::*;
    ///
    /// let schema = json!({ "type": "object", "properties": { "author": { "type": "string" } }, "required": ["author"] });
    /// let find = DynamicTool::new("find", schema)
    ///     .description("Finds the books of an author.")
    ///     .handler(|_context, arguments| async move {
    ///         let arguments = arguments.to_value();
    ///         format!("no books of {}", arguments["author"])
    ///     });
    /// let server = Server::new("library", "1.0.0").tools(find);
    /// # assert!(server.build().is_ok());
    /// ```
    pub fn handler<F, R>(
        mut self,
        handler: impl Fn(Context, JsonObject) -> F + Send + Sync + 'static,
    ) -> Self
    where
        F: Future<Output = R> + Send + 'static,
        R: IntoToolResult,
    {
        self.handler = Some(Arc::new(move |context, arguments| {
            let future = handler(context, arguments);
            Box::pin(async move { future.await.into_tool_result() })
        }));
        self
    }
}

impl IntoTools for DynamicTool {
    fn into_tools(self) -> ToolSet {
        let mut set = ToolSet::new();
        set.add(self.register());
        set
    }
}

impl DynamicTool {
    fn register(mut self) -> Result<ToolDraft, Rejected> {
        let Some(handler) = self.handler.take() else {
            self.problems.push(format!(
                "tool `{}` ({}) has no handler",
                self.tool.name, self.place
            ));
            return Err(self.rejected());
        };
        let (name, place) = (&*self.tool.name, &self.place);
        let named = Named {
            kind: ToolRoute::KIND,
            name,
            place,
        };
        let forms = Forms::of_value(&self.asks, named, &mut self.problems);
        if !self.problems.is_empty() {
            return Err(self.rejected());
        }
        let mut tool = self.tool;
        tool.execution = self.task.map(TaskMode::execution);
        let definition = Definition {
            tool,
            task: self.task,
            // Its handler has no such parameter.
            starts_task: false,
            place: self.place,
            enforced: Enforced::Advertised,
            states: Vec::new(),
            forms,
            timeout: self.timeout,
            profile: self.profile,
            usual_profile: Profile::AsWritten,
            needs: self.needs,
        };
        Ok(ToolDraft {
            definition,
            function: Function {
                // One parameter that is not an argument.
                names: ArgumentNames {
                    parameters: vec!["".into()],
                    others: Vec::new(),
                    closed: false,
                },
                handler: call,
                receiver: Arc::new(handler),
            },
        })
    }

    fn rejected(self) -> Rejected {
        Rejected {
            name: self.tool.name,
            place: self.place,
            states: Vec::new(),
            problems: self.problems,
        }
    }
}

fn call(call: &Invocation<'_>) -> Begun<CallToolResult> {
    let handler = call.server::<DynamicHandler>();
    let arguments: JsonObject =
        serde_json::from_str(call.text).map_err(ParameterError::arguments)?;
    Ok(Step::Later(handler(call.context.clone(), arguments)))
}

fn object(
    schema: Value,
    which: &str,
    name: &str,
    place: &Place,
    problems: &mut Vec<String>,
) -> JsonObject {
    match schema {
        Value::Object(schema) => JsonObject::from(schema),
        _ => {
            problems.push(format!(
                "the {which} schema of tool `{name}` ({place}) is not an object"
            ));
            JsonObject::empty()
        }
    }
}

impl fmt::Debug for DynamicTool {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("DynamicTool")
            .field("tool", &self.tool)
            .field("place", &self.place)
            .finish_non_exhaustive()
    }
}
