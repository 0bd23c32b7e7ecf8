// The crate under another name, with names around that shadow the prelude's.

/// The only thing the user of this library knows of Trueform.
mod sdk {
    pub mod mcp {
        pub use ::trueform::*;
    }
}

use self::sdk::mcp;

type Words<T> = Option<T>;
type Result = std::result::Result<String, std::fmt::Error>;

/// Finds.
#[mcp::tool(crate = crate::sdk::mcp)]
fn find(
    /// What to look for.
    #[schemars(length(min = 1))]
    query: String,
    r#type: Words<String>,
    context: mcp::Context,
) -> Result {
    drop(context);
    Ok(format!("{query} {type:?}"))
}

struct Calculator<T>(T);

#[mcp::server(crate = crate::sdk::mcp)]
impl<T: Copy + Into<i64> + Send + Sync + 'static> Calculator<T> {
    /// Adds.
    #[tool(title = "Add", timeout = "1s")]
    async fn add(&self, #[serde(default)] a: i64) -> i64 {
        a + self.0.into()
    }
}

fn main() {
    let server = mcp::Server::new("sdk", "1").tools(mcp::tools![find]).tools(Calculator(1_i32));
    assert!(server.build().is_ok());
}
