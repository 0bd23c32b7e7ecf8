/// Reviews code.
#[prompt(title = "Code review", icons("https://example.com/a.png"), meta(level = 3), timeout = "30s", needs(roots))]
async fn review(
    /// What to review.
    code: String,
    /// The language it is written in.
    #[arg(complete = ["rust", "python"])]
    language: Option<String>,
    #[arg(complete = styles::of_team)]
    #[serde(rename = "houseStyle")]
    style: String,
    context: Context,
) -> Result<Vec<PromptMessage>, Error> {
    messages(code, language, style).await
}

const PROMPTS: PromptSet = prompts![review, team::greet];
