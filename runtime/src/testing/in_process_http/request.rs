//! A message of the client as an HTTP request: which headers it has at its revision.

use std::{
    collections::HashMap,
    sync::{Mutex, MutexGuard, PoisonError},
};

use axum::body::Body;
use base64::{Engine as _, engine::general_purpose::STANDARD};
use http::{HeaderMap, HeaderName, HeaderValue, Method, Request, Uri, header};
use serde_json::Value;
use trueform_schema::{Era, Method as McpMethod, Revision, ext::tasks, methods};

use crate::{
    feature::tools::header_params::{HeaderParam, header_params},
    gate::{METHOD_HEADER, NAME_HEADER, PARAM_HEADER_PREFIX, SESSION_HEADER, VERSION_HEADER},
    principal::Principal,
};

/// A line of the client, as far as HTTP has to know it.
pub(super) struct SentRequest {
    pub(super) body: Vec<u8>,
    /// `null` if it is not a JSON object.
    message: Value,
}

impl SentRequest {
    pub(super) fn new(body: Vec<u8>) -> Self {
        let message = serde_json::from_slice(&body).unwrap_or_default();
        Self { body, message }
    }

    pub(super) fn method(&self) -> Option<&str> {
        self.message.get("method")?.as_str()
    }

    /// The id, if it is a request.
    pub(super) fn request_id(&self) -> Option<&Value> {
        self.method()?;
        self.message.get("id")
    }

    /// Whether it is a notification of this method.
    pub(super) fn notifies<N: methods::Notification>(&self) -> bool {
        self.method() == Some(N::METHOD.as_str()) && self.request_id().is_none()
    }

    /// The request that a cancellation is about.
    pub(super) fn cancelled_id(&self) -> Option<&Value> {
        self.message.pointer("/params/requestId")
    }

    fn is_initialize(&self) -> bool {
        self.method() == Some(McpMethod::Initialize.as_str())
    }

    /// The revision that it says it is at, as requests of the modern era do.
    fn version(&self) -> Option<&str> {
        let meta = "/params/_meta/io.modelcontextprotocol~1protocolVersion";
        self.message.pointer(meta)?.as_str()
    }
}

/// Makes the requests of one client.
pub(super) struct Requests {
    uri: Uri,
    /// What every request has, whatever the protocol says.
    headers: HeaderMap,
    principal: Option<Principal>,
    state: Mutex<Known>,
}

/// What earlier messages said.
#[derive(Default)]
struct Known {
    version: Option<String>,
    session: Option<HeaderValue>,
    /// The arguments that headers repeat, by tool.
    params: HashMap<String, Vec<HeaderParam>>,
}

impl Requests {
    pub(super) fn new(uri: Uri, headers: HeaderMap, principal: Option<Principal>) -> Self {
        Self {
            uri,
            headers,
            principal,
            state: Mutex::default(),
        }
    }

    /// The POST of a message.
    pub(super) fn post(&self, sent: &SentRequest) -> Request<Body> {
        let mut known = self.lock();
        if sent.is_initialize() {
            known.version = None;
            known.session = None;
        } else if let Some(version) = sent.version() {
            known.version = Some(version.to_owned());
        }
        let mut headers = HeaderMap::new();
        let json = HeaderValue::from_static("application/json");
        headers.insert(header::CONTENT_TYPE, json);
        let both = HeaderValue::from_static("application/json, text/event-stream");
        headers.insert(header::ACCEPT, both);
        known.common(&mut headers);
        if let (Some(method), Some(version)) = (sent.method(), sent.version()) {
            set(&mut headers, METHOD_HEADER, method);
            let rules = McpMethod::from_wire(method)
                .zip(Revision::from_wire(version))
                .and_then(|(method, revision)| {
                    // W-19
                    let core = method.rules(revision);
                    core.or_else(|| tasks::rules(method, revision))
                });
            let member = rules.and_then(|rules| rules.header_name);
            let params = &sent.message["params"];
            if let Some(name) = member.and_then(|member| params.get(member)?.as_str()) {
                set(&mut headers, NAME_HEADER, name);
                known.repeat_arguments(&mut headers, method, name, &params["arguments"]);
            }
        }
        drop(known);
        self.request(Method::POST, headers, Body::from(sent.body.clone()))
    }

    /// The GET of the session's own stream.
    pub(super) fn get(&self) -> Request<Body> {
        let mut headers = HeaderMap::new();
        let events = HeaderValue::from_static("text/event-stream");
        headers.insert(header::ACCEPT, events);
        self.lock().common(&mut headers);
        self.request(Method::GET, headers, Body::empty())
    }

    /// The DELETE of the session, if there is one.
    pub(super) fn delete(&self) -> Option<Request<Body>> {
        let mut headers = HeaderMap::new();
        {
            let known = self.lock();
            known.session.as_ref()?;
            known.common(&mut headers);
        }
        Some(self.request(Method::DELETE, headers, Body::empty()))
    }

    /// Whether the last request was one of the modern era.
    pub(super) fn is_modern(&self) -> bool {
        self.lock().is_modern()
    }

    /// Takes note of the head of the answer to `sent`.
    pub(super) fn answered(&self, sent: &SentRequest, headers: &HeaderMap) {
        if sent.is_initialize() {
            self.lock().session = headers.get(SESSION_HEADER).cloned();
        }
    }

    /// Takes note of the answer to `sent`.
    pub(super) fn learn(&self, sent: &SentRequest, answer: &Value) {
        let result = &answer["result"];
        if let (true, Some(version)) = (sent.is_initialize(), result["protocolVersion"].as_str()) {
            self.lock().version = Some(version.to_owned());
        }
        if sent.method() != Some(McpMethod::ListTools.as_str()) {
            return;
        }
        for tool in result["tools"].as_array().into_iter().flatten() {
            // A tool whose annotations break a rule has none that a client can follow.
            if let (Some(name), Ok(params)) =
                (tool["name"].as_str(), header_params(&tool["inputSchema"]))
            {
                self.lock().params.insert(name.to_owned(), params);
            }
        }
    }

    fn request(&self, method: Method, mut headers: HeaderMap, body: Body) -> Request<Body> {
        headers.extend(self.headers.clone());
        let mut request = Request::new(body);
        *request.method_mut() = method;
        *request.uri_mut() = self.uri.clone();
        *request.headers_mut() = headers;
        if let Some(principal) = &self.principal {
            request.extensions_mut().insert(principal.clone());
        }
        request
    }

    fn lock(&self) -> MutexGuard<'_, Known> {
        // Nothing that can panic runs under the lock.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Known {
    /// The headers of every request of a revision.
    fn common(&self, headers: &mut HeaderMap) {
        if let Some(version) = &self.version {
            // F-23: older revisions do not have the header.
            let revision = Revision::from_wire(version);
            if revision.is_none_or(|revision| Revision::V2025_06_18 <= revision) {
                set(headers, VERSION_HEADER, version);
            }
        }
        if let (Some(session), false) = (&self.session, self.is_modern()) {
            headers.insert(SESSION_HEADER, session.clone());
        }
    }

    fn is_modern(&self) -> bool {
        let revision = self.version.as_deref().and_then(Revision::from_wire);
        revision.is_some_and(|revision| revision.era() == Era::Modern)
    }

    /// F-28: the arguments of a call that the tool's schema wants in headers.
    fn repeat_arguments(
        &self,
        headers: &mut HeaderMap,
        method: &str,
        tool: &str,
        arguments: &Value,
    ) {
        if method != McpMethod::CallTool.as_str() {
            return;
        }
        for param in self.params.get(tool).into_iter().flatten() {
            let value = param
                .path
                .iter()
                .try_fold(arguments, |value, key| value.get(&**key));
            let text = match value {
                None | Some(Value::Null) => continue,
                Some(Value::String(text)) => text.clone(),
                Some(other) => other.to_string(),
            };
            let name = format!("{PARAM_HEADER_PREFIX}{}", param.name.to_ascii_lowercase());
            set(headers, &name, &text);
        }
    }
}

/// Sets a header to `text`, in Base64 between markers if it is not visible ASCII (TRAP-16).
fn set(headers: &mut HeaderMap, name: &str, text: &str) {
    let is_plain = text.bytes().all(|byte| matches!(byte, b' '..=b'~'))
        && text.trim_ascii() == text
        && !(text.starts_with("=?base64?") && text.ends_with("?="));
    let value = match is_plain {
        true => HeaderValue::from_str(text),
        false => HeaderValue::from_str(&format!("=?base64?{}?=", STANDARD.encode(text))),
    };
    if let (Ok(name), Ok(value)) = (HeaderName::from_bytes(name.as_bytes()), value) {
        headers.insert(name, value);
    }
}
