//! `pattern` and `patternProperties`: ECMA-262 expressions on `regex-lite`.
//!
//! Translates syntax that differs between the two, and refuses features that `regex-lite` does not have, by name. Matching is linear in the
//! text, so no pattern can backtrack.

use std::fmt;

use regex_lite::{Regex, RegexBuilder};

/// White space of ECMA-262, in the form for a character class; `regex-lite` knows only the ASCII part.
const SPACE: &str = r"\t\n\x0B\x0C\r \x{A0}\x{1680}\x{2000}-\x{200A}\x{2028}\x{2029}\x{202F}\x{205F}\x{3000}\x{FEFF}";

/// The complement of [`SPACE`].
const NOT_SPACE: &str = r"\x{0}-\x{8}\x{E}-\x{1F}!-\x{9F}\x{A1}-\x{167F}\x{1681}-\x{1FFF}\x{200B}-\x{2027}\x{202A}-\x{202E}\x{2030}-\x{205E}\x{2060}-\x{2FFF}\x{3001}-\x{FEFE}\x{FF00}-\x{10FFFF}";

/// The line terminators of ECMA-262, which `.` does not match.
const DOT: &str = r"[^\n\r\x{2028}\x{2029}]";

/// The classes `[^]` and `[]`: every character, and none.
const ANY: &str = r"[\x{0}-\x{10FFFF}]";
const NOTHING: &str = r"[^\x{0}-\x{10FFFF}]";

pub(super) struct Pattern {
    source: Box<str>,
    regex: Regex,
}

impl Pattern {
    /// Compiles a pattern. Fails with a reason that names the unsupported feature or the fault. `max_size` is in bytes of `regex-lite`'s
    /// program.
    pub(super) fn compile(source: &str, max_size: usize) -> Result<Self, PatternError> {
        let translated = translate(source)?;
        let built = RegexBuilder::new(&translated).size_limit(max_size).build();
        let regex = built.map_err(|error| match is_about_size(&error) {
            true => PatternError::TooLarge,
            false => PatternError::Invalid(error.to_string()),
        })?;
        Ok(Self {
            source: source.into(),
            regex,
        })
    }

    pub(super) fn matches(&self, text: &str) -> bool {
        self.regex.is_match(text)
    }

    /// Returns the pattern as the author wrote it.
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
    /// Legal ECMA-262 that `regex-lite` cannot run and the engine of the feature `json-schema` can: the construct's name.
    Unsupported(&'static str),
    /// Not a regular expression, or one that neither engine runs.
    Invalid(String),
    /// The compiled pattern is larger than the limit.
    TooLarge,
}

/// Returns whether `error` is about the size limit. `regex-lite` says so only in its text; the test
/// `the_text_about_the_size_limit_is_known` checks this text.
fn is_about_size(error: &regex_lite::Error) -> bool {
    error.to_string().contains("size limit")
}

fn translate(source: &str) -> Result<String, PatternError> {
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
            // ECMA-262 has no nested classes and no set operations, so these are literals there.
            '[' | '&' | '~' if in_class => {
                out.push('\\');
                out.push(c);
            }
            _ if in_class => out.push(c),
            '[' => {
                let negated = rest.next_if_eq(&'^').is_some();
                if rest.next_if_eq(&']').is_some() {
                    out.push_str(if negated { ANY } else { NOTHING });
                } else {
                    in_class = true;
                    out.push_str(if negated { "[^" } else { "[" });
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

fn group(rest: &mut Rest<'_>, out: &mut String) -> Result<(), PatternError> {
    out.push('?');
    match rest.peek() {
        Some('=' | '!') => Err(PatternError::Unsupported("lookahead")),
        Some('<') => {
            out.extend(rest.next());
            match rest.peek() {
                Some('=' | '!') => Err(PatternError::Unsupported("lookbehind")),
                _ => Ok(()),
            }
        }
        _ => Ok(()),
    }
}

fn escape(rest: &mut Rest<'_>, in_class: bool, out: &mut String) -> Result<(), PatternError> {
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
        'p' | 'P' => return Err(PatternError::Unsupported("Unicode property classes")),
        'k' | '1'..='9' => return Err(PatternError::Unsupported("back-references")),
        '0' => out.push_str(r"\x00"),
        'v' => out.push_str(r"\x0B"),
        'f' => out.push_str(r"\x0C"),
        'b' if in_class => out.push_str(r"\x08"),
        'c' => match rest.next() {
            Some(letter) if letter.is_ascii_alphabetic() => {
                let control = u32::from(letter) % 32;
                out.push_str(&format!(r"\x{control:02X}"));
            }
            _ => return invalid("`\\c` is followed by a letter"),
        },
        'u' if rest.next_if_eq(&'{').is_some() => code_point(rest, out)?,
        'u' => code_unit(rest, out)?,
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

/// Reads `\u{X…}`, after its brace: a code point of up to six digits, with leading zeros.
fn code_point(rest: &mut Rest<'_>, out: &mut String) -> Result<(), PatternError> {
    let mut code = 0_u32;
    let mut has_digits = false;
    while let Some(digit) = rest.next_if(char::is_ascii_hexdigit) {
        has_digits = true;
        // Saturates, so that any number of digits ends beyond Unicode.
        code = code.saturating_mul(16) | digit.to_digit(16).unwrap_or_default();
    }
    if !has_digits || rest.next() != Some('}') {
        return invalid("`\\u{` is followed by hexadecimal digits and `}`");
    }
    if u32::from(char::MAX) < code {
        return invalid("`\\u{…}` is at most `\\u{10FFFF}`");
    }
    match char::from_u32(code) {
        Some(_) => out.push_str(&format!(r"\x{{{code:X}}}")),
        None => return invalid(LONE_SURROGATE),
    }
    Ok(())
}

/// Reads `\uXXXX`, or two of them that are a surrogate pair.
fn code_unit(rest: &mut Rest<'_>, out: &mut String) -> Result<(), PatternError> {
    let mut unit = || -> Option<u32> {
        let digits: String = rest.by_ref().take(4).collect();
        u32::from_str_radix(&digits, 16)
            .ok()
            .filter(|_| digits.len() == 4)
    };
    let Some(first) = unit() else {
        return invalid("`\\u` is followed by four hexadecimal digits");
    };
    let code = match first {
        0xD800..=0xDBFF => {
            let tail: String = rest.by_ref().take(2).collect();
            let digits: String = rest.by_ref().take(4).collect();
            match u32::from_str_radix(&digits, 16) {
                Ok(low @ 0xDC00..=0xDFFF) if tail == r"\u" => {
                    0x10000 + ((first - 0xD800) << 10) + (low - 0xDC00)
                }
                _ => return invalid(LONE_SURROGATE),
            }
        }
        0xDC00..=0xDFFF => return invalid(LONE_SURROGATE),
        other => other,
    };
    out.push_str(&format!(r"\x{{{code:X}}}"));
    Ok(())
}

const LONE_SURROGATE: &str = "a lone surrogate is not a character, so no text has one";

/// Refuses syntax that neither engine supports.
fn invalid(reason: &str) -> Result<(), PatternError> {
    Err(PatternError::Invalid(reason.to_owned()))
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
    use super::{super::DEFAULT_MAX_PATTERN_SIZE, *};

    fn compile(source: &str) -> Result<Pattern, PatternError> {
        Pattern::compile(source, DEFAULT_MAX_PATTERN_SIZE)
    }

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
            (r"^\u{1F600}$", "😀", true),
            (r"^\u{0041}\u{000062}$", "Ab", true),
            (r"^[\u{1F600}-\u{1F64F}]{2}$", "😀🙏", true),
            (r"^[^\u{1F600}]$", "😀", false),
            (r"^\cA\0$", "\u{1}\0", true),
            (r"^(?:ab|c)(?<n>d)$", "cd", true),
            (r"^[^a]$", "b", true),
            (r"^[\b]$", "\u{8}", true),
            (r"^[A-Za-z0-9_.-]{1,128}$", "x.y-z", true),
            (r"^\<\@\>$", "<@>", true),
            ("a[]", "a", false),
            ("a[]?$", "a", true),
            ("^[^]$", "\n", true),
        ] {
            let compiled = compile(pattern).unwrap_or_else(|error| panic!("{pattern}: {error:?}"));
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
        ] {
            match compile(pattern) {
                Err(PatternError::Unsupported(named)) => assert_eq!(named, feature, "{pattern}"),
                other => panic!("{pattern}: {other:?}"),
            }
        }
    }

    // The engine of the feature `json-schema` refuses them too, so the messages do not name the feature.
    #[test]
    fn faults_of_both_engines() {
        for (pattern, reason) in [
            ("(a", "open group"),
            (r"\uD83D", "lone surrogate"),
            (r"\uDE00", "lone surrogate"),
            (r"\u{D83D}", "lone surrogate"),
            (r"\u00", "four hexadecimal digits"),
            (r"\u{}", "hexadecimal digits and `}`"),
            (r"\u{12", "hexadecimal digits and `}`"),
            (r"\u{1G}", "hexadecimal digits and `}`"),
            (r"\u{110000}", r"at most `\u{10FFFF}`"),
            (r"\u{FFFFFFFFFFFFFFFFF}", r"at most `\u{10FFFF}`"),
            (r"\c1", "followed by a letter"),
        ] {
            match compile(pattern) {
                Err(PatternError::Invalid(why)) => {
                    assert!(why.contains(reason), "{pattern}: {why}");
                }
                other => panic!("{pattern}: {other:?}"),
            }
        }
    }

    #[test]
    fn the_text_about_the_size_limit_is_known() {
        let large = "(((a{99}){99}){99}){99}";
        assert!(matches!(compile(large), Err(PatternError::TooLarge)));
        let small = "^[a-z]{3}$";
        assert!(compile(small).is_ok());
        assert!(matches!(
            Pattern::compile(small, 64),
            Err(PatternError::TooLarge)
        ));
    }
}
