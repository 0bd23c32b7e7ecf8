//! A reader of plain messages: one pass over the bytes, without a tree and without an allocation.
//!
//! It reads less than JSON allows: names and texts without escapes, ids that are integers or such texts. A message that has anything else is
//! left to the careful reader, which finds the words for what is wrong. What this reader accepts, the careful one accepts too, with the
//! same meaning.

mod cursor;
mod value;

use trueform_schema::RequestId;

pub(crate) use self::{
    cursor::{Cursor, plain_length},
    value::NotedObject,
};

/// A request whose params were read by the caller.
pub(crate) struct QuickRequest<'a> {
    pub(crate) id: RequestId,
    pub(crate) method: &'a str,
}

/// Reads the request that `bytes` are. `params` reads the value of its params; a request without params is not read here.
pub(crate) fn quick<'a>(
    bytes: &'a [u8],
    mut params: impl FnMut(&mut Cursor<'a>) -> Option<()>,
) -> Option<QuickRequest<'a>> {
    let mut cursor = Cursor::new(std::str::from_utf8(bytes).ok()?);
    let (mut has_version, mut has_params) = (false, false);
    let (mut id, mut method) = (None, None);
    cursor.space();
    cursor.members(|cursor, name| match name {
        "jsonrpc" if !has_version => {
            has_version = true;
            cursor.literal("\"2.0\"")
        }
        "id" if id.is_none() => {
            id = Some(cursor.id()?);
            Some(())
        }
        "method" if method.is_none() => {
            method = Some(cursor.plain()?);
            Some(())
        }
        "params" if !has_params => {
            has_params = true;
            params(cursor)
        }
        _ => None,
    })?;
    cursor.space();
    let is_whole = cursor.is_at_end() && has_version && has_params;
    match (id, method) {
        (Some(id), Some(method)) if is_whole => Some(QuickRequest { id, method }),
        _ => None,
    }
}
