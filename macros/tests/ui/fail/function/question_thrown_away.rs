use trueform::prelude::*;

/// Asks, and does not wait.
#[tool]
fn asks(context: Context) -> &'static str {
    let _ = context.ask::<bool>("sure", "Sure?");
    _ = context.roots();
    ""
}

struct Files;

#[server]
impl Files {
    /// Asks, and does not wait.
    #[tool]
    async fn remove(&self, context: Context) -> &'static str {
        drop(context.ask::<bool>("sure", "Sure?"));
        ""
    }
}

fn main() {}
