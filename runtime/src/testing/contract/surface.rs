//! Everything a server promises, as canonical JSON.

use serde_json::{Map, Value};
use trueform_schema::{At, Encode, Revision, Revisions, View};

use crate::server::Service;

/// What `service` promises: its name and texts, its capabilities, the revisions that it serves, its tools.
///
/// Members are in order of name, tools are by name, with what they need the client to be able to do as `needs`. The server's own `version` is left out: it changes with every release.
/// Tools that are disabled now are left out too.
#[must_use]
pub fn contract(service: &Service) -> Value {
    let engine = &service.engine;
    let mut whole = Map::new();
    let mut info = newest(&engine.host.settings.info);
    if let Value::Object(members) = &mut info {
        members.remove("version");
    }
    whole.insert("server".to_owned(), info);
    if let Some(instructions) = &engine.host.settings.instructions {
        whole.insert("instructions".to_owned(), Value::from(&**instructions));
    }
    let mut revisions = engine.host.served(Revisions::ALL);
    revisions.sort();
    let newest_served = revisions.last().copied().unwrap_or(Revision::LATEST);
    whole.insert(
        "revisions".to_owned(),
        revisions.into_iter().map(Revision::as_str).collect(),
    );
    whole.insert(
        "capabilities".to_owned(),
        newest(&engine.features.capabilities(newest_served)),
    );
    let tools = engine.tools_now().into_iter().map(|route| {
        let mut tool = newest(&route.definition_at(View::ALL));
        if let Value::Object(members) = &mut tool {
            members.remove("name");
            let needs = route.needs();
            if !needs.is_empty() {
                members.insert("needs".to_owned(), needs.names().collect());
            }
        }
        (route.name().to_owned(), tool)
    });
    whole.insert("tools".to_owned(), Value::Object(tools.collect()));
    let mut whole = Value::Object(whole);
    sort(&mut whole);
    whole
}

fn newest(value: &dyn Encode) -> Value {
    serde_json::from_slice(&At::new(value, Revision::LATEST).to_vec()).expect("encoders write JSON")
}

/// Puts members in order of name, and what is a set in order of value.
fn sort(value: &mut Value) {
    match value {
        Value::Array(items) => items.iter_mut().for_each(sort),
        Value::Object(members) => {
            members.sort_keys();
            for (name, value) in members.iter_mut() {
                sort(value);
                if let (true, Value::Array(names)) = (name == "required", value)
                    && names.iter().all(Value::is_string)
                {
                    names.sort_by(|a, b| a.as_str().cmp(&b.as_str()));
                }
            }
        }
        _ => {}
    }
}
