//! Questions of a server outside of the workspace: the macros find the forms, and a client answers them.

use std::sync::Mutex;

use serde_json::{Value, json};
use trueform::{
    Asked,
    client::{Answering, ClientHandler, ClientOptions},
    prelude::*,
    schema::{ClientCapabilities, Json as RawJson, Revision},
};

/// Where to sit.
#[derive(Debug, Deserialize, JsonSchema)]
struct Seat {
    #[schemars(length(min = 1))]
    name: String,
    outside: Option<bool>,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum Meal {
    /// With meat
    Usual,
    /// Without meat
    Vegetarian,
}

/// Books a table.
#[tool]
async fn book(context: Context) -> Result<String, ToolError> {
    let (seat, meal) = tokio::join!(
        context.ask::<Seat>("seat", "Which seat?"),
        context.ask::<Meal>("meal", "Which meal?"),
    );
    match (seat?, meal?) {
        (Asked::Accepted(seat), Asked::Accepted(meal)) => {
            Ok(format!("{} {:?} {meal:?}", seat.name, seat.outside))
        }
        _ => Ok("not booked".to_owned()),
    }
}

#[derive(Debug, Deserialize, JsonSchema)]
struct Address {
    seat: Seat,
}

/// Asks for an address.
#[tool]
async fn address(context: Context) -> Result<String, ToolError> {
    let address = context.ask::<Address>("address", "Where?").await?;
    Ok(format!(
        "{:?}",
        address.accepted().map(|address| address.seat)
    ))
}

/// Says which seat first was not taken.
struct User(Mutex<u32>);

impl ClientHandler for User {
    fn answer(&self, _: &str, params: Option<RawJson>) -> Answering<'_> {
        let params = params.map_or(Value::Null, |params| params.to_value());
        let content = match params["message"].as_str() {
            Some("Which meal?") => json!({ "answer": "vegetarian" }),
            _ => {
                let mut asked = self.0.lock().expect("no panic");
                *asked += 1;
                let name = if *asked == 1 { "" } else { "Ada" };
                json!({ "name": name })
            }
        };
        let answer = json!({ "action": "accept", "content": content });
        Box::pin(std::future::ready(Ok(RawJson::from(answer))))
    }
}

#[tokio::test]
async fn a_table_is_booked_at_every_revision_with_forms() {
    for revision in [
        Revision::V2025_06_18,
        Revision::V2025_11_25,
        Revision::V2026_07_28,
    ] {
        let capabilities: ClientCapabilities =
            serde_json::from_value(json!({ "elicitation": {} })).expect("capabilities");
        let options = ClientOptions::at(revision)
            .capabilities(capabilities)
            .handler(User(Mutex::default()));
        let server = Server::new("tables", "1.0.0").tools(tools![book]);
        let client = server
            .connect_as(options)
            .await
            .expect("the tools are right");
        let booked = client.call_tool("book", ()).await.expect("a result");
        let booked = serde_json::to_value(&booked).expect("JSON");
        assert_eq!(
            booked["content"][0]["text"], "Ada None Vegetarian",
            "{revision}: {booked}"
        );
    }
}

#[test]
fn what_is_no_form_does_not_start() {
    let error = Server::new("tables", "1.0.0")
        .tools(tools![address])
        .build()
        .expect_err("it is nested");
    let problem = error.to_string();
    assert!(
        problem.contains("fn `address` at tests/asked.rs:")
            && problem.contains("asks clients for `asked::Address`, which cannot be a form: field `seat` is an object; expected a string"),
        "{problem}"
    );
}
