//! The changes of a server's tools, prompts and resources.

use serde_json::{Map, Value};
use trueform_compare::{Flow, Impact};

use super::{Changes, object};

impl Changes {
    pub(super) fn tool(&mut self, place: &str, before: &Value, after: &Value) {
        let apart = ["inputSchema", "outputSchema"];
        self.described(place, before, after, &apart, |name| match name {
            // The model acts on it.
            "description" => [Impact::Risky; 3],
            _ => [Impact::Additive, Impact::Risky, Impact::Risky],
        });
        if let (Some(before), Some(after)) = (before.get("inputSchema"), after.get("inputSchema")) {
            self.schema(place, before, after, Flow::In);
        }
        match (before.get("outputSchema"), after.get("outputSchema")) {
            (Some(before), Some(after)) => self.schema(place, before, after, Flow::Out),
            (Some(_), None) => {
                self.add(Impact::Breaking, place.to_owned(), "`outputSchema` is gone")
            }
            (None, Some(_)) => {
                self.add(Impact::Additive, place.to_owned(), "`outputSchema` is new")
            }
            (None, None) => {}
        }
    }

    /// Compares two schemas. Arguments flow in, results flow out.
    fn schema(&mut self, tool: &str, before: &Value, after: &Value, flow: Flow) {
        let (whole, part) = match flow {
            Flow::Out => ("result", "result"),
            Flow::In | Flow::Both => ("arguments", "argument"),
        };
        for change in trueform_compare::compare("", before, after, flow) {
            let path = change.place.as_str();
            let place = match path.strip_prefix('.').unwrap_or(path) {
                "" => format!("{tool}, {whole}"),
                path => format!("{tool}, {part} `{path}`"),
            };
            self.add(change.impact, place, change.what.to_string());
        }
    }

    pub(super) fn prompt(&mut self, place: &str, before: &Value, after: &Value) {
        self.described(place, before, after, &["arguments"], |name| match name {
            "description" => [Impact::Additive; 3],
            _ => [Impact::Additive, Impact::Risky, Impact::Risky],
        });
        let empty = Map::new();
        let arguments = |prompt| object(prompt, "arguments").unwrap_or(&empty);
        let is_required = |argument: &Value| argument.get("required") == Some(&Value::Bool(true));
        let (old, new) = (arguments(before), arguments(after));
        for (name, argument) in old {
            let place = format!("{place}, argument `{name}`");
            let Some(other) = new.get(name) else {
                // Arguments that a prompt does not have are refused.
                self.add(Impact::Breaking, place, "it is gone");
                continue;
            };
            match (is_required(argument), is_required(other)) {
                (false, true) => self.add(Impact::Breaking, place.clone(), "it is required now"),
                (true, false) => self.add(Impact::Additive, place.clone(), "it is optional now"),
                _ => {}
            }
            let rest = |argument: &Value| {
                let mut rest = argument.as_object().cloned().unwrap_or_default();
                rest.remove("required");
                rest
            };
            self.members(&place, &rest(argument), &rest(other), |_| {
                [Impact::Additive; 3]
            });
        }
        for (name, argument) in new.iter().filter(|(name, _)| !old.contains_key(*name)) {
            let place = format!("{place}, argument `{name}`");
            match is_required(argument) {
                true => self.add(Impact::Breaking, place, "it is new and required"),
                false => self.add(Impact::Additive, place, "it is new"),
            }
        }
    }

    pub(super) fn resource(&mut self, place: &str, before: &Value, after: &Value) {
        self.described(place, before, after, &[], |name| match name {
            "description" | "size" => [Impact::Additive; 3],
            _ => [Impact::Additive, Impact::Risky, Impact::Risky],
        });
    }

    /// Compares what all kinds have in common, and their other members except `apart`; `impacts` returns those of a member.
    fn described(
        &mut self,
        place: &str,
        before: &Value,
        after: &Value,
        apart: &[&str],
        impacts: impl Fn(&str) -> [Impact; 3],
    ) {
        let empty = Map::new();
        let rest = |item: &Value| {
            let mut rest = item.as_object().cloned().unwrap_or_default();
            rest.retain(|name, _| {
                !matches!(&**name, "annotations" | "_meta" | "needs") && !apart.contains(&&**name)
            });
            rest
        };
        self.members(place, &rest(before), &rest(after), |name| match name {
            "title" | "icons" => [Impact::Additive; 3],
            name => impacts(name),
        });
        // Clients without the capability can no longer call it.
        self.list(
            &format!("{place}, needs"),
            before.get("needs"),
            after.get("needs"),
            [Impact::Breaking, Impact::Additive],
        );
        for name in ["annotations", "_meta"] {
            let (before, after) = (
                object(before, name).unwrap_or(&empty),
                object(after, name).unwrap_or(&empty),
            );
            self.members(
                &format!("{place}, {name}"),
                before,
                after,
                |member| match member {
                    "title" => [Impact::Additive; 3],
                    // They determine whether clients ask people.
                    _ if name == "annotations" => [Impact::Risky; 3],
                    _ => [Impact::Additive, Impact::Risky, Impact::Risky],
                },
            );
        }
    }
}
