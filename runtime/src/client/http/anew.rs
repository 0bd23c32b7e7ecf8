//! Repeats a call whose headers the server refused, with the headers that the current schema of the tool asks for.

use std::sync::Arc;

use serde::Deserialize;
use serde_json::Value;
use tokio::time::timeout;
use trueform_schema::{Method, RequestId};

use super::{
    bridge::{Bridge, HEAD_WITHIN},
    error::HttpError,
    exchange::Boxed,
    sent::SentMessage,
};
use crate::jsonrpc::{code, sentence};

/// Most pages of `tools/list` that are read in search of the tool.
const MAX_PAGES: u32 = 1_000;

#[derive(Deserialize)]
struct Named {
    name: String,
}

impl Bridge {
    /// Makes the call `sent` again, once, under another id, if `refusal` says that its headers do not fit and the tools that the server
    /// lists now ask for others. `None` if that does not apply: `refusal` is the answer then.
    // G-11
    #[cold]
    pub(super) fn call_anew<'a>(
        self: &'a Arc<Self>,
        sent: &'a SentMessage,
        id: &'a RequestId,
        refusal: &'a [u8],
    ) -> Boxed<'a, Option<Result<(), HttpError>>> {
        Box::pin(async move {
            let is_first = sent.stands_for().is_none() && sent.version().is_some();
            if !is_first || !sent.is(Method::CallTool) {
                return None;
            }
            let refusal: Value = serde_json::from_slice(refusal).ok()?;
            if refusal["error"]["code"] != code::HEADER_MISMATCH {
                return None;
            }
            let named: Named = sent.params()?;
            let before = self.requests.post(sent);
            self.requests.forget_tool(&named.name);
            let read = timeout(HEAD_WITHIN, self.read_tools(sent, &named.name)).await;
            let problem = match read {
                Ok(Ok(())) => None,
                Ok(Err(problem)) => Some(problem),
                Err(_) => Some(format!("no answer within {HEAD_WITHIN:?}")),
            };
            if let Some(problem) = problem {
                let problem = &*sentence(&problem);
                tracing::warn!(
                    problem,
                    "the server refuses the headers of a call, and its tools cannot be read"
                );
                return None;
            }
            let again = Arc::new(sent.with_id(&self.link.new_id())?.standing_for(id.clone()));
            let request = self.requests.post(&again);
            if request.headers() == before.headers() {
                return None;
            }
            tracing::debug!("a call is made again with the headers that its tool asks for now");
            let id = again.request_id()?.clone();
            Some(match self.exchange(request).await {
                // No session: what is called anew is of the modern era.
                Ok(answer) => self.read(&again, &id, answer, None).await,
                Err(error) => Err(error),
            })
        })
    }

    /// Reads the list of tools up to `tool`, for the annotations in it.
    async fn read_tools(self: &Arc<Self>, call: &SentMessage, tool: &str) -> Result<(), String> {
        let mut cursor = None;
        for _ in 0..MAX_PAGES {
            let id = self.link.new_id();
            let list = call.listing(&id, cursor.as_deref());
            let list = Arc::new(list.ok_or("the call has no `_meta`")?);
            let answer = self.exchange(self.requests.post(&list)).await;
            let answer = answer.map_err(|error| error.short())?;
            let text = self.single_answer(answer, &id).await?;
            self.requests.learn(&list, &text);
            let page: Value = serde_json::from_slice(&text).map_err(|error| error.to_string())?;
            let tools = page["result"]["tools"].as_array();
            let tools = tools.ok_or("the answer to `tools/list` has no tools")?;
            let next = page["result"]["nextCursor"].as_str();
            match next {
                Some(next) if tools.iter().all(|listed| listed["name"] != tool) => {
                    cursor = Some(next.to_owned());
                }
                _ => return Ok(()),
            }
        }
        Err(format!("there are more than {MAX_PAGES} pages"))
    }
}
