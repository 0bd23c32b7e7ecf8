//! One request: what its `_meta` contains, how long the client waits for it, and what happens to its response.

use std::{
    fmt,
    future::{Future, IntoFuture},
    pin::Pin,
    time::Duration,
};

use serde::Deserialize;
use tokio::{
    sync::Notify,
    time::{Instant, sleep_until},
};
use trueform_schema::{
    At, Conform, Json, View,
    methods::{AnyRequest, Notification},
};

use super::{
    Client, Inner, Negotiation,
    cache::Cache,
    call_options::{RequestOptions, call_options},
    deadline::deadline,
    error::{ClientError, LocalError},
    flights::NoPlace,
    gate::ClientCall,
    link::{Abandoned, PendingRequest},
    stamp::Stamp,
    timeout::{self, RequestTimeout},
};
use crate::gate::ToServer;

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
            // The rest of an answer is taken from one stream, once.
            Some(policy) if !plan.resumes() => self.exchange_by(policy, call, params, plan).await,
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
        let Inner {
            link,
            options,
            introduction,
            ..
        } = &*self.inner;
        link.gate.let_out(call, self.revision(), params)?;
        let whole = plan.timeout.unwrap_or(options.timeout);
        let of_call = (plan.timeout.is_some(), plan.longest.is_some());
        let (_place, limit) = link.flights.enter(whole).await.map_err(|none| match none {
            NoPlace::Full(error) => error,
            NoPlace::Closed => link.wire.closed(),
        })?;
        link.room(limit).await?;
        let longest = plan
            .longest
            .or(options.reset_by_progress.then_some(options.longest));
        let wants_progress = plan.on_progress.is_some() || longest.is_some() || plan.id.is_some();
        let id = plan.id.take().unwrap_or_else(|| link.new_id());
        let message = ToServer::request(&id, call.method, |out| match options.negotiation {
            Negotiation::Nothing => {
                params.encode(View::at(self.revision()), out);
                Ok(())
            }
            _ => {
                let stamp = Stamp {
                    introduction,
                    progress_token: wants_progress.then_some(&id),
                    log_level: plan.log_level.as_ref(),
                };
                stamp.write(params, out)
            }
        })?;
        let abandoned = Abandoned::of(call.method);
        if let Some(resumption) = plan.resumption.take() {
            link.resumptions.keep(&id, *resumption, self.revision())?;
        }
        let (on_progress, busy) = (plan.on_progress.take(), plan.busy.take());
        let pending = link.request(id, message, on_progress, busy, abandoned)?;
        wait(pending, limit, longest, |ended_by| {
            let (limit, setting) = match (ended_by, of_call) {
                (EndedBy::Timeout, (true, _)) => (whole, timeout::OF_CALL),
                (EndedBy::Timeout, (false, _)) => (whole, timeout::OF_CLIENT),
                (EndedBy::Longest(longest), (_, true)) => (longest, timeout::LONGEST_OF_CALL),
                (EndedBy::Longest(longest), (_, false)) => (longest, timeout::LONGEST_OF_CLIENT),
            };
            let name = self.name_in(params);
            let timeout = RequestTimeout::new(call.method, limit, setting).named(name);
            LocalError::TimedOut(Box::new(timeout))
        })
        .await
    }

    /// The name of the tool or the prompt that `params` are for.
    #[cold]
    fn name_in(&self, params: &(dyn Conform + Sync)) -> Option<String> {
        #[derive(Deserialize)]
        struct Named {
            name: Option<String>,
        }
        let sent = At::new(params, self.revision()).to_json();
        sent.parse::<Named>().ok()?.name
    }
}

/// What set the time that a request ran out of.
pub(super) enum EndedBy {
    /// The time between two signs of the server.
    Timeout,
    /// The time in all, where progress resets the clock.
    Longest(Duration),
}

/// Waits for the answer, at most as long as `timeout`, and `longest` where progress resets the clock (O-6). `timed_out` makes the error.
pub(super) async fn wait(
    mut pending: PendingRequest,
    timeout: Duration,
    longest: Option<Duration>,
    timed_out: impl FnOnce(EndedBy) -> LocalError,
) -> Result<Json, ClientError> {
    let start = Instant::now();
    let mut end = deadline(
        start,
        longest.map_or(timeout, |longest| longest.min(timeout)),
    );
    let progressed = longest.map(|_| pending.progressed());
    loop {
        tokio::select! {
            biased;
            answer = &mut pending.answer => {
                pending.done();
                return answer.unwrap_or_else(|_| Err(pending.link.wire.closed().into()));
            }
            () = reported(progressed.as_deref()) => {
                let latest = deadline(start, longest.unwrap_or(timeout));
                end = latest.min(deadline(Instant::now(), timeout));
            }
            () = sleep_until(end) => {
                let longest = longest.filter(|longest| deadline(start, *longest) <= end);
                let ended_by = longest.map_or(EndedBy::Timeout, EndedBy::Longest);
                return Err(timed_out(ended_by).into());
            }
        }
    }
}

/// Ready when progress is reported; never without `progressed`.
async fn reported(progressed: Option<&Notify>) {
    match progressed {
        Some(progressed) => progressed.notified().await,
        None => std::future::pending().await,
    }
}

/// The name of a notification, for messages written without a type.
pub(super) fn method_of<N: Notification>() -> &'static str {
    N::METHOD.as_str()
}
