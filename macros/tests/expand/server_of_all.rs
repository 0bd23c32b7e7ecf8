#[server]
impl Shop {
    /// Counts the orders.
    #[tool]
    fn count(&self) -> usize {
        self.orders.len()
    }

    /// An order.
    #[resource("shop://orders/{id}")]
    async fn order(&self, #[arg(complete = Self::ids)] id: u64) -> Option<Json<Order>> {
        self.orders.get(id).await
    }

    /// All orders.
    #[cfg(feature = "all")]
    #[resource("shop://orders")]
    fn orders() -> String {
        String::new()
    }

    /// Writes to a customer.
    #[prompt]
    fn letter(
        &self,
        #[arg(complete = Self::names)] name: String,
        #[arg(complete = Self::later, blocking)] place: String,
        #[arg(complete = places, blocking)] other: String,
    ) -> String {
        format!("Dear {name}")
    }

    fn ids(query: CompletionQuery) -> Vec<String> {
        ids(&query.value)
    }

    async fn names(&self, query: CompletionQuery, store: State<Store>) -> Vec<String> {
        store.names(&query.value).await
    }

    fn later(&self, query: CompletionQuery) -> Vec<String> {
        self.places(&query.value)
    }
}
