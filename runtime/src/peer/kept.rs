//! How much a session keeps of what its client stated about itself at `initialize`.
//!
//! Data that is only displayed to people is left out if there is too much of it. Data that the server's decisions depend on is never cut:
//! if there is too much of that, the client is refused.

use serde::Serialize;
use trueform_schema::{ClientCapabilities, ErrorObject, Implementation};

use crate::{
    gate::PeerFacts,
    jsonrpc::{self, ErrorDetail},
};

/// Most bytes that a session keeps of the `clientInfo` and `capabilities` of its `initialize`: 2 KiB, counted as JSON text and 48
/// bytes for each member. Beyond it, icons, unknown members, `description`, `websiteUrl` and `title` of `clientInfo` are left out
/// in this order; if that is not enough, `initialize` is refused (-32602, pointer `/params/capabilities`).
pub const MAX_SESSION_FACTS: usize = 2 << 10;

/// Longest `name` and `version` of a `clientInfo`, in bytes. A longer one is refused at `initialize` (-32602).
pub const MAX_CLIENT_NAME: usize = 256;

/// Upper bound of what the tables of a session need for one member, in bytes.
const MEMBER: usize = 48;

impl PeerFacts {
    /// Returns what a session keeps of `info` and `capabilities`.
    pub(crate) fn kept(
        mut info: Implementation,
        capabilities: ClientCapabilities,
    ) -> Result<Self, ErrorObject> {
        check_length("name", &info.name)?;
        check_length("version", &info.version)?;
        let fixed = footprint(&capabilities);
        let fits =
            |info: &Implementation| fixed.saturating_add(footprint(info)) <= MAX_SESSION_FACTS;
        let parts: [fn(&mut Implementation); 5] = [
            |info| info.icons = None,
            |info| *info.extras_mut() = Default::default(),
            |info| info.description = None,
            |info| info.website_url = None,
            |info| info.title = None,
        ];
        for leave_out in parts {
            if fits(&info) {
                break;
            }
            leave_out(&mut info);
        }
        match fits(&info) {
            true => Ok(Self {
                client_info: Some(info),
                capabilities,
            }),
            false => Err(too_large(
                "/params/capabilities",
                format!("at most {MAX_SESSION_FACTS} bytes together with `clientInfo`"),
                format!("an object that takes {fixed} bytes"),
            )),
        }
    }

    /// Returns how many bytes the facts take beside their own size.
    #[cfg(feature = "http")]
    pub(crate) fn footprint(&self) -> usize {
        self.client_info.as_ref().map_or(0, footprint) + footprint(&self.capabilities)
    }
}

fn check_length(member: &'static str, text: &str) -> Result<(), ErrorObject> {
    match text.len() {
        0..=MAX_CLIENT_NAME => Ok(()),
        length => Err(too_large(
            &format!("/params/clientInfo/{member}"),
            format!("a string of at most {MAX_CLIENT_NAME} bytes"),
            format!("one of {length} bytes"),
        )),
    }
}

fn too_large(pointer: &str, expected: String, found: String) -> ErrorObject {
    let fault = ErrorDetail::new(pointer.to_owned(), "size", expected, found);
    jsonrpc::params_error("initialize", &fault)
}

/// Returns an upper bound of the bytes on the heap that hold `value`.
fn footprint(value: &impl Serialize) -> usize {
    // A value that cannot be written is not kept.
    let Ok(text) = serde_json::to_vec(value) else {
        return usize::MAX;
    };
    let members = memchr::memchr_iter(b':', &text).count();
    text.len() + members * MEMBER
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn kept(info: Value, capabilities: Value) -> Result<PeerFacts, ErrorObject> {
        let info = serde_json::from_value(info).expect("a `clientInfo`");
        PeerFacts::kept(
            info,
            serde_json::from_value(capabilities).expect("capabilities"),
        )
    }

    // Issue 8: data for display is left out, the largest first; data for decisions is kept completely.
    #[test]
    fn what_is_shown_is_left_out_before_anything_is_refused() {
        let long = "x".repeat(1500);
        let icon = json!({ "src": format!("data:image/png;base64,{}", "A".repeat(1 << 20)) });
        let all = json!({
            "name": "n", "version": "1", "title": "T", "description": "D", "websiteUrl": "https://e.x/",
            "icons": [icon], "more": long,
        });
        let facts = kept(all.clone(), json!({ "sampling": {} })).expect("small enough");
        let info = facts.client_info.as_ref().expect("there is one");
        assert_eq!(info.icons, None);
        assert!(!info.extras().is_empty() && info.title.as_deref() == Some("T"));

        let facts =
            kept(all, json!({ "experimental": { "x": { "y": long } } })).expect("small enough");
        let info = facts.client_info.as_ref().expect("there is one");
        assert!(info.icons.is_none() && info.extras().is_empty());
        assert_eq!(info.description.as_deref(), Some("D"));
        assert!(facts.capabilities.experimental.is_some());

        let large = "x".repeat(MAX_SESSION_FACTS);
        let many: serde_json::Map<_, _> = (0..100).map(|at| (at.to_string(), json!({}))).collect();
        let named = |name: &str, version: &str| json!({ "name": name, "version": version });
        for (info, capabilities, pointer) in [
            (named(&large, "1"), json!({}), "/params/clientInfo/name"),
            (named("n", &large), json!({}), "/params/clientInfo/version"),
            (
                named("n", "1"),
                json!({ "extensions": { "a/b": { "x": large } } }),
                "/params/capabilities",
            ),
            (
                named("n", "1"),
                json!({ "experimental": many }),
                "/params/capabilities",
            ),
        ] {
            let error = kept(info, capabilities).expect_err(pointer);
            let data: Value = serde_json::from_str(error.data.expect("data").get()).expect("JSON");
            assert_eq!(
                (error.code, data["pointer"].as_str()),
                (-32602, Some(pointer))
            );
            assert!(error.message.len() < 400, "{}", error.message);
        }
        // Exactly: the bytes of the text, and a fixed number for each of its five members.
        let text = json!({ "name": "n", "version": "1", "title": "" }).to_string();
        let capabilities = json!({ "experimental": { "x": {} } });
        let rest = text.len() + capabilities.to_string().len() + 5 * MEMBER;
        let titled = |length| json!({ "name": "n", "version": "1", "title": "t".repeat(length) });
        for (length, is_kept) in [(0, true), (1, false)] {
            let length = MAX_SESSION_FACTS - rest + length;
            let facts = kept(titled(length), capabilities.clone()).expect("small enough");
            let title = facts.client_info.and_then(|info| info.title);
            assert_eq!(title.is_some(), is_kept, "{length}");
        }
        let name = "n".repeat(MAX_CLIENT_NAME);
        assert!(kept(named(&name, &name), json!({})).is_ok());
    }
}
