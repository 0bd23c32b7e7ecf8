//! Replacements for the functions of SQLite whose time grows with the product of the sizes of two values. SQLite does not check the time
//! limit within a function: with values of [`MAX_VALUE_BYTES`], one call would run for hours. The replacements check the time limit and
//! the cancellation, and the time of most of them grows with the sum of the sizes.

mod pattern;

use std::{borrow::Cow, cell::RefCell, collections::HashMap, sync::Arc};

use memchr::memmem;
use rusqlite::{
    Connection, Error, Result, ToSql, ffi,
    functions::{Context, FunctionFlags},
    types::{ToSqlOutput, ValueRef},
};

use crate::database::MAX_VALUE_BYTES;

/// Functions without a replacement, which are refused: they merge two JSON texts member by member.
pub(crate) const REFUSED: [&str; 2] = ["json_patch", "jsonb_patch"];

/// Returns whether the statement has to stop.
pub(crate) type Stops = Arc<dyn Fn() -> bool + Send + Sync>;

/// Steps of a function between two checks of [`Stops`].
const STEPS_BETWEEN_LOOKS: usize = 4096;

/// Registers the replacements in place of SQLite's own functions.
pub(crate) fn install(connection: &Connection, stops: &Stops) -> Result<()> {
    // Views and indexes may use them, as they may use SQLite's own.
    let flags = FunctionFlags::SQLITE_UTF8
        | FunctionFlags::SQLITE_DETERMINISTIC
        | FunctionFlags::SQLITE_INNOCUOUS;
    // A function, which gets what it has done.
    macro_rules! install {
        ($name:literal, $arguments:literal, $function:expr) => {{
            let stops = stops.clone();
            connection.create_scalar_function($name, $arguments, flags, move |cx| {
                $function(cx, Steps::begin(&stops)?)
            })?;
        }};
    }
    install!("instr", 2, |cx, _| instr(cx));
    install!("replace", 3, |cx, _| replace(cx));
    install!("unhex", 2, |cx, _| unhex(cx));
    install!("ltrim", 2, |cx, steps| trim(cx, true, false, steps));
    install!("rtrim", 2, |cx, steps| trim(cx, false, true, steps));
    install!("trim", 2, |cx, steps| trim(cx, true, true, steps));
    install!("like", 2, |cx, steps| pattern::matches(cx, false, steps));
    install!("like", 3, |cx, steps| pattern::matches(cx, false, steps));
    install!("glob", 2, |cx, steps| pattern::matches(cx, true, steps));
    Ok(())
}

/// What a function has done. It checks [`Stops`] at its start, because one row may have many calls, and every [`STEPS_BETWEEN_LOOKS`]
/// steps.
struct Steps<'s> {
    done: usize,
    next_look: usize,
    stops: &'s Stops,
}

impl<'s> Steps<'s> {
    fn begin(stops: &'s Stops) -> Result<Self> {
        let steps = Self {
            done: 0,
            next_look: STEPS_BETWEEN_LOOKS,
            stops,
        };
        steps.look()?;
        Ok(steps)
    }

    /// One step, which compared this number of `bytes`.
    fn step(&mut self, bytes: usize) -> Result<()> {
        self.done += 1 + bytes / 64;
        if self.done < self.next_look {
            return Ok(());
        }
        self.next_look = self.done + STEPS_BETWEEN_LOOKS;
        self.look()
    }

    fn look(&self) -> Result<()> {
        match (self.stops)() {
            true => Err(failure(ffi::SQLITE_INTERRUPT)),
            false => Ok(()),
        }
    }
}

fn failure(code: i32) -> Error {
    Error::SqliteFailure(ffi::Error::new(code), None)
}

/// A text, which need not be UTF-8: SQLite keeps the bytes that it is given.
struct Text(Vec<u8>);

impl ToSql for Text {
    fn to_sql(&self) -> Result<ToSqlOutput<'_>> {
        Ok(ToSqlOutput::Borrowed(ValueRef::Text(&self.0)))
    }
}

thread_local! {
    /// Writes numbers for [`real`]. A function may not use the connection that calls it.
    static WRITER: RefCell<Option<Connection>> = const { RefCell::new(None) };
}

/// `value` as SQLite casts it to text; `None` for NULL.
fn text(value: ValueRef<'_>) -> Result<Option<Cow<'_, [u8]>>> {
    Ok(Some(match value {
        ValueRef::Null => return Ok(None),
        ValueRef::Integer(value) => value.to_string().into_bytes().into(),
        ValueRef::Real(value) => real(value)?.into_bytes().into(),
        ValueRef::Text(bytes) | ValueRef::Blob(bytes) => bytes.into(),
    }))
}

/// `value` as SQLite writes it, which depends on its version.
fn real(value: f64) -> Result<String> {
    WRITER.with_borrow_mut(|writer| {
        let connection = match writer {
            Some(connection) => connection,
            None => writer.insert(Connection::open_in_memory()?),
        };
        connection.query_row("SELECT CAST(?1 AS TEXT)", [value], |row| row.get(0))
    })
}

/// Whether `byte` is a continuation byte of UTF-8.
fn continues(byte: &u8) -> bool {
    byte & 0b1100_0000 == 0b1000_0000
}

fn instr(cx: &Context<'_>) -> Result<Option<i64>> {
    let (whole, part) = (cx.get_raw(0), cx.get_raw(1));
    let is_bytes = matches!((whole, part), (ValueRef::Blob(_), ValueRef::Blob(_)));
    let (Some(whole), Some(part)) = (text(whole)?, text(part)?) else {
        return Ok(None);
    };
    let found = match part.first() {
        // A character begins elsewhere.
        Some(first) if !is_bytes && continues(first) => whole.starts_with(&part).then_some(0),
        _ => memmem::find(&whole, &part),
    };
    let place = found.map_or(0, |at| {
        let before = whole[..at].iter();
        1 + before.filter(|byte| is_bytes || !continues(byte)).count()
    });
    Ok(i64::try_from(place).ok())
}

fn replace(cx: &Context<'_>) -> Result<Option<Text>> {
    let (Some(whole), Some(part)) = (text(cx.get_raw(0))?, text(cx.get_raw(1))?) else {
        return Ok(None);
    };
    if part.first().is_none_or(|first| *first == 0) {
        return Ok(Some(Text(whole.into_owned())));
    }
    let Some(other) = text(cx.get_raw(2))? else {
        return Ok(None);
    };
    let most = usize::try_from(MAX_VALUE_BYTES).unwrap_or_default();
    let mut out = Vec::new();
    let mut rest = 0;
    for at in memmem::find_iter(&whole, &part) {
        out.extend_from_slice(&whole[rest..at]);
        out.extend_from_slice(&other);
        rest = at + part.len();
        if most < out.len() {
            return Err(failure(ffi::SQLITE_TOOBIG));
        }
    }
    out.extend_from_slice(&whole[rest..]);
    Ok(Some(Text(out)))
}

/// The bytes that the digits of a text stand for. Characters of the second text may be between two of them.
fn unhex(cx: &Context<'_>) -> Result<Option<Vec<u8>>> {
    let (Some(whole), Some(passed)) = (text(cx.get_raw(0))?, text(cx.get_raw(1))?) else {
        return Ok(None);
    };
    let passed: HashMap<&[u8], usize> = characters(until_nul(&passed)).zip(0..).collect();
    let digit = |byte: u8| char::from(byte).to_digit(16);
    let mut bytes = Vec::new();
    let mut rest = until_nul(&whole);
    while let Some(first) = characters(rest).next() {
        match (digit(first[0]), rest.get(1).map(|second| digit(*second))) {
            (Some(high), Some(Some(low))) => {
                bytes.extend(u8::try_from(high * 16 + low));
                rest = &rest[2..];
            }
            (None, _) if passed.contains_key(first) => rest = &rest[first.len()..],
            _ => return Ok(None),
        }
    }
    Ok(Some(bytes))
}

fn trim(
    cx: &Context<'_>,
    at_begin: bool,
    at_end: bool,
    mut steps: Steps<'_>,
) -> Result<Option<Text>> {
    let (Some(whole), Some(set)) = (text(cx.get_raw(0))?, text(cx.get_raw(1))?) else {
        return Ok(None);
    };
    let mut set_places = HashMap::new();
    for (place, character) in characters(until_nul(&set)).enumerate() {
        set_places.entry(character).or_insert(place);
    }
    let mut lengths: Vec<usize> = set_places.keys().map(|character| character.len()).collect();
    lengths.sort_unstable();
    lengths.dedup();
    // The length of the first character of the set that `part` gives for one of the lengths.
    let mut found = |most: usize, part: &dyn Fn(usize) -> std::ops::Range<usize>| {
        let mut first: Option<(usize, usize)> = None;
        for length in lengths.iter().copied().filter(|length| *length <= most) {
            steps.step(length)?;
            if let Some(place) = set_places.get(&whole[part(length)])
                && first.is_none_or(|(before, _)| *place < before)
            {
                first = Some((*place, length));
            }
        }
        Ok::<_, Error>(first.map(|(_, length)| length))
    };
    let (mut begin, mut end) = (0, whole.len());
    while at_begin && let Some(length) = found(end - begin, &|length| begin..begin + length)? {
        begin += length;
    }
    while at_end && let Some(length) = found(end - begin, &|length| end - length..end)? {
        end -= length;
    }
    Ok(Some(Text(whole[begin..end].to_vec())))
}

/// The text before the first NUL, where many functions of SQLite see the end.
fn until_nul(text: &[u8]) -> &[u8] {
    text.split(|byte| *byte == 0).next().unwrap_or_default()
}

/// The characters of `text` as SQLite separates them, each as its bytes.
fn characters(text: &[u8]) -> impl Iterator<Item = &[u8]> {
    let mut rest = text;
    std::iter::from_fn(move || {
        let first = *rest.first()?;
        let more = rest[1..]
            .iter()
            .take_while(|byte| first >= 0xc0 && continues(byte));
        let (character, others) = rest.split_at(1 + more.count());
        rest = others;
        Some(character)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// SQLite's own functions give the expected results.
    #[test]
    fn as_sqlite_has_them() {
        let (own, other) = (
            Connection::open_in_memory().unwrap(),
            Connection::open_in_memory().unwrap(),
        );
        let stops: Stops = Arc::new(|| false);
        install(&own, &stops).unwrap();
        let values = [
            "NULL",
            "''",
            "'a'",
            "'b'",
            "'ab'",
            "'aabbaa'",
            "'äöä'",
            "'ö'",
            "'a' || char(0) || 'b'",
            "char(0)",
            "x''",
            "x'61'",
            "x'6261'",
            "x'ff61'",
            "x'a9'",
            "x'80'",
            "CAST(x'6180' AS TEXT)",
            "x'4de4726b20'",
            "'4a4B'",
            "'4a-4B'",
            "'-'",
            "'%a%'",
            "'_b*'",
            "'*b'",
            "'[^a]?'",
            "'A'",
            "1",
            "10",
            "-1",
            "9007199254740993",
            "1.0",
            "0.1",
            "-0.5",
            "1e14",
            "1e15",
            "123456789012345.6",
            "1e-4",
            "1e-5",
            "1e300",
            "0.1 + 0.2",
            "9e999",
            "-9e999",
            "'.0'",
            "'.'",
            "'e+'",
            "'1'",
        ];
        let mut compared = 0;
        for x in values {
            for y in values {
                let two = ["instr", "trim", "ltrim", "rtrim", "unhex", "like", "glob"];
                let mut calls: Vec<String> = two.map(|name| format!("{name}({x}, {y})")).into();
                calls.extend(
                    ["''", "'z'", "NULL", "1.5", "x'6162'"]
                        .map(|z| format!("replace({x}, {y}, {z})")),
                );
                for call in calls {
                    let sql = format!("SELECT typeof({call}), CAST({call} AS BLOB)");
                    let found = [&own, &other].map(|connection| {
                        let row = connection.query_row(&sql, (), |row| {
                            Ok((row.get::<_, String>(0)?, row.get::<_, Option<Vec<u8>>>(1)?))
                        });
                        row.unwrap()
                    });
                    assert_eq!(found[0], found[1], "{call}");
                    compared += 1;
                }
            }
        }
        assert_eq!(compared, values.len() * values.len() * 12);
    }

    /// Sets, ranges and escapes, and what is wrong with them.
    #[test]
    fn patterns_as_sqlite_has_them() {
        let (own, other) = (
            Connection::open_in_memory().unwrap(),
            Connection::open_in_memory().unwrap(),
        );
        let stops: Stops = Arc::new(|| false);
        install(&own, &stops).unwrap();
        let texts = [
            "a", "b", "-", "]", "^", "%", "a%b", "aXb", "ab", "é", "É", "!", "[a", "aab",
        ];
        let globs = [
            "[a-c]*", "[]a]", "[]-a]", "[a-", "[^]]", "[^a-c]", "[-a]", "[a-]", "[z-a]", "[a-c-e]",
            "*[%]*", "[^^]", "[", "[]", "*a*b", "a**b", "?b", "[à-ê]",
        ];
        let likes = [
            "a%b", "a!%b", "!%", "!", "%!%%", "A_B", "é", "_", "%%", "!a", "a%%b",
        ];
        let escapes = [
            "'!'", "'%'", "'_'", "''", "'ab'", "'a'", "NULL", "x'21'", "33",
        ];
        let mut calls = Vec::new();
        for text in texts {
            calls.extend(globs.map(|glob| format!("'{text}' GLOB '{glob}'")));
            for like in likes {
                calls.push(format!("'{text}' LIKE '{like}'"));
                calls.extend(
                    escapes.map(|escape| format!("'{text}' LIKE '{like}' ESCAPE {escape}")),
                );
            }
        }
        for call in calls {
            let sql = format!("SELECT {call}");
            let [found, right] = [&own, &other].map(|connection| {
                let value = connection.query_row(&sql, (), |row| row.get::<_, Option<i64>>(0));
                value.map_err(|error| error.to_string())
            });
            assert_eq!(found, right, "{call}");
        }
    }
}
