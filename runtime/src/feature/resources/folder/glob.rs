//! Patterns for names of files: `*`, `?` and `**`. A few lines, where a crate would bring a regular expression for each pattern.

/// Whether `pattern` matches all of `text`. `*` stands for any text without a slash, `**` for any text, `?` for one character but a
/// slash. Takes time in proportion to the product of the lengths.
pub(super) fn matches(pattern: &str, text: &str) -> bool {
    let text: Vec<char> = text.chars().collect();
    // For each beginning of the text, whether the pattern so far matches it.
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
    reached[text.len()]
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
        let (stars, letters) = ("*a".repeat(200), "a".repeat(20_000));
        assert!(!matches(&format!("{stars}b"), &letters));
    }
}
