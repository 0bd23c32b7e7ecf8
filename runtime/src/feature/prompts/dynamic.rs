//! Prompts that are known only at run time: a list of arguments and a closure.

use std::{fmt, future::Future, panic::Location, pin::Pin, sync::Arc, time::Duration};

use serde_json::{Map as JsonMap, Value, json};
use trueform_schema::{GetPromptResult, Icon, Json, Map, Meta, Prompt, PromptArgument};

use super::{
    result::IntoPromptResult,
    route::{PromptDraft, PromptRoute},
    set::{IntoPrompts, PromptSet},
};
use crate::{
    exchange::Context,
    feature::{
        callable::{Step, Timeout},
        completion::{Completer, CompletionFunction},
        failure::ToolError,
        form::{self, Askable, AsksFor, Forms},
        function::{
            ArgumentNames, Begun, Enforced, Function, Input, Invocation, ParameterError, Place,
        },
        listing::Item as _,
        offered::Named,
    },
    needs::RequiredCapabilities,
};

/// A prompt whose arguments are not written as Rust types, for example because they are loaded from a file, a database or another server.
///
/// Unknown arguments and missing required arguments are refused before the handler is called.
///
/// ```
/// use trueform::{prelude::*, prompt::DynamicPrompt};
///
/// let poem = DynamicPrompt::new("poem")
///     .description("Asks for a poem.")
///     .argument("about", "What the poem is about.", true)
///     .complete("about", |_| ["the sea", "the sky"])
///     .handler(|_, arguments| async move { format!("Write a poem about {}.", arguments.get("about").unwrap()) });
/// let server = Server::new("poet", "1.0.0").prompts(poem);
/// # let _ = server.build().unwrap();
/// ```
// K-2
#[must_use = "a prompt does nothing until a server has it"]
pub struct DynamicPrompt {
    prompt: Prompt,
    arguments: Vec<PromptArgument>,
    /// The titles of arguments, by their names.
    titles: Vec<(String, String)>,
    completers: Vec<(String, Completer)>,
    timeout: Option<Duration>,
    needs: RequiredCapabilities,
    asks: Vec<AsksFor>,
    place: Place,
    handler: Option<DynamicHandler>,
}

type DynamicHandler = Arc<
    dyn Fn(
            Context,
            Map<String>,
        ) -> Pin<Box<dyn Future<Output = Result<GetPromptResult, ToolError>> + Send>>
        + Send
        + Sync,
>;

impl DynamicPrompt {
    /// Creates a prompt called `name`, without arguments and without code.
    #[track_caller]
    pub fn new(name: impl Into<String>) -> Self {
        Self {
            prompt: Prompt::new(name),
            arguments: Vec::new(),
            titles: Vec::new(),
            completers: Vec::new(),
            timeout: None,
            needs: RequiredCapabilities::NONE,
            asks: Vec::new(),
            place: Place::value("dynamic prompt", Location::caller()),
            handler: None,
        }
    }

    /// Sets the description of the prompt. A second call replaces the first, as for the other settings here.
    ///
    /// ```
    /// use trueform::prelude::*;
    ///
    /// let find = DynamicPrompt::new("find")
    ///     .description("Asks for a book.")
    ///     .handler(|_context, _arguments| async { "Find me a book." });
    /// let server = Server::new("library", "1.0.0").prompts(find);
    /// # assert!(server.build().is_ok());
    /// ```
    pub fn description(mut self, description: impl Into<String>) -> Self {
        self.prompt.description = Some(description.into());
        self
    }

    /// Sets the name that clients show to people.
    ///
    /// ```
    /// use trueform::prelude::*;
    ///
    /// let find = DynamicPrompt::new("find")
    ///     .description("Asks for a book.")
    ///     .title("Find a book")
    ///     .handler(|_context, _arguments| async { "Find me a book." });
    /// let server = Server::new("library", "1.0.0").prompts(find);
    /// # assert!(server.build().is_ok());
    /// ```
    pub fn title(mut self, title: impl Into<String>) -> Self {
        self.prompt.title = Some(title.into());
        self
    }

    /// Sets the icons of the prompt.
    ///
    /// ```
    /// use trueform::{prelude::*, schema::Icon};
    ///
    /// let find = DynamicPrompt::new("find")
    ///     .description("Asks for a book.")
    ///     .icons([Icon::new("https://example.com/book.png")])
    ///     .handler(|_context, _arguments| async { "Find me a book." });
    /// let server = Server::new("library", "1.0.0").prompts(find);
    /// # assert!(server.build().is_ok());
    /// ```
    pub fn icons(mut self, icons: impl IntoIterator<Item = Icon>) -> Self {
        self.prompt.icons = Some(icons.into_iter().collect());
        self
    }

    /// Adds a member to `_meta`.
    ///
    /// ```
    /// use serde_json::json;
    /// use trueform::prelude::*;
    ///
    /// let find = DynamicPrompt::new("find")
    ///     .description("Asks for a book.")
    ///     .meta("example.com/shelf", json!(7))
    ///     .handler(|_context, _arguments| async { "Find me a book." });
    /// let server = Server::new("library", "1.0.0").prompts(find);
    /// # assert!(server.build().is_ok());
    /// ```
    pub fn meta(mut self, key: impl Into<String>, value: impl Into<Json>) -> Self {
        self.prompt
            .meta
            .get_or_insert_with(Meta::new)
            .insert(key.into(), value.into());
        self
    }

    /// Adds an argument.
    ///
    /// ```
    /// use trueform::prelude::*;
    ///
    /// let find = DynamicPrompt::new("find")
    ///     .description("Asks for a book.")
    ///     .argument("author", "Who wrote it.", true)
    ///     .handler(|_context, _arguments| async { "Find me a book." });
    /// let server = Server::new("library", "1.0.0").prompts(find);
    /// # assert!(server.build().is_ok());
    /// ```
    pub fn argument(
        mut self,
        name: impl Into<String>,
        description: impl Into<String>,
        required: bool,
    ) -> Self {
        let mut argument = PromptArgument::new(name);
        argument.description = Some(description.into()).filter(|text: &String| !text.is_empty());
        argument.required = Some(required);
        self.arguments.push(argument);
        self
    }

    /// Sets the name that clients show to people for the argument `name`.
    ///
    /// ```
    /// use trueform::prelude::*;
    ///
    /// let find = DynamicPrompt::new("find")
    ///     .description("Asks for a book.")
    ///     .argument("author", "Who wrote it.", true)
    ///     .argument_title("author", "Author")
    ///     .handler(|_context, _arguments| async { "Find me a book." });
    /// let server = Server::new("library", "1.0.0").prompts(find);
    /// # assert!(server.build().is_ok());
    /// ```
    pub fn argument_title(mut self, name: impl Into<String>, title: impl Into<String>) -> Self {
        self.titles.push((name.into(), title.into()));
        self
    }

    /// Sets the function that suggests values for the argument `name`. It takes a [`CompletionQuery`](crate::completion::CompletionQuery),
    /// and may be `async`.
    ///
    /// ```
    /// use trueform::prelude::*;
    ///
    /// let find = DynamicPrompt::new("find")
    ///     .description("Asks for a book.")
    ///     .argument("author", "Who wrote it.", true)
    ///     .complete("author", |_| ["Ada", "Alan"])
    ///     .handler(|_context, _arguments| async { "Find me a book." });
    /// let server = Server::new("library", "1.0.0").prompts(find);
    /// # assert!(server.build().is_ok());
    /// ```
    pub fn complete<K>(
        mut self,
        name: impl Into<String>,
        function: impl CompletionFunction<K>,
    ) -> Self {
        let completer = crate::feature::completion::macro_support::completer(function);
        self.completers.push((name.into(), completer));
        self
    }

    /// Sets how long a call may take.
    ///
    /// ```
    /// use std::time::Duration;
    /// use trueform::prelude::*;
    ///
    /// let find = DynamicPrompt::new("find")
    ///     .description("Asks for a book.")
    ///     .timeout(Duration::from_secs(5))
    ///     .handler(|_context, _arguments| async { "Find me a book." });
    /// let server = Server::new("library", "1.0.0").prompts(find);
    /// # assert!(server.build().is_ok());
    /// ```
    pub fn timeout(mut self, limit: Duration) -> Self {
        self.timeout = Some(limit);
        self
    }

    /// Sets the required capabilities of the client.
    ///
    /// ```
    /// use trueform::{RequiredCapabilities, prelude::*};
    ///
    /// let find = DynamicPrompt::new("find")
    ///     .description("Asks for a book.")
    ///     .needs(RequiredCapabilities::ROOTS)
    ///     .handler(|_context, _arguments| async { "Find me a book." });
    /// let server = Server::new("library", "1.0.0").prompts(find);
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
    /// use trueform::prelude::*;
    ///
    /// /// A shelf.
    /// #[derive(Deserialize, JsonSchema)]
    /// struct Shelf {
    ///     number: u8,
    /// }
    ///
    /// let find = DynamicPrompt::new("find")
    ///     .description("Asks for a book.")
    ///     .asks::<Shelf>()
    ///     .handler(|_context, _arguments| async { "Find me a book." });
    /// let server = Server::new("library", "1.0.0").prompts(find);
    /// # assert!(server.build().is_ok());
    /// ```
    // R-4
    pub fn asks<T: Askable>(mut self) -> Self {
        self.asks.push(form::macro_support::form::<T>);
        self
    }

    /// Sets the code. It gets the arguments, including all required ones, and may return the same types as functions marked `#[prompt]`.
    ///
    /// ```
    /// use trueform::prelude::*;
    ///
    /// let find = DynamicPrompt::new("find")
    ///     .argument("author", "Who wrote it.", true)
    ///     .handler(|_context, arguments| async move { format!("Find a book of {}.", arguments.get("author").unwrap()) });
    /// let server = Server::new("library", "1.0.0").prompts(find);
    /// # assert!(server.build().is_ok());
    /// ```
    pub fn handler<F, R>(
        mut self,
        handler: impl Fn(Context, Map<String>) -> F + Send + Sync + 'static,
    ) -> Self
    where
        F: Future<Output = R> + Send + 'static,
        R: IntoPromptResult,
    {
        self.handler = Some(Arc::new(move |context, arguments| {
            let future = handler(context, arguments);
            Box::pin(async move { future.await.into_prompt_result() })
        }));
        self
    }

    fn draft(mut self) -> PromptDraft {
        let mut problems = Vec::new();
        let (name, place) = (&self.prompt.name, &self.place);
        if let Some(twice) = PromptRoute::repeated(self.arguments.iter().map(|one| &*one.name)) {
            problems.push(format!(
                "prompt `{name}` ({place}) has two arguments named `{twice}`"
            ));
        }
        for (argument, title) in self.titles {
            match self.arguments.iter_mut().find(|one| one.name == argument) {
                Some(one) => one.title = Some(title),
                None => problems.push(format!(
                    "prompt `{name}` ({place}) titles `{argument}`, which is not an argument of it"
                )),
            }
        }
        if self.handler.is_none() {
            problems.push(format!("prompt `{name}` ({place}) has no handler"));
        }
        let named = Named {
            kind: PromptRoute::KIND,
            name,
            place,
        };
        let forms = Forms::of_value(&self.asks, named, &mut problems);
        let input = Input {
            schema: schema(&self.arguments),
            names: ArgumentNames::default(),
            enforced: Enforced::Advertised,
            states: Vec::new(),
            forms,
            problems: Vec::new(),
        };
        // One parameter that is not an argument, and names that are checked with the schema.
        let names = ArgumentNames {
            parameters: vec!["".into()],
            others: self
                .arguments
                .iter()
                .map(|one| (*one.name).into())
                .collect(),
            closed: true,
        };
        if !self.arguments.is_empty() {
            self.prompt.arguments = Some(self.arguments);
        }
        PromptDraft {
            prompt: self.prompt,
            place: self.place,
            timeout: self.timeout.map(Timeout::of),
            needs: self.needs,
            completers: self.completers,
            input,
            function: Function {
                names,
                handler: call,
                receiver: Arc::new(self.handler),
            },
            problems,
        }
    }
}

/// Returns the schema of an object of texts.
fn schema(arguments: &[PromptArgument]) -> JsonMap<String, Value> {
    let properties = arguments
        .iter()
        .map(|one| (one.name.clone(), json!({"type": "string"})));
    let properties: JsonMap<String, Value> = properties.collect();
    let required = arguments.iter().filter(|one| one.required == Some(true));
    let required: Vec<&str> = required.map(|one| &*one.name).collect();
    let schema = json!({
        "type": "object", "properties": properties, "required": required, "additionalProperties": false,
    });
    match schema {
        Value::Object(schema) => schema,
        _ => JsonMap::new(),
    }
}

fn call(call: &Invocation<'_>) -> Begun<GetPromptResult> {
    let arguments: Map<String> =
        serde_json::from_str(call.text).map_err(ParameterError::arguments)?;
    match call.server::<Option<DynamicHandler>>() {
        Some(handler) => Ok(Step::Later(handler(call.context.clone(), arguments))),
        // Registration refuses such a prompt.
        None => Ok(Step::Ready(Err(ToolError::internal("no handler")))),
    }
}

impl IntoPrompts for DynamicPrompt {
    fn into_prompts(self) -> PromptSet {
        let mut set = PromptSet::new();
        set.add(self.draft());
        set
    }
}

impl fmt::Debug for DynamicPrompt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("DynamicPrompt")
            .field("prompt", &self.prompt)
            .field("place", &self.place)
            .finish_non_exhaustive()
    }
}
