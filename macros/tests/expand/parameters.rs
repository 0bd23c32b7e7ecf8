/// Searches.
///
/// Finds what matches.
#[tool]
fn search(
    /// What to look for.
    #[schemars(length(min = 1))]
    query: String,
    /// At most so many answers.
    #[serde(default = "ten")]
    #[schemars(range(min = 1, max = 100))]
    mut limit: u32,
    r#type: Option<Kind>,
) -> Vec<String> {
    vec![]
}
