//! Tools that misbehave. `odd --twice` has two of one name.

use rmcp::{
    ServerHandler, ServiceExt, handler::server::router::tool::ToolRouter, tool, tool_handler,
    tool_router,
};

struct Odd {
    tool_router: ToolRouter<Self>,
}

#[tool_router(router = tools)]
impl Odd {
    /// Panics.
    #[tool]
    fn fails(&self) -> String {
        panic!("on purpose")
    }

    /// Prints to standard output.
    #[tool]
    fn prints(&self) -> String {
        println!("working on it");
        "printed".to_owned()
    }

    /// Returns a text.
    #[tool]
    fn works(&self) -> String {
        "first".to_owned()
    }
}

#[tool_router(router = other_tools)]
impl Odd {
    /// Returns another text.
    #[tool(name = "works")]
    fn works_too(&self) -> String {
        "second".to_owned()
    }
}

#[tool_handler(router = self.tool_router)]
impl ServerHandler for Odd {}

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut tool_router = Odd::tools();
    if std::env::args().any(|word| word == "--twice") {
        tool_router = tool_router + Odd::other_tools();
    }
    Odd { tool_router }
        .serve(rmcp::transport::stdio())
        .await?
        .waiting()
        .await?;
    Ok(())
}
