//! The methods of the extension.

use std::sync::Arc;

use base64::{Engine as _, engine::general_purpose::URL_SAFE_NO_PAD};
use serde_json::json;
use trueform::{Context, resource::Caching};
use trueform_schema::{ErrorObject, Json, Resource};

use crate::{
    SKILL_FILE,
    bindings::{
        CacheScope, GetSkillRequestParams, GetSkillResult, ListSkillsRequestParams,
        ListSkillsResult, ReadResourceDirectoryRequestParams, ReadResourceDirectoryResult,
        handler::ServerHandler,
    },
    catalog::{Catalog, Unreadable},
};

const INVALID_PARAMS: i64 = -32602;
const INTERNAL_ERROR: i64 = -32603;

/// Longest URI that an error repeats, in bytes.
const MAX_REPEATED: usize = 256;

/// Answers the methods of the extension.
#[derive(Debug)]
pub(crate) struct SkillMethods {
    pub(crate) catalog: Arc<Catalog>,
    pub(crate) page_size: usize,
    pub(crate) caching: Caching,
}

impl ServerHandler for SkillMethods {
    type Context = Context;

    async fn list_skills(
        &self,
        _: &Context,
        params: ListSkillsRequestParams,
    ) -> Result<ListSkillsResult, ErrorObject> {
        let from = params.cursor.as_deref().map(place).transpose()?;
        let most = self.page_size;
        let page = self
            .look(move |catalog| catalog.page(from.as_deref(), most))
            .await?;
        let (skills, next) = page.ok_or_else(|| bad_cursor(params.cursor.as_deref()))?;
        let mut result = ListSkillsResult::new(skills);
        result.next_cursor = next.map(|path| URL_SAFE_NO_PAD.encode(path));
        (result.ttl_ms, result.cache_scope) = self.cached();
        Ok(result)
    }

    async fn get_skill(
        &self,
        _: &Context,
        params: GetSkillRequestParams,
    ) -> Result<GetSkillResult, ErrorObject> {
        let uri = params.uri;
        let asked = uri.clone();
        let skill = self.look(move |catalog| Ok(catalog.get(&asked))).await?;
        let skill = skill.ok_or_else(|| {
            let expected = format!("the URI of the `{SKILL_FILE}` of a skill");
            unknown(
                format!("no skill is served at `{}`", short(&uri)),
                &uri,
                "known-skill",
                &expected,
            )
        })?;
        let mut result = GetSkillResult::new(skill);
        (result.ttl_ms, result.cache_scope) = self.cached();
        Ok(result)
    }

    async fn read_resource_directory(
        &self,
        _: &Context,
        params: ReadResourceDirectoryRequestParams,
    ) -> Result<ReadResourceDirectoryResult, ErrorObject> {
        let from = params.cursor.as_deref().map(place).transpose()?;
        let uri = params.uri;
        let asked = uri.clone();
        let children = self.look(move |catalog| catalog.children(&asked)).await?;
        let children = children.ok_or_else(|| {
            let problem = format!("`{}` is not a directory of a skill", short(&uri));
            let expected = "the URI of a directory, without a slash at its end";
            unknown(problem, &uri, "known-directory", expected)
        })?;
        let page = page_of(children, from.as_deref(), self.page_size);
        let (page, next) = page.ok_or_else(|| bad_cursor(params.cursor.as_deref()))?;
        let mut result = ReadResourceDirectoryResult::new(page);
        result.next_cursor = next.map(|uri| URL_SAFE_NO_PAD.encode(uri));
        Ok(result)
    }
}

impl SkillMethods {
    /// Returns the result of `look`. Runs it on a thread that may block, because it reads files.
    async fn look<T: Send + 'static>(
        &self,
        look: impl FnOnce(&Catalog) -> Result<T, Unreadable> + Send + 'static,
    ) -> Result<T, ErrorObject> {
        let catalog = self.catalog.clone();
        match tokio::task::spawn_blocking(move || look(&catalog)).await {
            Ok(Ok(found)) => Ok(found),
            Ok(Err(Unreadable)) => Err(ErrorObject::new(
                INTERNAL_ERROR,
                "the skills cannot be read",
            )),
            Err(failed) => {
                tracing::error!(%failed, "the skills cannot be read");
                Err(ErrorObject::new(INTERNAL_ERROR, "internal error"))
            }
        }
    }

    /// Returns `ttlMs` and `cacheScope` of a result. They are written at revisions that have them.
    fn cached(&self) -> (Option<i64>, Option<CacheScope>) {
        let scope = match self.caching.is_public() {
            true => CacheScope::Public,
            false => CacheScope::Private,
        };
        (Some(self.caching.ttl_ms()), Some(scope))
    }
}

/// Returns the first `most` of `children`, which are in the order of their URIs, starting at the URI `from`, and the URI where the next
/// page begins. `None` if `from` is not among them.
fn page_of(
    mut children: Vec<Resource>,
    from: Option<&str>,
    most: usize,
) -> Option<(Vec<Resource>, Option<String>)> {
    if let Some(from) = from {
        let start = children.iter().position(|child| child.uri == from)?;
        children.drain(..start);
    }
    let next = children.get(most).map(|child| child.uri.clone());
    children.truncate(most);
    Some((children, next))
}

/// Decodes from `cursor` where a page begins.
fn place(cursor: &str) -> Result<String, ErrorObject> {
    let decoded = URL_SAFE_NO_PAD.decode(cursor).ok();
    let decoded = decoded.and_then(|bytes| String::from_utf8(bytes).ok());
    decoded.ok_or_else(|| bad_cursor(Some(cursor)))
}

/// Returns the error for a cursor that this server did not create, or whose item no longer exists (P-3).
fn bad_cursor(cursor: Option<&str>) -> ErrorObject {
    let expected = "a cursor that this list gave out, whose item is still there";
    invalid(
        "invalid cursor".to_owned(),
        "/params/cursor",
        "cursor",
        expected,
        cursor.unwrap_or_default(),
    )
}

/// Returns the error for `uri`, which does not exist.
fn unknown(problem: String, uri: &str, rule: &str, expected: &str) -> ErrorObject {
    invalid(problem, "/params/uri", rule, expected, uri)
}

fn invalid(problem: String, pointer: &str, rule: &str, expected: &str, found: &str) -> ErrorObject {
    let found = format!("string of {} bytes", found.len() + 2);
    let data = json!({ "pointer": pointer, "rule": rule, "expected": expected, "found": found });
    ErrorObject::new(INVALID_PARAMS, problem).with_data(Json::from(data))
}

/// Returns the beginning of `uri`.
fn short(uri: &str) -> String {
    match uri.char_indices().nth(MAX_REPEATED) {
        Some((end, _)) => format!("{}…", &uri[..end]),
        None => uri.to_owned(),
    }
}
