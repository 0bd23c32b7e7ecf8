//! Bytes to message: one pass, borrowed; duplicate members are refused.

use std::fmt;

use serde::de::{DeserializeSeed, Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde_json::value::RawValue;
use trueform_schema::ErrorObject;

use super::{
    ErrorDetail, MAX_BATCH, MAX_DEPTH, error,
    error_detail::described,
    message::{EarlyParams, Incoming, Kind, Malformed, Members, Message},
    scan,
};

/// Splits `bytes` into its messages.
///
/// # Errors
/// -32700 for what is not UTF-8 or not JSON, -32600 for JSON that nests too deep or is not a JSON-RPC message.
pub(crate) fn parse(bytes: &[u8]) -> Result<Incoming<'_>, Malformed> {
    read::<()>(bytes, false).map(|(incoming, _)| incoming)
}

/// As [`parse`], decoding the params of a single message while they are passed. The message has no raw params then. Params that
/// cannot be decoded, or come before the method, stay raw.
///
/// # Errors
/// As [`parse`].
pub(crate) fn parse_early<'a, E: EarlyParams<'a>>(
    bytes: &'a [u8],
) -> Result<(Incoming<'a>, Option<E>), Malformed> {
    read(bytes, true)
}

fn read<'a, E: EarlyParams<'a>>(
    bytes: &'a [u8],
    early: bool,
) -> Result<(Incoming<'a>, Option<E>), Malformed> {
    let text = std::str::from_utf8(bytes).map_err(|problem| {
        let place = problem.valid_up_to();
        malformed_from(bytes, error::parse(format!("not UTF-8 at byte {place}")))
    })?;
    if is_too_deep(bytes) {
        let limit = format!("at most {MAX_DEPTH} levels of arrays and objects");
        let error = error::invalid_request(
            format!("nested deeper than {MAX_DEPTH} levels"),
            &ErrorDetail::new("", "depth", limit, "more"),
        );
        return Err(malformed_from(bytes, error));
    }
    match bytes.iter().find(|byte| !super::is_white_space(**byte)) {
        Some(b'[') => Ok((Incoming::Batch(batch(text)?), None)),
        _ => single(text, early).map(|(message, params)| (Incoming::Single(message), params)),
    }
}

/// Whether brackets in `bytes`, which need not be JSON, nest deeper than a message may.
pub(crate) fn is_too_deep(bytes: &[u8]) -> bool {
    scan::deeper_than(bytes, MAX_DEPTH)
}

fn batch(text: &str) -> Result<Vec<Result<Message<'_>, Malformed>>, Malformed> {
    let refuse = |error| Malformed {
        kind: Kind::Unknown,
        id: None,
        error,
    };
    let Items { first, count } =
        serde_json::from_str(text).map_err(|problem| refuse(error::parse(problem.to_string())))?;
    match count {
        0 => Err(refuse(error::invalid_request(
            "an empty batch",
            &ErrorDetail::new("", "min-items", "at least one message", "none"),
        ))),
        count if count > MAX_BATCH => Err(refuse(error::invalid_request(
            format!("a batch of {count} messages; at most {MAX_BATCH} are taken"),
            &ErrorDetail::new(
                "",
                "max-items",
                format!("at most {MAX_BATCH} messages"),
                count.to_string(),
            ),
        ))),
        _ => Ok(first
            .into_iter()
            .map(|item| Ok(single::<()>(item.get(), false)?.0))
            .collect()),
    }
}

/// The items of a batch: as many as are taken, and how many there are. A batch of a great many takes no memory.
struct Items<'a> {
    first: Vec<&'a RawValue>,
    count: usize,
}

impl<'de: 'a, 'a> serde::Deserialize<'de> for Items<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct V;
        impl<'de> Visitor<'de> for V {
            type Value = Items<'de>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an array of messages")
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Items<'de>, A::Error> {
                let mut first = Vec::new();
                while first.len() < MAX_BATCH
                    && let Some(item) = items.next_element()?
                {
                    first.push(item);
                }
                let mut count = first.len();
                while items.next_element::<IgnoredAny>()?.is_some() {
                    count += 1;
                }
                Ok(Items { first, count })
            }
        }
        deserializer.deserialize_seq(V)
    }
}

fn single<'a, E: EarlyParams<'a>>(
    text: &'a str,
    early: bool,
) -> Result<(Message<'a>, Option<E>), Malformed> {
    let mut members = Members::new(early);
    let mut reader = serde_json::Deserializer::from_str(text);
    let outcome = (&mut members)
        .deserialize(&mut reader)
        .and_then(|()| reader.end());
    match outcome {
        Ok(()) => {
            let params = members.early_params.take();
            members.classify().map(|message| (message, params))
        }
        // The params may be what is wrong, and are reported after the envelope: read the message without looking into them.
        Err(_) if members.tried_early => single(text, false),
        // The error is about the first value. The text after it may still not be JSON.
        Err(problem) if problem.is_data() => {
            let error = match serde_json::from_str::<IgnoredAny>(text) {
                Ok(_) => error::invalid_request(
                    "a message is an object",
                    &ErrorDetail::new("", "type", "an object", described(text.trim())),
                ),
                Err(problem) => error::parse(problem.to_string()),
            };
            Err(members.malformed(error))
        }
        Err(problem) => Err(members.malformed(error::parse(problem.to_string()))),
    }
}

/// The refusal of a message of which only the beginning of `bytes` can be parsed: its id, if that was there, and whether it is
/// an answer. What else it would have been is not known.
pub(crate) fn malformed_from(bytes: &[u8], error: ErrorObject) -> Malformed {
    let malformed = beginning(bytes).malformed(error);
    Malformed {
        kind: match malformed.kind {
            Kind::Response => Kind::Response,
            _ => Kind::Unknown,
        },
        ..malformed
    }
}

/// The id of the message that `bytes` begins with, if it can be read although the whole cannot be parsed.
#[cfg(feature = "testing")]
pub(crate) fn readable_id(bytes: &[u8]) -> Option<trueform_schema::RequestId> {
    beginning(bytes).request_id()
}

fn beginning(bytes: &[u8]) -> Members<'_, ()> {
    let valid = match std::str::from_utf8(bytes) {
        Ok(_) => bytes,
        Err(problem) => &bytes[..problem.valid_up_to()],
    };
    let mut members = Members::<()>::new(false);
    // The error is expected: the members read before it are what counts.
    let _ = (&mut members).deserialize(&mut serde_json::Deserializer::from_slice(valid));
    members
}

impl<'de, E: EarlyParams<'de>> DeserializeSeed<'de> for &mut Members<'de, E> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_map(self)
    }
}

impl<'de, E: EarlyParams<'de>> Visitor<'de> for &mut Members<'de, E> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON-RPC message")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        while let Some(name) = map.next_key()? {
            let (slot, name) = match name {
                Name::Jsonrpc => (&mut self.jsonrpc, "jsonrpc"),
                Name::Id => (&mut self.id, "id"),
                Name::Method => (&mut self.method, "method"),
                Name::Params if self.tried_early => {
                    map.next_value::<IgnoredAny>()?;
                    self.repeated = self.repeated.or(Some("params"));
                    continue;
                }
                Name::Params => match self.early_seed() {
                    Some(seed) => {
                        self.tried_early = true;
                        self.early_params = Some(map.next_value_seed(seed)?);
                        continue;
                    }
                    None => (&mut self.params, "params"),
                },
                Name::Result => (&mut self.result, "result"),
                Name::Error => (&mut self.error, "error"),
                Name::Other => {
                    map.next_value::<IgnoredAny>()?;
                    continue;
                }
            };
            self.reached = Some(name);
            let value = map.next_value()?;
            match slot {
                None => *slot = Some(value),
                Some(_) => self.repeated = self.repeated.or(Some(name)),
            }
        }
        Ok(())
    }
}

enum Name {
    Jsonrpc,
    Id,
    Method,
    Params,
    Result,
    Error,
    Other,
}

impl<'de> serde::Deserialize<'de> for Name {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct V;
        impl Visitor<'_> for V {
            type Value = Name;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a member name")
            }

            fn visit_str<E>(self, name: &str) -> Result<Name, E> {
                Ok(match name {
                    "jsonrpc" => Name::Jsonrpc,
                    "id" => Name::Id,
                    "method" => Name::Method,
                    "params" => Name::Params,
                    "result" => Name::Result,
                    "error" => Name::Error,
                    _ => Name::Other,
                })
            }
        }
        deserializer.deserialize_str(V)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn malformed(text: &[u8]) -> (i64, Kind, Option<String>, String) {
        let Malformed { kind, id, error } = parse(text).expect_err("malformed");
        (error.code, kind, id.map(|id| id.to_string()), error.message)
    }

    // Y-6
    #[test]
    fn a_batch_of_very_many_takes_no_memory() {
        for count in [0, 1, MAX_BATCH, MAX_BATCH + 1, 100_000] {
            let text = format!("[{}]", vec!["1"; count].join(","));
            let items: Items<'_> = serde_json::from_str(&text).unwrap();
            assert_eq!(
                (items.count, items.first.len()),
                (count, count.min(MAX_BATCH))
            );
            assert!(items.first.capacity() <= 2 * MAX_BATCH, "{count}");
        }
        assert!(serde_json::from_str::<Items<'_>>("[1,").is_err());
    }

    // A-1, A-2, A-5, A-6, A-7
    #[test]
    fn what_is_no_message() {
        for (text, code, kind, id) in [
            (&b"hello"[..], -32700, Kind::Unknown, None),
            (br#""jsonrpc":"2.0""#, -32700, Kind::Unknown, None),
            (
                br#"{"jsonrpc":"2.0","id":7,"method":"pi"#,
                -32700,
                Kind::Request,
                Some("7"),
            ),
            (
                b"{\"jsonrpc\":\"2.0\",\"id\":7,\"method\":\"\xff\"}",
                -32700,
                Kind::Unknown,
                Some("7"),
            ),
            (
                br#"{"id":1,"method":"ping"}"#,
                -32600,
                Kind::Request,
                Some("1"),
            ),
            (
                br#"{"jsonrpc":"1.0","id":"a","method":"ping"}"#,
                -32600,
                Kind::Request,
                Some("\"a\""),
            ),
            (
                br#"{"jsonrpc":"2.0","id":null,"method":"ping"}"#,
                -32600,
                Kind::Request,
                None,
            ),
            (
                br#"{"jsonrpc":"2.0","id":1.5,"method":"ping"}"#,
                -32600,
                Kind::Request,
                None,
            ),
            (
                br#"{"jsonrpc":"2.0","id":true,"method":"ping"}"#,
                -32600,
                Kind::Request,
                None,
            ),
            (
                br#"{"jsonrpc":"2.0","id":{},"method":"ping"}"#,
                -32600,
                Kind::Request,
                None,
            ),
            (
                br#"{"jsonrpc":"2.0","id":1,"id":1,"method":"ping"}"#,
                -32600,
                Kind::Request,
                Some("1"),
            ),
            (
                br#"{"jsonrpc":"2.0","id":1,"method":"a","method":"a"}"#,
                -32600,
                Kind::Request,
                Some("1"),
            ),
            (
                br#"{"jsonrpc":"2.0","id":1,"method":5}"#,
                -32600,
                Kind::Request,
                Some("1"),
            ),
            (
                br#"{"jsonrpc":"2.0","id":1}"#,
                -32600,
                Kind::Unknown,
                Some("1"),
            ),
            (
                br#"{"jsonrpc":"2.0","id":1,"result":{},"error":{"code":1,"message":""}}"#,
                -32600,
                Kind::Response,
                Some("1"),
            ),
            (
                br#"{"jsonrpc":"2.0","id":1,"method":"a","result":{}}"#,
                -32600,
                Kind::Response,
                Some("1"),
            ),
            (
                br#"{"jsonrpc":"2.0","id":1,"result":[]}"#,
                -32600,
                Kind::Response,
                Some("1"),
            ),
            (
                br#"{"jsonrpc":"2.0","id":1,"error":{"code":"x"}}"#,
                -32600,
                Kind::Response,
                Some("1"),
            ),
            (
                br#"{"jsonrpc":"2.0","method":1}"#,
                -32600,
                Kind::Notification,
                None,
            ),
            (
                br#"{"jsonrpc":"2.0","method":"x","params":[1]}"#,
                -32600,
                Kind::Notification,
                None,
            ),
            (b"{}", -32600, Kind::Unknown, None),
            (b"5", -32600, Kind::Unknown, None),
            (b"[]", -32600, Kind::Unknown, None),
        ] {
            let found = malformed(text);
            let text = String::from_utf8_lossy(text);
            assert_eq!(
                (found.0, found.1, found.2.as_deref()),
                (code, kind, id),
                "{text}: {}",
                found.3
            );
        }
    }

    #[test]
    fn too_deep() {
        let text = format!(
            r#"{{"jsonrpc":"2.0","id":3,"method":"ping","params":{}}}"#,
            "[".repeat(200) + &"]".repeat(200)
        );
        let (code, _, id, message) = malformed(text.as_bytes());
        assert_eq!((code, id.as_deref()), (-32600, Some("3")), "{message}");
    }

    #[test]
    fn what_is_a_message() {
        let parse = |text| match parse(text) {
            Ok(Incoming::Single(message)) => message,
            other => panic!("{other:?}"),
        };
        match parse(
            br#" {"params":{"a":1.0},"method":"to\u006fls","jsonrpc":"2.0","id":1.0,"extra":[]} "#,
        ) {
            Message::Request { id, method, params } => {
                assert_eq!((id.to_string().as_str(), &*method), ("1.0", "tools"));
                assert_eq!(params.unwrap().get(), r#"{"a":1.0}"#);
            }
            other => panic!("{other:?}"),
        }
        assert!(matches!(
            parse(br#"{"jsonrpc":"2.0","method":"x"}"#),
            Message::Notification { params: None, .. }
        ));
        assert!(matches!(
            parse(br#"{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"x"}}"#),
            Message::Response {
                id: None,
                outcome: Err(_)
            }
        ));
    }

    #[test]
    fn params_in_passing() {
        #[derive(Debug, serde::Deserialize)]
        struct Pair {
            a: i64,
        }
        impl<'a> EarlyParams<'a> for Pair {
            type Seed = std::marker::PhantomData<Self>;

            fn seed(method: &str) -> Option<Self::Seed> {
                (method == "m").then_some(std::marker::PhantomData)
            }
        }
        let read = |text: &'static str| match parse_early::<Pair>(text.as_bytes()) {
            Ok((Incoming::Single(Message::Request { params, .. }), early)) => {
                Ok((params.is_some(), early.map(|pair| pair.a)))
            }
            Ok(other) => panic!("{other:?}"),
            Err(malformed) => Err(malformed.error.message),
        };
        assert_eq!(
            read(r#"{"jsonrpc":"2.0","id":1,"method":"m","params":{"a":5}}"#),
            Ok((false, Some(5)))
        );
        assert_eq!(
            read(r#"{"jsonrpc":"2.0","id":1,"method":"other","params":{"a":5}}"#),
            Ok((true, None))
        );
        assert_eq!(
            read(r#"{"jsonrpc":"2.0","id":1,"params":{"a":5},"method":"m"}"#),
            Ok((true, None))
        );
        assert_eq!(
            read(r#"{"jsonrpc":"2.0","id":1,"method":"m","params":{"a":"x"}}"#),
            Ok((true, None))
        );
        let repeated =
            read(r#"{"jsonrpc":"2.0","id":1,"method":"m","params":{"a":5},"params":{"a":6}}"#);
        assert!(
            repeated
                .as_ref()
                .is_err_and(|message| message.contains("`params` occurs twice")),
            "{repeated:?}"
        );
        let cut = read(r#"{"jsonrpc":"2.0","id":1,"method":"m","params":{"a":5"#);
        assert!(
            cut.as_ref()
                .is_err_and(|message| message.starts_with("parse error")),
            "{cut:?}"
        );
    }

    // A-10
    #[test]
    fn batches() {
        match parse(br#"[{"jsonrpc":"2.0","id":1,"method":"ping"},{"id":2,"method":"ping"},5]"#) {
            Ok(Incoming::Batch(messages)) => {
                assert_eq!(messages.len(), 3);
                assert!(messages[0].is_ok());
                assert_eq!(
                    messages[1].as_ref().unwrap_err().id,
                    Some(trueform_schema::RequestId::from(2))
                );
                assert_eq!(messages[2].as_ref().unwrap_err().kind, Kind::Unknown);
            }
            other => panic!("{other:?}"),
        }
        let many = format!("[{}]", vec!["{}"; MAX_BATCH + 1].join(","));
        assert!(malformed(many.as_bytes()).3.contains("at most"));
    }
}
