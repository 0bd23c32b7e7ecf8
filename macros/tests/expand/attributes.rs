#[tool(
    name = "files.remove",
    title = "Remove a file",
    description = "Removes a file for good.",
    open_world = false,
    destructive,
    icons("https://example.com/a.png", icon(src = "data:,", mime_type = "image/svg+xml", sizes = "any", theme = "dark")),
    meta("com.example/tier" = "gold", level = -3),
    timeout("30s", reset_by_progress, hard_limit = "10m"),
    needs(elicitation, roots),
    profile = portable
)]
#[cfg(feature = "files")]
#[tracing::instrument]
async fn remove(path: String) {}
