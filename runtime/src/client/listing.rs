//! Reading all pages of a list, also from servers that repeat cursors or send malformed items.

use std::{collections::HashSet, fmt, marker::PhantomData};

use serde_json::value::RawValue;
use trueform_schema::{
    Conform, DecodeError, Json, ListPromptsResult, ListResourceTemplatesResult,
    ListResourcesResult, ListTasksResult, ListToolsResult, Map, Method, PaginatedRequestParams,
    Prompt, Resource, ResourceTemplate, Task, Tool,
};

use super::{
    Client,
    call_options::{RequestOptions, SharedProgress, call_options},
    error::{ClientError, LocalError},
    gate::ClientCall,
};
use crate::{
    gate::Leniency,
    jsonrpc::{ErrorDetail, shortened},
};

/// Most pages of a list that are read.
const MOST_PAGES: u32 = 1_000;
/// Most bytes of a list that are read before its last page: 64 MiB.
const MOST_LISTED: usize = 64 << 20;

/// Something that servers list. Not to be implemented elsewhere.
pub trait ListItem: Conform + serde::de::DeserializeOwned + Send {
    /// The request that lists it.
    const METHOD: Method;
    /// The member of a page that holds the items.
    const MEMBER: &'static str;
    /// The member of an item that names it.
    const KEY: &'static str;
    #[doc(hidden)]
    type Page: Conform + serde::de::DeserializeOwned;

    #[doc(hidden)]
    fn key(&self) -> &str;

    #[doc(hidden)]
    /// The items of a page, and the cursor of the next one.
    fn of(page: Self::Page) -> (Vec<Self>, Option<String>);
}

macro_rules! list_items {
    ($($item:ident in $page:ident by $method:ident: $member:ident, $key:ident, $member_name:literal, $key_name:literal;)*) => {$(
        impl ListItem for $item {
            const METHOD: Method = Method::$method;
            const MEMBER: &'static str = $member_name;
            const KEY: &'static str = $key_name;
            type Page = $page;

            fn key(&self) -> &str {
                &self.$key
            }

            fn of(page: $page) -> (Vec<Self>, Option<String>) {
                (page.$member, page.next_cursor)
            }
        }
    )*};
}

list_items! {
    Tool in ListToolsResult by ListTools: tools, name, "tools", "name";
    Prompt in ListPromptsResult by ListPrompts: prompts, name, "prompts", "name";
    Resource in ListResourcesResult by ListResources: resources, uri, "resources", "uri";
    ResourceTemplate in ListResourceTemplatesResult by ListResourceTemplates:
        resource_templates, uri_template, "resourceTemplates", "uriTemplate";
    Task in ListTasksResult by ListTasks: tasks, task_id, "tasks", "taskId";
}

/// The pages of a list, one after the other; made by [`Client::pages`].
#[must_use = "a page is asked for by `next`"]
pub struct Pages<T> {
    client: Client,
    plan: RequestOptions,
    progress: Option<SharedProgress>,
    params: PaginatedRequestParams,
    /// What was listed.
    keys: HashSet<String>,
    cursors: HashSet<String>,
    bytes: usize,
    read: u32,
    is_over: bool,
    item: PhantomData<fn() -> T>,
}

call_options!(impl[T: ListItem] Pages<T>);

impl<T: ListItem> Pages<T> {
    /// The next page, which may be empty; `None` after the last one. What [`Client::list_tools`] says of pages and items holds here too. After an
    /// error the same page can be asked for again.
    ///
    /// # Errors
    /// As [`Client::list_tools`].
    pub async fn next(&mut self) -> Result<Option<Vec<T>>, ClientError> {
        if self.is_over {
            return Ok(None);
        }
        if self.read >= MOST_PAGES || self.bytes > MOST_LISTED {
            return Err(LocalError::EndlessList(self.read).into());
        }
        if let Some(report) = self.plan.on_progress.take() {
            self.progress = Some(SharedProgress::new(report));
        }
        let progress = self.progress.as_ref().map(SharedProgress::callback);
        let call = ClientCall::of(T::METHOD, self.client.revision());
        let plan = self.plan.again(progress);
        let page = self.client.exchange(&call, &self.params, plan).await?;
        let bytes = page.get().len();
        let (mut page, next) = T::of(self.client.page::<T>(&page)?);
        self.bytes += bytes;
        self.read += 1;
        let items = page.len();
        page.retain(|item| {
            let is_new = self.keys.insert(item.key().to_owned());
            if !is_new {
                let item = &*shortened(item.key());
                tracing::debug!(
                    list = T::MEMBER,
                    item,
                    "what was listed before was left out"
                );
            }
            is_new
        });
        // TRAP-19: only an absent cursor ends the list. Cursors that come again would never end, nor would pages that bring
        // what is known. A page may be empty.
        let is_stuck = items > 0 && page.is_empty();
        match next {
            Some(next) if !is_stuck && self.cursors.insert(next.clone()) => {
                self.params.cursor = Some(next);
            }
            next => {
                if next.is_some() {
                    let pages = self.read;
                    tracing::warn!(pages, "the cursors of a list do not advance: it ends here");
                }
                self.is_over = true;
            }
        }
        Ok(Some(page))
    }
}

impl<T> fmt::Debug for Pages<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Pages")
            .field("read", &self.read)
            .field("is_over", &self.is_over)
            .finish_non_exhaustive()
    }
}

impl Client {
    /// All tools, from all pages: at most 1,000, and 64 MiB of them.
    ///
    /// Each tool is listed once, by its name. A list whose cursors come again, or whose pages bring nothing new, has ended. A tool
    /// that does not have its form is left out, and the log says why, unless
    /// [`MalformedItems`](crate::Leniency::MalformedItems) is switched off.
    ///
    /// # Errors
    /// Those of any request; [`LocalError::EndlessList`] if there are more pages.
    pub async fn list_tools(&self) -> Result<Vec<Tool>, ClientError> {
        self.list().await
    }

    /// All prompts, as [`list_tools`](Self::list_tools) reads tools.
    ///
    /// # Errors
    /// As [`list_tools`](Self::list_tools).
    pub async fn list_prompts(&self) -> Result<Vec<Prompt>, ClientError> {
        self.list().await
    }

    /// All resources, by their URIs, as [`list_tools`](Self::list_tools) reads tools.
    ///
    /// # Errors
    /// As [`list_tools`](Self::list_tools).
    pub async fn list_resources(&self) -> Result<Vec<Resource>, ClientError> {
        self.list().await
    }

    /// All templates of resources, as [`list_tools`](Self::list_tools) reads tools.
    ///
    /// # Errors
    /// As [`list_tools`](Self::list_tools).
    pub async fn list_resource_templates(&self) -> Result<Vec<ResourceTemplate>, ClientError> {
        self.list().await
    }

    /// A list page by page: of [`Tool`]s, [`Prompt`]s, [`Resource`]s, [`ResourceTemplate`]s, or, at 2025-11-25, [`Task`]s.
    ///
    /// ```
    /// # use trueform::prelude::*;
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// use std::time::Duration;
    /// use trueform::schema::Tool;
    ///
    /// let client = Server::new("empty", "1.0.0").tools(tools![]).connect().await?;
    /// let mut pages = client.pages::<Tool>().timeout(Duration::from_secs(5));
    /// while let Some(tools) = pages.next().await? {
    ///     for tool in tools {
    ///         println!("{}", tool.name);
    ///     }
    /// }
    /// # Ok(())
    /// # }
    /// ```
    pub fn pages<T: ListItem>(&self) -> Pages<T> {
        Pages {
            client: self.clone(),
            plan: RequestOptions::default(),
            progress: None,
            params: PaginatedRequestParams::default(),
            keys: HashSet::new(),
            cursors: HashSet::new(),
            bytes: 0,
            read: 0,
            is_over: false,
            item: PhantomData,
        }
    }

    async fn list<T: ListItem>(&self) -> Result<Vec<T>, ClientError> {
        let mut pages = self.pages();
        let mut listed = Vec::new();
        while let Some(page) = pages.next().await? {
            listed.extend(page);
        }
        Ok(listed)
    }

    fn page<T: ListItem>(&self, page: &Json) -> Result<T::Page, ClientError> {
        let gate = &self.inner.link.gate;
        let method = T::METHOD.as_str();
        let inbound = gate.inbound;
        let error = match inbound.result(method, self.revision(), page.get()) {
            Ok(page) => return Ok(page),
            Err(error) => error,
        };
        if inbound.leniencies.contains(Leniency::MalformedItems)
            && let Some(fewer) = self.without_malformed::<T>(page, &error)
        {
            return self.received(method, &fewer);
        }
        // Said again, so that the log has it.
        self.received(method, page)
    }

    /// `page` without the items that do not have their form, if `error` is about one of them.
    #[cold]
    fn without_malformed<T: ListItem>(&self, page: &Json, error: &DecodeError) -> Option<Json> {
        let items = error.pointer().strip_prefix('/')?.strip_prefix(T::MEMBER)?;
        if !items.starts_with('/') {
            return None;
        }
        let mut members: Map<Json> = page.parse().ok()?;
        let items: Vec<&RawValue> = serde_json::from_str(members.get(T::MEMBER)?.get()).ok()?;
        let inbound = self.inner.link.gate.inbound;
        let mut kept = Vec::with_capacity(items.len());
        for (at, text) in items.into_iter().enumerate() {
            let read = inbound.result::<T>(T::METHOD.as_str(), self.revision(), text.get());
            let Err(error) = read else {
                kept.push(text);
                continue;
            };
            let found: Option<serde_json::Value> = serde_json::from_str(text.get()).ok();
            let key = found.as_ref().and_then(|item| item.get(T::KEY)?.as_str());
            let item = key.map(|key| shortened(key).into_owned());
            let fault = ErrorDetail::of_decoding(&error, &format!("/{}/{at}", T::MEMBER));
            tracing::warn!(
                item,
                pointer = &*shortened(&fault.pointer),
                rule = fault.rule,
                expected = &*fault.expected,
                found = &*fault.found,
                "an item that does not have its form was left out of a list"
            );
        }
        members.insert(T::MEMBER, Json::from_value(&kept).ok()?);
        Json::from_value(&members).ok()
    }
}
