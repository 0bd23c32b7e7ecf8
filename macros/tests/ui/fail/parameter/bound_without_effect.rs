use trueform::prelude::*;

/// Adds.
#[tool]
fn add(
    #[schemars(length(max = 5))] a: Option<i64>,
    #[schemars(inner(pattern("^a")))] b: Vec<bool>,
    #[schemars(email)] c: u32,
    #[schemars(range(min = 1))] d: std::collections::HashMap<String, i64>,
    #[schemars(inner(length(min = 1)))] e: String,
) -> i64 {
    a.unwrap_or_default()
}

fn main() {}
