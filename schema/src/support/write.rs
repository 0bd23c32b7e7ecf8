//! Writing an object member by member.

use crate::{
    Encode, Extras, Revisions, View,
    support::{write_raw, write_str},
};

/// An object being written. Every member is followed by a comma, which the closing brace then replaces.
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

    /// `key` must need no escaping; the generator sees to that.
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

    /// A member of every revision that has the object.
    pub fn required<T: Encode>(&mut self, key: &str, value: &T) {
        self.key(key);
        value.encode(self.view, self.out);
        self.out.push(b',');
    }

    /// The same, if it has a value.
    pub fn optional<T: Encode>(&mut self, key: &str, value: &Option<T>) {
        if let Some(value) = value {
            self.required(key, value);
        }
    }

    /// A member that only `known` revisions have.
    pub fn required_in<T: Encode>(&mut self, key: &str, known: Revisions, value: &T) {
        if self.view.shows(known) {
            self.required(key, value);
        }
    }

    /// The same, if it has a value.
    pub fn optional_in<T: Encode>(&mut self, key: &str, known: Revisions, value: &Option<T>) {
        if self.view.shows(known) {
            self.optional(key, value);
        }
    }

    /// A member that is always the same string.
    pub fn constant(&mut self, key: &str, value: &str) {
        self.key(key);
        self.out.push(b'"');
        self.out.extend_from_slice(value.as_bytes());
        self.out.extend_from_slice(b"\",");
    }

    /// The same, in revisions that have it.
    pub fn constant_in(&mut self, key: &str, known: Revisions, value: &str) {
        if self.view.shows(known) {
            self.constant(key, value);
        }
    }

    /// A member that has the raw JSON `default` where a revision requires it and the author set nothing.
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

    /// The `_meta` of a result: where the author set none, it is written with the server's identity alone, if the
    /// view has one and `stamped` revisions are shown.
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

    /// The `serverInfo` member of a result's `_meta`: the author's, else the view's.
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

    /// Writes the members no revision knows and closes the object. One that is called like a known member is left out:
    /// it would be a second value of that member.
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

    /// Closes an object that has no members but those written.
    pub(crate) fn close(&mut self) {
        match self.out.last_mut() {
            Some(last) if *last == b',' => *last = b'}',
            _ => self.out.push(b'}'),
        }
    }
}

/// The one member of a result's `_meta` that the encoder sets on its own.
const SERVER_INFO: &str = "io.modelcontextprotocol/serverInfo";
