//! What is fine is found to be so without allocating.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

use serde_json::json;
use trueform_schema::{
    Annotations, CallToolResult, ImageContent, JsonObject, ListToolsResult, Revision, Role,
    TextContent, Tool, conform,
};

/// The system's allocator, counting per thread.
struct Counting;

thread_local! {
    static COUNT: Cell<usize> = const { Cell::new(0) };
}

// It only counts; every call goes on to the system's allocator as it came.
#[allow(unsafe_code, reason = "the trait of allocators is unsafe")]
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        COUNT.with(|count| count.set(count.get() + 1));
        // SAFETY: the caller keeps the promises of `alloc`.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        // SAFETY: the caller keeps the promises of `dealloc`, and all memory came from the system's allocator.
        unsafe { System.dealloc(pointer, layout) }
    }
}

#[global_allocator]
static COUNTING: Counting = Counting;

#[test]
fn conform_allocates_nothing_on_success() {
    let annotations = Annotations::new()
        .with_audience(vec![Role::User])
        .with_priority(0.5);
    let result = CallToolResult::new(vec![
        TextContent::new("5").with_annotations(annotations).into(),
        ImageContent::new("aGVsbG8=", "image/png").into(),
    ])
    .with_structured_content(
        JsonObject::from_value(&json!({"result": 5})).expect("it is an object"),
    );
    let schema =
        json!({"type": "object", "properties": {"a": {"type": "integer"}}, "required": ["a"]});
    let schema = JsonObject::from_value(&schema).expect("it is an object");
    let list = ListToolsResult::new(vec![
        Tool::new(schema.clone(), "add").with_output_schema(schema),
    ]);
    let before = COUNT.get();
    for revision in Revision::ALL {
        assert!(conform(&result, revision).is_ok());
        assert!(conform(&list, revision).is_ok());
    }
    assert_eq!(COUNT.get(), before);
}
