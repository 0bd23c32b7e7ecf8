use trueform::{Client, client::{ClientError, HttpEndpoint}};

async fn short() -> Result<Client, ClientError> {
    Client::connect("http://localhost:3000/mcp").await
}

async fn long() -> Result<Client, ClientError> {
    HttpEndpoint::new("http://localhost:3000/mcp").bearer("secret").connect().await
}

fn main() {}
