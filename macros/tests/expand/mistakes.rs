/// Adds.
#[tool(tittle = "Add", read_only = 3)]
fn add(
    /// The first.
    a: &str,
    b: impl Into<i64>,
) -> i64 {
    0
}
