use trueform::prelude::*;

/// Adds.
#[tool]
fn add(numbers: &[i64]) -> i64 {
    numbers.iter().sum()
}

fn main() {}
