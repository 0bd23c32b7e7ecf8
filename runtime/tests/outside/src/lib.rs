//! The calculator of the README, and tools that answer what they are given.

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
