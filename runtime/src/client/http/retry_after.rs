//! How long a server asks to wait before the next request.

use std::time::{Duration, SystemTime};

use http::{HeaderMap, StatusCode, header};

/// The wait that `Retry-After` names: in seconds, or as the time at which it ends. That is compared with the time of the response
/// (`Date`), because the clocks of two systems differ, or with the client's own time if it has none. `None` if the header is absent
/// or neither.
// RFC 9110, 10.2.3
pub(super) fn retry_after(headers: &HeaderMap) -> Option<Duration> {
    let text = headers.get(header::RETRY_AFTER)?.to_str().ok()?.trim();
    if !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit()) {
        return Some(Duration::from_secs(text.parse().unwrap_or(u64::MAX)));
    }
    let date = |text: &str| httpdate::parse_http_date(text).ok();
    let end = date(text)?;
    let sent = headers
        .get(header::DATE)
        .and_then(|sent| sent.to_str().ok());
    let now = sent.and_then(date).unwrap_or_else(SystemTime::now);
    // One that is over asks for no wait.
    Some(end.duration_since(now).unwrap_or_default())
}

/// Whether a server that refuses a request so may take it later.
pub(super) fn is_busy(status: StatusCode) -> bool {
    matches!(status.as_u16(), 408 | 429 | 502..=504)
}

#[cfg(test)]
mod tests {
    use http::HeaderValue;

    use super::*;

    #[test]
    fn what_a_server_asks_for() {
        const DATE: &str = "Sun, 06 Nov 1994 08:49:37 GMT";
        for (text, sent, expected) in [
            ("7", None, Some(7)),
            (" 7 ", Some(DATE), Some(7)),
            ("0", None, Some(0)),
            ("99999999999999999999999", None, Some(u64::MAX)),
            ("Sun, 06 Nov 1994 08:49:40 GMT", Some(DATE), Some(3)),
            ("Sunday, 06-Nov-94 08:49:40 GMT", Some(DATE), Some(3)),
            ("Sun Nov  6 08:49:40 1994", Some(DATE), Some(3)),
            // It is over.
            ("Sun, 06 Nov 1994 08:49:00 GMT", Some(DATE), Some(0)),
            (DATE, None, Some(0)),
            ("", None, None),
            ("-1", None, None),
            ("1.5", None, None),
            ("+7", None, None),
            ("soon", Some(DATE), None),
        ] {
            let mut headers = HeaderMap::new();
            headers.insert(header::RETRY_AFTER, HeaderValue::from_static(text));
            if let Some(sent) = sent {
                headers.insert(header::DATE, HeaderValue::from_static(sent));
            }
            let found = retry_after(&headers).map(|wait| wait.as_secs());
            assert_eq!(found, expected, "{text} at {sent:?}");
        }
        assert_eq!(retry_after(&HeaderMap::new()), None);
        // Without the time of the response, the client's own counts.
        let mut headers = HeaderMap::new();
        let end = httpdate::fmt_http_date(SystemTime::now() + Duration::from_secs(100));
        headers.insert(header::RETRY_AFTER, end.parse().unwrap());
        let wait = retry_after(&headers).unwrap().as_secs();
        assert!((90..=100).contains(&wait), "{wait}");
    }
}
