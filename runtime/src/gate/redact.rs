//! A message as a log may show it: its structure, not its contents.

use std::fmt;

use crate::jsonrpc;

/// Longest form of a message in a log, in bytes.
const LONGEST: usize = 512;
/// Longest member name or method that is shown whole, in bytes.
const LONGEST_NAME: usize = 64;

/// Displays the JSON text of a message with its strings and numbers replaced by their sizes, and cut off. Member names stay, as do the
/// method and the id, which identify the message. If the bytes are not JSON, only their number is shown.
pub(crate) struct Redacted<'a>(pub(crate) &'a [u8]);

/// Logs `message`, without its strings and numbers. Called after the fault itself was logged.
pub(crate) fn log_raw(message: &[u8]) {
    tracing::debug!(raw = %Redacted(message), "this was refused");
}

/// The role of the next string or word.
#[derive(Clone, Copy, PartialEq, Eq)]
enum MemberPosition {
    /// The name of a member.
    Name,
    /// A name was read. Its value follows, and is shown or not.
    Colon {
        shown: bool,
    },
    Value {
        shown: bool,
    },
    /// In a message that is not JSON: any role.
    Nowhere,
}

impl fmt::Display for Redacted<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut out = String::with_capacity(LONGEST + 32);
        let mut bytes = self.0;
        // For each open container, whether it is an object.
        let mut open: Vec<bool> = Vec::new();
        let mut place = MemberPosition::Nowhere;
        while let Some(first) = bytes.first() {
            if out.len() >= LONGEST {
                out.push('…');
                break;
            }
            let taken = match first {
                b'{' | b'[' | b'}' | b']' | b',' | b':' | b' ' | b'\t' | b'\r' | b'\n' => 1,
                b'"' => end_of_string(bytes),
                _ => end_of_word(bytes),
            };
            let (token, rest) = bytes.split_at(taken);
            let before = place;
            place = match first {
                b' ' | b'\t' | b'\r' | b'\n' => before,
                b'{' => {
                    open.push(true);
                    MemberPosition::Name
                }
                b'[' => {
                    open.push(false);
                    MemberPosition::Value { shown: false }
                }
                b'}' | b']' => {
                    open.pop();
                    MemberPosition::Nowhere
                }
                b',' => match open.last() {
                    Some(true) => MemberPosition::Name,
                    Some(false) => MemberPosition::Value { shown: false },
                    None => MemberPosition::Nowhere,
                },
                b':' => match before {
                    MemberPosition::Colon { shown } => MemberPosition::Value { shown },
                    _ => MemberPosition::Nowhere,
                },
                b'"' if before == MemberPosition::Name && is_name(rest) => MemberPosition::Colon {
                    shown: open.len() == 1 && matches!(token, b"\"id\"" | b"\"method\""),
                },
                _ => MemberPosition::Nowhere,
            };
            match first {
                b' ' | b'\t' | b'\r' | b'\n' => {}
                b'{' | b'[' | b'}' | b']' | b',' | b':' => out.push(char::from(*first)),
                b'"' if matches!(place, MemberPosition::Colon { .. }) => push_name(&mut out, token),
                b'"' if before == (MemberPosition::Value { shown: true }) && is_closed(token) => {
                    push_name(&mut out, token);
                }
                b'"' => out.push_str(&format!("<{} bytes>", inside(token))),
                _ if matches!(token, b"true" | b"false" | b"null")
                    || before == (MemberPosition::Value { shown: true }) && is_number(token) =>
                {
                    push_name(&mut out, token);
                }
                _ => out.push_str(&format!("<{} bytes>", token.len())),
            }
            bytes = rest;
        }
        f.write_str(&out)
    }
}

fn is_number(token: &[u8]) -> bool {
    token
        .iter()
        .all(|byte| matches!(byte, b'0'..=b'9' | b'-' | b'+' | b'.' | b'e' | b'E'))
}

/// Returns whether the following bytes make the string before them the name of a member.
fn is_name(rest: &[u8]) -> bool {
    rest.iter().find(|byte| !jsonrpc::is_white_space(**byte)) == Some(&b':')
}

fn end_of_string(bytes: &[u8]) -> usize {
    let mut at = 1;
    while at < bytes.len() {
        match bytes[at] {
            b'"' => return at + 1,
            b'\\' => at += 2,
            _ => at += 1,
        }
    }
    bytes.len()
}

/// Returns how many bytes a string contains; a string that was cut off has no closing quote.
fn inside(string: &[u8]) -> usize {
    string
        .len()
        .saturating_sub(1 + usize::from(is_closed(string)))
}

/// Returns whether a string that [`end_of_string`] found has its closing quote: it ends at the first quote that is not escaped.
fn is_closed(string: &[u8]) -> bool {
    let escapes = |text: &[u8]| text.iter().rev().take_while(|byte| **byte == b'\\').count();
    string.len() > 1
        && string
            .strip_suffix(b"\"")
            .is_some_and(|text| escapes(text) % 2 == 0)
}

/// Returns the end of a word that is neither a string nor structure.
fn end_of_word(bytes: &[u8]) -> usize {
    let is_end = |byte: &u8| {
        matches!(
            byte,
            b'{' | b'[' | b'}' | b']' | b',' | b':' | b'"' | b' ' | b'\t' | b'\r' | b'\n'
        )
    };
    bytes.iter().position(is_end).unwrap_or(bytes.len())
}

fn push_name(out: &mut String, token: &[u8]) {
    if token.len() > LONGEST_NAME + 2 {
        return out.push_str(&format!("<{} bytes>", inside(token)));
    }
    out.push_str(&jsonrpc::shortened(&String::from_utf8_lossy(token)));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_shown() {
        for (message, shown) in [
            (
                r#"{"jsonrpc":"2.0","id":"a-1","method":"tools/call","params":{"name":"add","arguments":{"pin":4711, "x": [true,null,"\"}"]}}}"#,
                r#"{"jsonrpc":<3 bytes>,"id":"a-1","method":"tools/call","params":{"name":<3 bytes>,"arguments":{"pin":<4 bytes>,"x":[true,null,<3 bytes>]}}}"#,
            ),
            (
                r#"{"id":7,"result":{"id":"secret"}}"#,
                r#"{"id":7,"result":{"id":<6 bytes>}}"#,
            ),
            (
                r#"{"params":{"method":"secret","n":1"#,
                r#"{"params":{"method":<6 bytes>,"n":<1 bytes>"#,
            ),
            (
                "hunter2 is the password",
                "<7 bytes><2 bytes><3 bytes><8 bytes>",
            ),
            (r#"{"a":"cut off"#, r#"{"a":<7 bytes>"#),
            ("", ""),
            ("]]}", "]]}"),
            // Input that is not JSON does not show values in place of names, methods and ids.
            (r#"{"id":1,"secret"#, r#"{"id":1,<6 bytes>"#),
            (
                r#"{"id":1,"secret","more"}"#,
                r#"{"id":1,<6 bytes>,<4 bytes>}"#,
            ),
            (r#"{"id":"a""secret"}"#, r#"{"id":"a"<6 bytes>}"#),
            (r#"{"id":7 secret}"#, r#"{"id":7<6 bytes>}"#),
            (
                r#"{"method":secret,more}"#,
                r#"{"method":<6 bytes>,<4 bytes>}"#,
            ),
            (r#"{"method":"a\"secret"#, r#"{"method":<9 bytes>"#),
            (r#"{"a":"secret":1}"#, r#"{"a":<6 bytes>:<1 bytes>}"#),
            (r#"["secret":"more":]"#, "[<6 bytes>:<4 bytes>:]"),
            (
                r#"{"id":["secret"],"method":{"id":"secret"}}"#,
                r#"{"id":[<6 bytes>],"method":{"id":<6 bytes>}}"#,
            ),
            (r#"[{"id":"secret"}]"#, r#"[{"id":<6 bytes>}]"#),
            (r#"{"id":""#, r#"{"id":<0 bytes>"#),
            (r#"{"a":"","b":1}"#, r#"{"a":<0 bytes>,"b":<1 bytes>}"#),
            (r#"{"a":"\"","b":"x"}"#, r#"{"a":<2 bytes>,"b":<1 bytes>}"#),
            (r#"{"a":"x\\","b":"x"}"#, r#"{"a":<3 bytes>,"b":<1 bytes>}"#),
            (r#"{"a":"x\\\""#, r#"{"a":<5 bytes>"#),
        ] {
            assert_eq!(Redacted(message.as_bytes()).to_string(), shown, "{message}");
        }
        assert_eq!(Redacted(b"\xff\xfe\"\\").to_string(), "<2 bytes><1 bytes>");
    }

    #[test]
    fn long_names() {
        let name = |length| format!(r#"{{"{}":1}}"#, "n".repeat(length));
        let shown = |length| Redacted(name(length).as_bytes()).to_string();
        let whole = name(LONGEST_NAME).replace('1', "<1 bytes>");
        assert_eq!(shown(LONGEST_NAME), whole);
        assert_eq!(shown(LONGEST_NAME + 1), "{<65 bytes>:<1 bytes>}");
    }

    #[test]
    fn cut_off() {
        let brackets = |count| "[".repeat(count);
        for (length, shown) in [
            (LONGEST, brackets(LONGEST)),
            (LONGEST + 1, brackets(LONGEST) + "…"),
            (2 * LONGEST, brackets(LONGEST) + "…"),
        ] {
            assert_eq!(Redacted(brackets(length).as_bytes()).to_string(), shown);
        }
        let long = format!(
            r#"{{"id":"{}","params":[{}]}}"#,
            "x".repeat(1000),
            "1,".repeat(1000)
        );
        let shown = Redacted(long.as_bytes()).to_string();
        assert!(
            shown.starts_with(r#"{"id":<1000 bytes>,"params":[<1 bytes>,"#),
            "{shown}"
        );
        assert!(
            shown.len() < LONGEST + 32 && shown.ends_with('…'),
            "{}",
            shown.len()
        );
    }
}
