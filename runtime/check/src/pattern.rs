//! `pattern` and `patternProperties`: ECMA-262 expressions on `regex-lite`.
//!
//! Translates syntax that differs between the two, and refuses features that `regex-lite` lacks, by name. Matching is
//! linear in the text, so no pattern can be made to backtrack.

use std::fmt;

use regex_lite::{Regex, RegexBuilder};

/// Largest compiled pattern, in bytes of `regex-lite`'s program.
const MAX_PROGRAM: usize = 256 << 10;

/// White space of ECMA-262, in the form for a character class; `regex-lite` knows only the ASCII part.
const SPACE: &str = r"\t\n\x0B\x0C\r \x{A0}\x{1680}\x{2000}-\x{200A}\x{2028}\x{2029}\x{202F}\x{205F}\x{3000}\x{FEFF}";

/// The complement of [`SPACE`].
const NOT_SPACE: &str = r"\x{0}-\x{8}\x{E}-\x{1F}!-\x{9F}\x{A1}-\x{167F}\x{1681}-\x{1FFF}\x{200B}-\x{2027}\x{202A}-\x{202E}\x{2030}-\x{205E}\x{2060}-\x{2FFF}\x{3001}-\x{FEFE}\x{FF00}-\x{10FFFF}";

/// The line terminators of ECMA-262, which `.` does not match.
const DOT: &str = r"[^\n\r\x{2028}\x{2029}]";

pub(super) struct Pattern {
    source: Box<str>,
    regex: Regex,
}

impl Pattern {
    /// Fails with a reason that names the unsupported feature or the fault.
    pub(super) fn compile(source: &str) -> Result<Self, PatternError> {
        let translated = translate(source).map_err(PatternError::Unsupported)?;
        let regex = RegexBuilder::new(&translated)
            .size_limit(MAX_PROGRAM)
            .build()
            .map_err(|error| PatternError::Invalid(error.to_string()))?;
        Ok(Self {
            source: source.into(),
            regex,
        })
    }

    pub(super) fn matches(&self, text: &str) -> bool {
        self.regex.is_match(text)
    }

    /// The pattern as the author wrote it.
    pub(super) fn source(&self) -> &str {
        &self.source
    }
}

impl fmt::Debug for Pattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Pattern").field(&self.source).finish()
    }
}

#[derive(Debug)]
pub(super) enum PatternError {
    /// Legal ECMA-262 that `regex-lite` cannot run: the feature's name.
    Unsupported(&'static str),
    /// Not a regular expression, or too large.
    Invalid(String),
}

fn translate(source: &str) -> Result<String, &'static str> {
    let mut out = String::with_capacity(source.len() + 8);
    let mut rest = source.chars().peekable();
    let mut in_class = false;
    while let Some(c) = rest.next() {
        match c {
            '\\' => escape(&mut rest, in_class, &mut out)?,
            ']' if in_class => {
                in_class = false;
                out.push(']');
            }
            // ECMA-262 has no nested classes and no set operations: these are literals there.
            '[' | '&' | '~' if in_class => {
                out.push('\\');
                out.push(c);
            }
            _ if in_class => out.push(c),
            '[' => {
                in_class = true;
                out.push('[');
                if rest.next_if_eq(&'^').is_some() {
                    out.push('^');
                }
                if rest.peek() == Some(&']') {
                    return Err("empty character classes");
                }
            }
            '.' => out.push_str(DOT),
            '(' => {
                out.push('(');
                if rest.next_if_eq(&'?').is_some() {
                    group(&mut rest, &mut out)?;
                }
            }
            // In practice, a brace that does not start a quantifier is a literal.
            '{' if !starts_quantifier(rest.clone()) => out.push_str(r"\{"),
            '{' => {
                out.push('{');
                while let Some(c) = rest.next_if(|&c| c != '}') {
                    out.push(c);
                }
                out.extend(rest.next());
            }
            '}' => out.push_str(r"\}"),
            _ => out.push(c),
        }
    }
    Ok(out)
}

type Rest<'a> = std::iter::Peekable<std::str::Chars<'a>>;

fn group(rest: &mut Rest<'_>, out: &mut String) -> Result<(), &'static str> {
    out.push('?');
    match rest.peek() {
        Some('=' | '!') => Err("lookahead"),
        Some('<') => {
            out.extend(rest.next());
            match rest.peek() {
                Some('=' | '!') => Err("lookbehind"),
                _ => Ok(()),
            }
        }
        _ => Ok(()),
    }
}

fn escape(rest: &mut Rest<'_>, in_class: bool, out: &mut String) -> Result<(), &'static str> {
    let Some(c) = rest.next() else {
        out.push('\\');
        return Ok(());
    };
    match c {
        's' | 'S' => {
            let set = if c == 's' { SPACE } else { NOT_SPACE };
            if in_class {
                out.push_str(set);
            } else {
                out.push('[');
                out.push_str(set);
                out.push(']');
            }
        }
        'p' | 'P' => return Err("Unicode property classes"),
        'k' | '1'..='9' => return Err("back-references"),
        '0' => out.push_str(r"\x00"),
        'v' => out.push_str(r"\x0B"),
        'f' => out.push_str(r"\x0C"),
        'b' if in_class => out.push_str(r"\x08"),
        'c' => match rest.next() {
            Some(letter) if letter.is_ascii_alphabetic() => {
                let control = u32::from(letter) % 32;
                out.push_str(&format!(r"\x{control:02X}"));
            }
            _ => return Err("incomplete control escapes"),
        },
        'u' if rest.peek() != Some(&'{') => code_unit(rest, out)?,
        '<' | '>' | '=' | '!' | ':' | ',' | '\'' | '"' | '`' | '@' | '%' | ';' | '/' | '_' => {
            literal(c, out)
        }
        'a'
        | 'e'
        | 'g'
        | 'h'
        | 'i'
        | 'j'
        | 'l'
        | 'm'
        | 'o'
        | 'q'
        | 'y'
        | 'z'
        | 'A'
        | 'C'
        | 'E'..='R'
        | 'T'..='V'
        | 'X'..='Z' => literal(c, out),
        _ => {
            out.push('\\');
            out.push(c);
        }
    }
    Ok(())
}

/// `\uXXXX`, or two of them that are a surrogate pair.
fn code_unit(rest: &mut Rest<'_>, out: &mut String) -> Result<(), &'static str> {
    let mut unit = || -> Option<u32> {
        let digits: String = rest.by_ref().take(4).collect();
        u32::from_str_radix(&digits, 16)
            .ok()
            .filter(|_| digits.len() == 4)
    };
    let Some(first) = unit() else {
        return Err("incomplete `\\u` escapes");
    };
    let code = match first {
        0xD800..=0xDBFF => {
            let tail: String = rest.by_ref().take(2).collect();
            let digits: String = rest.by_ref().take(4).collect();
            match u32::from_str_radix(&digits, 16) {
                Ok(low @ 0xDC00..=0xDFFF) if tail == r"\u" => {
                    0x10000 + ((first - 0xD800) << 10) + (low - 0xDC00)
                }
                _ => return Err("lone surrogates"),
            }
        }
        0xDC00..=0xDFFF => return Err("lone surrogates"),
        other => other,
    };
    out.push_str(&format!(r"\x{{{code:X}}}"));
    Ok(())
}

fn literal(c: char, out: &mut String) {
    out.push(c);
}

fn starts_quantifier(mut rest: Rest<'_>) -> bool {
    let mut digits = 0;
    let mut commas = 0;
    loop {
        match rest.next() {
            Some(c) if c.is_ascii_digit() => digits += 1,
            Some(',') if 0 < digits && commas == 0 => commas = 1,
            Some('}') => return 0 < digits,
            _ => return false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn means_what_ecma_262_means() {
        for (pattern, text, expected) in [
            ("^a+$", "aaa", true),
            ("b", "abc", true),
            (r"^\s$", "\u{a0}", true),
            (r"^[\s]$", "\u{feff}", true),
            (r"^\S$", "\u{3000}", false),
            (r"^[\S]$", "x", true),
            ("^.$", "\r", false),
            ("^.$", "ü", true),
            (r"^\d$", "٣", false),
            (r"^[[]$", "[", true),
            (r"^[&&]$", "&", true),
            (r"^{a}$", "{a}", true),
            (r"^a{2}$", "aa", true),
            (r"^a{1,}$", "aaa", true),
            (r"^\/x\-y$", "/x-y", true),
            (r"^\u0041\uD83D\uDE00$", "A😀", true),
            (r"^\cA\0$", "\u{1}\0", true),
            (r"^(?:ab|c)(?<n>d)$", "cd", true),
            (r"^[^a]$", "b", true),
            (r"^[\b]$", "\u{8}", true),
            (r"^[A-Za-z0-9_.-]{1,128}$", "x.y-z", true),
            (r"^\<\@\>$", "<@>", true),
        ] {
            let compiled =
                Pattern::compile(pattern).unwrap_or_else(|error| panic!("{pattern}: {error:?}"));
            assert_eq!(compiled.matches(text), expected, "{pattern} on {text:?}");
        }
    }

    #[test]
    fn names_what_it_cannot_do() {
        for (pattern, feature) in [
            ("(?=a)", "lookahead"),
            ("(?!a)", "lookahead"),
            ("(?<=a)", "lookbehind"),
            ("(?<!a)", "lookbehind"),
            (r"(a)\1", "back-references"),
            (r"\p{L}", "Unicode property classes"),
            ("[]", "empty character classes"),
            (r"\uD83D", "lone surrogates"),
        ] {
            match Pattern::compile(pattern) {
                Err(PatternError::Unsupported(named)) => assert_eq!(named, feature, "{pattern}"),
                other => panic!("{pattern}: {other:?}"),
            }
        }
        assert!(matches!(
            Pattern::compile("(a"),
            Err(PatternError::Invalid(_))
        ));
        assert!(matches!(
            Pattern::compile("(((a{99}){99}){99}){99}"),
            Err(PatternError::Invalid(_))
        ));
    }
}
