//! Writing an object member by member.

use crate::{
    Encode, Extras, Revisions, View,
    support::{write_raw, write_str},
};

/// Writer of an object. Every member is followed by a comma; the closing brace replaces the last one.
#[derive(Debug)]
pub struct ObjectWriter<'w, 'v> {
    view: View<'v>,
    out: &'w mut Vec<u8>,
}

impl<'w, 'v> ObjectWriter<'w, 'v> {
    /// Opens an object.
    pub fn new(view: View<'v>, out: &'w mut Vec<u8>) -> Self {
        out.push(b'{');
        Self { view, out }
    }

    /// Writes a key. `key` must not need escapes; the generator ensures this.
    fn key(&mut self, key: &str) {
        self.out.push(b'"');
        self.out.extend_from_slice(key.as_bytes());
        self.out.extend_from_slice(b"\":");
    }

    fn raw(&mut self, key: &str, json: &str) {
        self.key(key);
        self.out.extend_from_slice(json.as_bytes());
        self.out.push(b',');
    }

    /// Writes a member that every revision of the object has.
    pub fn required<T: Encode>(&mut self, key: &str, value: &T) {
        self.key(key);
        value.encode(self.view, self.out);
        self.out.push(b',');
    }

    /// Writes the member if it has a value.
    pub fn optional<T: Encode>(&mut self, key: &str, value: &Option<T>) {
        if let Some(value) = value {
            self.required(key, value);
        }
    }

    /// Writes a member that only `known` revisions have.
    pub fn required_in<T: Encode>(&mut self, key: &str, known: Revisions, value: &T) {
        if self.view.shows(known) {
            self.required(key, value);
        }
    }

    /// Writes the member if it has a value.
    pub fn optional_in<T: Encode>(&mut self, key: &str, known: Revisions, value: &Option<T>) {
        if self.view.shows(known) {
            self.optional(key, value);
        }
    }

    /// Writes a member that is always the same string.
    pub fn constant(&mut self, key: &str, value: &str) {
        self.key(key);
        self.out.push(b'"');
        self.out.extend_from_slice(value.as_bytes());
        self.out.extend_from_slice(b"\",");
    }

    /// Writes a member that is always the same string, at revisions that have it.
    pub fn constant_in(&mut self, key: &str, known: Revisions, value: &str) {
        if self.view.shows(known) {
            self.constant(key, value);
        }
    }

    /// Writes a member; if it is absent, `default`, raw JSON, is written at revisions that require it.
    pub fn defaulted<T: Encode>(
        &mut self,
        key: &str,
        known: Revisions,
        required: Revisions,
        value: &Option<T>,
        default: &str,
    ) {
        match value {
            Some(value) => self.required_in(key, known, value),
            None if self.view.is_at(required) => self.raw(key, default),
            None => {}
        }
    }

    /// Writes the `_meta` of a result. If the author set none, it contains only the server's identity, provided that the view has one and
    /// is of a `stamped` revision.
    pub fn result_meta<T: Encode>(&mut self, key: &str, stamped: Revisions, value: &Option<T>) {
        match (value, self.view.server_info()) {
            (Some(value), _) => self.required(key, value),
            (None, Some(_)) if self.view.shows(stamped) => {
                self.key(key);
                self.out.push(b'{');
                self.server_info(SERVER_INFO, stamped);
                self.close();
                self.out.push(b',');
            }
            (None, _) => {}
        }
    }

    /// Writes the `serverInfo` member of a result's `_meta`: the author's, otherwise the view's.
    pub fn stamp<T: Encode>(&mut self, key: &str, known: Revisions, value: &Option<T>) {
        match value {
            Some(value) => self.required_in(key, known, value),
            None => self.server_info(key, known),
        }
    }

    fn server_info(&mut self, key: &str, known: Revisions) {
        match self.view.server_info() {
            Some(json) if self.view.shows(known) => self.raw(key, json),
            _ => {}
        }
    }

    /// Writes the unknown members and closes the object. A member with the name of a known one is left out, because it would
    /// duplicate it.
    pub fn end(mut self, extras: &Extras, known: &[&str]) {
        for (key, value) in extras.iter() {
            if !known.contains(&key) && !self.view.is_closed() {
                write_str(key, self.out);
                self.out.push(b':');
                write_raw(value.get(), self.out);
                self.out.push(b',');
            }
        }
        self.close();
    }

    /// Closes the object.
    pub(crate) fn close(&mut self) {
        match self.out.last_mut() {
            Some(last) if *last == b',' => *last = b'}',
            _ => self.out.push(b'}'),
        }
    }
}

/// The member of a result's `_meta` that the encoder sets automatically.
const SERVER_INFO: &str = "io.modelcontextprotocol/serverInfo";
