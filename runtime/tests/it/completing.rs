//! What functions that suggest values may take, and where they run: free functions and methods, with what is injected.

use std::{sync::Arc, thread, time::Duration};

use trueform::{
    FromContext,
    completion::{Blocking, CompletionQuery},
    prelude::*,
    schema::{CompletionReference, PromptReference, ResourceTemplateReference},
};

/// Towns that the server knows.
struct Towns(Vec<&'static str>);

impl Towns {
    fn beginning_with(&self, typed: &str) -> Vec<String> {
        let towns = self.0.iter().filter(|town| town.starts_with(typed));
        towns.map(ToString::to_string).collect()
    }
}

/// The thread, as text.
fn here() -> String {
    format!("{:?}", thread::current().id())
}

fn plain(query: CompletionQuery, towns: State<Towns>) -> Vec<String> {
    towns.beginning_with(query.value())
}

async fn later(query: CompletionQuery, towns: State<Towns>, context: Context) -> Vec<String> {
    tokio::task::yield_now().await;
    let mut found = towns.beginning_with(query.value());
    found.push(context.revision().to_string());
    found
}

fn on_thread(query: CompletionQuery, State(towns): State<Towns>) -> Result<Vec<String>, ToolError> {
    let mut found = towns.beginning_with(query.value());
    found.push(here());
    Ok(found)
}

/// What is never there.
struct Missing;

impl FromContext for Missing {
    fn from_context(_: &Context) -> Result<Self, ToolError> {
        Err(ToolError::new("nobody has it"))
    }
}

fn refuses(_: CompletionQuery, _: Missing) -> [&'static str; 1] {
    ["never"]
}

/// Goes somewhere.
#[prompt]
fn trip(
    #[arg(complete = plain)] plain: String,
    #[arg(complete = later)] later: String,
    #[arg(complete = on_thread, blocking)] on_thread: String,
    #[arg(complete = refuses)] refused: String,
) -> String {
    [plain, later, on_thread, refused].concat()
}

/// A town.
#[resource("town:{name}")]
fn town(#[arg(complete = plain)] name: String) -> String {
    name
}

struct Atlas {
    rivers: Vec<&'static str>,
}

#[server]
impl Atlas {
    /// Sails along a river.
    #[prompt]
    fn sail(
        &self,
        #[arg(complete = Self::rivers)] river: String,
        #[arg(complete = Self::rivers_later)] later: String,
        #[arg(blocking, complete = Self::rivers_on_thread)] on_thread: String,
        #[arg(complete = Self::seas)] sea: String,
        #[arg(complete = Self::refuses)] refused: String,
    ) -> String {
        format!(
            "{river}{later}{on_thread}{sea}{refused}{}",
            self.rivers.len()
        )
    }

    /// A river.
    #[resource("river:{name}")]
    fn river(#[arg(complete = Self::rivers)] name: String) -> String {
        name
    }

    fn rivers(&self, query: CompletionQuery) -> Vec<&'static str> {
        let mut rivers = self.rivers.clone();
        rivers.retain(|river| river.starts_with(query.value()));
        rivers
    }

    async fn rivers_later(
        &self,
        query: CompletionQuery,
        towns: State<Towns>,
        _: Context,
    ) -> Result<Vec<String>, ToolError> {
        tokio::task::yield_now().await;
        let mut found = towns.beginning_with(query.value());
        found.extend(self.rivers(query).into_iter().map(str::to_owned));
        Ok(found)
    }

    fn rivers_on_thread(&self, query: CompletionQuery) -> [String; 2] {
        [self.rivers(query).concat(), here()]
    }

    fn seas(_: CompletionQuery, towns: State<Towns>) -> Vec<String> {
        vec![format!("a sea near {}", towns.0.0[0])]
    }

    fn refuses(&self, _: CompletionQuery, _: Missing) -> Vec<&'static str> {
        self.rivers.clone()
    }
}

fn atlas() -> Atlas {
    Atlas {
        rivers: vec!["Po", "Rhine"],
    }
}

async fn suggested(
    client: &Client,
    reference: impl Into<CompletionReference>,
    argument: &str,
    typed: &str,
) -> Vec<String> {
    let answer = client.complete(reference, argument, typed).await;
    answer
        .unwrap_or_else(|error| panic!("{argument}: {error}"))
        .values
}

/// Fails after a time limit, so that a call that hangs ends the test.
async fn in_time<T>(test: impl Future<Output = T>) -> T {
    tokio::time::timeout(Duration::from_secs(30), test)
        .await
        .expect("in time")
}

async fn check() {
    let dynamic = DynamicPrompt::new("dynamic")
        .argument("town", "", true)
        .argument("other", "", false)
        .complete("town", plain)
        .complete("other", Blocking(on_thread))
        .handler(|_, _| async { "" });
    let client = Server::new("towns", "1.0.0")
        .state(Towns(vec!["Rome", "Riga", "Oslo"]))
        .prompts(prompts![trip])
        .prompts(dynamic)
        .resources(resources![town])
        .features(atlas())
        .connect()
        .await
        .unwrap();
    let prompt = PromptReference::new;
    let revision = Revision::LATEST.to_string();
    for (name, argument, expected) in [
        ("trip", "plain", vec!["Rome", "Riga"]),
        ("trip", "later", vec!["Rome", "Riga", &revision]),
        ("dynamic", "town", vec!["Rome", "Riga"]),
        ("sail", "river", vec!["Rhine"]),
        ("sail", "later", vec!["Rome", "Riga", "Rhine"]),
        ("sail", "sea", vec!["a sea near Rome"]),
    ] {
        let found = suggested(&client, prompt(name), argument, "R").await;
        assert_eq!(found, expected, "{name} {argument}");
    }
    for (name, argument, first) in [
        ("trip", "on_thread", "Oslo"),
        ("dynamic", "other", "Oslo"),
        ("sail", "on_thread", ""),
    ] {
        let found = suggested(&client, prompt(name), argument, "O").await;
        assert_eq!(found[0], first, "{name}");
        assert_ne!(found[1], here(), "{name} {argument} is on this thread");
    }
    for (template, argument, expected) in [
        ("town:{name}", "name", "Riga"),
        ("river:{name}", "name", "Rhine"),
    ] {
        let reference = ResourceTemplateReference::new(template);
        let typed = &expected[..2];
        assert_eq!(
            suggested(&client, reference, argument, typed).await,
            [expected]
        );
    }
    for name in ["trip", "sail"] {
        let refused = client.complete(prompt(name), "refused", "").await;
        let error = refused.unwrap_err();
        let error = error.remote().expect("the server refuses");
        assert_eq!((error.code, &*error.message), (-32603, "nobody has it"));
    }
    // Another call goes on.
    assert_eq!(
        suggested(&client, prompt("trip"), "plain", "O").await,
        ["Oslo"]
    );
}

#[tokio::test]
async fn what_functions_and_methods_take() {
    in_time(check()).await;
}

// A state that only a completion needs is missed at the start, whatever the function is.
#[test]
fn missing_state() {
    let dynamic = |name: &str| {
        DynamicPrompt::new(name)
            .argument("town", "", true)
            .complete("town", Blocking(on_thread))
            .handler(|_, _| async { "" })
    };
    let error = Server::new("towns", "1.0.0")
        .prompts(prompts![trip])
        .prompts(dynamic("dynamic"))
        .resources(resources![town])
        .features(Arc::new(atlas()))
        .build()
        .unwrap_err()
        .to_string();
    for (argument, of) in [
        ("plain", "prompt `trip` ("),
        ("later", "prompt `trip` ("),
        ("on_thread", "prompt `trip` ("),
        ("town", "prompt `dynamic` ("),
        ("name", "resource template `town:{name}` ("),
        ("later", "prompt `sail` ("),
        ("sea", "prompt `sail` ("),
    ] {
        let problem = format!("the completion of `{argument}`: {of}");
        assert!(error.contains(&problem), "{problem}: {error}");
    }
    assert_eq!(
        error
            .matches("takes `State<it::completing::Towns>`")
            .count(),
        7,
        "{error}"
    );
    // So is one of a prompt that comes later.
    let server = Server::new("towns", "1.0.0")
        .features(Bare)
        .build()
        .unwrap();
    let later = server.handle().add_prompts(dynamic("later"));
    let error = later.unwrap_err().to_string();
    assert!(
        error.contains("the completion of `town`: prompt `later`"),
        "{error}"
    );
}

/// Completes without state.
struct Bare;

#[server]
impl Bare {
    /// Says something.
    #[prompt]
    fn say(#[arg(complete = ["a"])] what: String) -> String {
        what
    }
}

// L-3: an argument that does not exist is refused, and the error says how long its name is, however little of it is repeated.
#[tokio::test]
async fn unknown_arguments() {
    in_time(async {
        let server = Server::new("atlas", "1")
            .state(Towns(vec!["Oslo"]))
            .resources(resources![town]);
        let client = server.connect().await.unwrap();
        let list = client.list_resource_templates().await.unwrap();
        let reference = || ResourceTemplateReference::new(&*list[0].uri_template);
        for bytes in [1, 300_000] {
            let answer = client.complete(reference(), "x".repeat(bytes), "").await;
            let error = answer.unwrap_err();
            let error = error.remote().expect("the server refuses");
            assert_eq!(error.code, -32602);
            assert!(error.message.len() < 500, "{}", error.message);
            let data = error.data.as_ref().expect("data").to_value();
            assert_eq!(data["pointer"], "/params/argument/name");
            assert_eq!(data["found"], format!("string of {} bytes", bytes + 2));
        }
    })
    .await;
}
