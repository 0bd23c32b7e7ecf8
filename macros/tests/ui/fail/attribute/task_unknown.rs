use trueform::prelude::*;

/// Adds.
#[tool(task = optinal)]
fn add(a: i64, b: i64) -> i64 {
    a + b
}

/// The function is there in spite of the mistake.
#[allow(dead_code)]
fn still_there() -> i64 {
    add(1, 2)
}

fn main() {}
