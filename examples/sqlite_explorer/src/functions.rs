//! The functions of SQLite whose time grows with the product of the sizes of two values, in a form that grows with the sum. SQLite does
//! not look at the time limit or at cancellation within a function: with values of [`MAX_VALUE_BYTES`] one call would run for hours.

use std::{borrow::Cow, cell::RefCell, collections::HashSet};

use memchr::memmem;
use rusqlite::{
    Connection, Error, Result, ffi,
    functions::{Context, FunctionFlags},
    types::{Value, ValueRef},
};

use crate::database::MAX_VALUE_BYTES;

/// Functions that stay as they are, and are refused: two JSON texts are merged member by member.
pub(crate) const REFUSED: [&str; 2] = ["json_patch", "jsonb_patch"];

/// Puts them in place of SQLite's own.
pub(crate) fn install(connection: &Connection) -> Result<()> {
    // Views and indexes may use them, as they may use SQLite's own.
    let flags = FunctionFlags::SQLITE_UTF8
        | FunctionFlags::SQLITE_DETERMINISTIC
        | FunctionFlags::SQLITE_INNOCUOUS;
    connection.create_scalar_function("instr", 2, flags, |cx| instr(cx))?;
    connection.create_scalar_function("replace", 3, flags, |cx| replace(cx))?;
    connection.create_scalar_function("ltrim", 2, flags, |cx| trim(cx, true, false))?;
    connection.create_scalar_function("rtrim", 2, flags, |cx| trim(cx, false, true))?;
    connection.create_scalar_function("trim", 2, flags, |cx| trim(cx, true, true))
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

/// Whether `byte` goes on with a character of UTF-8.
fn continues(byte: &u8) -> bool {
    byte & 0b1100_0000 == 0b1000_0000
}

fn instr(cx: &Context<'_>) -> Result<Option<i64>> {
    let (whole, part) = (cx.get_raw(0), cx.get_raw(1));
    let is_bytes = matches!((whole, part), (ValueRef::Blob(_), ValueRef::Blob(_)));
    let (Some(whole), Some(part)) = (text(whole)?, text(part)?) else {
        return Ok(None);
    };
    let found = memmem::find(&whole, &part).map_or(0, |at| {
        let before = whole[..at].iter();
        1 + before.filter(|byte| is_bytes || !continues(byte)).count()
    });
    Ok(i64::try_from(found).ok())
}

fn replace(cx: &Context<'_>) -> Result<Value> {
    let (Some(whole), Some(part)) = (text(cx.get_raw(0))?, text(cx.get_raw(1))?) else {
        return Ok(Value::Null);
    };
    if part.first().is_none_or(|first| *first == 0) {
        return Ok(owned(&whole));
    }
    let Some(other) = text(cx.get_raw(2))? else {
        return Ok(Value::Null);
    };
    let most = usize::try_from(MAX_VALUE_BYTES).unwrap_or_default();
    let mut out = Vec::new();
    let mut rest = 0;
    for at in memmem::find_iter(&whole, &part) {
        out.extend_from_slice(&whole[rest..at]);
        out.extend_from_slice(&other);
        rest = at + part.len();
        if most < out.len() {
            let error = ffi::Error::new(ffi::SQLITE_TOOBIG);
            return Err(Error::SqliteFailure(error, None));
        }
    }
    out.extend_from_slice(&whole[rest..]);
    Ok(owned(&out))
}

fn trim(cx: &Context<'_>, at_begin: bool, at_end: bool) -> Result<Value> {
    let (Some(whole), Some(set)) = (text(cx.get_raw(0))?, text(cx.get_raw(1))?) else {
        return Ok(Value::Null);
    };
    // For SQLite the set ends at a NUL.
    let set = set.split(|byte| *byte == 0).next().unwrap_or_default();
    let set: HashSet<&[u8]> = characters(set).collect();
    let mut left = &*whole;
    while at_begin
        && let Some(first) = characters(left).next()
        && set.contains(first)
    {
        left = &left[first.len()..];
    }
    while at_end
        && let Some(start) = left.iter().rposition(|byte| !continues(byte))
        && set.contains(&left[start..])
    {
        left = &left[..start];
    }
    Ok(owned(left))
}

/// The characters of `text`, each as its bytes.
fn characters(text: &[u8]) -> impl Iterator<Item = &[u8]> {
    let mut rest = text;
    std::iter::from_fn(move || {
        let after = rest.iter().skip(1).position(|byte| !continues(byte));
        let end = after.map_or(rest.len(), |at| at + 1);
        let (first, others) = rest.split_at(end);
        rest = others;
        (!first.is_empty()).then_some(first)
    })
}

fn owned(text: &[u8]) -> Value {
    Value::Text(String::from_utf8_lossy(text).into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// SQLite itself says what is right.
    #[test]
    fn as_sqlite_has_them() {
        let (own, other) = (
            Connection::open_in_memory().unwrap(),
            Connection::open_in_memory().unwrap(),
        );
        install(&own).unwrap();
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
                let two = ["instr", "trim", "ltrim", "rtrim"];
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
                    // Texts that are not UTF-8 are not made here.
                    if !call.contains("x'ff61'") {
                        assert_eq!(found[0], found[1], "{call}");
                    }
                    compared += 1;
                }
            }
        }
        assert_eq!(compared, values.len() * values.len() * 9);
    }
}
