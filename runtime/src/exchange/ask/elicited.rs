//! Answers of users: what they decided, and the values that they entered.

use std::borrow::Cow;

use serde::Deserialize;
use trueform_schema::{DecodeError, ElicitAction, ElicitResult, Json, Method};

use super::{Asked, FormSchema};
use crate::exchange::Exchange;

impl Exchange {
    /// Reads the answer `text` to an elicitation. `accepted` converts the content of an accepted answer to a value.
    ///
    /// # Errors
    /// The answer does not have the form of the revision, or `accepted` fails.
    pub(crate) fn elicited<T>(
        &self,
        text: &str,
        accepted: impl FnOnce(Option<&Json>) -> Result<T, DecodeError>,
    ) -> Result<Asked<T>, DecodeError> {
        #[derive(Deserialize)]
        struct Filled {
            #[serde(default)]
            content: Option<Json>,
        }
        match refusal(text) {
            Some(ElicitAction::Decline) => return Ok(Asked::Declined),
            Some(_) => return Ok(Asked::Cancelled),
            None => {}
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

    /// Reads the answer `text` to an elicitation, in the form of the revision. The content of an accepted answer is checked against `form`.
    ///
    /// # Errors
    /// The answer does not have that form, its action is not one of the three, or its content does not fit `form`.
    pub(crate) fn elicit_result(
        &self,
        text: &str,
        form: Option<&FormSchema>,
    ) -> Result<ElicitResult, DecodeError> {
        let (held_to, revision) = (self.answers_held_to(), self.revision());
        let decoded = held_to.result(Method::Elicit.as_str(), revision, text);
        let result: ElicitResult = match (decoded, refusal(text)) {
            (Ok(result), _) => result,
            (Err(_), Some(action)) => ElicitResult::new(action),
            (Err(error), None) => return Err(error),
        };
        form.map_or(Ok(()), |form| form.check(&result))?;
        Ok(result)
    }
}

/// Returns the decision of a user who refused. `None` for any other text.
// the content of a refusal has no meaning, so the refusal counts whatever else the answer contains.
fn refusal(text: &str) -> Option<ElicitAction> {
    #[derive(Deserialize)]
    struct Decision<'a> {
        #[serde(borrow)]
        action: Cow<'a, str>,
    }
    match &*serde_json::from_str::<Decision<'_>>(text).ok()?.action {
        "decline" => Some(ElicitAction::Decline),
        "cancel" => Some(ElicitAction::Cancel),
        _ => None,
    }
}
