use trueform::prelude::*;

/// Adds.
#[tool]
fn add(a: i64, b: i64) -> i64 {
    a + b + "1"
}

fn main() {}
