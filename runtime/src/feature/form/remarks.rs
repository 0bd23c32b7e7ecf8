//! What the lint reports about a form: parts that some revisions lose, and fields for secrets.

use trueform_schema::{Revision, pointer};

use super::{Field, Form, Kind, Unsent, asked::NamedForm, wire::WITH_FORMS};
use crate::lint::{Effect, Finding, finding};

/// Words in names that mean a secret, and whether a number can be such a secret.
const SECRETS: &[(&[&str], bool)] = &[
    (&["password"], false),
    (&["passwd"], false),
    (&["pwd"], false),
    (&["passphrase"], false),
    (&["secret"], false),
    (&["token"], false),
    (&["credential"], false),
    (&["credentials"], false),
    (&["apikey"], false),
    (&["api", "key"], false),
    (&["access", "key"], false),
    (&["private", "key"], false),
    (&["passcode"], true),
    (&["pin"], true),
    (&["otp"], true),
    (&["cvv"], true),
    (&["cvc"], true),
    (&["ssn"], true),
    (&["card", "number"], true),
];

impl NamedForm {
    /// Returns the findings about the form, each with the newest revision of `served`, newest first, that it concerns.
    pub(crate) fn lint(&self, served: &[Revision]) -> Vec<(Revision, Finding)> {
        let with_forms = served
            .iter()
            .filter(|revision| WITH_FORMS.contains(**revision));
        let mut all = Vec::new();
        for &revision in with_forms.clone() {
            // such clients get an error when the function asks.
            if let Err(reason) = self.form.at(revision) {
                let reason = format!(
                    "clients of {revision} cannot be asked for `{}`: {reason}",
                    self.type_name
                );
                all.push((
                    revision,
                    finding("form-revision", "", Effect::LosesItem, &reason),
                ));
            }
        }
        let Some(&newest) = with_forms.clone().next() else {
            return all;
        };
        for field in self.form.fields() {
            let own = field.findings(self.type_name).into_iter();
            all.extend(own.map(|finding| (newest, finding)));
        }
        all
    }
}

impl Form {
    pub(super) fn fields(&self) -> &[Field] {
        &self.fields
    }
}

impl Field {
    fn findings(&self, type_name: &str) -> Vec<Finding> {
        let name = &self.name;
        let at = format!("/properties/{}", pointer::escape(name));
        let mut all = Vec::new();
        //
        if self.is_secret() {
            let reason = format!(
                "field `{name}` of `{type_name}` seems to be a secret, which a form must not ask for, because it passes through the client; from 2025-11-25 on `Context::ask_url` keeps it between user and server"
            );
            all.push(finding("form-secret", &at, Effect::Noise, &reason));
        }
        if let Kind::Text { unsent, .. } = &self.kind {
            let Unsent { format, pattern } = unsent;
            let rules = [("format", format), ("pattern", pattern)];
            for (keyword, rule) in rules
                .into_iter()
                .filter_map(|(keyword, rule)| Some((keyword, rule.as_ref()?)))
            {
                let reason = format!(
                    "answers of field `{name}` of `{type_name}` are held to the {keyword} `{rule}`, which forms do not have, so that users learn of it when they are asked again; describe it in the doc comment"
                );
                let at = format!("{at}/{keyword}");
                all.push(finding("form-rule", &at, Effect::Noise, &reason));
            }
        }
        all
    }

    /// Returns whether the name or the title of a field that users type in means a secret.
    fn is_secret(&self) -> bool {
        let is_number = match &self.kind {
            Kind::Text { unsent, .. } if unsent.format.as_deref() == Some("password") => {
                return true;
            }
            Kind::Text { .. } => false,
            Kind::Number { .. } => true,
            Kind::Boolean { .. } | Kind::Choice { .. } | Kind::Choices { .. } => return false,
        };
        [Some(&self.name), self.title.as_ref()]
            .into_iter()
            .flatten()
            .any(|text| {
                let words = words(text);
                SECRETS.iter().any(|(secret, may_be_number)| {
                    (*may_be_number || !is_number)
                        && words.windows(secret.len()).any(|window| window == *secret)
                })
            })
    }
}

/// Returns the words of a name in any of the usual cases, in lower case.
fn words(name: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    let mut before = None;
    for c in name.chars() {
        let begins = c.is_uppercase() && before.is_some_and(char::is_lowercase);
        if begins || !c.is_alphanumeric() {
            words.push(String::new());
        }
        if c.is_alphanumeric() {
            let word = words.last_mut().expect("starts with one");
            word.extend(c.to_lowercase());
        }
        before = Some(c);
    }
    words.retain(|word| !word.is_empty());
    words
}
