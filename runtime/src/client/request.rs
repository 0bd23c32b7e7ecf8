//! One request: what goes into its `_meta`, how long it is waited for, and what becomes of its answer.

use std::{
    fmt,
    future::{Future, IntoFuture},
    pin::Pin,
    time::Duration,
};

use tokio::time::{Instant, sleep_until};
use trueform_schema::{
    At, Conform, Encode, Era, Json, LoggingLevel, Map, RequestId, Revision, View,
    methods::{AnyRequest, Notification},
};

use super::{
    Client, ClientOptions, Inner, Negotiation,
    cache::Cache,
    call_options::{RequestOptions, call_options},
    error::{ClientError, LocalError},
    flights::NoPlace,
    gate::ClientCall,
    link::PendingRequest,
};

/// A request that is sent when awaited, and cancelled when its future is dropped before the answer came.
#[must_use = "a request is sent when it is awaited"]
pub struct Request<M: AnyRequest> {
    client: Client,
    params: M::Params,
    plan: RequestOptions,
}

impl<M: AnyRequest> Request<M> {
    pub(super) fn new(client: Client, params: M::Params) -> Self {
        Self::with(client, params, RequestOptions::default())
    }

    pub(super) fn with(client: Client, params: M::Params, plan: RequestOptions) -> Self {
        Self {
            client,
            params,
            plan,
        }
    }
}

call_options!(impl[M: AnyRequest] Request<M>);

impl<M> IntoFuture for Request<M>
where
    M: AnyRequest,
{
    type Output = Result<M::Result, ClientError>;
    type IntoFuture = Pin<Box<dyn Future<Output = Self::Output> + Send>>;

    fn into_future(self) -> Self::IntoFuture {
        Box::pin(async move {
            let client = self.client;
            let call = ClientCall::of_request::<M>(client.revision());
            let result = client.exchange(&call, &self.params, self.plan).await?;
            client.received::<M::Result>(M::METHOD, &result)
        })
    }
}

impl<M: AnyRequest> fmt::Debug for Request<M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Request")
            .field("method", &M::METHOD)
            .finish_non_exhaustive()
    }
}

impl Client {
    /// The raw result of a request: one that is kept, or that the server answers with.
    pub(super) async fn exchange(
        &self,
        call: &ClientCall,
        params: &(dyn Conform + Sync),
        plan: RequestOptions,
    ) -> Result<Json, ClientError> {
        match &self.inner.cache {
            None => self.exchange_uncached(call, params, plan).await,
            Some(cache) => Box::pin(self.exchange_cached(cache, call, params, plan)).await,
        }
    }

    async fn exchange_cached(
        &self,
        cache: &Cache,
        call: &ClientCall,
        params: &(dyn Conform + Sync),
        plan: RequestOptions,
    ) -> Result<Json, ClientError> {
        let asked = match self.cached(cache, call, params) {
            Some((_, Some(result))) => return Ok(result),
            Some((asked, None)) => asked,
            None => return self.exchange_uncached(call, params, plan).await,
        };
        let sent = Instant::now();
        let outcome = self.exchange_uncached(call, params, plan).await;
        self.keep(cache, asked, &outcome, sent);
        outcome
    }

    async fn exchange_uncached(
        &self,
        call: &ClientCall,
        params: &(dyn Conform + Sync),
        plan: RequestOptions,
    ) -> Result<Json, ClientError> {
        match &self.inner.options.retry {
            Some(policy) if plan.resumption.is_none() => {
                self.exchange_by(policy, call, params, plan).await
            }
            _ => self.exchange_once(call, params, plan).await,
        }
    }

    /// Sends a request, once there is a place and room for it, and waits for its raw result.
    pub(super) async fn exchange_once(
        &self,
        call: &ClientCall,
        params: &(dyn Conform + Sync),
        mut plan: RequestOptions,
    ) -> Result<Json, ClientError> {
        let Inner { link, options, .. } = &*self.inner;
        link.gate.let_out(call, self.revision(), params)?;
        let limit = plan.timeout.unwrap_or(options.timeout);
        let (_place, limit) = link.flights.enter(limit).await.map_err(|none| match none {
            NoPlace::Full(error) => error,
            NoPlace::Closed => link.wire.closed(),
        })?;
        link.room(limit).await?;
        let longest = plan
            .longest
            .or(options.reset_by_progress.then_some(options.longest));
        let wants_progress = plan.on_progress.is_some() || longest.is_some() || plan.id.is_some();
        let id = plan.id.take().unwrap_or_else(|| link.new_id());
        if let Some(resumption) = plan.resumption.take() {
            link.resumptions.keep(&id, *resumption, self.revision())?;
        }
        let token = wants_progress.then_some(&id);
        let params = match options.negotiation {
            Negotiation::Nothing => At::new(params, self.revision()).to_json(),
            _ => stamped(
                params,
                self.revision(),
                options,
                token,
                plan.log_level.as_ref(),
            )?,
        };
        let pending = link.request(
            id,
            call.method,
            Some(&params),
            plan.on_progress.take(),
            plan.busy.take(),
            true,
        )?;
        wait(pending, limit, longest).await
    }
}

/// The params of a request at `revision`, with the `_meta` that the revision and the plan ask for.
pub(super) fn stamped(
    params: &dyn Encode,
    revision: Revision,
    options: &ClientOptions,
    progress_token: Option<&RequestId>,
    log_level: Option<&LoggingLevel>,
) -> Result<Json, ClientError> {
    let mut text = Vec::with_capacity(128);
    params.encode(View::at(revision), &mut text);
    let mut members: Map<Json> = serde_json::from_slice(&text).map_err(encode_error)?;
    let mut meta: Map<Json> = match members.get("_meta") {
        Some(meta) => meta.parse().map_err(encode_error)?,
        None => Map::new(),
    };
    if let Some(token) = progress_token {
        meta.insert(
            "progressToken",
            Json::from_value(token).map_err(encode_error)?,
        );
    }
    // C-1, C-3
    if revision.era() == Era::Modern {
        let mut stamp = |name: &str, value: Json| {
            let name = format!("io.modelcontextprotocol/{name}");
            if !meta.contains_key(&name) {
                meta.insert(name, value);
            }
        };
        stamp(
            "protocolVersion",
            Json::from_value(revision.as_str()).map_err(encode_error)?,
        );
        stamp("clientInfo", At::new(&options.info, revision).to_json());
        stamp(
            "clientCapabilities",
            At::new(&options.capabilities, revision).to_json(),
        );
        if let Some(level) = log_level {
            stamp("logLevel", Json::from_value(level).map_err(encode_error)?);
        }
    }
    if !meta.is_empty() {
        members.insert("_meta", Json::from_value(&meta).map_err(encode_error)?);
    }
    Json::from_value(&members).map_err(encode_error)
}

#[expect(clippy::needless_pass_by_value, reason = "taken by `map_err`")]
fn encode_error(error: serde_json::Error) -> ClientError {
    LocalError::Encode(error.to_string()).into()
}

/// Waits for the answer, at most as long as `timeout`, and `longest` where progress resets the clock (O-6).
pub(super) async fn wait(
    mut pending: PendingRequest,
    timeout: Duration,
    longest: Option<Duration>,
) -> Result<Json, ClientError> {
    let start = Instant::now();
    let mut deadline = start + longest.map_or(timeout, |longest| longest.min(timeout));
    loop {
        tokio::select! {
            biased;
            answer = &mut pending.answer => {
                pending.done();
                return answer.unwrap_or_else(|_| Err(pending.link.wire.closed().into()));
            }
            () = pending.progressed.notified(), if longest.is_some() => {
                let end = start + longest.unwrap_or(timeout);
                deadline = end.min(Instant::now() + timeout);
            }
            () = sleep_until(deadline) => return Err(LocalError::TimedOut(start.elapsed()).into()),
        }
    }
}

/// The name of a notification, for messages written without a type.
pub(super) fn method_of<N: Notification>() -> &'static str {
    N::METHOD.as_str()
}
