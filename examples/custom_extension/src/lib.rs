//! An extension of the protocol that this crate made up: a shelf of bookmarks.
//!
//! `bookmarks.schema.json` is written as a published extension would write it, with copies of the core definitions it uses.
//! The build script binds it. Definitions that equal the core's are not generated again: a [`bookmarks::Bookmark`] holds the
//! same [`Icon`](trueform_schema::Icon) and [`Annotations`](trueform_schema::Annotations) as a tool does.

/// The generated bindings of `com.example/bookmarks`.
pub mod bookmarks {
    include!(concat!(env!("OUT_DIR"), "/bookmarks.rs"));
}

use std::sync::Mutex;

use bookmarks::handler::ServerHandler;
use bookmarks::{
    AddBookmarkRequestParams, AddBookmarkResult, Bookmark, ListBookmarksRequestParams,
    ListBookmarksResult,
};
use trueform_schema::ErrorObject;

/// A server side of the extension that keeps bookmarks in memory.
#[derive(Debug, Default)]
pub struct Shelves {
    kept: Mutex<Vec<Bookmark>>,
}

impl ServerHandler for Shelves {
    type Context = ();

    async fn add_bookmark(
        &self,
        (): &(),
        params: AddBookmarkRequestParams,
    ) -> Result<AddBookmarkResult, ErrorObject> {
        let mut kept = self
            .kept
            .lock()
            .map_err(|_| ErrorObject::new(-32603, "the shelf is broken"))?;
        kept.push(params.bookmark);
        Ok(AddBookmarkResult::new(kept.len().to_string()))
    }

    async fn list_bookmarks(
        &self,
        (): &(),
        params: ListBookmarksRequestParams,
    ) -> Result<ListBookmarksResult, ErrorObject> {
        let kept = self
            .kept
            .lock()
            .map_err(|_| ErrorObject::new(-32603, "the shelf is broken"))?;
        let wanted =
            |bookmark: &&Bookmark| params.shelf.is_none() || bookmark.shelf == params.shelf;
        Ok(ListBookmarksResult::new(
            kept.iter().filter(wanted).cloned().collect::<Vec<_>>(),
        ))
    }
}
