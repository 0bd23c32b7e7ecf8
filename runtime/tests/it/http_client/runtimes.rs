//! A client that outlives the runtime on which it was connected.

use std::future::IntoFuture;

use tokio::runtime::Builder;
use trueform::client::{ClientError, LocalError};

use super::{
    connect, new, old,
    server::{Scripted, legacy, modern},
};
use crate::support::soon;

/// What waits on another runtime ends with the runtime that moves the messages, and what comes later as well.
#[test]
fn the_end_of_the_runtime_ends_the_connection() {
    for is_old in [true, false] {
        let [theirs, others] = [(), ()].map(|()| {
            let mut builder = Builder::new_multi_thread();
            builder.worker_threads(1).enable_all().build().unwrap()
        });
        let options = if is_old { old() } else { new() };
        let (server, client) = theirs.block_on(async {
            let server = Scripted::start(move |asked, answer| async move {
                let rest = match is_old {
                    true => legacy(asked, answer, "s").await,
                    false => modern(asked, answer).await,
                };
                match rest {
                    Some((asked, answer)) if asked.what() == "GET" => {
                        answer.reply("405 Method Not Allowed", "", "").await;
                    }
                    Some((_, mut answer)) => answer.closed().await,
                    None => {}
                }
            })
            .await;
            let client = connect(&server, options).await;
            (server, client)
        });
        let mut notifications = client.notifications();
        let call = others.spawn(client.call_tool("x", ()).into_future());
        theirs.block_on(async {
            while server.all("tools/call").is_empty() {
                tokio::task::yield_now().await;
            }
        });
        theirs.shutdown_background();
        let is_closed =
            |error: ClientError| matches!(error, ClientError::Local(LocalError::Closed));
        others.block_on(async {
            assert!(is_closed(soon(call).await.unwrap().unwrap_err()));
            assert!(soon(notifications.next()).await.is_none());
            let late = soon(client.call_tool("x", ()).into_future()).await;
            assert!(is_closed(late.unwrap_err()));
        });
    }
}
