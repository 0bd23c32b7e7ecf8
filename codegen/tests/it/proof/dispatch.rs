//! Every envelope of every revision reaches its one params type, and nothing else.

use serde::de::DeserializeSeed;
use serde_json::Value;
use trueform_schema::{
    ClientNotification, ClientRequest, DecodeError, Encode, Method, Revision, ServerNotification,
    ServerRequest, View,
};

use super::table::same;
use crate::support::{REVISIONS, committed, definitions};
use crate::values::Values;

/// Decodes params of a message of one side, and writes them again.
type Side = fn(Revision, Method, Option<&str>) -> Result<Vec<u8>, DecodeError>;

/// Decodes params of a message of one side from a deserializer, and writes them again.
type Seed = fn(Revision, Method, &str) -> serde_json::Result<Vec<u8>>;

/// Whether one side sends a method.
type Has = fn(Method) -> bool;

fn written(message: &dyn Encode, revision: Revision) -> Vec<u8> {
    let mut out = Vec::new();
    message.encode(View::at(revision), &mut out);
    out
}

/// Whether the client sends it, whether it is a notification, how it decodes.
const SIDES: [(bool, bool, Side); 4] = [
    (true, false, |r, m, p| {
        ClientRequest::decode(r, m, p).map(|message| written(&message, r))
    }),
    (true, true, |r, m, p| {
        ClientNotification::decode(r, m, p).map(|message| written(&message, r))
    }),
    (false, false, |r, m, p| {
        ServerRequest::decode(r, m, p).map(|message| written(&message, r))
    }),
    (false, true, |r, m, p| {
        ServerNotification::decode(r, m, p).map(|message| written(&message, r))
    }),
];

/// The same sides, read by their seeds.
const SEEDS: [(Seed, Has); 4] = [
    (
        |r, m, p| seeded(ClientRequest::seed(m), p).map(|message| written(&message, r)),
        ClientRequest::has,
    ),
    (
        |r, m, p| seeded(ClientNotification::seed(m), p).map(|message| written(&message, r)),
        ClientNotification::has,
    ),
    (
        |r, m, p| seeded(ServerRequest::seed(m), p).map(|message| written(&message, r)),
        ServerRequest::has,
    ),
    (
        |r, m, p| seeded(ServerNotification::seed(m), p).map(|message| written(&message, r)),
        ServerNotification::has,
    ),
];

fn seeded<'de, S: DeserializeSeed<'de>>(seed: S, params: &'de str) -> serde_json::Result<S::Value> {
    let mut deserializer = serde_json::Deserializer::from_str(params);
    let message = seed.deserialize(&mut deserializer)?;
    deserializer.end()?;
    Ok(message)
}

/// A seed accepts and refuses the same params as `decode`, and each side has exactly the methods that it decodes.
#[test]
fn seeds_agree_with_decode() {
    let mut read = 0;
    for (name, revision) in REVISIONS.into_iter().zip(Revision::ALL) {
        let document = committed(name);
        for definition in definitions(&document) {
            let wire = document["$defs"][&definition].pointer("/properties/method/const");
            let Some(method) = wire.and_then(Value::as_str).and_then(Method::from_wire) else {
                continue;
            };
            let mut values = Values::new(&document, 17);
            for _ in 0..10 {
                let message = values.random(&definition);
                let params = message
                    .get("params")
                    .map_or_else(|| "{}".to_owned(), Value::to_string);
                for ((_, _, decode), (seed, has)) in SIDES.iter().zip(SEEDS) {
                    // Both refuse text that is not an object.
                    for params in [&*params, "[]"] {
                        let decoded = decode(revision, method, Some(params));
                        let seeded = seed(revision, method, params);
                        assert!(has(method) || decoded.is_err(), "{name}, `{definition}`");
                        match (decoded, seeded) {
                            (Ok(decoded), Ok(seeded)) => {
                                assert_eq!(decoded, seeded, "{name}, `{definition}`");
                                read += 1;
                            }
                            (Err(decoded), Err(seeded)) => {
                                let (full, seeded) = (decoded.to_string(), seeded.to_string());
                                assert!(
                                    has(method) || seeded.starts_with(&full),
                                    "{full}, {seeded}"
                                );
                            }
                            (decoded, seeded) => {
                                panic!("{name}, `{definition}`: {decoded:?}, {seeded:?}\n{params}")
                            }
                        }
                    }
                }
            }
        }
    }
    assert!(read > 1_000, "{read}");
}

#[test]
fn envelopes_reach_exactly_one_params_type() {
    let mut reached = 0;
    for (name, revision) in REVISIONS.into_iter().zip(Revision::ALL) {
        let document = committed(name);
        for definition in definitions(&document) {
            let wire = document["$defs"][&definition].pointer("/properties/method/const");
            let Some(method) = wire
                .and_then(Value::as_str)
                .map(|wire| Method::from_wire(wire).expect(wire))
            else {
                continue;
            };
            // Some occur only inside another message at this revision.
            let Some(rules) = method.rules(revision) else {
                continue;
            };
            let mut values = Values::new(&document, 13);
            for _ in 0..20 {
                let message = values.random(&definition);
                let params = message.get("params").map(Value::to_string);
                let expected = message
                    .get("params")
                    .cloned()
                    .unwrap_or_else(|| Value::Object(Default::default()));
                for (client, notification, decode) in SIDES {
                    let sends = if client {
                        rules.direction.from_client()
                    } else {
                        rules.direction.from_server()
                    };
                    let applies = sends && notification == method.is_notification();
                    match decode(revision, method, params.as_deref()) {
                        Ok(out) if applies => {
                            let out: Value =
                                serde_json::from_slice(&out).expect("encoders write JSON");
                            assert!(
                                same(&expected, &out),
                                "{name}, `{definition}`:\n    {expected}\n    {out}"
                            );
                            reached += 1;
                        }
                        Err(error) if applies => {
                            panic!("{name}, `{definition}`: {error}\n    {message}")
                        }
                        // A method that the other side sends at another revision decodes; the rules say when it may.
                        Ok(_) => assert!(
                            notification == method.is_notification(),
                            "{name}, `{definition}`"
                        ),
                        Err(_) => {}
                    }
                }
            }
        }
    }
    assert!(reached > 2_000, "{reached}");
}

/// Missing params are refused at revisions that require them, and mean an empty object at others.
#[test]
fn absent_params() {
    for revision in Revision::ALL {
        for method in Method::ALL {
            let Some(rules) = method.rules(revision) else {
                continue;
            };
            let decoded = SIDES
                .iter()
                .any(|(_, _, decode)| decode(revision, method, None).is_ok());
            if rules.params_required {
                assert!(!decoded, "{revision}, {}", method.as_str());
            } else {
                assert!(decoded, "{revision}, {}", method.as_str());
            }
        }
    }
}
