//! The bindings of a user's extension, as its author uses them.

use std::sync::{Arc, Mutex};

use custom_extension::Shelves;
use custom_extension::bookmarks::handler::{Client, ClientHandler, Server};
use custom_extension::bookmarks::{
    self, AddBookmarkRequestParams, Bookmark, BookmarkAddedNotificationParams, Method,
    ServerNotification, Shelf,
};
use trueform_schema::methods::{AnyNotification, AnyRequest, Methods};
use trueform_schema::{Annotations, At, Icon, Revision, Role, decode};

const NOW: Revision = Revision::V2026_07_28;

#[test]
fn definitions_equal_to_the_cores_are_the_cores_types() {
    let bookmark = Bookmark::new("Example", "https://example.com")
        .with_icons(vec![Icon::new("https://example.com/icon.png")])
        .with_annotations(Annotations::new().with_audience(vec![Role::User]))
        .with_shelf(Shelf::Later);
    let text = At::new(&bookmark, NOW).to_string();
    assert_eq!(decode::from_str::<Bookmark>(&text).unwrap(), bookmark);
}

/// Collects the titles of the added bookmarks.
#[derive(Default)]
struct Feed(Mutex<Vec<String>>);

impl ClientHandler for Feed {
    type Context = ();

    async fn bookmark_added(&self, (): &(), params: BookmarkAddedNotificationParams) {
        self.0
            .lock()
            .expect("no test poisons it")
            .push(params.bookmark.title);
    }
}

#[test]
fn a_client_hears_notifications() {
    let feed = Arc::new(Client(Feed::default()));
    let params = r#"{"id":"1","bookmark":{"uri":"https://a.example","title":"A"}}"#;
    let added = bookmarks::methods::BookmarkAdded::METHOD;
    let heard = feed.clone().notification(NOW, added, Some(params)).unwrap();
    ready(heard.call(()));
    assert_eq!(*feed.0.0.lock().unwrap(), ["A"]);
    // The server sends no requests.
    let error = feed.request(NOW, "bookmarks/add", None).unwrap_err();
    assert_eq!(
        error.to_string(),
        "`bookmarks/add` is not sent by the server in this form"
    );
}

#[test]
fn markers_and_adapter_name_the_extension() {
    fn name<R: AnyRequest>() -> (&'static str, Option<&'static str>) {
        (R::METHOD, R::EXTENSION)
    }
    assert_eq!(
        name::<bookmarks::methods::AddBookmark>(),
        ("bookmarks/add", Some("com.example/bookmarks"))
    );
    let shelves = Server(Shelves::default());
    assert_eq!(shelves.identifier(), Some(bookmarks::IDENTIFIER));
    assert_eq!(
        shelves.names(),
        [
            "bookmarks/add",
            "bookmarks/list",
            "notifications/bookmarks/added",
            "notifications/bookmarks/visited"
        ]
    );
}

#[test]
fn the_table_says_who_sends_what_and_when() {
    assert!(
        Method::AddBookmark
            .rules(NOW)
            .unwrap()
            .direction
            .from_client()
    );
    assert!(
        Method::BookmarkAdded
            .rules(NOW)
            .unwrap()
            .direction
            .from_server()
    );
    assert!(Method::BookmarkAdded.is_notification());
    assert_eq!(
        Method::AddBookmark.rules(Revision::V2025_11_25),
        None,
        "the extension needs the newest revision"
    );
    let params = BookmarkAddedNotificationParams::new(Bookmark::new("A", "https://a.example"), "1");
    assert_eq!(
        ServerNotification::BookmarkAdded(Box::new(params)).method(),
        Method::BookmarkAdded
    );
    _ = AddBookmarkRequestParams::new(Bookmark::new("A", "https://a.example"));
}

/// The handlers of this example never wait.
fn ready<T>(future: impl Future<Output = T>) -> T {
    let mut context = std::task::Context::from_waker(std::task::Waker::noop());
    match std::pin::pin!(future).poll(&mut context) {
        std::task::Poll::Ready(value) => value,
        std::task::Poll::Pending => panic!("a handler waited"),
    }
}
