//! What clients stated about themselves in `_meta`, by the bytes of the statement.
//!
//! A client of 2026-07-28 states the same about itself in each request. Bytes that were decoded once need not be decoded again. An entry
//! contains only what its bytes state, and is found only by a request with the same bytes. So no client learns about another.

use std::sync::{Arc, RwLock};

use trueform_schema::{
    ClientCapabilities, ClientRequest, Era, Implementation, ProgressToken, RequestMetaObject,
    Revision,
};

use super::Inbound;
use crate::jsonrpc::{Cursor, quick};

/// Most texts of `_meta` that a server remembers.
pub(crate) const MAX_REMEMBERED: usize = 8;

/// Longest text of `_meta` that a server remembers, in bytes. With what is decoded from it, an entry takes a small multiple of that.
pub(crate) const MAX_REMEMBERED_BYTES: usize = 2 << 10;

/// How many requests with a `_meta` that is not remembered come before a full table replaces its oldest entry. So if there are more clients
/// than entries, they do not pay for a new entry with each request.
const MISSES: u32 = 32;

const PROTOCOL_VERSION: &str = "io.modelcontextprotocol/protocolVersion";
const CLIENT_INFO: &str = "io.modelcontextprotocol/clientInfo";
const CLIENT_CAPABILITIES: &str = "io.modelcontextprotocol/clientCapabilities";
const PROGRESS_TOKEN: &str = "progressToken";

/// What a peer stated about itself.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct PeerFacts {
    pub(crate) client_info: Option<Implementation>,
    pub(crate) capabilities: ClientCapabilities,
}

/// What a modern request states about itself.
#[derive(Clone, Debug)]
pub(crate) struct Stated {
    pub(crate) revision: Revision,
    pub(crate) facts: Arc<PeerFacts>,
}

/// The table of a server.
#[derive(Debug)]
pub(crate) struct Remembered {
    is_on: bool,
    table: RwLock<Table>,
}

#[derive(Debug, Default)]
struct Table {
    entries: Vec<Entry>,
    /// The place of the oldest entry of a full table.
    oldest: usize,
    misses: u32,
}

#[derive(Debug)]
struct Entry {
    /// All of `_meta`, if it had no progress token.
    whole: Option<Box<str>>,
    /// The text of each member, from its name to the end of its value, without the progress token.
    members: Box<[Box<str>]>,
    stated: Stated,
}

/// The texts of a `_meta` that can be remembered, as an [`Entry`] has them.
struct Texts<'a> {
    whole: Option<&'a str>,
    members: Vec<&'a str>,
}

impl Remembered {
    /// Creates an empty table, for a server that accepts messages as `inbound` says. If the text of params is needed after they were
    /// decoded, the fast path is off.
    pub(crate) fn new(inbound: Inbound) -> Self {
        Self {
            is_on: inbound.reads_quickly(),
            table: RwLock::default(),
        }
    }

    /// Returns whether messages are read by the fast path.
    pub(crate) fn is_on(&self) -> bool {
        self.is_on
    }

    /// Reads a `_meta` that is remembered. It may also have a progress token.
    pub(super) fn read(
        &self,
        cursor: &mut Cursor<'_>,
        token: &mut Option<ProgressToken>,
    ) -> Option<Option<Stated>> {
        let start = cursor.at();
        // Does not wait for a table that is being written.
        if let Ok(table) = self.table.try_read() {
            for entry in &table.entries {
                if let Some(whole) = &entry.whole
                    && cursor.literal(whole).is_some()
                {
                    return Some(Some(entry.stated.clone()));
                }
            }
            for entry in &table.entries {
                *token = None;
                if entry.read(cursor, token).is_some() {
                    return Some(Some(entry.stated.clone()));
                }
                cursor.back_to(start);
            }
        }
        *token = None;
        cursor.items(|cursor| read_token(cursor, token))?;
        token.as_ref().map(|_| None)
    }

    /// Remembers what `request`, which was decoded from `bytes`, states about itself, if another request with the same statement could be
    /// read without decoding it.
    pub(super) fn learn(&self, bytes: &[u8], request: &ClientRequest, inbound: Inbound) {
        if !self.is_on {
            return;
        }
        let Some(revision) = request.meta().and_then(rememberable) else {
            return;
        };
        if !self.has_room() {
            return;
        }
        if let Some((texts, stated)) = entry(bytes, request, revision, inbound)
            && let Ok(mut table) = self.table.write()
        {
            table.insert(&texts, stated);
        }
    }

    /// Returns whether an entry may be made now.
    fn has_room(&self) -> bool {
        let Ok(mut table) = self.table.try_write() else {
            return false;
        };
        table.misses += 1;
        let is_due = table.entries.len() < MAX_REMEMBERED || MISSES <= table.misses;
        if is_due {
            table.misses = 0;
        }
        is_due
    }
}

/// Returns the revision that `meta` names, if all of its contents can be remembered.
fn rememberable(meta: &RequestMetaObject) -> Option<Revision> {
    let revision = Revision::from_wire(meta.protocol_version.as_deref()?)?;
    let has_more = meta.log_level.is_some() || !meta.extras().is_empty();
    let is_whole = revision.era() == Era::Modern && meta.client_capabilities.is_some();
    (is_whole && !has_more).then_some(revision)
}

/// Returns what is to be remembered of `request`.
#[cold]
fn entry<'a>(
    bytes: &'a [u8],
    request: &ClientRequest,
    revision: Revision,
    inbound: Inbound,
) -> Option<(Texts<'a>, Stated)> {
    let meta = request.meta()?;
    // A deviation must be reported for each request.
    if !inbound.is_spotless(meta, revision) {
        return None;
    }
    let mut texts = None;
    quick(bytes, |cursor| {
        cursor.members(|cursor, name| match name {
            "_meta" => {
                texts = Some(Texts::read(cursor)?);
                Some(())
            }
            "arguments" => cursor.object().map(|_| ()),
            _ => cursor.plain().map(|_| ()),
        })
    })?;
    let facts = PeerFacts {
        client_info: meta.client_info.clone(),
        capabilities: meta.client_capabilities.clone()?,
    };
    let facts = Arc::new(facts);
    Some((texts?, Stated { revision, facts }))
}

impl<'a> Texts<'a> {
    /// Reads the texts of the `_meta` at the cursor. `None` if it is too long.
    fn read(cursor: &mut Cursor<'a>) -> Option<Self> {
        let start = cursor.at();
        let (mut members, mut has_token) = (Vec::new(), false);
        cursor.items(|cursor| {
            let start = cursor.at();
            let name = cursor.plain()?;
            cursor.colon()?;
            match name {
                PROTOCOL_VERSION => {
                    cursor.plain()?;
                }
                CLIENT_INFO | CLIENT_CAPABILITIES => {
                    cursor.object()?;
                }
                PROGRESS_TOKEN => {
                    has_token = true;
                    return cursor.id().map(|_| ());
                }
                _ => return None,
            }
            members.push(cursor.since(start)?);
            Some(())
        })?;
        let whole = cursor.since(start)?;
        (whole.len() <= MAX_REMEMBERED_BYTES).then_some(Self {
            whole: (!has_token).then_some(whole),
            members,
        })
    }
}

impl Table {
    fn insert(&mut self, texts: &Texts<'_>, stated: Stated) {
        let entry = Entry {
            whole: texts.whole.map(Box::from),
            members: texts.members.iter().copied().map(Box::from).collect(),
            stated,
        };
        if self.entries.len() < MAX_REMEMBERED {
            self.entries.push(entry);
        } else {
            self.entries[self.oldest] = entry;
            self.oldest = (self.oldest + 1) % MAX_REMEMBERED;
        }
    }
}

impl Entry {
    /// Reads a `_meta` with the members of this entry, in any order, and an optional progress token.
    fn read(&self, cursor: &mut Cursor<'_>, token: &mut Option<ProgressToken>) -> Option<()> {
        // A bit for each member that was found.
        let mut seen = 0_u32;
        cursor.items(|cursor| {
            for (at, member) in self.members.iter().enumerate() {
                if seen & 1 << at == 0 && cursor.literal(member).is_some() {
                    seen |= 1 << at;
                    return Some(());
                }
            }
            read_token(cursor, token)
        })?;
        (seen.count_ones() as usize == self.members.len()).then_some(())
    }
}

/// Reads the member that is a progress token, unless there was one before.
fn read_token(cursor: &mut Cursor<'_>, token: &mut Option<ProgressToken>) -> Option<()> {
    if token.is_some() {
        return None;
    }
    cursor.literal("\"progressToken\"")?;
    cursor.colon()?;
    *token = Some(cursor.id()?);
    Some(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::gate::{Claims, Read};

    fn call(meta: &str) -> String {
        format!(
            r#"{{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{{"name":"add","_meta":{{{meta}}}}}}}"#
        )
    }

    fn meta(name: &str) -> String {
        format!(
            r#""{CLIENT_INFO}":{{"name":"{name}","version":"1"}},"{PROTOCOL_VERSION}":"2026-07-28","{CLIENT_CAPABILITIES}":{{}}"#
        )
    }

    fn server() -> Remembered {
        Remembered::new(Inbound::default())
    }

    /// Returns the name of the client, and the progress token, if the request was read by the fast path.
    #[track_caller]
    fn read(server: &Remembered, text: &str) -> Option<(String, Option<String>)> {
        match Read::from_bytes(text.as_bytes(), Inbound::default(), server) {
            Ok(Read::Single(_, Claims::Quick(quick))) => {
                let info = quick.stated?.facts.client_info.clone()?;
                Some((info.name, quick.progress.map(|token| token.to_string())))
            }
            Ok(_) => None,
            Err(malformed) => panic!("{malformed:?}"),
        }
    }

    fn found(name: &str, token: Option<&str>) -> Option<(String, Option<String>)> {
        Some((name.to_owned(), token.map(str::to_owned)))
    }

    #[test]
    fn the_same_bytes_say_the_same() {
        let server = server();
        assert_eq!(read(&server, &call(&meta("a"))), None);
        assert_eq!(read(&server, &call(&meta("a"))), found("a", None));
        // Another client has its own entry, even if only the name differs.
        assert_eq!(read(&server, &call(&meta("b"))), None);
        assert_eq!(read(&server, &call(&meta("a"))), found("a", None));
        assert_eq!(read(&server, &call(&meta("b"))), found("b", None));
        // A server remembers only what was sent to it.
        assert_eq!(read(&self::server(), &call(&meta("a"))), None);
    }

    #[test]
    fn a_token_is_apart() {
        let server = server();
        let with = |token: &str| call(&format!(r#"{},"{PROGRESS_TOKEN}":{token}"#, meta("a")));
        assert_eq!(read(&server, &with("1")), None);
        assert_eq!(read(&server, &with("2")), found("a", Some("2")));
        assert_eq!(read(&server, &with("\"x\"")), found("a", Some("\"x\"")));
        assert_eq!(read(&server, &call(&meta("a"))), found("a", None));
        let first = call(&format!(r#""{PROGRESS_TOKEN}":3,{}"#, meta("a")));
        assert_eq!(read(&server, &first), found("a", Some("3")));
        let twice = format!(r#""{PROGRESS_TOKEN}":3,"{PROGRESS_TOKEN}":3,{}"#, meta("a"));
        assert!(
            Read::from_bytes(call(&twice).as_bytes(), Inbound::default(), &server)
                .is_ok_and(|read| matches!(read, Read::Single(_, Claims::Undecoded(_))))
        );
    }

    #[test]
    fn what_is_not_remembered() {
        let server = server();
        let long = "x".repeat(MAX_REMEMBERED_BYTES);
        for meta in [
            format!(
                r#"{},"io.modelcontextprotocol/logLevel":"debug""#,
                meta("a")
            ),
            format!(r#"{},"com.example/a":1"#, meta("a")),
            meta("a").replace("2026-07-28", "2025-11-25"),
            meta("a").replace("2026-07-28", "1999-01-01"),
            meta("\\u0061"),
            meta(&long),
            format!(r#""{PROTOCOL_VERSION}":"2026-07-28""#),
        ] {
            // The text with `\u0061` is remembered together with its decoded form.
            let expected = meta.contains("\\u0061").then(|| found("a", None)).flatten();
            for expected in [None, expected] {
                assert_eq!(read(&server, &call(&meta)), expected, "{meta:.200}");
            }
        }
    }

    #[test]
    fn bounded() {
        let server = server();
        let count = || server.table.read().unwrap().entries.len();
        for client in 0..2 * MAX_REMEMBERED {
            read(&server, &call(&meta(&client.to_string())));
        }
        assert_eq!(count(), MAX_REMEMBERED);
        // The first entries stay until many requests with others have come.
        assert_eq!(read(&server, &call(&meta("0"))), found("0", None));
        for _ in 0..MISSES {
            read(&server, &call(&meta("new")));
        }
        assert_eq!(read(&server, &call(&meta("new"))), found("new", None));
        assert_eq!(read(&server, &call(&meta("0"))), None);
        assert_eq!(read(&server, &call(&meta("1"))), found("1", None));
        assert_eq!(count(), MAX_REMEMBERED);
    }
}
