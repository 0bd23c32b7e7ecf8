//! Answers of users: what they decided, and the values that they entered.

use std::borrow::Cow;

use serde::Deserialize;
use trueform_schema::{DecodeError, ElicitAction, ElicitResult, Json, Method};

use super::Asked;
use crate::exchange::Exchange;

impl Exchange {
    /// The answer `text` to an elicitation. `accepted` makes a value of the content of an accepted one.
    ///
    /// # Errors
    /// It does not have the form that the revision gives it, or `accepted` fails.
    pub(crate) fn elicited<T>(
        &self,
        text: &str,
        accepted: impl FnOnce(Option<&Json>) -> Result<T, DecodeError>,
    ) -> Result<Asked<T>, DecodeError> {
        #[derive(Deserialize)]
        struct Decision<'a> {
            #[serde(borrow)]
            action: Cow<'a, str>,
        }
        #[derive(Deserialize)]
        struct Filled {
            #[serde(default)]
            content: Option<Json>,
        }
        // a refusal has no content that would mean anything.
        match serde_json::from_str::<Decision<'_>>(text) {
            Ok(Decision { action }) if action == "decline" => return Ok(Asked::Declined),
            Ok(Decision { action }) if action == "cancel" => return Ok(Asked::Cancelled),
            _ => {}
        }
        let held_to = self.answers_held_to();
        let result: ElicitResult =
            held_to.result(Method::Elicit.as_str(), self.revision(), text)?;
        if result.action != ElicitAction::Accept {
            let problem = "expected `accept`, `decline` or `cancel`";
            return Err(DecodeError::new("/action", problem));
        }
        let filled: Filled = serde_json::from_str(text)
            .map_err(|error| DecodeError::new("/content", error.to_string()))?;
        let content = filled.content.filter(|content| !content.is_null());
        accepted(content.as_ref())
            .map(Asked::Accepted)
            .map_err(|problem| problem.under("/content"))
    }
}
