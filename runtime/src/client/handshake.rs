//! Finding the revision of a connection: `server/discover` in the modern era, `initialize` in the legacy one.

use std::{sync::Arc, time::Duration};

use serde::Deserialize;
use trueform_schema::{
    DiscoverResult, Encode, Era, ErrorObject, Implementation, InitializeRequestParams,
    InitializeResult, Json, Method, RequestParams, Revision, ServerCapabilities, decode,
    ext::tasks, methods,
};

use super::{
    ClientOptions, Negotiation,
    error::{ClientError, LocalError},
    failure::HandshakeTimeout,
    gate::{ClientCall, log_nonconforming_result},
    link::{Abandoned, Link},
    profile::ServerProfile,
    request::{method_of, wait},
    stamp::Introduction,
};
use crate::{gate::ToServer, jsonrpc::code};

/// What the client knows of the server.
#[derive(Clone, Debug)]
pub(super) struct ServerFacts {
    pub(super) revision: Revision,
    pub(super) info: Option<Implementation>,
    pub(super) capabilities: ServerCapabilities,
    pub(super) instructions: Option<String>,
}

/// Settles the revision as `options` say.
pub(super) async fn negotiate(
    link: &Arc<Link>,
    options: &ClientOptions,
) -> Result<ServerFacts, ClientError> {
    match options.negotiation {
        Negotiation::Nothing => Ok(ServerFacts {
            revision: Revision::LATEST,
            info: None,
            capabilities: ServerCapabilities::default(),
            instructions: None,
        }),
        Negotiation::Exactly(revision) if revision.era() == Era::Modern => {
            discover(link, options, revision, options.timeout).await
        }
        Negotiation::Exactly(revision) => {
            initialize(link, options, revision, |offered| offered == revision).await
        }
        Negotiation::Offer(revision) => initialize(link, options, revision, |_| true).await,
        Negotiation::Automatic => {
            let remembered = options.profile.as_ref().and_then(ServerProfile::revision);
            match remembered.filter(|revision| revision.era() == Era::Legacy) {
                Some(revision) => as_remembered(link, options, revision).await,
                None => automatic(link, options).await,
            }
        }
    }
}

/// Connects to a server that spoke `revision` of the legacy era the last time. If it refuses, the profile is out of date.
// D-10
async fn as_remembered(
    link: &Arc<Link>,
    options: &ClientOptions,
    revision: Revision,
) -> Result<ServerFacts, ClientError> {
    match initialize(link, options, revision, |_| true).await {
        Err(error @ (ClientError::Remote(_) | ClientError::Local(LocalError::Version(_)))) => {
            let error = error.to_string();
            tracing::debug!(%revision, %error, "the server no longer does what was remembered of it");
            link.gate.leave_legacy_era();
            automatic(link, options).await
        }
        settled => settled,
    }
}

// D-5, D-6, D-7, C-8
async fn automatic(link: &Arc<Link>, options: &ClientOptions) -> Result<ServerFacts, ClientError> {
    let legacy = || initialize(link, options, Revision::LATEST_LEGACY, |_| true);
    match discover(link, options, Revision::LATEST, options.probe_timeout).await {
        Err(ClientError::Local(LocalError::NoHandshake(probe))) => {
            let after = |error| match error {
                ClientError::Local(LocalError::NoHandshake(timeout)) => {
                    let probed = Some(probe.waited);
                    LocalError::NoHandshake(HandshakeTimeout { probed, ..timeout }).into()
                }
                other => other,
            };
            match legacy().await {
                Err(ClientError::Remote(error)) if error.code == code::UNSUPPORTED_VERSION => {
                    after_all_modern(link, options, error).await
                }
                settled => settled.map_err(after),
            }
        }
        Err(ClientError::Remote(error)) if error.code == code::UNSUPPORTED_VERSION => {
            let offered = supported(&error);
            match best(&offered) {
                Some(revision) if revision.era() == Era::Modern => {
                    discover(link, options, revision, options.timeout).await
                }
                // GAP-3
                Some(_) => legacy().await,
                None => Err(LocalError::Version(offered).into()),
            }
        }
        Err(ClientError::Remote(error)) if (-32099..=-32020).contains(&error.code) => {
            Err(ClientError::Remote(error))
        }
        // The connection has ended.
        Err(ClientError::Local(
            error @ (LocalError::ClosedOnDiscover | LocalError::Server(_) | LocalError::Io(_)),
        )) => Err(error.into()),
        // D-8, D-9
        #[cfg(feature = "client-http")]
        Err(ClientError::Local(LocalError::Http(error))) if !error.may_be_legacy() => {
            Err(LocalError::Http(error).into())
        }
        Err(ClientError::Local(LocalError::Version(offered))) => match best(&offered) {
            Some(revision) if revision.era() == Era::Legacy => legacy().await,
            _ => Err(LocalError::Version(offered).into()),
        },
        Err(_) => legacy().await,
        Ok(server) => Ok(server),
    }
}

/// Asks again a server that did not answer the probe in time and then refuses `initialize` by a `refusal` of the modern era: one that was
/// slow to start has read the probe first.
// D-7
#[cold]
async fn after_all_modern(
    link: &Arc<Link>,
    options: &ClientOptions,
    refusal: ErrorObject,
) -> Result<ServerFacts, ClientError> {
    let offered = supported(&refusal);
    let revision = match best(&offered) {
        Some(revision) if revision.era() == Era::Modern => revision,
        None if offered.is_empty() => Revision::LATEST,
        _ => return Err(ClientError::Remote(refusal)),
    };
    link.gate.leave_legacy_era();
    discover(link, options, revision, options.timeout).await
}

async fn discover(
    link: &Arc<Link>,
    options: &ClientOptions,
    revision: Revision,
    timeout: Duration,
) -> Result<ServerFacts, ClientError> {
    let params = RequestParams::default();
    link.gate.let_out(
        &ClientCall::of(Method::Discover, revision),
        revision,
        &params,
    )?;
    // They go with every request from here on.
    link.gate
        .let_introduction_out("clientInfo", revision, &options.info)?;
    link.gate
        .let_introduction_out("clientCapabilities", revision, &options.capabilities)?;
    let introduction = Introduction::new(options, revision);
    let sent = exchange(link, Method::Discover, &introduction, &params, timeout);
    let result = sent.await;
    let result = result.map_err(|error| match error {
        ClientError::Local(LocalError::Closed) => LocalError::ClosedOnDiscover.into(),
        other => other,
    })?;
    let result: DiscoverResult = link
        .gate
        .result(Method::Discover.as_str(), revision, &result)?;
    if !result
        .supported_versions
        .iter()
        .any(|version| version == revision.as_str())
    {
        return Err(LocalError::Version(result.supported_versions).into());
    }
    link.gate.settle(revision, &result.capabilities);
    let info = result.meta.and_then(|meta| meta.server_info);
    Ok(ServerFacts {
        revision,
        info,
        capabilities: result.capabilities,
        instructions: result.instructions,
    })
}

// B-1, B-4, B-5
async fn initialize(
    link: &Arc<Link>,
    options: &ClientOptions,
    revision: Revision,
    accept: impl Fn(Revision) -> bool,
) -> Result<ServerFacts, ClientError> {
    let mut capabilities = options.capabilities.clone();
    if let Some(declared) = &mut capabilities.extensions {
        // GAP-12: sessions have the tasks of the core, and this extension begins after them.
        declared.remove(tasks::IDENTIFIER);
        if declared.is_empty() {
            capabilities.extensions = None;
        }
    }
    let params = InitializeRequestParams::new(
        capabilities,
        options.info.clone(),
        revision.as_str().to_owned(),
    );
    link.gate.let_out(
        &ClientCall::of(Method::Initialize, revision),
        revision,
        &params,
    )?;
    link.gate.enter_legacy_era();
    let introduction = Introduction::new(options, revision);
    let timeout = options.timeout;
    let sent = exchange(link, Method::Initialize, &introduction, &params, timeout);
    let text = sent.await?;
    let chosen: Chosen = decode::from_str(text.get())
        .inspect_err(|error| log_nonconforming_result(Method::Initialize.as_str(), error, &text))?;
    let offered = Revision::from_wire(&chosen.protocol_version)
        .filter(|offered| offered.era() == Era::Legacy && accept(*offered));
    let Some(revision) = offered else {
        return Err(LocalError::Version(vec![chosen.protocol_version]).into());
    };
    let result: InitializeResult =
        link.gate
            .result(Method::Initialize.as_str(), revision, &text)?;
    link.gate.settle(revision, &result.capabilities);
    link.notify(method_of::<methods::Initialized>(), None)?;
    Ok(ServerFacts {
        revision,
        info: Some(result.server_info),
        capabilities: result.capabilities,
        instructions: result.instructions,
    })
}

/// What of the answer to `initialize` says which revision the rest of it is to be read at.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Chosen {
    protocol_version: String,
}

async fn exchange(
    link: &Arc<Link>,
    method: Method,
    introduction: &Introduction,
    params: &(dyn Encode + Sync),
    timeout: Duration,
) -> Result<Json, ClientError> {
    let id = link.new_id();
    let message = ToServer::request(&id, method.as_str(), |out| {
        introduction.alone().write(params, out)
    })?;
    let abandoned = Abandoned::of(method.as_str());
    let pending = link.request(id, message, None, None, abandoned)?;
    wait(pending, timeout, None, |_| {
        LocalError::NoHandshake(HandshakeTimeout {
            method: method.as_str(),
            waited: timeout,
            probed: None,
        })
    })
    .await
}

/// The versions that an unsupported-version error lists.
fn supported(error: &ErrorObject) -> Vec<String> {
    #[derive(Deserialize)]
    struct Data {
        supported: Vec<String>,
    }
    let data = error
        .data
        .as_ref()
        .and_then(|data| data.parse::<Data>().ok());
    data.map_or_else(Vec::new, |data| data.supported)
}

/// The newest version of `offered` that this crate knows.
fn best(offered: &[String]) -> Option<Revision> {
    offered
        .iter()
        .filter_map(|version| Revision::from_wire(version))
        .max()
}
