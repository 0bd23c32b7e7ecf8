//! The state of a call, which is sent to the client with the questions and returned with the answers.
//!
//! It is sealed and bound to the call that it was created for. So any process with the key can continue the call, and others can neither
//! use nor change the state (T-8, T-9).

use std::{
    sync::Arc,
    time::{SystemTime, UNIX_EPOCH},
};

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use trueform_schema::{
    DecodeError, Era, ErrorObject, InputRequest, InputRequiredResult, Json, Map, pointer,
};

use super::{AskError, canonical::canonical, replay::Progress, required::InputRequired};
use crate::{
    exchange::Exchange,
    jsonrpc::{self, ErrorDetail},
};

/// JSON pointers to the members that the client returns.
const STATE: &str = "/params/requestState";
pub(crate) const RESPONSES: &str = "/params/inputResponses";

/// The data of a call that is kept between two requests.
#[derive(Serialize, Deserialize)]
struct Kept {
    /// The number of results that have asked.
    round: u32,
    /// When it expires, in milliseconds since 1970.
    until: u64,
    /// The keys of the questions that are sent with it. An answer to one of them is kept, even if the call does not reach the question
    /// before it is suspended again.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    asked: Vec<Box<str>>,
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    answers: Map<Json>,
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    steps: Map<Json>,
    /// What the author wrote into it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    own: Option<Json>,
}

/// The answers and the state of a request.
#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Brought {
    #[serde(default)]
    input_responses: Option<Map<Json>>,
    #[serde(default)]
    request_state: Option<String>,
}

#[derive(Deserialize)]
struct Message<'a> {
    #[serde(borrow)]
    params: &'a RawValue,
}

/// Reads the answers and the state from `message`, the text of a request. Its params were read completely before, and are checked again
/// here.
///
/// # Errors
/// The problem with the params.
fn brought(message: &[u8]) -> Result<Brought, ErrorDetail> {
    let params = match serde_json::from_slice::<Message<'_>>(message) {
        Ok(message) => message.params.get(),
        Err(error) => {
            let found = format!("{} bytes that cannot be read: {error}", message.len());
            return Err(ErrorDetail::new("/params", "type", "an object", found));
        }
    };
    serde_json::from_str(params)
        .map_err(|error| ErrorDetail::of_decoding(&DecodeError::locate(params, &error), "/params"))
}

impl Exchange {
    /// Takes the answers and the state from `message`, the text of this request.
    ///
    /// # Errors
    /// -32602 for malformed answers and states, and for a state that cannot be opened or has expired.
    #[cold]
    pub(crate) fn resume(self: &Arc<Self>, message: &[u8]) -> Result<(), ErrorObject> {
        // The legacy era has neither member.
        if self.revision().era() == Era::Legacy {
            return Ok(());
        }
        let brought =
            brought(message).map_err(|detail| jsonrpc::params_error(self.method, &detail))?;
        let mut progress = self.replay().lock();
        let given = brought.input_responses.unwrap_or_default().into_iter();
        // DEC-6
        progress.given = given.filter(|(_, answer)| !answer.is_null()).collect();
        let Some(state) = brought.request_state else {
            // Answers without a state belong to the questions of the first round.
            progress.round = u32::from(!progress.given.is_empty());
            return Ok(());
        };
        let bound = self.bound(message);
        let kept = self.opened(&state, &bound)?;
        progress.bound = Some(bound);
        progress.round = kept.round;
        progress.answers = kept.answers;
        for key in kept.asked {
            if let Some(answer) = progress.given.get(&key).cloned() {
                progress.answers.insert(key.clone(), answer);
                progress.fresh.push(key);
            }
        }
        progress.steps = kept.steps;
        progress.own = kept.own;
        Ok(())
    }

    fn opened(&self, state: &str, bound: &[u8]) -> Result<Kept, ErrorObject> {
        let found = || format!("string of {} bytes", state.len() + 2);
        let settings = &self.host.settings.ask;
        let kept: Option<Kept> = settings
            .keys
            .open(state, bound)
            .and_then(|kept| serde_json::from_slice(&kept).ok());
        let Some(kept) = kept else {
            let expected = "the `requestState` of the result that this request answers, unchanged";
            return Err(jsonrpc::invalid_params(
                "`requestState` cannot be opened: it was tampered with, or made for another caller, request or server, or with another key",
                &ErrorDetail::new(STATE, "sealed", expected, found()),
            ));
        };
        if kept.until <= now() {
            let expected = format!("a state that is not older than {:?}", settings.expiry);
            return Err(jsonrpc::invalid_params(
                "`requestState` has expired: send the request anew without it",
                &ErrorDetail::new(STATE, "expired", expected, "an older one"),
            ));
        }
        Ok(kept)
    }

    /// Keeps `message`, the text of this request, if the call may ask after the text is dropped.
    pub(crate) fn keep_message(&self, message: &[u8]) {
        if self.revision().era() == Era::Modern && self.may_ask() {
            let _ = self.later().message.set(message.into());
        }
    }

    /// Returns the result with the questions for which the call was suspended. `message` is the text of the request, if it still exists.
    ///
    /// # Errors
    /// -32602 if the answers that came are too large to be kept, -32603 if other data is too large.
    #[cold]
    pub(crate) fn questions(
        &self,
        message: Option<&[u8]>,
    ) -> Result<InputRequiredResult, ErrorObject> {
        let mut progress = self.replay().lock();
        let questions = std::mem::take(&mut progress.put);
        self.required(&mut progress, questions, message)
    }

    /// Returns the result with the author's own questions.
    ///
    /// # Errors
    /// As [`questions`](Self::questions); -32603 if the call has reached its limit of rounds.
    #[cold]
    pub(crate) fn required_input(
        &self,
        required: InputRequired,
        message: Option<&[u8]>,
    ) -> Result<InputRequiredResult, ErrorObject> {
        let (questions, own) = required.into_parts();
        let mut progress = self.replay().lock();
        let rounds = self.host.settings.ask.rounds;
        if rounds <= progress.round {
            return Err(jsonrpc::internal(
                AskError::TooManyRounds(rounds).to_string(),
            ));
        }
        if let Some(own) = own {
            progress.own = Some(own);
        }
        self.required(&mut progress, questions, message)
    }

    fn required(
        &self,
        progress: &mut Progress,
        questions: Map<InputRequest>,
        message: Option<&[u8]>,
    ) -> Result<InputRequiredResult, ErrorObject> {
        let settings = &self.host.settings.ask;
        let until = now().saturating_add(millis(settings.expiry));
        let kept = Kept {
            round: progress.round + 1,
            until,
            asked: questions.keys().map(Box::from).collect(),
            answers: std::mem::take(&mut progress.answers),
            steps: std::mem::take(&mut progress.steps),
            own: progress.own.take(),
        };
        let plain = serde_json::to_vec(&kept)
            .map_err(|error| jsonrpc::internal(format!("the state cannot be written: {error}")))?;
        if settings.state_bytes < plain.len() {
            return Err(too_large(
                &kept,
                &progress.fresh,
                plain.len(),
                settings.state_bytes,
            ));
        }
        let kept = || self.later().message.get().map(|message| &**message);
        let bound = match (progress.bound.take(), message.or_else(kept)) {
            (Some(bound), _) => bound,
            (None, Some(message)) => self.bound(message),
            (None, None) => {
                tracing::error!(method = self.method, "a call that asks has lost its params");
                return Err(jsonrpc::internal("internal error"));
            }
        };
        let sealed = settings.keys.seal(&plain, &bound);
        let sealed = sealed.ok_or_else(|| jsonrpc::internal("the state cannot be sealed"))?;
        let mut result = InputRequiredResult::new().with_request_state(sealed);
        // T-2
        if !questions.is_empty() {
            result.input_requests = Some(questions);
        }
        Ok(result)
    }

    /// Returns what the state of the request with the text `message` is bound to: the server, the caller, the method, and the params.
    fn bound(&self, message: &[u8]) -> Vec<u8> {
        let mut bound = Vec::with_capacity(256);
        let mut part = |text: Option<&str>| {
            // Each part has its length, so that it cannot be confused with a part of its neighbour.
            let text = text.map_or(&b"-"[..], str::as_bytes);
            bound.extend_from_slice(&text.len().to_le_bytes());
            bound.extend_from_slice(text);
        };
        part(Some(&self.host.settings.info.name));
        let principal = self
            .transport
            .principal
            .as_ref()
            .map(|principal| principal.subject());
        part(Some(if principal.is_some() {
            "principal"
        } else {
            "nobody"
        }));
        part(principal);
        part(Some(self.method));
        let params = serde_json::from_slice::<Message<'_>>(message).map(|message| message.params);
        part(Some(&params.map_or_else(
            |_| "{}".to_owned(),
            |params| canonical(params.get()),
        )));
        bound
    }
}

#[cold]
fn too_large(kept: &Kept, fresh: &[Box<str>], bytes: usize, limit: usize) -> ErrorObject {
    let sized = fresh
        .iter()
        .filter_map(|key| Some((kept.answers.get(key)?.get().len(), key)));
    let answers: usize = sized.clone().map(|(bytes, _)| bytes).sum();
    match sized.max() {
        // Without the answers of this request, the state would fit.
        Some((size, key)) if bytes.saturating_sub(answers) <= limit => {
            let pointer = format!("{RESPONSES}/{}", pointer::escape(key));
            jsonrpc::invalid_params(
                format!(
                    "the answers take {answers} bytes, and the state of a call at most {limit}"
                ),
                &ErrorDetail::new(
                    pointer,
                    "size",
                    format!("at most {limit} bytes of state"),
                    format!("value of {size} bytes"),
                ),
            )
        }
        _ => {
            tracing::error!(
                bytes,
                limit,
                "the state of a call that asks is too large; `Server::ask_state` is the limit"
            );
            jsonrpc::internal(format!(
                "what the call keeps while it asks takes {bytes} bytes; at most {limit} are allowed"
            ))
        }
    }
}

fn now() -> u64 {
    // If the clock is before 1970, nothing has expired.
    SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .map_or(0, millis)
}

fn millis(time: std::time::Duration) -> u64 {
    u64::try_from(time.as_millis()).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    // T-10
    #[test]
    fn malformed_params() {
        for (params, pointer, rule) in [
            (r#"{"requestState":5}"#, "/params/requestState", "type"),
            (r#"{"inputResponses":[]}"#, "/params/inputResponses", "type"),
            (
                r#"{"inputResponses":{},"inputResponses":{}}"#,
                "/params/inputResponses",
                "duplicate",
            ),
            ("5", "/params", "type"),
        ] {
            let message = format!(r#"{{"jsonrpc":"2.0","params":{params}}}"#);
            let detail = brought(message.as_bytes()).err().unwrap();
            assert_eq!((&*detail.pointer, detail.rule), (pointer, rule), "{params}");
        }
        let detail = brought(b"{}").err().unwrap();
        assert_eq!((&*detail.pointer, detail.rule), ("/params", "type"));
        let brought = brought(br#"{"params":{"inputResponses":null,"other":5}}"#).unwrap();
        assert!(brought.input_responses.is_none() && brought.request_state.is_none());
    }
}
