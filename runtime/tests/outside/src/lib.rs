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
