//! What each server offers, and what it must answer.

use std::path::Path;

use serde_json::{Value, json};
use trueform::schema::Era;

use crate::user::SAID;

/// The servers that have a plan.
pub(crate) const NAMES: [&str; 8] = [
    "everything",
    "fastmcp4",
    "filesystem",
    "py1",
    "py2",
    "rmcp",
    "ts1",
    "ts2",
];

const BOTH: &[Era] = &[Era::Modern, Era::Legacy];
const LEGACY: &[Era] = &[Era::Legacy];

/// What a server offers. What the plan does not name is not checked.
pub(crate) struct Plan {
    /// The eras that it has. An automatic connection must find the first of them.
    pub(crate) eras: &'static [Era],
    pub(crate) http: HttpArguments,
    /// Some of its tools.
    pub(crate) tools: &'static [&'static str],
    /// Calls, and a part of the text that each must answer with.
    pub(crate) calls: Vec<Call>,
    /// A call, and the structured content that it must answer with.
    pub(crate) typed: Option<(&'static str, Value, Value)>,
    /// A call that the tool must fail, and a part of the text.
    pub(crate) fails: Option<Call>,
    /// A call, and the progress that it must report.
    pub(crate) progress: Option<(&'static str, Value, Vec<f64>)>,
    pub(crate) waits: Option<Waits>,
    /// A resource, and a part of its text.
    pub(crate) resource: Option<(&'static str, &'static str)>,
    /// A template, a resource of it, and a part of its text.
    pub(crate) template: Option<(&'static str, &'static str, &'static str)>,
    /// A prompt, its arguments, and a part of its text.
    pub(crate) prompt: Option<Call>,
    /// An argument of that prompt, what is typed, and the suggestions.
    pub(crate) completes: Option<(&'static str, &'static str, Vec<&'static str>)>,
    /// A tool that notifies that the tools have changed.
    pub(crate) changes: Option<&'static str>,
    /// A tool that runs as a task, and a part of its result.
    pub(crate) task: Option<Call>,
    /// Whether clients may subscribe to the resource.
    pub(crate) subscribes: bool,
    /// Whether it, or a session of it, ends when a request is cancelled that it has not begun with.
    pub(crate) dies_of_cancellations: bool,
}

/// A name, arguments, and a part of the answer.
pub(crate) type Call = (&'static str, Value, String);

/// A tool that runs until it is cancelled, or for a long time, and reports progress.
pub(crate) struct Waits {
    pub(crate) tool: &'static str,
    pub(crate) arguments: Value,
    /// A tool that returns how many calls were cancelled.
    pub(crate) count: Option<&'static str>,
}

/// How to start a server over HTTP.
#[derive(Clone, Copy)]
pub(crate) enum HttpArguments {
    /// `--http PORT`.
    Flag,
    /// `streamableHttp`, with the port in the environment.
    Everything,
}

impl Plan {
    /// The plan of the server `name`. Both sides know `folder`.
    pub(crate) fn of(name: &str, folder: &Path) -> Option<Self> {
        match name {
            "everything" => Some(Self::everything(folder)),
            "filesystem" => Some(Self::filesystem(folder)),
            "py1" => Some(Self {
                dies_of_cancellations: true,
                ..Self::offered(LEGACY)
            }),
            "ts1" => Some(Self::offered(LEGACY)),
            "fastmcp4" | "py2" | "rmcp" | "ts2" => Some(Self::offered(BOTH)),
            _ => None,
        }
    }

    /// What `.ci/interop/servers` offer: see `offered.mjs` there.
    fn offered(eras: &'static [Era]) -> Self {
        Self {
            eras,
            http: HttpArguments::Flag,
            tools: &[
                "add",
                "ask",
                "cancelled",
                "change",
                "count",
                "fail",
                "sample",
                "wait",
            ],
            calls: vec![
                ("cancelled", json!({}), "0".to_owned()),
                ("ask", json!({}), "You are Ada.".to_owned()),
                ("sample", json!({}), format!("interop says: {SAID}")),
            ],
            typed: Some(("add", json!({ "a": 2, "b": 3 }), json!({ "sum": 5 }))),
            fails: Some(("fail", json!({}), "failed on purpose".to_owned())),
            progress: Some(("count", json!({ "to": 5 }), vec![1.0, 2.0, 3.0, 4.0, 5.0])),
            waits: Some(Waits {
                tool: "wait",
                arguments: json!({}),
                count: Some("cancelled"),
            }),
            resource: Some(("note://one", "The note.")),
            template: Some(("notes://{name}", "notes://Ada", "The note of Ada.")),
            prompt: Some(("greet", json!({ "name": "Ada" }), "Greet Ada.".to_owned())),
            completes: Some(("name", "A", vec!["Ada", "Alan"])),
            changes: Some("change"),
            task: None,
            subscribes: false,
            dies_of_cancellations: false,
        }
    }

    /// `@modelcontextprotocol/server-everything`.
    fn everything(folder: &Path) -> Self {
        let root = format!("file://{}", folder.join("root").display());
        let place = json!({ "location": "Chicago" });
        let team = json!({ "department": "Sales", "name": "Eve" });
        Self {
            eras: LEGACY,
            http: HttpArguments::Everything,
            tools: &["echo", "get-sum", "trigger-long-running-operation"],
            calls: vec![
                ("echo", json!({ "message": "hi" }), "Echo: hi".to_owned()),
                ("get-sum", json!({ "a": 2, "b": 3 }), "is 5".to_owned()),
                ("get-roots-list", json!({}), root),
                (
                    "trigger-elicitation-request",
                    json!({}),
                    "Name: Ada".to_owned(),
                ),
                (
                    "trigger-sampling-request",
                    json!({ "prompt": "Hi" }),
                    SAID.to_owned(),
                ),
                (
                    "trigger-url-elicitation",
                    json!({ "url": "http://127.0.0.1/" }),
                    "accept".to_owned(),
                ),
            ],
            typed: Some((
                "get-structured-content",
                place,
                json!({ "temperature": 36, "conditions": "Light rain / drizzle", "humidity": 82 }),
            )),
            fails: Some(("echo", json!({}), "message".to_owned())),
            progress: Some((
                "trigger-long-running-operation",
                json!({ "duration": 0.4, "steps": 4 }),
                vec![1.0, 2.0, 3.0, 4.0],
            )),
            waits: Some(Waits {
                tool: "trigger-long-running-operation",
                arguments: json!({ "duration": 10, "steps": 100 }),
                count: None,
            }),
            resource: Some(("demo://resource/static/document/features.md", "Features")),
            template: Some((
                "demo://resource/dynamic/text/{resourceId}",
                "demo://resource/dynamic/text/1",
                "Resource 1",
            )),
            prompt: Some(("completable-prompt", team, "promote Eve".to_owned())),
            completes: Some(("department", "S", vec!["Sales", "Support"])),
            changes: None,
            task: Some((
                "simulate-research-query",
                json!({ "topic": "rust", "ambiguous": true }),
                "Research Report".to_owned(),
            )),
            subscribes: true,
            dies_of_cancellations: false,
        }
    }

    /// `@modelcontextprotocol/server-filesystem`, which has no HTTP.
    fn filesystem(folder: &Path) -> Self {
        let note = folder.join("root/note.txt");
        let root = folder.join("root").display().to_string();
        Self {
            eras: LEGACY,
            http: HttpArguments::Flag,
            tools: &["read_text_file", "list_allowed_directories"],
            // It asks for the roots when it is connected, and takes them in place of those of its command line.
            calls: vec![
                ("list_allowed_directories", json!({}), root),
                (
                    "read_text_file",
                    json!({ "path": note }),
                    "The note.".to_owned(),
                ),
            ],
            typed: Some((
                "read_text_file",
                json!({ "path": note }),
                json!({ "content": "The note." }),
            )),
            fails: Some((
                "read_text_file",
                json!({ "path": "/etc/hostname" }),
                "denied".to_owned(),
            )),
            progress: None,
            waits: None,
            resource: None,
            template: None,
            prompt: None,
            completes: None,
            changes: None,
            task: None,
            subscribes: false,
            dies_of_cancellations: false,
        }
    }
}
