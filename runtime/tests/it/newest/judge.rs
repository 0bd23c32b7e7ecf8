//! What a message must be: the official schema of a revision, and its closed twin, which refuses members that are not listed.

use std::{
    cell::RefCell,
    collections::{BTreeSet, HashMap},
    path::Path,
};

use jsonschema::Validator;
use serde_json::{Map, Value, json};
use trueform::{
    prelude::*,
    schema::{Method, methods::Rules},
};

/// The schemas of one revision: the official one, and its closed twin.
pub(super) struct Judge {
    revision: Revision,
    official: Value,
    closed: Value,
    /// Those of the definitions that were asked for, of both schemas.
    validators: RefCell<HashMap<(bool, String), Validator>>,
}

impl Judge {
    pub(super) fn of(revision: Revision) -> Self {
        let file = format!("../schema/revisions/{revision}.json");
        let text =
            std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join(file)).unwrap();
        let official: Value = serde_json::from_str(&text).unwrap();
        let mut closed = json!({ "$defs": {} });
        for (name, definition) in official["$defs"].as_object().unwrap() {
            let mut definition = flattened(&official, definition.clone());
            if let Some(error) = definition.pointer_mut("/properties/error") {
                *error = flattened(&official, error.clone());
            }
            // What all requests may have is not listed again by each.
            let meta = official.pointer("/$defs/Request/properties/params/properties/_meta");
            let params = definition.pointer_mut("/properties/params/properties");
            if let (true, Some(meta), Some(params)) = (name.ends_with("Request"), meta, params) {
                let params = params.as_object_mut().unwrap();
                params.entry("_meta").or_insert(meta.clone());
            }
            // Anybody may add to `_meta`, also where some of its members are named.
            if !name.ends_with("MetaObject") {
                close(&mut definition);
            }
            closed["$defs"][name] = definition;
        }
        Self {
            revision,
            official,
            closed,
            validators: RefCell::default(),
        }
    }

    /// What is wrong with `value` as the definition `name`, in the closed twin or in the official schema.
    fn faults(&self, is_closed: bool, name: &str, value: &Value) -> Vec<String> {
        let mut validators = self.validators.borrow_mut();
        let validator = validators
            .entry((is_closed, name.to_owned()))
            .or_insert_with(|| {
                let document = if is_closed {
                    &self.closed
                } else {
                    &self.official
                };
                assert!(
                    document["$defs"].get(name).is_some(),
                    "no definition `{name}`"
                );
                let schema = json!({
                    "$schema": "https://json-schema.org/draft/2020-12/schema",
                    "$ref": format!("#/$defs/{name}"),
                    "$defs": document["$defs"],
                });
                let options = jsonschema::options().should_validate_formats(true);
                options.build(&schema).unwrap()
            });
        validator
            .iter_errors(value)
            .map(|error| format!("{} at {}: {error}", name, error.instance_path()))
            .collect()
    }

    pub(super) fn both(&self, name: &str, value: &Value) -> Vec<String> {
        let mut faults = self.faults(false, name, value);
        // The envelope is not listed where a message is defined by method and params alone.
        let mut bare = value.clone();
        let members = &self.closed["$defs"][name]["properties"];
        if members.get("method").is_some() && members.get("jsonrpc").is_none() {
            let members = bare.as_object_mut().unwrap();
            members.remove("jsonrpc");
            members.remove("id");
        }
        faults.extend(
            self.faults(true, name, &bare)
                .into_iter()
                .map(|fault| format!("closed: {fault}")),
        );
        faults
    }

    fn has(&self, name: &str) -> bool {
        self.official["$defs"].get(name).is_some()
    }

    /// The definitions that `message` must be, with the part of it that each is about. `method` is what it answers.
    pub(super) fn definitions<'v>(
        &self,
        message: &'v Value,
        method: Option<&str>,
    ) -> Vec<(String, &'v Value)> {
        let named = |names: &[&str]| {
            let found = names.iter().find(|name| self.has(name));
            (*found.expect("one of them is there")).to_owned()
        };
        if let Some(error) = message.get("error") {
            let envelope = named(&["JSONRPCErrorResponse", "JSONRPCError"]);
            let mut definitions = vec![(envelope, message)];
            let code = error["code"].as_i64().expect("an error has a code");
            definitions.extend(
                self.error(code)
                    .map(|(name, is_whole)| (name, if is_whole { message } else { error })),
            );
            return definitions;
        }
        if let Some(result) = message.get("result") {
            let envelope = named(&["JSONRPCResultResponse", "JSONRPCResponse"]);
            let method = method
                .and_then(Method::from_wire)
                .expect("a known method was asked");
            let rules: &Rules = method.rules(self.revision).expect("the revision has it");
            let is_complete = result["resultType"] != "input_required";
            let mut types = rules.results.iter();
            let result_type = types.find(|ty| (**ty != "InputRequiredResult") == is_complete);
            let result_type = *result_type.expect("the method has such results");
            return vec![(envelope, message), (result_type.to_owned(), result)];
        }
        let method = message["method"]
            .as_str()
            .expect("neither answer nor message");
        let all = self.official["$defs"].as_object().unwrap();
        let (name, _) = all
            .iter()
            .find(|(_, schema)| schema["properties"]["method"]["const"] == method)
            .unwrap_or_else(|| panic!("{} has no {method}", self.revision));
        let envelope = match message.get("id") {
            Some(_) => "JSONRPCRequest",
            None => "JSONRPCNotification",
        };
        vec![(envelope.to_owned(), message), (name.clone(), message)]
    }

    /// The definition of errors with `code`, if the revision has one, and whether it is of the whole message.
    pub(super) fn error(&self, code: i64) -> Option<(String, bool)> {
        let is_code = |schema: &Value| schema["properties"]["code"]["const"] == code;
        let all = self.official["$defs"].as_object().unwrap();
        all.iter().find_map(|(name, schema)| {
            let mut parts = schema["properties"]["error"]["allOf"]
                .as_array()
                .into_iter()
                .flatten();
            let is_whole = parts.any(is_code);
            (is_whole || is_code(schema)).then(|| (name.clone(), is_whole))
        })
    }
}

/// `schema` with the members of all its parts, where it is made of parts.
fn flattened(document: &Value, mut schema: Value) -> Value {
    let Some(parts) = schema
        .as_object_mut()
        .and_then(|schema| schema.remove("allOf"))
    else {
        return schema;
    };
    let mut properties = Map::new();
    let mut required = Vec::new();
    let own = schema.clone();
    for part in parts.as_array().unwrap().iter().chain([&own]) {
        let part = match part["$ref"].as_str() {
            Some(target) => document.pointer(target.trim_start_matches('#')).unwrap(),
            None => part,
        };
        let part = flattened(document, part.clone());
        properties.extend(part["properties"].as_object().cloned().unwrap_or_default());
        required.extend(part["required"].as_array().cloned().unwrap_or_default());
    }
    schema["type"] = "object".into();
    schema["properties"] = properties.into();
    schema["required"] = required
        .into_iter()
        .map(|name| name.as_str().unwrap().to_owned())
        .collect::<BTreeSet<_>>()
        .into_iter()
        .collect();
    schema
}

/// Closes all objects in `schema` that list their members and do not say that there are others.
fn close(schema: &mut Value) {
    match schema {
        Value::Object(members) => {
            let lists = members.get("properties").is_some_and(Value::is_object);
            if lists && members.get("type") == Some(&json!("object")) {
                members
                    .entry("additionalProperties")
                    .or_insert(false.into());
            }
            for (name, member) in members {
                match (name.as_str(), member) {
                    // Names of members, not keywords. Schemas of tools may have any keyword.
                    ("properties", Value::Object(properties)) => {
                        let own =
                            |name: &str| !matches!(name, "inputSchema" | "outputSchema" | "_meta");
                        properties
                            .iter_mut()
                            .filter(|(name, _)| own(name))
                            .for_each(|(_, schema)| close(schema));
                    }
                    (_, member) => close(member),
                }
            }
        }
        Value::Array(items) => items.iter_mut().for_each(close),
        _ => {}
    }
}
