//! What a server says of the forms that its functions ask for, when it starts and to the lint.

mod asked;

use std::{collections::BTreeMap, future::Future};

use trueform::{
    prelude::*,
    schema::Revision,
    schemars::{self, JsonSchema},
    serde::Deserialize,
};

use crate::{logged::assert_logged, support::log};

#[expect(dead_code, reason = "only its form is used")]
#[derive(Deserialize, JsonSchema)]
#[serde(crate = "trueform::serde")]
struct Seat {
    #[schemars(length(min = 1))]
    name: String,
    window: Option<bool>,
}

#[expect(dead_code, reason = "only its form is used")]
#[derive(Deserialize, JsonSchema)]
#[serde(crate = "trueform::serde")]
struct Nested {
    seat: Seat,
    others: Vec<String>,
}

#[derive(Deserialize, JsonSchema)]
#[serde(crate = "trueform::serde")]
enum Day {
    Saturday,
    Sunday,
}

/// A type whose methods are called as those of `Context`.
struct Clerk;

impl Clerk {
    fn ask<T>(&self, _key: &str, _question: &str) -> impl Future<Output = Option<T>> + use<T> {
        std::future::ready(None)
    }
}

mod days {
    pub(super) type Days = Vec<super::Day>;
}

/// Asks for what cannot be asked for.
#[tool]
async fn wrong() -> String {
    let nested = Clerk.ask::<Nested>("nested", "?").await;
    format!("{}", nested.is_some())
}

/// Lists what cannot be asked for.
#[tool(asks(BTreeMap<String, u8>, Seat))]
fn listed() -> String {
    String::new()
}

/// Asks for what cannot be asked for, and names it beside the call.
#[tool]
async fn inferred(context: Context) -> Result<String, ToolError> {
    let nested: Asked<Nested> = context.ask("key", "Which?").await?;
    Ok(format!("{}", nested.is_accepted()))
}

/// Asks for what cannot be asked for.
#[prompt(asks(Nested))]
fn text() -> String {
    String::new()
}

/// Asks for what cannot be asked for.
#[resource("tables://{id}", asks(Nested))]
fn table(id: String) -> String {
    id
}

/// Asks for days.
#[tool(name = "days")]
async fn choose() -> String {
    let (days, seat) = trueform_join!(
        Clerk.ask::<days::Days>("days", "When?"),
        Clerk.ask::<Seat>("seat", "Where?"),
    );
    format!("{} {}", days.is_some(), seat.is_some())
}

/// Stands for `tokio::join!`: what is between its parentheses are tokens.
macro_rules! trueform_join {
    ($first:expr, $second:expr $(,)?) => {
        ($first.await, $second.await)
    };
}
use trueform_join;

/// Asks others for a type that is not a form.
#[tool]
async fn others() -> String {
    struct NoForm;
    let first = Clerk.ask::<std::time::Instant>("a", "?").await;
    let second = Clerk.ask::<NoForm>("b", "?").await;
    let third: Option<Nested> = Clerk.ask::<_>("c", "?").await;
    format!(
        "{} {} {}",
        first.is_some(),
        second.is_some(),
        third.is_some()
    )
}

struct Office<T>(T);

#[server]
impl<T: Send + Sync + 'static> Office<T> {
    /// Asks for what cannot be asked for.
    #[tool(asks(Nested))]
    fn method(&self) -> String {
        String::new()
    }

    /// Asks for what only the caller of the macro knows.
    #[tool]
    async fn generic(&self) -> String {
        format!("{}", Clerk.ask::<T>("a", "?").await.is_some())
    }
}

const FIELDS: &str =
    "expected a string, a number, a boolean, an enum of unit variants or a list of such an enum";

/// The problems of `server`, without the lines of the places.
#[track_caller]
fn problems(server: Server) -> Vec<String> {
    let error = server.build().unwrap_err();
    let problems = error.problems().iter().map(|problem| {
        let (before, after) = problem.split_once(&format!(" at {}:", file!())).unwrap();
        let after = after.trim_start_matches(|c: char| c.is_ascii_digit());
        format!("{before}{after}")
    });
    problems.collect()
}

/// The problems of `server`, without the places of its values.
#[track_caller]
fn problems_of_values(server: Server) -> Vec<String> {
    let error = server.build().unwrap_err();
    let problems = error.problems().iter().map(|problem| {
        let (before, after) = problem.split_once(&format!(" at {}:", file!())).unwrap();
        let (_, after) = after.split_once(')').unwrap();
        format!("{before}{after}")
    });
    problems.collect()
}

/// The problems of a value that asks for [`Nested`].
fn of_value(called: &str) -> [String; 2] {
    [
        "field `seat` is an object",
        "field `others` is a list of other values",
    ]
    .map(|problem| {
        let rest = match problem.contains("seat") {
            true => {
                format!("; {FIELDS}, because a form is flat: make its members fields of the form")
            }
            false => "; expected a list of an enum of unit variants".to_owned(),
        };
        format!(
            "{called} asks clients for `it::forms::Nested`, which cannot be a form: {problem}{rest}"
        )
    })
}

// the place, the field and what was expected.
#[test]
fn what_is_no_form_is_a_start_error() {
    let of = |function: &str| {
        [
            format!(
                "fn `{function}` asks clients for `it::forms::Nested`, which cannot be a form: field `seat` is an object; {FIELDS}, because a form is flat: make its members fields of the form"
            ),
            format!(
                "fn `{function}` asks clients for `it::forms::Nested`, which cannot be a form: field `others` is a list of other values; expected a list of an enum of unit variants"
            ),
        ]
    };
    let server = || Server::new("s", "1");
    assert_eq!(problems(server().tools(tools![wrong])), of("wrong"));
    assert_eq!(problems(server().tools(tools![inferred])), of("inferred"));
    assert_eq!(problems(server().prompts(prompts![text])), of("text"));
    assert_eq!(problems(server().resources(resources![table])), of("table"));
    assert_eq!(problems(server().tools(Office(1))), of("Office::method"));
    assert_eq!(
        problems(server().tools(tools![listed])),
        [
            "fn `listed` asks clients for `alloc::collections::btree::map::BTreeMap<alloc::string::String, u8>`, which cannot be a form: \
          the type takes members of any name, as maps do; expected a struct with named fields"
        ]
    );
    let schema = serde_json::json!({ "type": "object" });
    let tool = DynamicTool::new("dynamic", schema)
        .handler(|_, _| async { "" })
        .asks::<Seat>()
        .asks::<Nested>();
    assert_eq!(
        problems_of_values(server().tools(tool)),
        of_value("tool `dynamic` (the dynamic tool")
    );
    let prompt = trueform::prompt::DynamicPrompt::new("dynamic")
        .handler(|_, _| async { "" })
        .asks::<Nested>();
    assert_eq!(
        problems_of_values(server().prompts(prompt)),
        of_value("prompt `dynamic` (the dynamic prompt")
    );
    let resource = DynamicResource::new("text://a", "dynamic")
        .handler(|_| async { "" })
        .asks::<Nested>();
    assert_eq!(
        problems_of_values(server().resources(resource)),
        of_value("resource `text://a` (the dynamic resource:")
    );
    let template = DynamicTemplate::new("text://{a}", "dynamic")
        .handler(|_, _| async { "" })
        .asks::<Nested>();
    assert_eq!(
        problems_of_values(server().resources(template)),
        of_value("resource template `text://{a}` (the dynamic resource template:")
    );
    // Types that are not forms do not matter to methods of other types.
    server().tools(tools![others]).build().unwrap();
    // Later as at the start.
    let service = server().tools(tools![choose]).build().unwrap();
    let error = service.handle().add_tools(tools![wrong]).unwrap_err();
    assert_eq!(error.problems().len(), 2, "{error}");
    let error = service
        .handle()
        .add_tools(tools![choose, listed])
        .unwrap_err();
    // That of the form, and that the name is taken.
    assert_eq!(error.problems().len(), 2, "{error}");
}

// what no served revision can express.
#[test]
fn a_form_that_no_served_revision_has_is_a_start_error() {
    let serving = |revisions: &[Revision]| {
        Server::new("s", "1")
            .tools(tools![choose])
            .revisions(revisions.iter().copied())
    };
    let asks = |type_name: &str| {
        format!(
            "tool `days` (fn `choose`) asks clients for `{type_name}`, whose form no served revision can express: "
        )
    };
    let (days, seat) = ("alloc::vec::Vec<it::forms::Day>", "it::forms::Seat");
    let only = |type_name: &str, reason: &str| format!("{}{reason}", asks(type_name));
    assert_eq!(
        problems(serving(&[Revision::V2025_06_18, Revision::V2024_11_05])),
        [only(
            days,
            "2025-06-18 has no field for several choices, as field `answer` is; expected 2025-11-25 or later"
        )]
    );
    let none = "2025-03-26 has no elicitation; expected 2025-06-18 or later";
    assert_eq!(
        problems(serving(&[Revision::V2025_03_26])),
        [only(days, none), only(seat, none)]
    );
    serving(&[Revision::V2025_06_18, Revision::V2025_11_25])
        .build()
        .unwrap();
    serving(&[Revision::V2026_07_28]).build().unwrap();
}

// of values as of functions.
#[test]
fn forms_of_values_that_no_served_revision_has() {
    let tool = || {
        let schema = serde_json::json!({ "type": "object" });
        DynamicTool::new("days", schema)
            .handler(|_, _| async { "" })
            .asks::<days::Days>()
    };
    let serving = |revision| Server::new("s", "1").tools(tool()).revisions([revision]);
    let found = problems_of_values(serving(Revision::V2025_06_18));
    assert_eq!(found.len(), 1, "{found:?}");
    assert!(
        found[0].contains(
            "whose form no served revision can express: 2025-06-18 has no field for several choices"
        ),
        "{found:?}"
    );
    serving(Revision::V2025_11_25).build().unwrap();
}

//
#[test]
fn the_lint_lists_what_some_revisions_lack_and_secrets() {
    #[expect(dead_code, reason = "only its form is used")]
    #[derive(Deserialize, JsonSchema)]
    #[serde(crate = "trueform::serde", rename_all = "camelCase")]
    struct Account {
        user_name: String,
        api_key: String,
        /// # Your password
        second: Option<String>,
        #[schemars(extend("format" = "password"))]
        third: String,
        #[schemars(regex(pattern = "^[0-9]+$"))]
        digits: String,
        max_tokens: u32,
        token_pin: u32,
        secret: bool,
    }
    /// Asks for an account.
    #[prompt(asks(Account))]
    fn account() -> String {
        String::new()
    }
    /// Asks for days.
    #[resource("days://all", asks(days::Days))]
    fn all_days() -> String {
        String::new()
    }
    let log = log();
    let service = Server::new("s", "1")
        .tools(tools![choose])
        .prompts(prompts![account])
        .resources(resources![all_days])
        .build()
        .unwrap();
    let lint: Vec<String> = service
        .lint()
        .iter()
        .map(|found| {
            let (finding, revision) = (&found.finding, found.revision);
            format!(
                "{} {revision} {} {}",
                found.subject, finding.code, finding.pointer
            )
        })
        .collect();
    assert_eq!(
        lint,
        [
            "tool `days` 2025-06-18 form-revision ",
            "prompt `account` 2026-07-28 form-secret /properties/apiKey",
            "prompt `account` 2026-07-28 form-secret /properties/second",
            "prompt `account` 2026-07-28 form-secret /properties/third",
            "prompt `account` 2026-07-28 form-rule /properties/third/format",
            "prompt `account` 2026-07-28 form-rule /properties/digits/pattern",
            "prompt `account` 2026-07-28 form-secret /properties/tokenPin",
            "resource `days://all` 2025-06-18 form-revision ",
        ]
    );
    let lines: Vec<String> = service.lint().iter().map(ToString::to_string).collect();
    assert!(
        lines[0].ends_with(
            "at 2025-06-18: (root): clients of 2025-06-18 cannot be asked for `alloc::vec::Vec<it::forms::Day>`: \
             2025-06-18 has no field for several choices, as field `answer` is; expected 2025-11-25 or later \
             [form-revision: every client that follows the specification]"
        ),
        "{}",
        lines[0]
    );
    let parts = ["8 problems with the forms for which 3 tools, prompts and resources ask"];
    assert_logged(&log.take(), "WARN", &parts);
    // What is not served is not listed.
    let newest = Server::new("s", "1")
        .tools(tools![choose])
        .revisions([Revision::V2026_07_28]);
    assert_eq!(newest.build().unwrap().lint(), []);
}
