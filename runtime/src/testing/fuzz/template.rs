//! URI templates: the first line of the input is one, each further line a URI.

use crate::feature::resources::{template::Template, trie::Trie};

/// Templates are parsed or refused; the values of a URI are decoded or refused, make a URI that has the form of the template
/// again, and do not leave their folder; the trie finds each template for its URIs.
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
    // The others part from its prefix at each place where text can be parted.
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
        let again = template.expanded(&values);
        let again = template.values(&again);
        assert!(matches!(again, Some(Ok(_))), "{again:?}");
        if let Some(Ok(held)) = held {
            assert_eq!(held, values);
            assert!(held.iter().all(|value| {
                let mut segments = value.split(['/', '\\', '\0']);
                segments.all(|segment| segment != "..") && !value.starts_with('/')
            }));
        }
    }
}
