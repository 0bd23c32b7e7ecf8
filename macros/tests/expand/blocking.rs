/// Hashes a file.
#[tool(blocking, timeout = "5m")]
fn hash(path: PathBuf) -> std::io::Result<String> {
    std::fs::read_to_string(path)
}
