//! The fields of an event as JSON, within a bound.

use std::fmt::{self, Write};

use serde_json::{Map, Value};
use tracing::{
    Event,
    field::{Field, Visit},
};

/// Most bytes of the names and values of one event that a client is sent, and of its target, before JSON escapes them: 8 KiB.
///
/// A longer value is cut and ends with `…`, fields after it are left out, and the member `truncated` is `true`.
pub const MAX_CLIENT_EVENT: usize = 8 << 10;

/// Fields whose names contain one of these are sent to clients as `[redacted]`, in any case and with or without the characters `_`,
/// `-` and `.` between the words: `apiKey` and `x-api-key` contain `api_key`.
// M-5
pub const REDACTED_FIELDS: [&str; 9] = [
    "password",
    "passwd",
    "secret",
    "token",
    "authorization",
    "api_key",
    "cookie",
    "credential",
    "private_key",
];

const REDACTED: &str = "[redacted]";

/// Returns the target and the fields of `event`. An event of the `log` crate has its target in a field.
pub(super) fn read(event: &Event<'_>) -> (String, Map<String, Value>) {
    let mut fields = Fields {
        data: Map::new(),
        target: None,
        left: MAX_CLIENT_EVENT,
        is_cut: false,
        is_target_cut: false,
    };
    event.record(&mut fields);
    if fields.is_cut || fields.is_target_cut {
        fields.data.insert("truncated".to_owned(), true.into());
    }
    let target = fields
        .target
        .unwrap_or_else(|| event.metadata().target().to_owned());
    (target, fields.data)
}

struct Fields {
    data: Map<String, Value>,
    target: Option<String>,
    left: usize,
    is_cut: bool,
    is_target_cut: bool,
}

/// Text of at most `left` bytes.
struct Bounded<'a> {
    text: String,
    left: &'a mut usize,
    is_cut: &'a mut bool,
}

impl Write for Bounded<'_> {
    fn write_str(&mut self, more: &str) -> fmt::Result {
        if *self.is_cut {
            return Err(fmt::Error);
        }
        if let Some(left) = self.left.checked_sub(more.len()) {
            *self.left = left;
            self.text.push_str(more);
            return Ok(());
        }
        let mut fits = *self.left;
        while !more.is_char_boundary(fits) {
            fits -= 1;
        }
        self.text.push_str(&more[..fits]);
        self.text.push('…');
        *self.left = 0;
        *self.is_cut = true;
        Err(fmt::Error)
    }
}

impl Fields {
    /// Adds the field, with the value that `value` makes, if there is room for it.
    fn add(&mut self, field: &Field, value: impl FnOnce(&mut Self) -> Value) {
        let name = field.name();
        // Metadata that the `log` crate adds.
        if name.starts_with("log.") {
            return;
        }
        let Some(left) = self.left.checked_sub(name.len()).filter(|_| !self.is_cut) else {
            self.is_cut = true;
            return;
        };
        self.left = left;
        let value = match is_secret(name) {
            true => REDACTED.into(),
            false => value(self),
        };
        self.data.insert(name.to_owned(), value);
    }

    /// Adds a number or a flag. It takes as many bytes as its text may have.
    fn add_short(&mut self, field: &Field, value: impl Into<Value>) {
        self.left = self.left.saturating_sub(24);
        self.add(field, |_| value.into());
    }

    fn text(&mut self, text: fmt::Arguments<'_>) -> Value {
        let mut bounded = Bounded {
            text: String::new(),
            left: &mut self.left,
            is_cut: &mut self.is_cut,
        };
        // Text that does not fit is cut.
        let _ = bounded.write_fmt(text);
        bounded.text.into()
    }
}

fn is_secret(name: &str) -> bool {
    /// Returns the letters and digits of `name`.
    fn bare(name: &str) -> String {
        let letters = name.chars().filter(|one| !matches!(one, '_' | '-' | '.'));
        letters.map(|one| one.to_ascii_lowercase()).collect()
    }
    let name = bare(name);
    REDACTED_FIELDS
        .iter()
        .any(|part| name.contains(&bare(part)))
}

impl Visit for Fields {
    fn record_f64(&mut self, field: &Field, value: f64) {
        match serde_json::Number::from_f64(value) {
            Some(number) => self.add_short(field, Value::Number(number)),
            None => self.record_debug(field, &value),
        }
    }

    fn record_i64(&mut self, field: &Field, value: i64) {
        self.add_short(field, value);
    }

    fn record_u64(&mut self, field: &Field, value: u64) {
        self.add_short(field, value);
    }

    fn record_bool(&mut self, field: &Field, value: bool) {
        self.add_short(field, value);
    }

    fn record_str(&mut self, field: &Field, value: &str) {
        if field.name() == "log.target" {
            let mut target = Bounded {
                text: String::new(),
                left: &mut { MAX_CLIENT_EVENT },
                is_cut: &mut self.is_target_cut,
            };
            // Text that does not fit is cut.
            let _ = target.write_str(value);
            self.target = Some(target.text);
        }
        self.add(field, |fields| fields.text(format_args!("{value}")));
    }

    fn record_error(&mut self, field: &Field, value: &(dyn std::error::Error + 'static)) {
        self.add(field, |fields| fields.text(format_args!("{value}")));
    }

    fn record_debug(&mut self, field: &Field, value: &dyn fmt::Debug) {
        self.add(field, |fields| fields.text(format_args!("{value:?}")));
    }
}
