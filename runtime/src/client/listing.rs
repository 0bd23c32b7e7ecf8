//! Reading the pages of a list to their end, whatever the server makes of cursors and of single items.

use std::collections::HashSet;

use serde_json::value::RawValue;
use trueform_schema::{
    DecodeError, Json, ListToolsResult, Map, Method, PaginatedRequestParams, Tool,
};

use super::{
    Client,
    error::{ClientError, LocalError},
    gate::ClientCall,
    request::RequestOptions,
};
use crate::{
    gate::Leniency,
    jsonrpc::{ErrorDetail, shortened},
};

/// Most pages of a list that are read.
const MOST_PAGES: u32 = 1_000;
/// Most bytes of a list that are read before its last page: 64 MiB.
const MOST_LISTED: usize = 64 << 20;

impl Client {
    /// All tools, from all pages: at most 1,000, and 64 MiB of them.
    ///
    /// Each tool is listed once, by its name. A list whose cursors come again, or whose pages bring nothing new, has ended. A tool
    /// that does not have its form is left out, and the log says why, unless
    /// [`MalformedTools`](crate::Leniency::MalformedTools) is switched off.
    ///
    /// # Errors
    /// Those of any request; [`LocalError::EndlessList`] if there are more pages.
    pub async fn list_tools(&self) -> Result<Vec<Tool>, ClientError> {
        let mut tools = Vec::new();
        let mut names = HashSet::new();
        let mut cursors = HashSet::new();
        let mut params = PaginatedRequestParams::default();
        let mut bytes = 0;
        for pages in 1..=MOST_PAGES {
            let page = self.send(
                &ClientCall::of(Method::ListTools, self.revision()),
                &params,
                RequestOptions::default(),
            )?;
            let page = page.await?;
            bytes += page.get().len();
            let page = self.page(&page)?;
            let (before, items) = (tools.len(), page.tools.len());
            tools.extend(page.tools.into_iter().filter(|tool| {
                let is_new = names.insert(tool.name.clone());
                if !is_new {
                    let tool = &*shortened(&tool.name);
                    tracing::debug!(tool, "a tool that was listed before was left out");
                }
                is_new
            }));
            // TRAP-19: only an absent cursor ends the list. Cursors that come again would never end, nor would pages that bring
            // what is known. A page may be empty.
            let is_stuck = items > 0 && tools.len() == before;
            match page.next_cursor {
                Some(next) if !is_stuck && cursors.insert(next.clone()) => {
                    params.cursor = Some(next);
                }
                Some(_) => {
                    tracing::warn!(pages, "the cursors of a list do not advance: it ends here");
                    return Ok(tools);
                }
                None => return Ok(tools),
            }
            if bytes > MOST_LISTED {
                return Err(LocalError::EndlessList(pages).into());
            }
        }
        Err(LocalError::EndlessList(MOST_PAGES).into())
    }

    fn page(&self, page: &Json) -> Result<ListToolsResult, ClientError> {
        let gate = &self.inner.link.gate;
        let method = Method::ListTools.as_str();
        let inbound = gate.inbound;
        let error = match inbound.result(method, self.revision(), page.get()) {
            Ok(page) => return Ok(page),
            Err(error) => error,
        };
        if inbound.leniencies.contains(Leniency::MalformedTools)
            && let Some(fewer) = self.without_malformed(page, &error)
        {
            return self.received(method, &fewer);
        }
        // Said again, so that the log has it.
        self.received(method, page)
    }

    /// `page` without the tools that do not have their form, if `error` is about one of them.
    #[cold]
    fn without_malformed(&self, page: &Json, error: &DecodeError) -> Option<Json> {
        if !error.pointer().starts_with("/tools/") {
            return None;
        }
        let mut members: Map<Json> = page.parse().ok()?;
        let tools: Vec<&RawValue> = serde_json::from_str(members.get("tools")?.get()).ok()?;
        let inbound = self.inner.link.gate.inbound;
        let mut kept = Vec::with_capacity(tools.len());
        for (at, text) in tools.into_iter().enumerate() {
            let read =
                inbound.result::<Tool>(Method::ListTools.as_str(), self.revision(), text.get());
            let Err(error) = read else {
                kept.push(text);
                continue;
            };
            #[derive(serde::Deserialize)]
            struct Named {
                name: String,
            }
            let named: Option<Named> = serde_json::from_str(text.get()).ok();
            let name = named.map(|named| shortened(&named.name).into_owned());
            let fault = ErrorDetail::of_decoding(&error, &format!("/tools/{at}"));
            tracing::warn!(
                tool = name.as_deref(),
                pointer = &*shortened(&fault.pointer),
                rule = fault.rule,
                expected = &*fault.expected,
                found = &*fault.found,
                "a tool that does not have its form was left out of the list"
            );
        }
        members.insert("tools", Json::from_value(&kept).ok()?);
        Json::from_value(&members).ok()
    }
}
