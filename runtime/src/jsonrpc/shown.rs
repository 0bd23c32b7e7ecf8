//! A peer's text in a message or a log: on one line, without characters that change how other characters are displayed, and short.

use std::{
    borrow::Cow,
    fmt::{self, Write as _},
};

use trueform_schema::RequestId;

/// Most characters that a message or a log repeats of one text of a peer, such as a name, an id or the value of a header.
pub const MAX_REPEATED: usize = 200;

/// Most characters of a sentence that repeats a peer's texts within the words of others, such as those of a decoder.
const MAX_SENTENCE: usize = 1000;

/// Returns a peer's text for a message or the log: at most [`MAX_REPEATED`] characters, escaped.
#[inline]
pub(crate) fn shortened(text: &str) -> Cow<'_, str> {
    limited(text, MAX_REPEATED)
}

/// Returns a sentence that may repeat a peer's texts, for a message or the log.
pub(crate) fn sentence(text: &str) -> Cow<'_, str> {
    limited(text, MAX_SENTENCE)
}

/// Returns `text` escaped and on one line, without a limit on its length.
pub(crate) fn one_line(text: &str) -> Cow<'_, str> {
    limited(text, usize::MAX)
}

#[inline]
fn limited(text: &str, most: usize) -> Cow<'_, str> {
    let is_plain = |byte: u8| matches!(byte, b' '..=b'~');
    if text.len() <= most && text.bytes().all(is_plain) {
        return Cow::Borrowed(text);
    }
    Cow::Owned(escaped(text, most, false))
}

/// Returns at most `most` characters of `text`, and `…` if there are more.
#[cold]
fn escaped(text: &str, most: usize, in_quotes: bool) -> String {
    let mut out = String::new();
    let mut left = most;
    for letter in text.chars() {
        let start = out.len();
        // Writing to a string cannot fail.
        let _ = match letter {
            '\n' => out.write_str("\\n"),
            '\r' => out.write_str("\\r"),
            '\t' => out.write_str("\\t"),
            '"' | '\\' if in_quotes => write!(out, "\\{letter}"),
            letter if is_disturbing(letter) => write!(out, "{}", letter.escape_unicode()),
            letter => out.write_char(letter),
        };
        let taken = out[start..].chars().count();
        if left < taken {
            out.truncate(start);
            out.push('…');
            break;
        }
        left -= taken;
    }
    out
}

/// Returns whether `letter` ends lines, is invisible, or changes how other characters are displayed: control characters, line and paragraph
/// separators, direction marks, zero-width characters and tags.
fn is_disturbing(letter: char) -> bool {
    letter.is_control()
        || matches!(
            letter,
            '\u{ad}'
                | '\u{61c}'
                | '\u{180e}'
                | '\u{200b}'..='\u{200f}'
                | '\u{2028}'..='\u{202e}'
                | '\u{2060}'..='\u{206f}'
                | '\u{feff}'
                | '\u{fff9}'..='\u{fffb}'
                | '\u{e0000}'..='\u{e007f}'
        )
}

/// A peer's id as its JSON text, for a message or the log: at most [`MAX_REPEATED`] characters, escaped.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ShortRequestId<'a>(pub(crate) &'a RequestId);

impl fmt::Display for ShortRequestId<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            RequestId::Integer(integer) => write!(f, "{integer}"),
            RequestId::Text(text) => write!(f, "\"{}\"", escaped(text, MAX_REPEATED, true)),
            id @ RequestId::Number(_) => f.write_str(&shortened(&id.to_string())),
        }
    }
}

/// A whole message for the log at level `TRACE`: escaped, without a limit on its length.
pub(crate) struct WholeMessage<'a>(pub(crate) &'a [u8]);

impl fmt::Display for WholeMessage<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&one_line(&String::from_utf8_lossy(self.0)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    // Issue 8: a peer's text gets into messages and logs only this way.
    #[test]
    fn on_one_line_and_short() {
        for (text, shown) in [
            ("tools/call", "tools/call"),
            (
                "Überschrift 漢字 🦀 \"x\" \\",
                "Überschrift 漢字 🦀 \"x\" \\",
            ),
            ("a\u{1b}[31m\r\n\tb\0", "a\\u{1b}[31m\\r\\n\\tb\\u{0}"),
            (
                "\u{2028}\u{2029}\u{85}\u{7f}",
                "\\u{2028}\\u{2029}\\u{85}\\u{7f}",
            ),
            (
                "\u{202e}\u{2066}\u{200f}\u{feff}",
                "\\u{202e}\\u{2066}\\u{200f}\\u{feff}",
            ),
        ] {
            assert_eq!(shortened(text), shown, "{text:?}");
        }
        let long = "x".repeat(MAX_REPEATED);
        assert_eq!(shortened(&long), long);
        assert_eq!(shortened(&format!("{long}y")), format!("{long}…"));
        let wide = "漢".repeat(MAX_REPEATED);
        assert_eq!(shortened(&wide), wide);
        let disturbing = shortened(&"\u{1b}".repeat(1 << 20)).into_owned();
        assert!(disturbing.chars().count() <= MAX_REPEATED + 1 && disturbing.ends_with("}…"));
        assert_eq!(
            sentence(&"x".repeat(1 << 20)).chars().count(),
            MAX_SENTENCE + 1
        );
        assert_eq!(
            one_line(&format!("{long}{long}\n")),
            format!("{long}{long}\\n")
        );
    }

    #[test]
    fn ids_stay_within_their_quotes() {
        let shown = |id: &str| ShortRequestId(&RequestId::from(id.to_owned())).to_string();
        assert_eq!(shown("a\" tool=\"b\\\n"), r#""a\" tool=\"b\\\n""#);
        assert_eq!(
            shown(&"x".repeat(1000)),
            format!("\"{}…\"", "x".repeat(MAX_REPEATED))
        );
    }
}
