use trueform::prelude::*;

/// Adds.
#[tool]
struct Add;

fn main() {}
