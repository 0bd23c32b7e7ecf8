//! The calculator of the README, and tools that answer what they are given.

// Tools own their arguments, so this lint of clippy's has nothing to say about them.
#![deny(clippy::needless_pass_by_value)]

use trueform::prelude::*;

/// What `divide` answers.
#[derive(Serialize, JsonSchema)]
pub struct Quotient {
    quotient: f64,
}

/// Add two numbers.
#[tool]
fn add(a: i64, b: i64) -> i64 {
    a + b
}

/// Divide two numbers.
#[tool(read_only)]
fn divide(a: f64, #[schemars(range(min = 1e-9))] b: f64) -> Json<Quotient> {
    Json(Quotient { quotient: a / b })
}

/// What the echoing tools answer.
#[derive(Serialize, JsonSchema)]
pub struct Echo<T> {
    value: T,
}

/// Answer the number.
#[tool]
fn echo_double(value: f64) -> Json<Echo<f64>> {
    Json(Echo { value })
}

/// Answer the integer.
#[tool]
fn echo_integer(value: i64) -> Json<Echo<i64>> {
    Json(Echo { value })
}

/// Answer any value.
#[tool]
fn echo_any(value: serde_json::Value) -> Json<Echo<serde_json::Value>> {
    Json(Echo { value })
}

/// Count to nothing.
#[tool]
fn nothing() {}

/// A server with all of them.
pub fn server() -> Server {
    Server::new("calc", "1.0.0").tools(tools![
        add,
        divide,
        echo_double,
        echo_integer,
        echo_any,
        nothing
    ])
}

/// A part of the list.
#[derive(Debug, Deserialize, JsonSchema)]
pub struct Paging {
    limit: u64,
}

/// What is searched for.
#[derive(Debug, Deserialize, JsonSchema)]
pub struct Query {
    word: String,
    #[serde(flatten)]
    paging: Option<Paging>,
}

/// Find words.
#[tool]
fn find(Args(query): Args<Query>) -> String {
    let Query { word, paging } = query;
    format!("{word} {:?}", paging.map(|paging| paging.limit))
}

/// A place.
#[derive(Debug, Deserialize, JsonSchema)]
pub struct Point {
    x: i64,
    y: i64,
}

/// Text that is read as a number.
fn lax<'de, D: serde::Deserializer<'de>>(deserializer: D) -> Result<u32, D::Error> {
    let value = serde_json::Value::deserialize(deserializer)?;
    let text = value.to_string();
    text.trim_matches('"')
        .parse()
        .map_err(serde::de::Error::custom)
}

fn five() -> u8 {
    5
}

/// Go somewhere.
#[tool]
fn go(
    at: Point,
    #[serde(deserialize_with = "lax")] speed: u32,
    #[serde(default = "five")] days: u8,
    wide: Option<u128>,
    #[schemars(extend("format" = "uri"))] map: Option<String>,
) -> String {
    format!("{} {} {speed} {days} {wide:?} {map:?}", at.x, at.y)
}

/// Sum up.
#[tool]
fn sum(numbers: Vec<i64>, _wide: Option<u128>) -> i64 {
    numbers.iter().sum()
}

/// A server of typed tools.
pub fn typed_server() -> Server {
    Server::new("typed", "1.0.0").tools(tools![find, go, sum])
}

/// The order of a list.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Order {
    /// The newest entry comes first.
    #[default]
    Newest,
    /// The oldest entry comes first.
    Oldest,
    Random,
}

/// The part that is searched.
#[derive(Debug, Deserialize, JsonSchema)]
pub struct Scope {
    folder: String,
    depth: Option<u8>,
    order: Option<Order>,
}

/// How much is shown.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(default)]
pub struct View {
    width: Option<u32>,
    title: Option<String>,
    scale: f32,
}

/// When something happened.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum When {
    Before { day: String, hour: Option<u8> },
    After { day: String },
}

/// What is searched, and how the result is shown.
#[derive(Debug, Deserialize, JsonSchema)]
pub struct Search {
    words: Vec<String>,
    order: Order,
    then: Option<Order>,
    scope: Scope,
    other: Option<Scope>,
    #[serde(default)]
    view: View,
    #[serde(flatten)]
    shown: View,
    #[serde(flatten)]
    paging: Option<Paging>,
}

/// What was found.
#[derive(Serialize, JsonSchema)]
pub struct Hits {
    text: String,
    next: Option<String>,
}

/// Search entries.
#[tool]
fn search(Args(search): Args<Search>) -> Json<Hits> {
    Json(Hits {
        text: format!("{search:?}"),
        next: None,
    })
}

/// List entries.
#[tool]
fn list(
    scope: Scope,
    order: Order,
    then: Option<Order>,
    within: Option<Scope>,
    when: Option<When>,
    near: Option<std::net::IpAddr>,
    #[schemars(extend("exclusiveMinimum" = 0))] limit: Option<u32>,
    pairs: Vec<(String, u8)>,
) -> String {
    format!("{scope:?} {order:?} {then:?} {within:?} {when:?} {near:?} {limit:?} {pairs:?}")
}

/// A server whose schemas every known client takes.
pub fn accepted_server() -> Server {
    Server::new("accepted", "1.0.0").tools(tools![search, list, nothing])
}
