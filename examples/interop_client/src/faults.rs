//! A server that is killed in the middle of a call, started again, and paused for a while (SIGSTOP).

use std::{
    os::unix::process::ExitStatusExt,
    sync::{
        Arc,
        atomic::{AtomicU32, Ordering},
    },
    time::{Duration, Instant},
};

use tokio::{task::JoinHandle, time::sleep};
use trueform::{
    client::{Client, ClientError, ClientOptions, HttpErrorKind, LocalError},
    schema::{CallToolResult, Era},
};

use crate::{
    Failure, checks,
    foreign::{Foreign, Transport, children},
    report::Report,
};

/// Longest time of a call whose server was killed. The client tries to resume the stream for some seconds.
const NOTICED: Duration = Duration::from_secs(30);
/// The timeout of calls of a paused server, and the longest time that they may take.
const LIMIT: Duration = Duration::from_millis(500);
const BOUND: Duration = Duration::from_secs(10);

pub(crate) async fn all(report: &mut Report, foreign: &mut Foreign, options: &ClientOptions) {
    let sessions = Arc::new(AtomicU32::default());
    let connecting = connected(foreign, options, &sessions);
    let Some(client) = report.check("connect again", connecting).await else {
        return;
    };
    if foreign.plan.dies_of_cancellations {
        // Whether the server is there afterwards, and with which sessions, depends on the timing.
        report.note("not stopped: ends when a request is cancelled that it has not begun with");
    } else {
        let stopped = stopped(&client, foreign);
        report.check("a stopped server", stopped).await;
    }
    report
        .check(
            "a stopped server is connected to",
            never_read(foreign, options),
        )
        .await;
    let Some(took) = report
        .check("killed in the middle of a call", killed(&client, foreign))
        .await
    else {
        return;
    };
    report.note(&format!("noticed after {} ms", took.as_millis()));
    if foreign.transport == Transport::Http {
        let begun = async { foreign.start().await };
        if report.check("started again", begun).await.is_none() {
            return;
        }
        report
            .check("the old client", old(&client, &sessions))
            .await;
    }
    report
        .check("connected again", again(&client, foreign, options))
        .await;
    client.close().await;
}

async fn connected(
    foreign: &Foreign,
    options: &ClientOptions,
    sessions: &Arc<AtomicU32>,
) -> Result<Client, Failure> {
    let sessions = sessions.clone();
    Ok(match foreign.transport {
        Transport::Stdio => foreign.connect(options.clone()).await?,
        Transport::Http => {
            let endpoint = foreign.endpoint().on_new_session(move || {
                sessions.fetch_add(1, Ordering::Relaxed);
            });
            endpoint.connect_as(options.clone()).await?
        }
    })
}

/// Calls of a paused server end in time, and new calls succeed after it has been continued.
async fn stopped(client: &Client, foreign: &Foreign) -> Result<(), Failure> {
    client.list_tools().await?;
    foreign.signal("STOP").await?;
    let start = Instant::now();
    let calls: Vec<_> = (0..8).map(|_| listing(client)).collect();
    let mut outcome: Result<(), Failure> = Ok(());
    for call in calls {
        let ended = call.await?;
        if !matches!(ended, Err(ClientError::Local(LocalError::TimedOut(_)))) {
            outcome = Err(format!("no answer expected, found {ended:?}").into());
        }
    }
    let took = start.elapsed();
    foreign.signal("CONT").await?;
    outcome?;
    bounded(took)?;
    match client.list_tools().await {
        Ok(_) => Ok(()),
        other => Err(format!("afterwards: {other:?}").into()),
    }
}

fn listing(client: &Client) -> JoinHandle<Result<(), ClientError>> {
    use trueform::schema::{PaginatedRequestParams, methods::ListTools};
    let request = client
        .request::<ListTools>(PaginatedRequestParams::default())
        .timeout(LIMIT);
    tokio::spawn(async move { request.await.map(drop) })
}

fn bounded(took: Duration) -> Result<(), Failure> {
    match took < BOUND {
        true => Ok(()),
        false => Err(format!("it took {took:?}").into()),
    }
}

/// Connecting to a paused server ends in time, with an error that says what the client waited for, and leaves no process behind.
async fn never_read(foreign: &Foreign, options: &ClientOptions) -> Result<(), Failure> {
    let options = options.clone().probe_timeout(LIMIT).timeout(LIMIT);
    let start = Instant::now();
    let connected = match foreign.transport {
        Transport::Stdio => {
            let others = children()?;
            let connected = Client::spawn(&foreign.stopped_command(), options).await;
            // It is ended in steps.
            while children()? != others {
                if start.elapsed() > BOUND {
                    return Err("a process is left over".into());
                }
                sleep(Duration::from_millis(20)).await;
            }
            connected
        }
        Transport::Http => {
            foreign.signal("STOP").await?;
            let connected = foreign.connect(options).await;
            foreign.signal("CONT").await?;
            connected
        }
    };
    let took = start.elapsed();
    match connected {
        Ok(_) => return Err("it is connected".into()),
        Err(error) if !error.to_string().contains("no answer to") => {
            return Err(format!("the error does not say that there is no answer: {error}").into());
        }
        Err(_) => {}
    }
    bounded(took)
}

/// How long it took until the call ended, with an error that is not its timeout.
async fn killed(client: &Client, foreign: &mut Foreign) -> Result<Duration, Failure> {
    let call: JoinHandle<Result<CallToolResult, ClientError>> = match &foreign.plan.waits {
        Some(waits) => checks::running(client, waits, Some(NOTICED)).await?,
        // No tool takes long enough: the call waits because the server is paused.
        None => {
            foreign.signal("STOP").await?;
            let call = client.call_tool(foreign.plan.tools[0], ()).timeout(NOTICED);
            let call = tokio::spawn(async move { call.await });
            tokio::task::yield_now().await;
            call
        }
    };
    let start = Instant::now();
    foreign.signal("KILL").await?;
    let ended = call.await?;
    let took = start.elapsed();
    foreign.exited().await?;
    match (ended, foreign.transport) {
        (Err(ClientError::Local(LocalError::Server(failure))), Transport::Stdio) => {
            let signal = failure.exit_status().and_then(|status| status.signal());
            if signal != Some(9) {
                return Err(format!("signal 9 expected, found {failure}").into());
            }
            // A new call fails at once, for the same reason.
            match client.list_tools().await {
                Err(ClientError::Local(LocalError::Server(_))) => Ok(took),
                other => Err(format!("the same failure expected, found {other:?}").into()),
            }
        }
        (Err(ClientError::Local(LocalError::Http(_))), Transport::Http) => {
            // Nothing listens.
            match client.list_tools().await {
                Err(ClientError::Local(LocalError::Http(error)))
                    if error.kind() == HttpErrorKind::Connect =>
                {
                    Ok(took)
                }
                other => Err(format!("no connection expected, found {other:?}").into()),
            }
        }
        (ended, _) => Err(format!("a failure of the server expected, found {ended:?}").into()),
    }
}

/// A client from before the restart opens a new session by itself, or needs none.
async fn old(client: &Client, sessions: &AtomicU32) -> Result<(), Failure> {
    let listed = client.list_tools().await;
    let renewed = sessions.load(Ordering::Relaxed);
    match (listed, client.revision().era()) {
        (Ok(_), Era::Modern) if renewed == 0 => Ok(()),
        (Ok(_), Era::Legacy) if renewed == 1 => Ok(()),
        (listed, _) => {
            let listed = listed.map(|tools| tools.len());
            Err(format!("{renewed} new sessions, found {listed:?}").into())
        }
    }
}

/// A new client, with the profile of the old one.
async fn again(client: &Client, foreign: &Foreign, options: &ClientOptions) -> Result<(), Failure> {
    let options = options.clone().profile(client.profile());
    let again = foreign.connect(options).await?;
    if again.revision() != client.revision() {
        return Err(format!("now it speaks {}", again.revision()).into());
    }
    again.list_tools().await?;
    again.close().await;
    Ok(())
}
