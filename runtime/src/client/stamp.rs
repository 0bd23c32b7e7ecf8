//! What a client adds to the params of a request on their way out: the `_meta` that the revision and the plan of the request ask for.
//!
//! Params are encoded once, into the message that leaves. The members that are the same in all requests of a connection are
//! encoded once per connection.

use memchr::{memchr2, memchr2_iter};
use serde::de::Error as _;
use trueform_schema::{
    At, Encode, Era, Json, LoggingLevel, Map, RawMembers, RequestId, Revision, View,
};

use super::{
    ClientOptions,
    error::{ClientError, LocalError},
};

/// What the client says of itself in the `_meta` of every request at one revision (C-1, C-3). Nothing in the legacy era, where
/// `initialize` says it.
#[derive(Debug)]
pub(super) struct Introduction {
    revision: Revision,
    /// Name and value of each member.
    members: Vec<(&'static str, Json)>,
    /// The members as they stand in an object, without its braces.
    text: Vec<u8>,
}

impl Introduction {
    pub(super) fn new(options: &ClientOptions, revision: Revision) -> Self {
        let members = match revision.era() {
            Era::Legacy => Vec::new(),
            Era::Modern => vec![
                (
                    "io.modelcontextprotocol/protocolVersion",
                    Json::from(serde_json::Value::from(revision.as_str())),
                ),
                (
                    "io.modelcontextprotocol/clientInfo",
                    At::new(&options.info, revision).to_json(),
                ),
                (
                    "io.modelcontextprotocol/clientCapabilities",
                    At::new(&options.capabilities, revision).to_json(),
                ),
            ],
        };
        let mut text = Vec::with_capacity(256);
        for (name, value) in &members {
            separate(&mut text);
            write_member(name, value, &mut text);
        }
        Self {
            revision,
            members,
            text,
        }
    }

    /// The stamp of a request that asks for nothing beside the introduction.
    pub(super) fn alone(&self) -> Stamp<'_> {
        Stamp {
            introduction: self,
            progress_token: None,
            log_level: None,
        }
    }
}

/// The `_meta` of one request.
#[derive(Debug)]
pub(super) struct Stamp<'a> {
    pub(super) introduction: &'a Introduction,
    /// In place of one that is in the params.
    pub(super) progress_token: Option<&'a RequestId>,
    /// Left out in the legacy era, where `logging/setLevel` sets it.
    pub(super) log_level: Option<&'a LoggingLevel>,
}

impl Stamp<'_> {
    /// Appends `params`, at the revision of the introduction and with the members of the stamp in their `_meta`. Members that `_meta`
    /// has already stay as they are.
    ///
    /// # Errors
    /// [`LocalError::Encode`] if `params`, or their `_meta`, are not an object.
    pub(super) fn write(&self, params: &dyn Encode, out: &mut Vec<u8>) -> Result<(), ClientError> {
        let start = out.len();
        params.encode(View::at(self.introduction.revision), out);
        let text = &out[start..];
        let is_object = text.starts_with(b"{") && text.ends_with(b"}");
        match is_object && !may_have_meta(text) {
            true => self.append(start, out),
            false => self.merge(start, out).map_err(encode_error)?,
        }
        // A line break would end the message on a line-based transport. Valid JSON has them between tokens only.
        if memchr2(b'\n', b'\r', &out[start..]).is_some() {
            out[start..]
                .iter_mut()
                .filter(|byte| matches!(byte, b'\n' | b'\r'))
                .for_each(|byte| *byte = b' ');
        }
        Ok(())
    }

    fn log_level(&self) -> Option<&LoggingLevel> {
        self.log_level
            .filter(|_| self.introduction.revision.era() == Era::Modern)
    }

    /// Adds `_meta` to the object that begins at `start` and has no such member.
    fn append(&self, start: usize, out: &mut Vec<u8>) {
        if self.introduction.text.is_empty() && self.progress_token.is_none() {
            return;
        }
        // The brace, and white space before it.
        out.pop();
        while out.pop_if(|byte| byte.is_ascii_whitespace()).is_some() {}
        if out.len() > start + 1 {
            out.push(b',');
        }
        out.extend_from_slice(br#""_meta":{"#);
        if let Some(token) = self.progress_token {
            write_member(PROGRESS_TOKEN, token, out);
        }
        if !self.introduction.text.is_empty() {
            separate(out);
            out.extend_from_slice(&self.introduction.text);
        }
        if let Some(level) = self.log_level() {
            separate(out);
            write_member(LOG_LEVEL, level, out);
        }
        out.extend_from_slice(b"}}");
    }

    /// Adds to the `_meta` of the params that begin at `start`, which may have one.
    #[cold]
    fn merge(&self, start: usize, out: &mut Vec<u8>) -> serde_json::Result<()> {
        let text = &out[start..];
        // Other members may come twice, as in params without `_meta`.
        let RawMembers(members) = serde_json::from_slice(text)?;
        let mut metas = members.iter().filter(|(name, _)| name == "_meta");
        let old = metas.next();
        if metas.next().is_some() {
            return Err(serde_json::Error::custom("duplicate member `_meta`"));
        }
        let Some((_, old)) = old else {
            // White space may be around the object.
            let from = text.iter().position(|byte| *byte == b'{').unwrap_or(0);
            let end = text.iter().rposition(|byte| *byte == b'}').unwrap_or(0);
            out.truncate(start + end + 1);
            self.append(start + from, out);
            return Ok(());
        };
        let mut meta: Map<Json> = serde_json::from_str(old.get())?;
        if let Some(token) = self.progress_token {
            meta.insert(PROGRESS_TOKEN, Json::from_value(token)?);
        }
        for (name, value) in &self.introduction.members {
            if !meta.contains_key(name) {
                meta.insert(*name, value.clone());
            }
        }
        if let Some(level) = self.log_level()
            && !meta.contains_key(LOG_LEVEL)
        {
            meta.insert(LOG_LEVEL, Json::from_value(level)?);
        }
        let mut new = Vec::with_capacity(old.get().len() + self.introduction.text.len());
        meta.encode(View::ALL, &mut new);
        // The value is a part of the text.
        let from = start + (old.get().as_ptr().addr() - text.as_ptr().addr());
        let to = from + old.get().len();
        out.splice(from..to, new);
        Ok(())
    }
}

const PROGRESS_TOKEN: &str = "progressToken";
const LOG_LEVEL: &str = "io.modelcontextprotocol/logLevel";

/// Whether `object` may have a member `_meta`: its name may be written with escapes. Most params have neither that name nor such
/// escapes anywhere.
fn may_have_meta(object: &[u8]) -> bool {
    memchr2_iter(b'_', b'\\', object).any(|at| {
        let rest = &object[at..];
        rest.starts_with(br#"_meta""#) || rest.starts_with(br"\u")
    })
}

/// Ends the previous member, if there is one.
fn separate(out: &mut Vec<u8>) {
    if !matches!(out.last(), None | Some(b'{')) {
        out.push(b',');
    }
}

/// `name` must not need escapes.
fn write_member(name: &str, value: &dyn Encode, out: &mut Vec<u8>) {
    out.push(b'"');
    out.extend_from_slice(name.as_bytes());
    out.extend_from_slice(br#"":"#);
    value.encode(View::ALL, out);
}

#[expect(clippy::needless_pass_by_value, reason = "taken by `map_err`")]
fn encode_error(error: serde_json::Error) -> ClientError {
    LocalError::Encode(error.to_string()).into()
}

#[cfg(test)]
mod tests;
