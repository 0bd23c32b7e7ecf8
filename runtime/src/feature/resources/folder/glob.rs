//! Patterns for names of files: `*`, `?` and `**`. This code is only a few lines; a crate would compile a regular expression for each
//! pattern.

/// Returns whether `pattern` matches all of `path`, or the path of a folder that contains it. The time is proportional to the product of
/// the lengths, for any number of folders.
pub(super) fn matches_upto(pattern: &str, path: &str) -> bool {
    let letters = path.chars().map(Some).chain([None]);
    let mut ends = letters.map(|letter| letter.is_none_or(|letter| letter == '/'));
    let mut reached = reached(pattern, path).into_iter();
    ends.by_ref()
        .any(|is_end| reached.next() == Some(true) && is_end)
}

/// Returns whether `pattern` matches all of `text`. `*` matches any text without a slash, `**` any text, `?` one character except a slash.
/// The time is proportional to the product of the lengths.
pub(super) fn matches(pattern: &str, text: &str) -> bool {
    reached(pattern, text).last() == Some(&true)
}

/// Returns for each prefix of `text`, from the empty one on, whether `pattern` matches it.
fn reached(pattern: &str, text: &str) -> Vec<bool> {
    let text: Vec<char> = text.chars().collect();
    // Whether the pattern so far matches each prefix.
    let mut reached = vec![false; text.len() + 1];
    reached[0] = true;
    let mut rest = pattern.chars().peekable();
    while let Some(letter) = rest.next() {
        if letter == '*' {
            let crosses = rest.next_if_eq(&'*').is_some();
            for at in 0..text.len() {
                reached[at + 1] |= reached[at] && (crosses || text[at] != '/');
            }
            continue;
        }
        for at in (0..text.len()).rev() {
            let fits = match letter {
                '?' => text[at] != '/',
                letter => text[at] == letter,
            };
            reached[at + 1] = reached[at] && fits;
        }
        reached[0] = false;
    }
    reached
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns() {
        for (pattern, text, expected) in [
            ("", "", true),
            ("", "a", false),
            ("a", "a", true),
            ("a", "ab", false),
            ("*", "", true),
            ("*", "abc", true),
            ("*", "a/b", false),
            ("**", "a/b", true),
            ("*.tmp", "a.tmp", true),
            ("*.tmp", ".tmp", true),
            ("*.tmp", "a.tmpx", false),
            ("*.tmp", "a/b.tmp", false),
            ("**.tmp", "a/b.tmp", true),
            ("a/*/c", "a/b/c", true),
            ("a/*/c", "a/b/b/c", false),
            ("a/**/c", "a/b/b/c", true),
            ("?", "é", true),
            ("?", "/", false),
            ("??", "é", false),
            ("a*b*c", "axbxbxc", true),
            ("a*b*c", "axbxbx", false),
        ] {
            assert_eq!(matches(pattern, text), expected, "{pattern} {text}");
        }
        for (pattern, path, expected) in [
            ("a/b", "a/b", true),
            ("a/b", "a/b/c/d", true),
            ("a/b", "a/bc", false),
            ("a/*", "a/b/c", true),
            ("a/*", "a", false),
            ("é/b", "é/b/c", true),
            ("**/c", "a/b/c/d", true),
        ] {
            assert_eq!(matches_upto(pattern, path), expected, "{pattern} {path}");
        }
        let (stars, letters) = ("*a".repeat(200), "a".repeat(20_000));
        assert!(!matches(&format!("{stars}b"), &letters));
    }
}
