use trueform::prelude::*;

/// Doubles.
#[tool]
fn double(#[serde(skip)] n: i64) -> i64 {
    2 * n
}

fn main() {}
