use trueform::prelude::*;

struct Store<T>(T);

#[server]
impl<T: serde::de::DeserializeOwned + JsonSchema + Send + Sync + 'static> Store<T> {
    /// Stores.
    #[tool]
    fn store(&self, #[serde(default)] value: Option<T>) {
        drop(value);
    }
}

fn main() {}
