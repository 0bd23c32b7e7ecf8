//! What is fine is found to be so without allocating.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

use serde_json::json;
use trueform_schema::{
    Annotations, AudioContent, CallToolResult, Conform, EnumOption, ImageContent, Json, JsonObject,
    ListToolsResult, PrimitiveSchemaDefinition, ResourceLink, Revision, Role, TextContent,
    TitledSingleSelectEnumSchema, Tool, conform, rewrite::Wrapped, violations,
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

/// Checks that all `revisions` allow `value`, and that finding it out takes nothing from the heap.
fn fine(value: &dyn Conform, revisions: &[Revision]) {
    for revision in revisions {
        let before = COUNT.get();
        let verdict = conform(value, *revision);
        let taken = COUNT.get() - before;
        assert!(verdict.is_ok(), "{verdict:?}");
        assert_eq!(taken, 0, "at {revision}");
    }
}

fn annotations() -> Annotations {
    Annotations::new()
        .with_audience(vec![Role::User])
        .with_priority(0.5)
}

#[test]
fn conform_allocates_nothing_on_success() {
    let result = CallToolResult::new(vec![
        TextContent::new("5").with_annotations(annotations()).into(),
        ImageContent::new("aGVsbG8=", "image/png").into(),
    ])
    .with_structured_content(
        JsonObject::from_value(&json!({"result": 5})).expect("it is an object"),
    );
    fine(&result, &Revision::ALL);
    let schema =
        json!({"type": "object", "properties": {"a": {"type": "integer"}}, "required": ["a"]});
    let schema = JsonObject::from_value(&schema).expect("it is an object");
    let list = ListToolsResult::new(vec![
        Tool::new(schema.clone(), "add").with_output_schema(schema),
    ]);
    fine(&list, &Revision::ALL);
    let list = CallToolResult::new(vec![]).with_structured_content(Json::from(json!([5])));
    fine(&Wrapped::new(&list), &Revision::ALL);
}

#[test]
fn nor_for_what_older_revisions_see_as_something_else() {
    let result = CallToolResult::new(vec![
        AudioContent::new("aGVsbG8=", "audio/wav")
            .with_annotations(annotations())
            .into(),
        ResourceLink::new("notes", "file:///notes.txt")
            .with_title("Notes")
            .with_annotations(annotations())
            .into(),
    ]);
    fine(&result, &Revision::ALL);
    let colours = TitledSingleSelectEnumSchema::new(vec![
        EnumOption::new("r", "Red"),
        EnumOption::new("g", "Green"),
    ]);
    let field = PrimitiveSchemaDefinition::from(colours.with_default("r"));
    fine(&field, &Revision::ALL[2..]);
    assert!(conform(&field, Revision::V2025_03_26).is_err());
}

#[test]
fn nor_for_names_with_escapes() {
    let schema = |ty: &str, name: &str| -> JsonObject {
        serde_json::from_str(&format!(
            r#"{{"{ty}": "\u006fbject", "properties": {{"{name}": {{"t\u0079pe": "string"}}}}, "\ud83d\ude00\u0000": 1}}"#
        ))
        .expect("it is an object")
    };
    let names = schema("\\u0074\\u0079pe", "\\u00e9\\n\\ud83d\\ude00\\\"");
    let tool = Tool::new(names.clone(), "t").with_output_schema(names);
    fine(&tool, &Revision::ALL);

    // Where something is wrong, the pointer says what the name says.
    let mut tool = Tool::new(schema("type", "a"), "t");
    tool.input_schema = serde_json::from_str(
        r#"{"type": "object", "properties": {"a": {}, "\u00e9\ud83d\ude00\/~": 1}}"#,
    )
    .expect("it is an object");
    let found = violations(&tool, Revision::V2025_11_25);
    let pointers: Vec<&str> = found.iter().map(|one| one.pointer()).collect();
    assert_eq!(pointers, ["/inputSchema/properties/é😀~1~0"]);
}
