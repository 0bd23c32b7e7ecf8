//! A message of the client as an HTTP request: which headers it has at its revision.

use std::{
    collections::{HashMap, HashSet},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use base64::{Engine as _, engine::general_purpose::STANDARD};
use bytes::Bytes;
use http::{HeaderMap, HeaderName, HeaderValue, Method, Request, Uri, header};
use serde_json::{Value, value::RawValue};
use trueform_schema::{Era, Method as McpMethod, Revision, ext::tasks};

use super::{members::Members, sent::SentMessage};
use crate::{
    feature::tools::header_params::{HeaderParam, header_params},
    gate::{METHOD_HEADER, NAME_HEADER, PARAM_HEADER_PREFIX, SESSION_HEADER, VERSION_HEADER},
    jsonrpc,
};

/// Header that names the last event of a stream that is resumed.
const LAST_EVENT_ID: HeaderName = HeaderName::from_static("last-event-id");
/// Longest session id that is taken from a server, in bytes.
const MAX_SESSION_ID: usize = 4 << 10;
/// Most tools whose annotations are remembered.
const MAX_TOOLS: usize = 10_000;

/// Makes the requests of one client.
pub(super) struct Requests {
    uri: Uri,
    /// What every request has, whatever the protocol says.
    headers: HeaderMap,
    state: Mutex<Known>,
}

/// What earlier messages said.
#[derive(Default)]
struct Known {
    version: Option<String>,
    session: Option<HeaderValue>,
    /// The message that opened the session.
    initialize: Option<Arc<SentMessage>>,
    /// The arguments that headers repeat, by tool.
    params: HashMap<String, Vec<HeaderParam>>,
}

impl Requests {
    pub(super) fn new(uri: Uri, headers: HeaderMap) -> Self {
        Self {
            uri,
            headers,
            state: Mutex::default(),
        }
    }

    /// Names the session `id`, which was opened at `revision`.
    pub(super) fn join(&self, id: &HeaderValue, revision: Revision) {
        let mut known = self.lock();
        known.version = Some(revision.as_str().to_owned());
        known.session = Some(id.clone());
    }

    pub(super) fn uri(&self) -> &Uri {
        &self.uri
    }

    /// The POST of a message.
    pub(super) fn post(&self, sent: &SentMessage) -> Request<Bytes> {
        let mut known = self.lock();
        let mut headers = Known::of_message();
        if sent.is(McpMethod::Initialize) {
            // It names no session. Until it is answered, other requests name the one that there is.
            if known.is_modern() {
                known.version = None;
            }
        } else {
            if let Some(version) = sent.version() {
                known.version = Some(version.to_owned());
            }
            known.common(&mut headers);
        }
        // GAP-4: notifications of the modern era have it too.
        let is_modern = sent.version().is_some() || sent.is_notification() && known.is_modern();
        if let (Some(method), true) = (sent.method(), is_modern) {
            set(&mut headers, METHOD_HEADER, method);
        }
        if let (Some(method), Some(version)) = (sent.method(), sent.version()) {
            let rules = McpMethod::from_wire(method)
                .zip(Revision::from_wire(version))
                .and_then(|(method, revision)| {
                    // W-19
                    let core = method.rules(revision);
                    core.or_else(|| tasks::rules(method, revision))
                });
            let member = rules.and_then(|rules| rules.header_name);
            let params = member.and_then(|_| sent.params::<Value>());
            if let (Some(member), Some(params)) = (member, params)
                && let Some(name) = params.get(member).and_then(Value::as_str)
            {
                set(&mut headers, NAME_HEADER, name);
                if sent.is(McpMethod::CallTool) {
                    known.repeat_arguments(&mut headers, name, &params["arguments"]);
                }
            }
        }
        drop(known);
        self.request(Method::POST, headers, sent.body.clone())
    }

    /// The POST of an `initialize` that opens a session in place of one that ended. Until it is answered, other requests name the old.
    pub(super) fn reopen(&self, sent: &SentMessage) -> Request<Bytes> {
        self.request(Method::POST, Known::of_message(), sent.body.clone())
    }

    /// The GET of a stream: the session's own, or the one that had the event `last`.
    pub(super) fn get(&self, last: Option<&HeaderValue>) -> Request<Bytes> {
        let mut headers = HeaderMap::new();
        let events = HeaderValue::from_static("text/event-stream");
        headers.insert(header::ACCEPT, events);
        if let Some(last) = last {
            headers.insert(LAST_EVENT_ID, last.clone());
        }
        self.lock().common(&mut headers);
        self.request(Method::GET, headers, Bytes::new())
    }

    /// Returns the DELETE of the session, if the client has a session, and forgets the session.
    pub(super) fn delete(&self) -> Option<Request<Bytes>> {
        let session = self.lock().session.take()?;
        Some(self.delete_of(&session))
    }

    /// The DELETE of `session`.
    pub(super) fn delete_of(&self, session: &HeaderValue) -> Request<Bytes> {
        let mut headers = HeaderMap::new();
        {
            let known = self.lock();
            // The session is of the legacy era, whatever was settled after it.
            if !known.is_modern() {
                known.common(&mut headers);
            }
        }
        let request = self.request(Method::DELETE, headers, Bytes::new());
        in_session(request, Some(session))
    }

    /// Whether the last request was one of the modern era.
    pub(super) fn is_modern(&self) -> bool {
        self.lock().is_modern()
    }

    /// The session of the client.
    pub(super) fn session(&self) -> Option<HeaderValue> {
        let known = self.lock();
        known.session.clone().filter(|_| !known.is_modern())
    }

    /// The session that a request names if it is made now: also one that the program set as a header.
    pub(super) fn named_session(&self) -> Option<HeaderValue> {
        session_of(&self.get(None))
    }

    /// Names `session` from now on.
    pub(super) fn enter(&self, session: Option<HeaderValue>) {
        self.lock().session = session;
    }

    /// The revision that `initialize` settled, and the message.
    pub(super) fn opening(&self) -> (Option<String>, Option<Arc<SentMessage>>) {
        let known = self.lock();
        (known.version.clone(), known.initialize.clone())
    }

    /// Takes note of the head of the answer to `sent`.
    pub(super) fn answered(&self, sent: &SentMessage, headers: &HeaderMap) {
        if sent.is(McpMethod::Initialize) {
            self.enter(session_opened(headers));
        }
    }

    /// Takes note of the answer to `sent`, the JSON text `answer`. Returns another answer to use in place of it: without the tools
    /// that cannot be called over HTTP.
    pub(super) fn learn(&self, sent: &Arc<SentMessage>, answer: &[u8]) -> Option<Vec<u8>> {
        if !sent.is(McpMethod::Initialize) && !sent.is(McpMethod::ListTools) {
            return None;
        }
        let read: Value = serde_json::from_slice(answer).ok()?;
        if sent.is(McpMethod::Initialize) {
            let version = read["result"]["protocolVersion"].as_str()?.to_owned();
            let mut known = self.lock();
            known.version = Some(version);
            known.initialize = Some(sent.clone());
            return None;
        }
        let fit = self.learn_tools(read.pointer("/result/tools")?.as_array()?);
        // Before the modern era the annotation means nothing.
        match fit.contains(&false) && self.is_modern() {
            true => with_tools(answer, &fit),
            false => None,
        }
    }

    /// Forgets the annotations of a tool.
    pub(super) fn forget_tool(&self, name: &str) {
        self.lock().params.remove(name);
    }

    /// Remembers the annotations of listed tools. Returns for each whether its annotations keep the rules (G-10).
    fn learn_tools(&self, tools: &[Value]) -> Vec<bool> {
        let mut known = self.lock();
        let mut broken = HashSet::new();
        let fits = |tool: &Value| {
            let Some(name) = tool["name"].as_str() else {
                return true;
            };
            match header_params(&tool["inputSchema"]) {
                Ok(params) if known.params.len() < MAX_TOOLS || known.params.contains_key(name) => {
                    known.params.insert(name.to_owned(), params);
                    true
                }
                Ok(_) => true,
                Err(problems) => {
                    known.params.remove(name);
                    broken.insert((name.to_owned(), problems.join("; ")));
                    false
                }
            }
        };
        let fit = tools.iter().map(fits).collect();
        let is_modern = known.is_modern();
        drop(known);
        for (tool, problem) in broken.iter().filter(|_| is_modern) {
            let (tool, problem) = (jsonrpc::shortened(tool), jsonrpc::sentence(problem));
            tracing::warn!(
                tool = &*tool,
                problem = &*problem,
                "a tool whose `x-mcp-header` breaks a rule was left out of a list"
            );
        }
        fit
    }

    fn request(&self, method: Method, mut headers: HeaderMap, body: Bytes) -> Request<Bytes> {
        for (name, value) in &self.headers {
            headers.insert(name, value.clone());
        }
        let mut request = Request::new(body);
        *request.method_mut() = method;
        *request.uri_mut() = self.uri.clone();
        *request.headers_mut() = headers;
        request
    }

    fn lock(&self) -> MutexGuard<'_, Known> {
        // Nothing that can panic runs under the lock.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Known {
    /// The headers of every message.
    fn of_message() -> HeaderMap {
        let mut headers = HeaderMap::new();
        let json = HeaderValue::from_static("application/json");
        headers.insert(header::CONTENT_TYPE, json);
        let both = HeaderValue::from_static("application/json, text/event-stream");
        headers.insert(header::ACCEPT, both);
        headers
    }

    /// The headers of every request of a revision.
    fn common(&self, headers: &mut HeaderMap) {
        if let Some(version) = &self.version {
            // G-5: older revisions do not have the header.
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

    /// G-9: the arguments of a call that the tool's schema wants in headers.
    fn repeat_arguments(&self, headers: &mut HeaderMap, tool: &str, arguments: &Value) {
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

/// The session that the answer to `initialize` opens, by its `headers`.
pub(super) fn session_opened(headers: &HeaderMap) -> Option<HeaderValue> {
    let session = headers.get(SESSION_HEADER)?;
    if !is_session_id(session) {
        tracing::warn!("the server's session id is not visible ASCII, or too long; it is not used");
        return None;
    }
    Some(session.clone())
}

/// `request`, which names `session` in place of the one of the client.
pub(super) fn in_session(
    mut request: Request<Bytes>,
    session: Option<&HeaderValue>,
) -> Request<Bytes> {
    let headers = request.headers_mut();
    headers.remove(SESSION_HEADER);
    if let Some(session) = session {
        headers.insert(SESSION_HEADER, session.clone());
    }
    request
}

/// The session that `request` names.
pub(super) fn session_of(request: &Request<Bytes>) -> Option<HeaderValue> {
    request.headers().get(SESSION_HEADER).cloned()
}

/// The answer to `tools/list` with those of its tools that are `fit`, each as it is written.
#[cold]
fn with_tools(answer: &[u8], fit: &[bool]) -> Option<Vec<u8>> {
    let answer = Members::read(answer)?;
    let result = Members::read(answer.get("result")?.as_bytes())?;
    let tools: Vec<&RawValue> = serde_json::from_str(result.get("tools")?).ok()?;
    let tools = tools.into_iter().zip(fit).filter(|(_, fits)| **fits);
    let tools: Vec<_> = tools.map(|(tool, _)| tool).collect();
    let result = result.clone().with("tools", &tools)?;
    answer.with("result", &result)?.write()
}

/// Whether `id` can be the id of a session.
// F-19
pub(super) fn is_session_id(id: &HeaderValue) -> bool {
    let bytes = id.as_bytes();
    (1..=MAX_SESSION_ID).contains(&bytes.len()) && bytes.iter().all(u8::is_ascii_graphic)
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

#[cfg(test)]
mod tests {
    use super::*;

    /// A session that is opened while a request is on its way is not the one that the request named.
    #[test]
    fn the_session_that_a_request_named() {
        let requests = Requests::new(Uri::from_static("http://a/mcp"), HeaderMap::new());
        let call = SentMessage::new(br#"{"jsonrpc":"2.0","id":1,"method":"tools/call"}"#.to_vec());
        assert_eq!(session_of(&requests.post(&call)), None);
        let [first, second] = ["s-1", "s-2"].map(HeaderValue::from_static);
        requests.join(&first, Revision::V2025_11_25);
        let (post, get) = (requests.post(&call), requests.get(None));
        requests.join(&second, Revision::V2025_11_25);
        assert_eq!(session_of(&post), Some(first.clone()));
        assert_eq!(session_of(&get), Some(first));
        assert_eq!(requests.session(), Some(second));
    }
}
