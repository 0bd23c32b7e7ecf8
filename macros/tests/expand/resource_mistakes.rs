/// A row.
#[resource(mime_type = "json", "db://{tabel}/{id}", size = 3, priority = 2, audience(users), ttl = "0s", last_modified = "today")]
fn row(table: String, #[arg(complete = rows)] number: u64) -> String {
    table
}

/// No URI.
#[resource(profile = portable)]
fn nothing() -> String {
    String::new()
}
