//! The bindings of an extension of one's own, as its author uses them.

use custom_extension::Shelves;
use custom_extension::bookmarks::handler::dispatch_to_server;
use custom_extension::bookmarks::{
    AddBookmarkRequestParams, Bookmark, BookmarkAddedNotificationParams, ClientRequest,
    ListBookmarksResult, Method, ServerNotification, Shelf,
};
use trueform_schema::{Annotations, At, Icon, Revision, Role, decode};

const NOW: Revision = Revision::V2026_07_28;

#[test]
fn definitions_equal_to_the_cores_are_the_cores_types() {
    let bookmark = Bookmark::new("https://example.com", "Example")
        .with_icons(vec![Icon::new("https://example.com/icon.png")])
        .with_annotations(Annotations::new().with_audience(vec![Role::User]))
        .with_shelf(Shelf::Later);
    let text = At::new(&bookmark, NOW).to_string();
    assert_eq!(decode::from_str::<Bookmark>(&text).unwrap(), bookmark);
}

#[test]
fn requests_go_from_text_to_handler_to_text() {
    let shelves = Shelves::default();
    let call = |method: &str, params: &str| {
        let method = Method::from_wire(method).expect("a method of the extension");
        let request =
            ClientRequest::decode(NOW, method, Some(params)).map_err(|error| error.to_string())?;
        let answer = ready(dispatch_to_server(&shelves, &(), NOW, request))
            .map_err(|error| error.message)?;
        Ok::<_, String>(At::new(&*answer, NOW).to_string())
    };
    let added = call(
        "bookmarks/add",
        r#"{"bookmark":{"uri":"https://a.example","title":"A","shelf":"later"}}"#,
    )
    .unwrap();
    assert_eq!(added, r#"{"resultType":"complete","id":"1"}"#);
    call(
        "bookmarks/add",
        r#"{"bookmark":{"uri":"https://b.example","title":"B","x":1}}"#,
    )
    .unwrap();

    let listed: ListBookmarksResult =
        decode::from_str(&call("bookmarks/list", r#"{"shelf":"later"}"#).unwrap()).unwrap();
    assert_eq!(listed.bookmarks.len(), 1);
    assert!(
        call("bookmarks/list", "{}").unwrap().contains(r#""x":1"#),
        "unknown members are kept"
    );

    let error = call(
        "bookmarks/add",
        r#"{"bookmark":{"uri":"https://a.example"}}"#,
    )
    .unwrap_err();
    assert!(
        error.starts_with("/bookmark: missing") && error.contains("title"),
        "{error}"
    );
    let error = call("notifications/bookmarks/added", "{}").unwrap_err();
    assert_eq!(
        error,
        "`notifications/bookmarks/added` is not sent by the client in this form"
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
    let params = BookmarkAddedNotificationParams::new(Bookmark::new("https://a.example", "A"), "1");
    assert_eq!(
        ServerNotification::BookmarkAdded(Box::new(params)).method(),
        Method::BookmarkAdded
    );
    _ = AddBookmarkRequestParams::new(Bookmark::new("https://a.example", "A"));
}

/// The handlers of this example never wait.
fn ready<T>(future: impl Future<Output = T>) -> T {
    let mut context = std::task::Context::from_waker(std::task::Waker::noop());
    match std::pin::pin!(future).poll(&mut context) {
        std::task::Poll::Ready(value) => value,
        std::task::Poll::Pending => panic!("a handler waited"),
    }
}
