use trueform::prelude::*;

/// Adds.
#[tool]
fn add(
    #[schemars(length(max = 5))] a: Option<i64>,
    #[schemars(inner(pattern("^a")))] _b: Vec<bool>,
    #[schemars(email)] _c: u32,
    #[schemars(range(min = 1))] _d: std::collections::HashMap<String, i64>,
    #[schemars(inner(length(min = 1)))] _e: String,
) -> i64 {
    a.unwrap_or_default()
}

fn main() {}
