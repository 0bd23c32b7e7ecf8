use trueform::{Client, client::{ClientError, ClientOptions, ServerCommand}};

async fn start() -> Result<Client, ClientError> {
    let command = ServerCommand::new("my-server").arg("--read-only");
    Client::spawn(&command, ClientOptions::new()).await
}

fn main() {}
