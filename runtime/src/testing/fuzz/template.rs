//! URI templates: the first line of the input is one, each further line a URI.

use crate::feature::resources::{template::Template, trie::Trie};

/// Checks that templates are parsed or refused; that the values of a URI are decoded or refused, expand to a URI that matches the template
/// again, and do not leave their folder; and that the trie finds each template for its URIs.
pub fn template(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else {
        return;
    };
    let mut lines = text.lines();
    let Ok(template) = Template::parse(lines.next().unwrap_or_default()) else {
        return;
    };
    let count = template.names().count();
    let file_like = template.clone().file_like();
    // The others diverge from its prefix at each place where text can be split.
    let prefix = template.prefix();
    let others = prefix.char_indices().map(|(at, _)| &prefix[..at]);
    let trie = Trie::new(others.chain([prefix]));
    for uri in lines {
        let first = trie.candidates(uri).next();
        let is_first = first == Some(prefix.chars().count());
        assert_eq!(is_first, uri.starts_with(prefix), "{uri}");
        let held = file_like.values(uri);
        let Some(values) = template.values(uri) else {
            assert!(held.is_none());
            continue;
        };
        let Ok(values) = values else {
            assert!(held.is_some_and(|held| held.is_err()));
            continue;
        };
        assert_eq!(values.len(), count);
        let values: Vec<&str> = values.iter().map(|value| &**value).collect();
        assert!(values.iter().all(|value| !value.is_empty()));
        let expanded = template.expanded(&values);
        let Some(Ok(again)) = template.values(&expanded) else {
            panic!("{uri}: {expanded} has lost the form of the template");
        };
        let again: Vec<&str> = again.iter().map(|value| &**value).collect();
        assert_eq!(template.expanded(&again), expanded, "{uri}");
        // A value that contains text of the template may end earlier if that text is no longer encoded: `{a}-{b}` and `x%2Dy-z`.
        if !values.iter().any(|value| template.has_in_literals(value)) {
            assert_eq!(again, values, "{uri}");
        }
        if let Some(Ok(held)) = held {
            assert_eq!(held, values);
            assert!(held.iter().all(|value| {
                let mut segments = value.split(['/', '\\', '\0']);
                segments.all(|segment| segment != "..") && !value.starts_with('/')
            }));
        }
    }
}
