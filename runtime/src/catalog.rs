//! What a server offers now: its tools, by name and as lists that are encoded once per revision.
//!
//! A catalog never changes; changing the server's tools makes the next one. Knows no peer and no transport.

use std::{
    collections::HashMap,
    fmt,
    sync::{Arc, OnceLock},
};

use base64::{Engine as _, engine::general_purpose::URL_SAFE_NO_PAD};
use trueform_schema::{Encode, ErrorObject, ListToolsResult, Revision, View};

use crate::{
    jsonrpc::{self, Fault},
    tool::ToolRoute,
};

/// One registered tool.
#[derive(Clone)]
pub(crate) struct Entry {
    pub(crate) route: Arc<ToolRoute>,
    pub(crate) enabled: bool,
}

/// The tools of a server at one moment.
pub(crate) struct Catalog {
    entries: Vec<Entry>,
    by_name: HashMap<Box<str>, usize>,
    page_size: usize,
    /// Per revision, the encoded `ListToolsResult` of each page.
    pages: [OnceLock<Vec<Vec<u8>>>; Revision::ALL.len()],
}

impl Catalog {
    /// A catalog of `entries`, whose names differ.
    pub(crate) fn new(entries: Vec<Entry>, page_size: usize) -> Self {
        let by_name = entries
            .iter()
            .enumerate()
            .map(|(at, entry)| (entry.route.name().into(), at))
            .collect();
        Self {
            entries,
            by_name,
            page_size: page_size.max(1),
            pages: Default::default(),
        }
    }

    pub(crate) fn entries(&self) -> &[Entry] {
        &self.entries
    }

    pub(crate) fn page_size(&self) -> usize {
        self.page_size
    }

    /// The tool that may be called by `name`.
    ///
    /// # Errors
    /// -32602 saying which tools there are (I-5). A disabled tool is unknown.
    pub(crate) fn tool(&self, name: &str) -> Result<&Arc<ToolRoute>, ErrorObject> {
        /// Up to here comparing names is cheaper than hashing one.
        const FEW: usize = 12;
        let entry = match self.entries.len() {
            ..=FEW => self.entries.iter().find(|entry| entry.route.name() == name),
            _ => self.by_name.get(name).map(|at| &self.entries[*at]),
        };
        match entry {
            Some(entry) if entry.enabled => Ok(&entry.route),
            _ => Err(self.unknown(name)),
        }
    }

    /// The encoded `ListToolsResult` that `cursor` asks for (P-1, P-3).
    ///
    /// # Errors
    /// -32602 for a cursor that this catalog never gave out, or whose tool is gone.
    pub(crate) fn page(
        &self,
        cursor: Option<&str>,
        revision: Revision,
        view: View<'_>,
    ) -> Result<PageBytes<'_>, ErrorObject> {
        let start = match cursor {
            None => 0,
            Some(cursor) => self.position(cursor).ok_or_else(|| {
                let found = format!("string of {} bytes", cursor.len() + 2);
                let expected = "a cursor that this list gave out, whose tool is still there";
                let fault = Fault::new("/params/cursor", "cursor", expected, found);
                jsonrpc::invalid_params("invalid cursor", &fault)
            })?,
        };
        if start % self.page_size != 0 {
            // A cursor from before the catalog changed: the page starts where no cached one does.
            let visible: Vec<_> = self.visible().collect();
            return Ok(PageBytes::Made(self.encode_page(&visible, start, view)));
        }
        let pages = self.pages[revision as usize].get_or_init(|| {
            let visible: Vec<_> = self.visible().collect();
            let starts = (0..visible.len().max(1)).step_by(self.page_size);
            starts
                .map(|start| self.encode_page(&visible, start, view))
                .collect()
        });
        Ok(PageBytes::Cached(&pages[start / self.page_size]))
    }

    fn visible(&self) -> impl Iterator<Item = &Arc<ToolRoute>> {
        self.entries
            .iter()
            .filter(|entry| entry.enabled)
            .map(|entry| &entry.route)
    }

    fn encode_page(&self, visible: &[&Arc<ToolRoute>], start: usize, view: View<'_>) -> Vec<u8> {
        let end = visible.len().min(start + self.page_size);
        let tools: Vec<_> = visible[start..end]
            .iter()
            .map(|route| route.definition_at(view))
            .collect();
        let mut result = ListToolsResult::new(tools);
        result.next_cursor = visible.get(end).map(|next| cursor_to(next.name()));
        let mut bytes = Vec::new();
        result.encode(view, &mut bytes);
        bytes
    }

    /// Where in the visible list the tool stands that `cursor` names.
    fn position(&self, cursor: &str) -> Option<usize> {
        let name = URL_SAFE_NO_PAD.decode(cursor).ok()?;
        self.visible()
            .position(|route| route.name().as_bytes() == name)
    }

    fn unknown(&self, name: &str) -> ErrorObject {
        /// Most tool names that an error lists.
        const LISTED: usize = 20;
        let visible: Vec<&str> = self.visible().map(|route| route.name()).collect();
        let mut message = format!("unknown tool `{}`", jsonrpc::shortened(name));
        match crate::check::did_you_mean(name, visible.iter().copied()) {
            Some(near) => message.push_str(&format!("; did you mean `{near}`?")),
            None if visible.is_empty() => message.push_str("; this server has no tools"),
            None => {
                let listed: Vec<String> = visible
                    .iter()
                    .take(LISTED)
                    .map(|name| format!("`{name}`"))
                    .collect();
                message.push_str(&format!("; this server has {}", listed.join(", ")));
                if visible.len() > LISTED {
                    message.push_str(&format!(" and {} more", visible.len() - LISTED));
                }
            }
        }
        let found = format!("string of {} bytes", name.len() + 2);
        let fault = Fault::new("/params/name", "known-tool", "the name of a tool", found);
        jsonrpc::invalid_params(message, &fault)
    }
}

/// The bytes of one page.
pub(crate) enum PageBytes<'a> {
    Cached(&'a [u8]),
    Made(Vec<u8>),
}

impl AsRef<[u8]> for PageBytes<'_> {
    fn as_ref(&self) -> &[u8] {
        match self {
            Self::Cached(bytes) => bytes,
            Self::Made(bytes) => bytes,
        }
    }
}

fn cursor_to(name: &str) -> String {
    URL_SAFE_NO_PAD.encode(name)
}

impl fmt::Debug for Catalog {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list()
            .entries(self.entries.iter().map(|entry| entry.route.name()))
            .finish()
    }
}
