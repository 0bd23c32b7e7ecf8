#[server]
impl<T: Store> Notes<T>
where
    T: 'static,
{
    const LIMIT: usize = 10;

    pub fn new(store: T) -> Self {
        Self { store }
    }

    /// Reads a note.
    #[tool(read_only)]
    pub async fn read<'a>(&'a self, id: Id) -> Result<&'a str, Error> {
        self.store.read(id).await
    }

    /// Counts the notes.
    #[cfg(feature = "count")]
    #[tool]
    fn count(&self) -> usize {
        self.store.len()
    }

    /// Says which version runs.
    #[tool]
    fn version() -> &'static str {
        "1"
    }
}
