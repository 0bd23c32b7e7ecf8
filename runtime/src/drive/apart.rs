//! Work that goes on apart from the request that began it: a task of the runtime drives it to its end.

use std::{future::Future, sync::Arc};

use tokio::{runtime::Handle, time::sleep};
use trueform_schema::methods::BoxFuture;

use super::CallFuture;
use crate::{
    exchange::Exchange,
    feature::{
        call::Called,
        job::{ApartEnd, ApartWork},
    },
    gate::Outgoing,
    host::HostOwner,
    jsonrpc,
    signal::Fired,
    trace,
};

/// Drives `work` on the runtime of the caller. `false` if there is no runtime: then nothing was begun.
pub(crate) fn run_apart(work: ApartWork) -> bool {
    match Handle::try_current() {
        Ok(runtime) => {
            // Boxed, so that a task of the runtime is compiled once for all futures of this type.
            let driven: BoxFuture<'static, ()> = Box::pin(driven(work));
            drop(runtime.spawn(driven));
            true
        }
        Err(_) => false,
    }
}

async fn driven(work: ApartWork) {
    let ApartWork {
        exchange,
        begin,
        life,
        drain,
        ended_elsewhere,
        done,
    } = work;
    // The request's own span ends with its answer.
    let span = trace::request_span(&exchange.id, exchange.method);
    trace::record_revision(&span, exchange.revision());
    let called = span.in_scope(begin);
    let failed = |error| {
        let (id, revision) = (&exchange.id, exchange.revision());
        ApartEnd::Response(Outgoing::failure(id, revision, error))
    };
    let end = match called {
        Called::Ready(response) => {
            trace::record_response(&span, &response);
            ApartEnd::Response(response)
        }
        Called::Running(job) => {
            let mut call = CallFuture::new(job);
            tokio::select! {
                biased;
                response = &mut call => match response {
                    Some(response) => ApartEnd::Response(response),
                    None => ApartEnd::Cancelled,
                },
                () = ended_elsewhere => {
                    drop(call.cut_off());
                    ApartEnd::Elsewhere
                }
                () = sleep(life) => {
                    drop(call.cut_off());
                    ApartEnd::Expired
                }
                () = stopped(&exchange, drain) => {
                    drop(call.cut_off());
                    ApartEnd::Stopped
                }
            }
        }
        Called::Silent => ApartEnd::Cancelled,
        Called::Refused(error) => failed(error),
        Called::TurnedAway(_) => failed(jsonrpc::internal(
            "the server has no room for the call: too much waits for its readers",
        )),
    };
    done(end).await;
}

/// Completes when the server of `exchange` stops and `drain` is over, or it is to stop at once (DEC-11).
fn stopped(
    exchange: &Arc<Exchange>,
    drain: std::time::Duration,
) -> impl Future<Output = ()> + use<> {
    let owner = exchange.host.owner();
    let stops = Fired::new(owner.clone(), |owner: &dyn HostOwner| {
        &owner.host().shutdown
    });
    let at_once = Fired::new(owner, |owner: &dyn HostOwner| &owner.host().at_once);
    async move {
        stops.await;
        tokio::select! {
            () = at_once => {}
            () = sleep(drain) => {}
        }
    }
}
