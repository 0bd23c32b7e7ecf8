//! Position of a walk in the value: a linked list on the stack, converted to a JSON pointer only when needed.

use trueform_schema::pointer;

use super::violation::MAX_POINTER;

#[derive(Clone, Copy)]
pub(super) enum Path<'a> {
    Root,
    Key(&'a Path<'a>, &'a str),
    Index(&'a Path<'a>, usize),
}

impl<'a> Path<'a> {
    pub(super) fn key(&'a self, name: &'a str) -> Self {
        Self::Key(self, name)
    }

    pub(super) fn index(&'a self, index: usize) -> Self {
        Self::Index(self, index)
    }

    /// Returns the pointer (RFC 6901), cut off at [`MAX_POINTER`].
    pub(super) fn pointer(&self) -> String {
        let mut segments = Vec::new();
        let mut at = self;
        loop {
            at = match at {
                Self::Root => break,
                Self::Key(parent, _) | Self::Index(parent, _) => {
                    segments.push(at);
                    parent
                }
            };
        }
        let mut out = String::new();
        for segment in segments.into_iter().rev() {
            match segment {
                Self::Root => {}
                Self::Key(_, name) => push_escaped(&mut out, name),
                Self::Index(_, index) => push_escaped(&mut out, &index.to_string()),
            }
            if MAX_POINTER < out.len() {
                break;
            }
        }
        cut(out)
    }
}

/// Cuts off the pointer at [`MAX_POINTER`] bytes.
pub(super) fn cut(mut pointer: String) -> String {
    if MAX_POINTER < pointer.len() {
        let mut end = MAX_POINTER - '…'.len_utf8();
        while !pointer.is_char_boundary(end) {
            end -= 1;
        }
        pointer.truncate(end);
        pointer.push('…');
    }
    pointer
}

/// Appends the step `name`.
pub(super) fn push_escaped(out: &mut String, name: &str) {
    // A name longer than any pointer is cut here, so that huge names are not copied.
    pointer::push(out, name.chars().take(MAX_POINTER + 1));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pointers_are_escaped_and_bounded() {
        let root = Path::Root;
        let key = root.key("a/b~c");
        let path = key.index(3);
        assert_eq!(path.pointer(), "/a~1b~0c/3");
        assert_eq!(Path::Root.pointer(), "");
        let long = "ü".repeat(100_000);
        let path = root.key(&long);
        assert!(path.pointer().len() <= MAX_POINTER);
    }
}
