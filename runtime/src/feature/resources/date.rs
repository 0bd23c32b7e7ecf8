//! Dates of the annotation `lastModified` (Z-13). The macros check those in attributes by the same rules.

use std::ops::RangeInclusive;

/// Returns whether `text` is a date, or a date and time with an offset, as ISO 8601 writes them: `2026-01-31` or `2026-01-31T15:00:58Z`.
pub(super) fn is_date(text: &str) -> bool {
    let (date, time) = match text.split_once('T') {
        Some((date, time)) => (date, Some(time)),
        None => (text, None),
    };
    let date = date.split('-').collect::<Vec<_>>();
    let [year, month, day] = *date else {
        return false;
    };
    let is_date = is_number(year, 4, 0..=9999) && is_number(month, 2, 1..=12);
    is_date && is_number(day, 2, 1..=31) && time.is_none_or(is_time)
}

/// Returns whether `text` is a time of day with an offset.
fn is_time(text: &str) -> bool {
    let (time, offset) = match text.strip_suffix('Z') {
        Some(time) => (time, None),
        None => match text.rsplit_once(['+', '-']) {
            Some((time, offset)) => (time, Some(offset)),
            None => return false,
        },
    };
    let is_offset = |offset: &str| {
        let parts = offset.split_once(':');
        parts.is_some_and(|(hour, minute)| {
            is_number(hour, 2, 0..=23) && is_number(minute, 2, 0..=59)
        })
    };
    let mut parts = time.splitn(3, ':');
    let is_hour = parts.next().is_some_and(|hour| is_number(hour, 2, 0..=23));
    let is_minute = parts
        .next()
        .is_some_and(|minute| is_number(minute, 2, 0..=59));
    let is_second = parts.next().is_none_or(|second| {
        let (whole, fraction) = second.split_once('.').unwrap_or((second, "0"));
        let digits = fraction.bytes().all(|byte| byte.is_ascii_digit());
        is_number(whole, 2, 0..=60) && !fraction.is_empty() && digits
    });
    is_hour && is_minute && is_second && offset.is_none_or(is_offset)
}

/// Returns whether `text` has `digits` digits and is a number in `range`.
fn is_number(text: &str, digits: usize, range: RangeInclusive<u32>) -> bool {
    text.len() == digits
        && text.bytes().all(|byte| byte.is_ascii_digit())
        && text.parse().is_ok_and(|number| range.contains(&number))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates() {
        for text in [
            "2026-01-31",
            "2025-01-12T15:00:58Z",
            "2025-01-12T15:00Z",
            "2025-01-12T15:00:58.25+02:00",
            "2025-01-12T15:00:58-11:30",
        ] {
            assert!(is_date(text), "{text}");
        }
        for text in [
            "",
            "2026",
            "2026-1-31",
            "2026-13-01",
            "2026-01-32",
            "2026-01-31-01",
            "31.01.2026",
            "2026-01-31T",
            "2026-01-31T15Z",
            "2026-01-31T15:00:58",
            "2026-01-31T24:00:00Z",
            "2026-01-31T15:60:00Z",
            "2026-01-31T15:00:58.Z",
            "2026-01-31T15:00:58+2",
            "2026-01-31 15:00:58Z",
        ] {
            assert!(!is_date(text), "{text}");
        }
    }
}
