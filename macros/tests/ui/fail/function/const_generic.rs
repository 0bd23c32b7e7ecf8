use trueform::prelude::*;

/// Adds.
#[tool]
fn add<const N: usize>(numbers: Vec<i64>) -> i64 {
    numbers[..N].iter().sum()
}

fn main() {}
