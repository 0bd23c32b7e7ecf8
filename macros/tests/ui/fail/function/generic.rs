use trueform::prelude::*;

/// Adds.
#[tool]
fn add<T: std::ops::Add<Output = T>>(a: T, b: T) -> T {
    a + b
}

fn main() {}
