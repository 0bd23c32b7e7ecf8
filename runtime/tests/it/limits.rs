//! The guide's table of bounds: every public constant and every setting of a bound is in it, with the value that the source has.

use std::{
    collections::{BTreeMap, BTreeSet},
    fmt::Write as _,
    fs,
    path::{Path, PathBuf},
};

use expect_test::expect_file;

/// The heading of a part of the table, and its rows: the file of the constant, the path of the constant, its setting. A constant
/// without a setting is fixed.
type Part = (
    &'static str,
    &'static [(&'static str, &'static str, &'static str)],
);

#[rustfmt::skip]
const PARTS: &[Part] = &[
    (
        "Calls",
        &[
            ("runtime/src/server.rs", "DEFAULT_MAX_IN_FLIGHT", "Server::max_in_flight"),
            ("runtime/src/server.rs", "DEFAULT_MAX_CHECK_STEPS", "Server::max_check_steps"),
            ("runtime/src/server.rs", "DEFAULT_MAX_UNREAD", "Server::max_unread"),
            ("runtime/src/server.rs", "DEFAULT_PAGE_SIZE", "Server::page_size"),
            ("runtime/src/drive/blocking.rs", "MAX_BLOCKING_THREADS", ""),
            ("runtime/src/drive/blocking.rs", "MAX_BLOCKING_QUEUE", ""),
            ("runtime/src/exchange/answer.rs", "MAX_SILENCE", ""),
            ("runtime/src/feature/completion.rs", "completion::MAX_SUGGESTIONS", ""),
            ("runtime/src/feature/layer/concurrency.rs", "layer::DEFAULT_QUEUE", "layer::ConcurrencyLimit::queue"),
            ("runtime/src/feature/resources/folder.rs", "resource::DEFAULT_MAX_FILE_SIZE", "resource::Folder::max_file_size"),
            ("runtime/src/feature/resources/folder.rs", "resource::DEFAULT_MAX_LISTED", "resource::Folder::max_listed"),
            ("runtime/src/client_log/fields.rs", "+MAX_CLIENT_EVENT", ""),
        ],
    ),
    (
        "Messages",
        &[
            ("runtime/src/jsonrpc.rs", "jsonrpc::MAX_DEPTH", ""),
            ("runtime/src/jsonrpc.rs", "jsonrpc::MAX_BATCH", ""),
            ("runtime/src/jsonrpc/shown.rs", "jsonrpc::MAX_REPEATED", ""),
            ("runtime/src/peer/outbox.rs", "OUTBOX_LIMIT", ""),
            ("runtime/src/peer/outbox.rs", "OUTBOX_BYTES", ""),
            ("runtime/src/peer/kept.rs", "MAX_SESSION_FACTS", ""),
            ("runtime/src/peer/kept.rs", "MAX_CLIENT_NAME", ""),
            ("runtime/src/feature/subscriptions.rs", "MAX_SUBSCRIPTIONS", ""),
            ("runtime/src/peer/watched.rs", "MAX_RESOURCE_SUBSCRIPTIONS", ""),
            ("runtime/src/peer/watched.rs", "MAX_RESOURCE_SUBSCRIPTION_BYTES", ""),
            ("runtime/src/peer/watched.rs", "MAX_RESOURCE_SUBSCRIPTION_BYTES_IN_ALL", ""),
        ],
    ),
    (
        "Standard input and output, and other byte streams",
        &[
            ("runtime/src/transport/stream.rs", "transport::StreamSettings::DEFAULT_MAX_LINE", "transport::StreamSettings::max_line"),
            ("runtime/src/transport/stream.rs", "transport::StreamSettings::DEFAULT_DRAIN", "transport::StreamSettings::drain"),
            ("runtime/src/transport/stream.rs", "transport::StreamSettings::DEFAULT_WRITE_TIMEOUT", "transport::StreamSettings::write_timeout"),
        ],
    ),
    (
        "HTTP",
        &[
            ("runtime/src/transport/http/config.rs", "+transport::http::DEFAULT_MAX_BODY", "HttpConfig::max_body"),
            ("runtime/src/transport/http/config.rs", "+transport::http::DEFAULT_BODY_TIMEOUT", "HttpConfig::body_timeout"),
            ("runtime/src/transport/http/config.rs", "+transport::http::DEFAULT_MAX_HEAD", "HttpConfig::max_head"),
            ("runtime/src/transport/http/config.rs", "+transport::http::DEFAULT_HEAD_TIMEOUT", "HttpConfig::head_timeout"),
            ("runtime/src/transport/http/config.rs", "+transport::http::DEFAULT_MAX_CONNECTIONS", "HttpConfig::max_connections"),
            ("runtime/src/transport/http/config.rs", "+transport::http::DEFAULT_MAX_LISTENERS", "HttpConfig::max_listeners"),
            ("runtime/src/transport/http/config.rs", "+transport::http::DEFAULT_MAX_IN_FLIGHT", "HttpConfig::max_in_flight"),
            ("runtime/src/transport/http/config.rs", "+transport::http::DEFAULT_WRITE_TIMEOUT", "HttpConfig::write_timeout"),
            ("runtime/src/transport/http/config.rs", "+transport::http::DEFAULT_DRAIN", "HttpConfig::drain"),
            ("runtime/src/transport/http/config.rs", "+transport::http::DEFAULT_MAX_SESSIONS", "HttpConfig::max_sessions"),
            ("runtime/src/transport/http/config.rs", "+transport::http::DEFAULT_MAX_SESSION_BYTES", "HttpConfig::max_session_bytes"),
            ("runtime/src/transport/http/config.rs", "+transport::http::DEFAULT_SESSION_IDLE", "HttpConfig::session_idle"),
            ("runtime/src/transport/http/sessions.rs", "+transport::http::UNPROVEN_KEPT", ""),
            ("runtime/src/transport/http/config.rs", "+transport::http::DEFAULT_SSE_AFTER", "HttpConfig::sse_after"),
            ("runtime/src/transport/http/config.rs", "+transport::http::DEFAULT_KEEP_ALIVE", "HttpConfig::keep_alive"),
            ("runtime/src/transport/http/config.rs", "+transport::http::DEFAULT_RETRY", "HttpConfig::retry"),
            ("runtime/src/transport/http/pipe.rs", "+transport::http::PIPE_LIMIT", ""),
            ("runtime/src/transport/http/pipe.rs", "+transport::http::PIPE_BYTES", ""),
        ],
    ),
    (
        "Questions to clients",
        &[
            ("runtime/src/server/asks.rs", "DEFAULT_ASK_TIMEOUT", "Server::ask_timeout"),
            ("runtime/src/server/asks.rs", "DEFAULT_MAX_ASKS", "Server::max_asks"),
            ("runtime/src/server/asks.rs", "DEFAULT_MAX_SESSION_ASKS", "Server::max_asks"),
            ("runtime/src/server/asks.rs", "DEFAULT_ASK_ROUNDS", "Server::ask_rounds"),
            ("runtime/src/server/asks.rs", "DEFAULT_ASK_EXPIRY", "Server::ask_expiry"),
            ("runtime/src/server/asks.rs", "DEFAULT_ASK_STATE", "Server::ask_state"),
        ],
    ),
    (
        "Tasks",
        &[
            ("runtime/src/feature/tasks/settings.rs", "task::DEFAULT_TASK_TTL", "task::TaskSettings::default_ttl"),
            ("runtime/src/feature/tasks/settings.rs", "task::DEFAULT_MAX_TASK_TTL", "task::TaskSettings::max_ttl"),
            ("runtime/src/feature/tasks/settings.rs", "task::DEFAULT_TASK_POLL_INTERVAL", "task::TaskSettings::poll_interval"),
            ("runtime/src/feature/tasks/settings.rs", "task::DEFAULT_MAX_RUNNING_TASKS", "task::TaskSettings::max_running"),
            ("runtime/src/feature/tasks/settings.rs", "task::DEFAULT_MAX_RUNNING_TASKS_OF_ONE", "task::TaskSettings::max_running"),
            ("runtime/src/feature/tasks/settings.rs", "task::DEFAULT_TASK_DRAIN", "task::TaskSettings::drain"),
            ("runtime/src/feature/tasks/listeners.rs", "task::MAX_LISTENED_TASKS", ""),
        ],
    ),
    (
        "Stores in memory",
        &[
            ("runtime/src/store/memory_sessions.rs", "store::DEFAULT_MAX_RECORDS", "store::MemorySessionStore::max_records"),
            ("runtime/src/store/memory_sessions.rs", "store::DEFAULT_RECORD_LIFE", "store::MemorySessionStore::record_life"),
            ("runtime/src/store/memory_events.rs", "store::DEFAULT_SESSION_EVENTS", "store::MemoryEventStore::session_events"),
            ("runtime/src/store/memory_events.rs", "store::DEFAULT_SESSION_BYTES", "store::MemoryEventStore::session_bytes"),
            ("runtime/src/store/memory_events.rs", "store::DEFAULT_TOTAL_BYTES", "store::MemoryEventStore::total_bytes"),
            ("runtime/src/store/memory_tasks.rs", "store::DEFAULT_MAX_TASKS", "store::MemoryTaskStore::max_tasks"),
            ("runtime/src/store/memory_tasks.rs", "store::DEFAULT_TASK_BYTES", "store::MemoryTaskStore::max_bytes"),
        ],
    ),
    (
        "Schemas",
        &[
            ("runtime/check/src/lib.rs", "check::MAX_SCHEMA_DEPTH", ""),
            ("runtime/check/src/lib.rs", "check::MAX_SUBSCHEMAS", ""),
            ("runtime/check/src/lib.rs", "check::MAX_CHECK_DEPTH", ""),
            ("runtime/check/src/lib.rs", "check::MAX_STEPS", "check::CompileOptions::max_steps"),
            ("runtime/check/src/lib.rs", "check::DEFAULT_MAX_PATTERN_SIZE", "Server::max_pattern_size"),
            ("runtime/check/src/violation.rs", "check::MAX_VIOLATIONS", ""),
            ("runtime/check/src/contradiction.rs", "check::MAX_CONTRADICTIONS", ""),
            ("runtime/check/src/violation.rs", "check::MAX_POINTER", ""),
            ("runtime/check/src/violation.rs", "check::MAX_SHOWN", ""),
        ],
    ),
    (
        "Clients",
        &[
            ("runtime/src/client/options.rs", "client::ClientOptions::DEFAULT_TIMEOUT", "client::ClientOptions::timeout"),
            ("runtime/src/client/options.rs", "client::ClientOptions::DEFAULT_LONGEST", "client::ClientOptions::reset_by_progress"),
            ("runtime/src/client/options.rs", "client::ClientOptions::DEFAULT_PROBE_TIMEOUT", "client::ClientOptions::probe_timeout"),
            ("runtime/src/client/options.rs", "client::ClientOptions::DEFAULT_WRITE_TIMEOUT", "client::ClientOptions::write_timeout"),
            ("runtime/src/client/options.rs", "client::ClientOptions::DEFAULT_MAX_MESSAGE", "client::ClientOptions::max_message"),
            ("runtime/src/client/options.rs", "client::ClientOptions::DEFAULT_MAX_IN_FLIGHT", "client::ClientOptions::max_in_flight"),
            ("runtime/src/client/options.rs", "client::ClientOptions::DEFAULT_MAX_QUEUED", "client::ClientOptions::max_queued"),
            ("runtime/src/client/options.rs", "client::ClientOptions::MOST_QUESTIONS", ""),
            ("runtime/src/client/cache.rs", "client::CacheLimits::DEFAULT_ENTRIES", "client::CacheLimits::entries"),
            ("runtime/src/client/cache.rs", "client::CacheLimits::DEFAULT_BYTES", "client::CacheLimits::bytes"),
            ("runtime/src/client/retry.rs", "client::RetryPolicy::DEFAULT_WAIT", "client::RetryPolicy::wait"),
            ("runtime/src/client/retry.rs", "client::RetryPolicy::DEFAULT_LONGEST_WAIT", "client::RetryPolicy::longest_wait"),
            ("runtime/src/client/http/authorize.rs", "+client::MAX_AUTHORIZATIONS", ""),
            ("runtime/src/client/http/endpoint.rs", "+client::HttpEndpoint::MAX_STREAMS", ""),
            ("runtime/src/client/http/endpoint.rs", "+client::HttpEndpoint::MAX_DELIVERIES", ""),
            ("runtime/src/client/http/endpoint.rs", "+client::HttpEndpoint::MAX_REDIRECTS", ""),
            ("runtime/src/client/http/endpoint.rs", "+client::HttpEndpoint::MAX_RESUMES", ""),
            ("runtime/src/client/http/endpoint.rs", "+client::HttpEndpoint::CONNECT_WITHIN", ""),
            ("runtime/src/client/http/endpoint.rs", "+client::HttpEndpoint::HEAD_WITHIN", ""),
            ("runtime/src/client/http/endpoint.rs", "+client::HttpEndpoint::INITIALIZED_WITHIN", ""),
            ("runtime/src/client/http/endpoint.rs", "+client::HttpEndpoint::CLOSE_WITHIN", ""),
            ("runtime/src/client/task.rs", "client::DEFAULT_POLL_INTERVAL", ""),
            ("runtime/src/client/process/command.rs", "+client::ServerCommand::DEFAULT_CLOSE_WAIT", "client::ServerCommand::close_wait"),
            ("runtime/src/client/process/command.rs", "+client::ServerCommand::DEFAULT_TERM_WAIT", "client::ServerCommand::term_wait"),
            ("runtime/src/client/process/command.rs", "+client::ServerCommand::DEFAULT_KILL_WAIT", "client::ServerCommand::kill_wait"),
            ("runtime/src/client/process/command.rs", "+client::ServerCommand::DEFAULT_LAST_OUTPUT", "client::ServerCommand::last_output"),
        ],
    ),
    (
        "Tests",
        &[
            ("runtime/src/testing/in_process_http.rs", "+testing::InProcessHttp::DEADLINE", ""),
            ("runtime/src/testing/in_process_http.rs", "+testing::InProcessHttp::CLOSE_WITHIN", ""),
            ("runtime/src/testing/checker.rs", "+testing::Checker::DEFAULT_CROSSING", "testing::Checker::crossing"),
        ],
    ),
    (
        "Skills (crate `trueform-skills`)",
        &[
            ("runtime/skills/src/lib.rs", "+trueform_skills::MAX_FILES", ""),
            ("runtime/skills/src/lib.rs", "+trueform_skills::MAX_SKILL_BYTES", ""),
            ("runtime/skills/src/lib.rs", "+trueform_skills::MAX_DEPTH", ""),
            ("runtime/skills/src/lib.rs", "+trueform_skills::MAX_ENTRIES", ""),
            ("runtime/skills/src/lib.rs", "+trueform_skills::DEFAULT_PAGE_SIZE", "trueform_skills::Skills::page_size"),
            ("runtime/skills/src/front_matter.rs", "+trueform_skills::MAX_FRONT_MATTER", ""),
            ("runtime/skills/src/front_matter.rs", "+trueform_skills::MAX_NAME", ""),
            ("runtime/skills/src/front_matter.rs", "+trueform_skills::MAX_DESCRIPTION", ""),
        ],
    ),
];

/// Fixed bounds without a public constant that a caller or a peer can meet: what has the bound, the file, and the constant.
#[rustfmt::skip]
const FIXED: &[(&str, &str, &str)] = &[
    ("Client", "runtime/src/client/sink.rs", "MOST_UNSENT"),
    ("Client", "runtime/src/client/sink.rs", "MOST_UNREAD"),
    ("Client", "runtime/src/client/call.rs", "MOST_ROUNDS"),
    ("Client", "runtime/src/client/listing.rs", "MOST_PAGES"),
    ("Client", "runtime/src/client/listing.rs", "MOST_LISTED"),
    ("Client: notifications, strays", "runtime/src/client/mailbox.rs", "KEPT"),
    ("Client: notifications, strays", "runtime/src/client/mailbox.rs", "KEPT_BYTES"),
    ("Client: tasks", "runtime/src/client/task.rs", "LEAST_POLL_INTERVAL"),
    ("Client over HTTP", "runtime/src/client/http/request.rs", "MAX_SESSION_ID"),
    ("Client over HTTP", "runtime/src/client/resumption.rs", "MAX_EVENT_ID"),
    ("Client over HTTP", "runtime/src/client/http/backoff.rs", "LONGEST_ASKED"),
    ("Client over HTTP", "runtime/src/client/http/answer.rs", "MAX_REFUSAL"),
    ("Client over HTTP", "runtime/src/client/http/bridge.rs", "REFUSAL_WITHIN"),
    ("Client over HTTP", "runtime/src/client/http/request.rs", "MAX_TOOLS"),
    ("Client over HTTP", "runtime/src/client/http/anew.rs", "MAX_PAGES"),
    ("Client over HTTP", "runtime/src/client/http/outgoing.rs", "CANCELLED_WITHIN"),
    ("Client over HTTP: `WWW-Authenticate`", "runtime/src/client/http/challenge.rs", "MOST_CHALLENGES"),
    ("Client over HTTP: `WWW-Authenticate`", "runtime/src/client/http/challenge.rs", "MOST_BYTES"),
    ("Client of a child process: standard error", "runtime/src/client/process/stderr.rs", "KEPT"),
    ("Client of a child process: standard error", "runtime/src/client/process/stderr.rs", "LONGEST_LINE"),
    ("Folder", "runtime/src/feature/resources/folder.rs", "MAX_ENTRIES"),
    ("Folder", "runtime/src/feature/resources/folder.rs", "MAX_PATH"),
    ("Folder", "runtime/src/feature/resources/folder.rs", "MAX_DEPTH"),
    ("Lists of a server", "runtime/src/feature/listing/places.rs", "MAX_GONE"),
    ("Metrics", "runtime/src/feature/layer/metrics.rs", "MOST_ROWS"),
    ("Event store in memory", "runtime/src/store/memory_events.rs", "SESSION_STREAMS"),
];

/// Settings without a constant: there is no bound unless they are called.
#[rustfmt::skip]
const UNBOUNDED: &[(&str, &str, &str)] = &[
    ("runtime/src/server/settings.rs", "Server::progress_interval", "the shortest time between two progress reports of one call"),
    ("runtime/src/feature/layer/concurrency.rs", "layer::ConcurrencyLimit::new", "calls that run at once, of all, of each name or of each principal"),
    ("runtime/src/feature/layer/time_limit.rs", "layer::TimeLimit::named", "how long calls take, of all or of one name"),
    ("runtime/src/feature/layer/response_limit.rs", "layer::ResponseLimit::named", "how much calls return, of all or of one name"),
    ("runtime/src/client/call_options.rs", "client::Request::timeout", "how long a client waits for one request or call; `ClientOptions::timeout` unless it is called"),
    ("runtime/src/client/call_options.rs", "client::Request::reset_by_progress", "the same where each report of progress begins the time anew; `ClientOptions::reset_by_progress` unless it is called"),
    ("runtime/src/feature/tools/dynamic.rs", "DynamicTool::timeout", "how long a call of the tool takes; as `#[tool(timeout = …)]`"),
    ("runtime/src/feature/prompts/dynamic.rs", "DynamicPrompt::timeout", "how long a call of the prompt takes; as `#[prompt(timeout = …)]`"),
    ("runtime/src/feature/resources/dynamic.rs", "DynamicResource::timeout", "how long a read of the resource takes; as `#[resource(timeout = …)]`"),
];

/// Setters of numbers and durations that bound nothing, and why.
#[rustfmt::skip]
const NO_BOUNDS: &[(&str, &str)] = &[
    ("runtime/src/feature/resources/dynamic.rs::size", "what a resource says of its size"),
    ("runtime/src/feature/resources/spec.rs::size", "the same, for the macros"),
    ("runtime/src/feature/resources/spec.rs::ttl", "how long a client may keep a resource, for the macros"),
    ("runtime/src/client/task.rs::ttl", "what a client asks a server for"),
    ("runtime/check/src/lib.rs::max_pattern_size", "`Server::max_pattern_size` sets it"),
];

const HEAD: &str = "\
Limits: the bounds that callers and peers can meet, their defaults, and their settings.

A bound without a setting is fixed. What a client or server gets at a bound is on the page of the constant or setting:
usually an error that names the bound, over HTTP with status 503 and `Retry-After`. The settings of HTTP are those of `HttpConfig`; it
needs the feature `http`.

A test writes this page from the constants, and fails if a public one, or a setting, is not here.
";

#[test]
fn the_page_has_every_bound() {
    let constants = constants();
    let values: BTreeMap<String, String> = constants
        .iter()
        .filter(|constant| constant.is_visible)
        .map(|constant| (constant.name.clone(), constant.value.clone()))
        .filter(|(_, value)| {
            value.starts_with("Duration::") || value.starts_with(|c: char| c.is_ascii_digit())
        })
        .collect();
    let mut left: BTreeSet<(String, String)> = constants
        .iter()
        .filter(|constant| constant.is_public)
        .map(|constant| (constant.file.clone(), constant.name.clone()))
        .collect();
    let mut page = HEAD.to_owned();
    for (heading, rows) in PARTS {
        let _ = write!(
            page,
            "\n# {heading}\n\n| bound | default | constant | setting |\n| --- | --: | --- | --- |\n"
        );
        for (file, path, setting) in *rows {
            let name = path.rsplit("::").next().unwrap().trim_start_matches('+');
            let found = constants
                .iter()
                .find(|constant| {
                    constant.file == *file && constant.name == name && constant.is_public
                })
                .unwrap_or_else(|| panic!("{file} has no public constant `{name}`"));
            left.remove(&(found.file.clone(), found.name.clone()));
            let _ = writeln!(
                page,
                "| {} | {} | {} | {} |",
                found.meaning,
                shown(&found.value, &values),
                linked(path, path.starts_with('+')),
                linked(setting, path.starts_with('+'))
            );
        }
    }
    page.push_str(
        "\n# Fixed, without a constant to name\n\n| of | bound | value |\n| --- | --- | --: |\n",
    );
    for (of, file, name) in FIXED {
        let found = constants
            .iter()
            .find(|constant| constant.file == *file && constant.name == *name)
            .unwrap_or_else(|| panic!("{file} has no constant `{name}`"));
        assert!(
            !found.is_public && !found.meaning.is_empty(),
            "{file}: `{name}`"
        );
        let value = shown(&found.value, &values);
        let _ = writeln!(page, "| {of} | {} | {value} |", found.meaning);
    }
    page.push_str("\n# Without a bound of their own\n\nThere is no bound, or another one, unless these are called.\n\n| bound | setting |\n| --- | --- |\n");
    for (_, setting, meaning) in UNBOUNDED {
        let _ = writeln!(page, "| {meaning} | {} |", linked(setting, false));
    }
    assert!(
        left.is_empty(),
        "public bounds that are not in the table of `limits.rs`: {left:#?}"
    );
    expect_file!["../../src/guide/limits.md"].assert_eq(&page);
}

#[test]
fn every_setting_of_a_bound_is_in_the_table() {
    let rows = PARTS.iter().flat_map(|(_, rows)| *rows);
    let named: BTreeSet<String> = rows
        .filter(|(_, _, setting)| !setting.is_empty())
        .map(|(file, _, setting)| setting_of(file, setting))
        .chain(
            UNBOUNDED
                .iter()
                .map(|(file, setting, _)| setting_of(file, setting)),
        )
        .chain(NO_BOUNDS.iter().map(|(setting, _)| (*setting).to_owned()))
        .collect();
    let mut found = BTreeSet::new();
    for (file, text) in sources() {
        for setter in setters(&text) {
            found.insert(format!("{file}::{setter}"));
        }
    }
    assert!(
        found.len() > 50,
        "setters are recognised by their signatures: {found:?}"
    );
    let missing: Vec<_> = found.difference(&named).collect();
    assert!(
        missing.is_empty(),
        "settings that are not in the tables of `limits.rs`: {missing:#?}"
    );
}

/// Where the setter called `setting` is: beside its constant, unless this says otherwise.
fn setting_of(file: &str, setting: &str) -> String {
    let (owner, name) = setting.rsplit_once("::").unwrap();
    let file = match (owner, name) {
        ("Server", name) if name.contains("ask") => "runtime/src/server/asks.rs",
        ("Server", _) => "runtime/src/server/settings.rs",
        _ => file,
    };
    format!("{file}::{name}")
}

struct Constant {
    file: String,
    name: String,
    is_public: bool,
    /// Whether other files may name it.
    is_visible: bool,
    /// As the source has it.
    value: String,
    /// The first sentence of its documentation.
    meaning: String,
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

/// The files of the crates whose bounds are in the table, by their path in the workspace.
pub(crate) fn sources() -> Vec<(String, String)> {
    let mut files = Vec::new();
    let mut folders = [
        "runtime/src",
        "runtime/check/src",
        "runtime/skills/src",
        "runtime/apps/src",
    ]
    .map(|folder| root().join(folder))
    .to_vec();
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|kind| kind == "rs") {
                let name = path
                    .strip_prefix(root())
                    .unwrap()
                    .to_str()
                    .unwrap()
                    .replace('\\', "/");
                files.push((name, fs::read_to_string(&path).unwrap()));
            }
        }
    }
    files.sort();
    files
}

fn constants() -> Vec<Constant> {
    let mut found = Vec::new();
    for (file, text) in sources() {
        let mut docs = String::new();
        for line in text.lines().map(str::trim) {
            if let Some(doc) = line.strip_prefix("///") {
                docs.push_str(doc);
                continue;
            }
            let is_public = line.starts_with("pub const ");
            if let Some((name, rest)) = line
                .strip_prefix("pub const ")
                .or_else(|| line.strip_prefix("pub(crate) const "))
                .or_else(|| line.strip_prefix("pub(super) const "))
                .or_else(|| line.strip_prefix("const "))
                .and_then(|rest| rest.split_once(": "))
                && let Some((kind, value)) = rest.split_once(" = ")
                && [
                    "usize",
                    "u64",
                    "u32",
                    "u16",
                    "u8",
                    "Duration",
                    "std::time::Duration",
                ]
                .contains(&kind)
            {
                let meaning = first_sentence(&docs);
                assert!(
                    !is_public || !meaning.is_empty(),
                    "`{name}` has no documentation"
                );
                found.push(Constant {
                    file: file.clone(),
                    name: name.to_owned(),
                    is_public,
                    is_visible: line.starts_with("pub"),
                    value: value.trim_end_matches(';').to_owned(),
                    meaning,
                });
            }
            docs.clear();
        }
    }
    found
}

/// Names of methods that take `self` and a number or a duration.
fn setters(text: &str) -> Vec<&str> {
    let mut found = Vec::new();
    for line in text.lines().map(str::trim) {
        let rest = line
            .strip_prefix("pub const fn ")
            .or_else(|| line.strip_prefix("pub fn "));
        let Some((name, arguments)) = rest.and_then(|rest| rest.split_once("(mut self, ")) else {
            continue;
        };
        let bounds = [
            ": usize",
            ": u64",
            ": u32",
            ": Duration",
            ": std::time::Duration",
        ];
        if bounds.iter().any(|kind| arguments.contains(kind)) {
            found.push(name);
        }
    }
    found
}

/// The first sentence of `docs`, without links, which the table has, and without the default.
fn first_sentence(docs: &str) -> String {
    let docs = docs.trim();
    let end = docs.find(". ").unwrap_or(docs.trim_end_matches('.').len());
    let mut text = docs[..end].to_owned();
    // "Largest body unless set otherwise, in bytes: 4 MiB, as …": the table has the default.
    for cut in [
        ", unless [",
        " unless [",
        ", unless set otherwise",
        " unless set otherwise",
        " by default",
        ": ",
    ] {
        if let Some(at) = text.find(cut) {
            let rest = text[at + cut.len()..].to_owned();
            text.truncate(at);
            if cut.ends_with("otherwise") || cut.ends_with("default") {
                text.push_str(&rest);
            }
        }
    }
    let mut plain = String::new();
    let mut rest = text.as_str();
    while let Some((before, link)) = rest.split_once('[') {
        let (label, after) = link.split_once(']').unwrap_or((link, ""));
        plain.push_str(before);
        plain.push_str(label);
        rest = after;
        if let Some(target) = after.strip_prefix('(') {
            rest = target.split_once(')').map_or("", |(_, after)| after);
        }
    }
    plain.push_str(rest);
    plain.trim_end_matches([',', '.', ' ']).to_owned()
}

/// `value` as people read it.
fn shown(value: &str, others: &BTreeMap<String, String>) -> String {
    let number = |text: &str| -> u64 {
        text.split(" * ")
            .map(|factor| {
                factor
                    .trim()
                    .replace('_', "")
                    .parse::<u64>()
                    .unwrap_or_else(|_| panic!("`{value}`"))
            })
            .product()
    };
    if let Some(milliseconds) = value.strip_prefix("Duration::from_millis(") {
        return format!("{} ms", number(milliseconds.trim_end_matches(')')));
    }
    if let Some(seconds) = value.strip_prefix("Duration::from_secs(") {
        return match number(seconds.trim_end_matches(')')) {
            seconds if seconds >= 3600 && seconds % 3600 == 0 => format!("{} h", seconds / 3600),
            seconds if seconds > 60 && seconds % 60 == 0 => format!("{} min", seconds / 60),
            seconds => format!("{seconds} s"),
        };
    }
    if let Some((factor, shift)) = value.split_once(" << ") {
        let unit = if shift == "20" { "MiB" } else { "KiB" };
        assert!(["10", "20"].contains(&shift), "`{value}`");
        return format!("{factor} {unit}");
    }
    if value.starts_with(|c: char| c.is_ascii_digit()) {
        let digits = number(value).to_string();
        let mut grouped = String::new();
        for (at, digit) in digits.chars().enumerate() {
            if at > 0 && (digits.len() - at).is_multiple_of(3) {
                grouped.push(',');
            }
            grouped.push(digit);
        }
        return grouped;
    }
    let name = value.rsplit("::").next().unwrap();
    let other = others
        .get(name)
        .unwrap_or_else(|| panic!("the value of `{value}` is not known"));
    shown(other, others)
}

/// A link to `path`; only its text if it is behind a feature or of another crate.
fn linked(path: &str, is_elsewhere: bool) -> String {
    let path = path.trim_start_matches('+');
    match (path, is_elsewhere) {
        ("", _) => String::new(),
        (_, true) => format!("`{path}`"),
        (_, false) => format!("[`{path}`](crate::{path})"),
    }
}
