//! Steps of a call that run only once, however often the call is restarted.

use std::{future::Future, pin::pin};

use serde::{Serialize, de::DeserializeOwned};
use trueform_schema::{Era, Json};

use super::{AskError, Replay, place, replay::Use};
use crate::exchange::Context;

impl Context {
    /// Runs `step` once, and keeps its result until the client has answered.
    ///
    /// A client of 2026-07-28 is asked within the result of the call, and sends the call again with the answers. So **the code
    /// before a question runs again**, once for each round. Put what must not happen twice, such as a payment, a random choice or an
    /// expensive search, into a `once`: when the call is restarted, its result is available already. Clients of the legacy era are asked
    /// within the call, which is not restarted; there, `once` only runs the step.
    ///
    /// The sealed result is sent with the question, so it is not kept in memory, and any process that has the key of the server can
    /// continue the call. The client can send it any number of times. [`Server::ask_state`](crate::Server::ask_state) limits the total size
    /// of the results of a call and the answers. If a call asks while a step runs, the question waits for the step. If the future of a step
    /// is dropped before it is done, for example by `select!`, the step is restarted.
    ///
    /// ```
    /// use serde_json::json;
    /// use std::sync::atomic::{AtomicU32, Ordering};
    /// use trueform::client::{Answering, ClientHandler, ClientOptions};
    /// use trueform::prelude::*;
    /// use trueform::schema::{ClientCapabilities, Json as RawJson};
    ///
    /// static ORDERS: AtomicU32 = AtomicU32::new(0);
    ///
    /// /// Orders a pizza.
    /// #[tool]
    /// async fn order(context: Context) -> Result<String, ToolError> {
    ///     let number = context.once("order", async { ORDERS.fetch_add(1, Ordering::Relaxed) + 1 }).await?;
    ///     let pay: Asked<bool> = context.ask("pay", format!("Pay for order {number}?")).await?;
    ///     Ok(format!("order {number}, paid: {}", pay.accepted() == Some(true)))
    /// }
    ///
    /// struct Yes;
    ///
    /// impl ClientHandler for Yes {
    ///     fn answer(&self, _: &str, _: Option<RawJson>) -> Answering<'_> {
    ///         let answer = json!({ "action": "accept", "content": { "answer": true } });
    ///         Box::pin(std::future::ready(Ok(RawJson::from(answer))))
    ///     }
    /// }
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let capabilities: ClientCapabilities = serde_json::from_value(json!({ "elicitation": {} }))?;
    /// let asked = ClientOptions::default().capabilities(capabilities).handler(Yes);
    /// let client = Server::new("pizza", "1.0.0").tools(tools![order]).connect_as(asked).await?;
    /// let ordered = client.call_tool("order", ()).await?;
    /// assert!(serde_json::to_string(&ordered)?.contains("order 1, paid: true"));
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// [`AskError::Misused`] for a key that another `once` of the call uses, and outside of the call's own future; [`AskError::NotKept`]
    /// and [`AskError::StateTooLarge`] for a result that cannot be kept. In this case, the step has run.
    pub async fn once<T, F>(&self, key: impl Into<String>, step: F) -> Result<T, AskError>
    where
        T: Serialize + DeserializeOwned,
        F: Future<Output = T>,
    {
        self.step(&key.into(), async { Ok(step.await) }).await
    }

    /// Like [`once`](Self::once), for a step that may fail. A failure is not kept: the step runs again in the next round.
    ///
    /// # Errors
    /// The error of the step, and those of [`once`](Self::once).
    pub async fn try_once<T, E, F>(&self, key: impl Into<String>, step: F) -> Result<T, E>
    where
        T: Serialize + DeserializeOwned,
        E: From<AskError>,
        F: Future<Output = Result<T, E>>,
    {
        self.step(&key.into(), step).await
    }

    async fn step<T, E, F>(&self, key: &str, step: F) -> Result<T, E>
    where
        T: Serialize + DeserializeOwned,
        E: From<AskError>,
        F: Future<Output = Result<T, E>>,
    {
        let exchange = &self.0;
        let replay = exchange.replay();
        let is_kept = exchange.revision().era() == Era::Modern && replay.asker().is_none();
        if replay.asker().is_none() {
            place::check(exchange, "a step is done")?;
        }
        let claim = replay.claim(Use::Step, key)?;
        let kept = replay.lock().steps.get(key).cloned();
        if let Some(kept) = kept {
            let value = kept.parse().map_err(|error| {
                let problem = format!(
                    "what `once` kept under `{key}` is not of the type that it has now: {error}"
                );
                AskError::NotKept(problem)
            })?;
            claim.settle();
            return Ok(value);
        }
        let value = {
            let _running = Running::new(replay);
            let mut step = pin!(step);
            std::future::poll_fn(|cx| replay.polling_step(|| step.as_mut().poll(cx))).await?
        };
        if is_kept {
            keep(replay, key, &value, exchange.host.settings.ask.state_bytes)?;
        }
        claim.settle();
        Ok(value)
    }
}

fn keep<T: Serialize>(replay: &Replay, key: &str, value: &T, limit: usize) -> Result<(), AskError> {
    let kept = Json::from_value(value).map_err(|error| {
        let problem =
            format!("the result of the `once` `{key}` cannot be written as JSON: {error}");
        AskError::NotKept(problem)
    })?;
    let mut progress = replay.lock();
    progress.steps.insert(key, kept);
    let bytes = progress
        .steps
        .iter()
        .map(|(key, kept)| key.len() + kept.get().len());
    let bytes = bytes.sum();
    match bytes <= limit {
        true => Ok(()),
        false => Err(AskError::StateTooLarge { bytes, limit }),
    }
}

/// A running step.
struct Running<'r>(&'r Replay);

impl<'r> Running<'r> {
    fn new(replay: &'r Replay) -> Self {
        replay.begun();
        Self(replay)
    }
}

impl Drop for Running<'_> {
    fn drop(&mut self) {
        self.0.ended();
    }
}
