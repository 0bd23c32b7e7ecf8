//! Questions to clients of the legacy era, which are sent as requests.

use trueform_schema::{Conform, DecodeError, InputRequest, Json, ListRootsRequestParams, Method};

use super::AskError;
use crate::{
    exchange::{Context, answer::Answer},
    gate,
    peer::Settled,
    projection,
};

impl Context {
    /// Sends `question` as a request and waits for the unchecked answer.
    pub(crate) async fn request_question(&self, question: &InputRequest) -> Result<Json, AskError> {
        match self.sent_question(question)?.await? {
            Settled::Result(result) => Ok(result),
            Settled::Error(error) => Err(AskError::Refused(error)),
            Settled::Malformed(problem) => Err(AskError::Malformed(DecodeError::new("", problem))),
            Settled::Closed => Err(AskError::Gone),
        }
    }

    fn sent_question(&self, question: &InputRequest) -> Result<Answer<'_>, AskError> {
        let revision = self.0.revision();
        let roots = ListRootsRequestParams::default();
        let projected = match question {
            InputRequest::CreateMessage(sample) => projection::sampling(&sample.params, revision),
            _ => None,
        };
        let (method, params): (_, &dyn Conform) = match question {
            InputRequest::Elicit(elicit) => (Method::Elicit, &elicit.params),
            InputRequest::CreateMessage(sample) => (Method::CreateMessage, &sample.params),
            InputRequest::ListRoots(asked) => {
                (Method::ListRoots, asked.params.as_ref().unwrap_or(&roots))
            }
            _ => {
                let problem = "a question of a kind that no revision has";
                return Err(AskError::NotAllowed(problem.to_owned()));
            }
        };
        let sent = match &projected {
            Some(older) => older,
            None => params,
        };
        let (name, limit) = (method.as_str(), self.0.host.settings.ask.timeout);
        let answer = self.send(name, method.rules(revision), sent, limit)?;
        gate::log_loss(params, sent, revision, name);
        Ok(answer)
    }
}
