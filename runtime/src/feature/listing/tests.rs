//! How often a list is written.

use std::sync::atomic::{AtomicUsize, Ordering};

use base64::{Engine as _, engine::general_purpose::URL_SAFE_NO_PAD};
use trueform_schema::{ListPromptsResult, Prompt};

use super::{places::MAX_GONE, *};
use crate::{
    feature::visibility::{Viewer, Visibility},
    principal::Principal,
};

/// An item that counts how often it is shown.
#[derive(Debug)]
struct Counted {
    name: String,
    shown: Arc<AtomicUsize>,
}

impl Item for Counted {
    const KIND: &'static str = "thing";
    const RULE: &'static str = "known-thing";
    const POINTER: &'static str = "/params/name";
    const METHOD: Method = Method::ListPrompts;
    type Page = ListPromptsResult;
    type Shown = Prompt;

    fn name(&self) -> &str {
        &self.name
    }

    fn place(&self) -> &dyn Display {
        &"here"
    }

    fn shown(&self, _: View<'_>) -> Prompt {
        self.shown.fetch_add(1, Ordering::Relaxed);
        Prompt::new(&*self.name)
    }

    fn page(shown: Vec<Prompt>, next_cursor: Option<String>) -> ListPromptsResult {
        let mut result = ListPromptsResult::new(shown);
        result.next_cursor = next_cursor;
        result
    }
}

/// A list of `count` items, and how often one was shown since the last look.
fn list(count: usize, page_size: usize) -> (Listed<Counted>, impl Fn() -> usize) {
    let shown = Arc::<AtomicUsize>::default();
    let items = (0..count).map(|at| Counted {
        name: format!("item_{at:05}"),
        shown: shown.clone(),
    });
    let listed = Listed::new(items.collect(), page_size);
    (listed, move || shown.swap(0, Ordering::Relaxed))
}

fn page(listing: &Listing<Counted>, cursor: Option<&str>, sight: Option<&Sight<'_>>) -> Checked {
    let view = View::at(Revision::LATEST);
    let page = listing.page(cursor, sight, view, Policy::Enforce);
    page.expect("the cursor is good")
}

fn cursor(name: &str) -> String {
    URL_SAFE_NO_PAD.encode(format!("thing:{name}"))
}

/// Where the page begins that `cursor` asks for.
fn entry_of(listing: &Listing<Counted>, cursor: &str) -> Option<usize> {
    let places = &listing.places;
    places.of_cursor(&Listing::<Counted>::WORDS, cursor, None)
}

// After the first time a list of 10,000 is a copy of the same bytes, for each page and each revision.
#[test]
fn a_list_is_written_once() {
    for page_size in [usize::MAX, 10_000, 1000, 7] {
        let (listed, shown) = list(10_000, page_size);
        let listing = listed.now();
        let first = page(&listing, None, None);
        assert_eq!(shown(), 10_000, "{page_size}");
        for _ in 0..3 {
            assert!(page(&listing, None, None).is_same(&first), "{page_size}");
        }
        if page_size < 10_000 {
            let cursor = cursor(&format!("item_{:05}", page_size * 3));
            let fourth = page(&listing, Some(&cursor), None);
            assert!(!fourth.is_same(&first));
            assert!(page(&listing, Some(&cursor), None).is_same(&fourth));
        }
        assert_eq!(shown(), 0, "{page_size}: nothing is written again");
        listing
            .page(None, None, View::at(Revision::V2025_03_26), Policy::Enforce)
            .unwrap();
        assert_eq!(shown(), 10_000, "{page_size}: another revision");

        // A change of the list writes it again, once.
        assert!(listed.enable("item_00000", false));
        let listing = listed.now();
        page(&listing, None, None);
        page(&listing, None, None);
        assert_eq!(shown(), 9_999, "{page_size}");
    }
}

// P-3: after a change, the cursor of an item leads to it wherever it stands now, and shows one page only.
#[test]
fn cursors_after_a_change() {
    let (listed, shown) = list(100, 10);
    for name in ["item_00003", "item_00050", "item_00099"] {
        assert!(listed.enable(name, false));
    }
    let listing = listed.now();
    page(&listing, None, None);
    assert_eq!(shown(), 97);
    let text = |cursor: &str, sight: Option<&Sight<'_>>| {
        let mut bytes = page(&listing, Some(cursor), sight).bytes().to_vec();
        let page: serde_json::Value = serde_json::from_slice(&bytes).unwrap();
        bytes.clear();
        let names: Vec<_> = page["prompts"].as_array().unwrap().iter().collect();
        let names = names
            .iter()
            .map(|one| one["name"].as_str().unwrap()[5..].parse().unwrap());
        let next = page["nextCursor"].as_str().map(str::to_owned);
        (names.collect::<Vec<usize>>(), next)
    };
    // The eleventh that is enabled begins a written page.
    let aligned = text(&cursor("item_00011"), None);
    assert_eq!(aligned, ((11..21).collect(), Some(cursor("item_00021"))));
    assert_eq!(shown(), 0);
    let unaligned = text(&cursor("item_00045"), None);
    let expected: Vec<usize> = (45..56).filter(|at| *at != 50).collect();
    assert_eq!(unaligned, (expected, Some(cursor("item_00056"))));
    assert_eq!(shown(), 10);
    let last = text(&cursor("item_00089"), None);
    assert_eq!(last, ((89..99).collect(), None));

    // With sight: only what is on the page is shown, and the written pages are left alone.
    let mut visibility = Visibility::default();
    visibility
        .limit(|viewer, offer| viewer.principal().is_some() || offer.name().ends_with(['0', '5']));
    let nobody = visibility.of(Viewer::new(None, None));
    shown();
    let seen = text(&cursor("item_00045"), Some(&nobody));
    let expected = vec![45, 55, 60, 65, 70, 75, 80, 85, 90, 95];
    assert_eq!(seen, (expected, None));
    assert_eq!(shown(), 10);
    let ann = Principal::new("ann");
    let ann = visibility.of(Viewer::new(Some(&ann), None));
    assert_eq!(text(&cursor("item_00011"), Some(&ann)), aligned);

    // Of one that was disabled: the page begins where it stood.
    let after: Vec<usize> = (51..61).collect();
    assert_eq!(text(&cursor("item_00050"), None).0, after);
    assert_eq!(text(&cursor("item_00050"), Some(&ann)).0, after);

    // Of no item, of one that is not seen, of one that was not seen, of nothing.
    let view = View::at(Revision::LATEST);
    for (name, sight) in [
        ("item_00100", None),
        ("item_00011", Some(&nobody)),
        ("item_00003", Some(&nobody)),
        ("", None),
    ] {
        let refused = listing.page(Some(&cursor(name)), sight, view, Policy::Enforce);
        assert_eq!(refused.unwrap_err().code, -32602, "{name}");
    }
}

// P-3: the cursor of an item that was removed leads to what came after it, as long as the list remembers it.
#[test]
fn cursors_of_what_is_gone() {
    let (listed, _) = list(40, 10);
    let first = |name: &str| {
        let listing = listed.now();
        let view = View::at(Revision::LATEST);
        let page = listing.page(Some(&cursor(name)), None, view, Policy::Enforce);
        let page = page.map_err(|error| error.code)?;
        let page: serde_json::Value = serde_json::from_slice(page.bytes()).unwrap();
        let name = &page["prompts"][0]["name"];
        Ok::<_, i64>(name.as_str().map(str::to_owned))
    };
    let item = |at: usize| Some(format!("item_{at:05}"));
    for at in [10, 11, 39] {
        assert!(listed.remove(&format!("item_{at:05}")));
    }
    assert_eq!(first("item_00010"), Ok(item(12)));
    assert_eq!(first("item_00011"), Ok(item(12)));
    // Nothing came after it: the last page is empty.
    assert_eq!(first("item_00039"), Ok(None));
    // One that comes again is at the end, and has another cursor: that of the first one still leads to what came after that.
    let again = Counted {
        name: "item_00010".to_owned(),
        shown: Arc::default(),
    };
    let added = listed.change(|entries| {
        entries.push(Entry::new(again));
        Ok::<_, ()>(true)
    });
    assert_eq!(added, Ok(true));
    assert_eq!(first("item_00010"), Ok(item(12)));
    assert_eq!(first("item_00039"), Ok(item(10)));
    let listing = listed.now();
    let again = listing.places.cursor(&Listing::<Counted>::WORDS, 37);
    assert_eq!(again, URL_SAFE_NO_PAD.encode("thing+1:item_00010"));
    assert_eq!(entry_of(&listing, &again), Some(37));
    for never in [
        "thing+2:item_00010",
        "thing+x:item_00010",
        "thing1:item_00010",
    ] {
        let at = entry_of(&listing, &URL_SAFE_NO_PAD.encode(never));
        assert_eq!(at, None, "{never}");
    }
    assert_eq!(first("item_00099"), Err(-32602));

    // What is remembered is bounded.
    let (listed, _) = list(MAX_GONE + 2, 10);
    for at in 0..=MAX_GONE {
        assert!(listed.remove(&format!("item_{at:05}")));
    }
    let listing = listed.now();
    assert_eq!(listing.places.gone.len(), MAX_GONE);
    assert_eq!(entry_of(&listing, &cursor("item_00000")), None);
    assert_eq!(entry_of(&listing, &cursor("item_00001")), Some(0));
}

// The names that are suggested are those that the caller sees.
#[test]
fn names_that_are_not_seen_are_not_suggested() {
    let (listed, _) = list(100, 10);
    let listing = listed.now();
    let mut visibility = Visibility::default();
    visibility.limit(|_, offer| offer.name().ends_with('5'));
    let sight = visibility.of(Viewer::new(None, None));
    let refused = |name| listing.find(name, Some(&sight)).unwrap_err().message;
    assert_eq!(
        refused("item_0001"),
        "unknown thing `item_0001`; did you mean `item_00015`?"
    );
    assert_eq!(
        refused("item_00016"),
        "unknown thing `item_00016`; did you mean `item_00015`?"
    );
    let far = refused("nothing like it");
    assert!(far.ends_with("`item_00095`"), "{far}");
    assert_eq!(far.matches("`item_").count(), 10, "{far}");
    assert!(listing.find("item_00015", Some(&sight)).is_ok());
    assert!(listing.find("item_00016", None).is_ok());

    visibility.limit(|_, _| false);
    let sight = visibility.of(Viewer::new(None, None));
    let refused = listing
        .find("item_00015", Some(&sight))
        .unwrap_err()
        .message;
    assert_eq!(
        refused,
        "unknown thing `item_00015`; this server has no things"
    );
}
