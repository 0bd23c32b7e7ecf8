use trueform::prelude::*;

/// Doubles.
#[tool]
fn double(#[serde(alias = "number")] n: i64) -> i64 {
    2 * n
}

fn main() {}
