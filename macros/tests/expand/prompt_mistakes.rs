#[prompt(read_only, titel = "Review")]
fn review<T>(
    #[arg(complete = "styles")]
    style: &str,
    #[arg(complete = [], complete = f)]
    Wrapped(depth): Wrapped,
) -> impl Into<String> {
    style
}
