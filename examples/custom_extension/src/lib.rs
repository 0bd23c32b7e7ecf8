//! An invented extension of the protocol, and a server that serves it: shelves of bookmarks.
//!
//! `bookmarks.schema.json` is written as a published extension would write it, with copies of the core definitions it uses.
//! The build script binds it. Definitions that equal the core's are not generated again: a [`bookmarks::Bookmark`] holds the
//! same [`Icon`](trueform_schema::Icon) and [`Annotations`](trueform_schema::Annotations) as a tool does.
//!
//! All messages are typed: requests and notifications of the client, which [`Shelves`] handles, and the notifications that it
//! sends. The server sends no requests, because revision 2026-07-28 does not have any.

/// The generated bindings of `com.example/bookmarks`.
pub mod bookmarks {
    include!(concat!(env!("OUT_DIR"), "/bookmarks.rs"));
}

use std::sync::{Mutex, MutexGuard, PoisonError};

use bookmarks::handler::{self, ServerHandler};
use bookmarks::{
    AddBookmarkRequestParams, AddBookmarkResult, Bookmark, BookmarkAddedNotificationParams,
    BookmarkVisitedNotificationParams, ListBookmarksRequestParams, ListBookmarksResult,
    methods::BookmarkAdded,
};
use trueform::{AskError, Context, Server, schema::ErrorObject};

/// The member of `_meta` in which a client may name the reader.
pub const READER: &str = "com.example/reader";
/// The member of `_meta` in which results repeat it.
pub const KEPT_FOR: &str = "com.example/kept-for";

/// The server. `Server::run` serves it over standard input and output or over HTTP.
pub fn server() -> Server {
    Server::new("bookmarks", env!("CARGO_PKG_VERSION"))
        .extension(handler::Server(Shelves::default()))
}

/// The server side of the extension. It keeps bookmarks in memory.
#[derive(Debug, Default)]
pub struct Shelves {
    kept: Mutex<Vec<Bookmark>>,
}

impl Shelves {
    fn kept(&self) -> MutexGuard<'_, Vec<Bookmark>> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl ServerHandler for Shelves {
    type Context = Context;

    async fn add_bookmark(
        &self,
        cx: &Context,
        params: AddBookmarkRequestParams,
    ) -> Result<AddBookmarkResult, ErrorObject> {
        let mut kept = self.kept();
        let id = (kept.len() + 1).to_string();
        let added = BookmarkAddedNotificationParams::new(params.bookmark, &*id);
        match cx.notify::<BookmarkAdded>(&added) {
            // The bookmark is kept even if the client cannot be notified.
            Ok(()) | Err(AskError::Gone) => kept.push(added.bookmark),
            Err(problem) => return Err(ErrorObject::new(-32602, problem.to_string())),
        }
        if let Some(reader) = cx.meta(READER) {
            cx.set_result_meta(KEPT_FOR, reader);
        }
        Ok(AddBookmarkResult::new(id))
    }

    async fn list_bookmarks(
        &self,
        _: &Context,
        params: ListBookmarksRequestParams,
    ) -> Result<ListBookmarksResult, ErrorObject> {
        let wanted =
            |bookmark: &&Bookmark| params.shelf.is_none() || bookmark.shelf == params.shelf;
        let found: Vec<_> = self.kept().iter().filter(wanted).cloned().collect();
        Ok(ListBookmarksResult::new(found))
    }

    async fn bookmark_visited(&self, _: &Context, params: BookmarkVisitedNotificationParams) {
        let Ok(id) = params.id.parse::<usize>() else {
            return;
        };
        // A notification has no response that could report an unknown bookmark.
        if let Some(bookmark) = self.kept().get_mut(id.wrapping_sub(1)) {
            bookmark.visits = Some(bookmark.visits.unwrap_or(0) + 1);
        }
    }
}
