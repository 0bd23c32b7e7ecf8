//! A server as a session or a configuration names it.

use trueform::{
    Client,
    acp::{McpServers, McpTransports},
    client::{ClientError, ClientOptions, LocalError},
};

use super::server::{Scripted, modern};
use crate::support::soon;

const HTTP: McpTransports = McpTransports {
    http: true,
    sse: false,
};

// What is not declared is refused before anything is connected, and the headers of the entry are sent.
#[tokio::test]
async fn it_is_checked_and_then_connected() {
    let server = Scripted::start(|asked, answer| async move {
        modern(asked, answer).await;
    })
    .await;
    let session = format!(
        r#"{{ "sessionId": "s-1", "mcpServers": [{{
            "type": "http", "name": "far", "url": "{}", "headers": [{{ "name": "Authorization", "value": "Bearer secret" }}]
        }}] }}"#,
        server.url
    );
    let config = format!(
        r#"{{ "mcpServers": {{ "far": {{ "url": "{}", "headers": {{ "Authorization": "Bearer secret" }} }} }} }}"#,
        server.url
    );
    for servers in [
        McpServers::of_session(&session),
        McpServers::of_config(&config),
    ] {
        let servers = servers.unwrap().mcp_servers;
        let before = server.whats().len();
        let none = McpTransports::STDIO_ONLY;
        let refused = Client::connect_entry(&servers[0], none, ClientOptions::new()).await;
        assert!(
            matches!(&refused, Err(ClientError::Local(LocalError::Refused(refusal))) if refusal.server_name() == "far"),
            "{refused:?}"
        );
        assert_eq!(server.whats().len(), before);
        let connecting = Client::connect_entry(&servers[0], HTTP, ClientOptions::new());
        soon(soon(connecting).await.unwrap().close()).await;
        let asked = server.asked.lock().unwrap().clone();
        assert!(asked.len() > before);
        for asked in &asked {
            assert_eq!(asked.header("authorization"), Some("Bearer secret"));
        }
    }
}
