//! The options of an enum, and their titles.

use serde_json::{Map, Value};

use super::{FIELDS, Reader, unsaid};
use crate::feature::form::Choice;

impl Reader<'_> {
    /// Returns the options of an enum.
    pub(super) fn options(&self, members: &Map<String, Value>) -> Result<Vec<Choice>, String> {
        let mut options = Vec::new();
        self.collect_options(members, &mut options)?;
        match options.is_empty() {
            true => Err("has no value to choose; expected an enum with a variant".to_owned()),
            false => Ok(options),
        }
    }

    fn collect_options(
        &self,
        members: &Map<String, Value>,
        options: &mut Vec<Choice>,
    ) -> Result<(), String> {
        let not_units = || {
            format!(
                "is an enum with values other than strings, as variants with data have them; expected {FIELDS}"
            )
        };
        let variants = ["oneOf", "anyOf"]
            .iter()
            .find_map(|keyword| members.get(*keyword)?.as_array());
        if let Some(variants) = variants {
            for variant in variants {
                let variant = self.plain(variant).map_err(|_| not_units())?;
                let handled = ["enum", "const"];
                let is_string = variant.members.get("type").is_none_or(|ty| ty == "string");
                let has_values = handled
                    .iter()
                    .any(|keyword| variant.members.contains_key(*keyword));
                if !is_string
                    || !has_values
                    || variant.nullable
                    || unsaid(&variant.members, &handled).next().is_some()
                {
                    return Err(not_units());
                }
                self.collect_options(&variant.members, options)?;
            }
            return Ok(());
        }
        let (values, title) = match (members.get("enum"), members.get("const")) {
            (Some(Value::Array(values)), None) => (&values[..], None),
            (None, Some(value)) => (std::slice::from_ref(value), title_of(members)),
            _ => return Err(not_units()),
        };
        for value in values.iter().filter(|value| !value.is_null()) {
            let value = value.as_str().ok_or_else(not_units)?.to_owned();
            let title = title.clone();
            options.push(Choice { value, title });
        }
        Ok(())
    }
}

/// Gives `options` the titles `names`, a list beside the enum.
pub(super) fn name_options(options: &mut [Choice], names: &Value) -> Result<(), String> {
    let given: Option<Vec<&str>> = names
        .as_array()
        .map(|names| names.iter().filter_map(Value::as_str).collect());
    let given = given.filter(|given| given.len() == options.len());
    let given = given.ok_or_else(|| {
        format!(
            "has `enumNames` {names}; expected a list of {} strings, one for each value",
            options.len()
        )
    })?;
    for (option, name) in options.iter_mut().zip(given) {
        option.title = Some(name.to_owned());
    }
    Ok(())
}

/// Returns the display name of a variant: its title, or the first paragraph of its description.
fn title_of(variant: &Map<String, Value>) -> Option<String> {
    let text = |keyword| variant.get(keyword).and_then(Value::as_str);
    let title = text("title").or_else(|| text("description")?.split("\n\n").next())?;
    let words: Vec<&str> = title.split_whitespace().collect();
    (!words.is_empty()).then(|| words.join(" "))
}
