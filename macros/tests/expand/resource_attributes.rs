#[resource(
    "file:///logo.png",
    name = "logo",
    title = "The logo",
    description = "The logo of the shop.",
    mime_type = "image/png",
    size = 2048,
    audience(user, assistant),
    priority = 1,
    last_modified = "2026-01-31T15:00:58Z",
    ttl = "60s",
    public,
    icons("data:,"),
    meta("com.example/tier" = "gold"),
    timeout = "5s",
    needs(sampling)
)]
#[cfg(feature = "logo")]
async fn image() -> Blob {
    load().await
}

/// Files.
#[resource("file:///{+path}", audience = user, priority = 0.25, public = false, file_like)]
fn file(path: PathBuf) -> std::io::Result<Vec<u8>> {
    std::fs::read(path)
}
