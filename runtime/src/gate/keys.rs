//! Names whose form the protocol defines: the keys of `_meta`, and the identifiers of extensions.

/// Returns whether a `_meta` key is well formed (Z-10): an optional prefix of dotted labels and a slash, and a name.
pub(crate) fn is_meta_key(key: &str) -> bool {
    let ends_well = |text: &str| {
        let ends = [text.bytes().next(), text.bytes().last()];
        ends.iter().flatten().all(u8::is_ascii_alphanumeric)
    };
    let (prefix, name) = match key.split_once('/') {
        Some((prefix, name)) => (Some(prefix), name),
        None => (None, key),
    };
    let is_label = |label: &str| {
        label.starts_with(|first: char| first.is_ascii_alphabetic())
            && ends_well(label)
            && label
                .bytes()
                .all(|byte| byte.is_ascii_alphanumeric() || byte == b'-')
    };
    prefix.is_none_or(|prefix| prefix.split('.').all(is_label))
        && ends_well(name)
        && name
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.'))
}

/// Returns whether a `_meta` key belongs to the protocol (Z-10, Z-11): its prefix has `mcp` or `modelcontextprotocol` as second label.
pub(crate) fn is_reserved(key: &str) -> bool {
    let prefix = key.split_once('/').map_or("", |(prefix, _)| prefix);
    matches!(
        prefix.split('.').nth(1),
        Some("mcp" | "modelcontextprotocol")
    )
}

/// Returns whether an author may not put `key` into the `_meta` of a result (Z-10, Z-11).
pub(crate) fn is_illegal_meta_key(key: &str) -> bool {
    is_reserved(key) || !is_meta_key(key)
}

/// Returns whether `identifier` can name an extension: a key of `_meta` with a prefix (C-14).
pub(crate) fn is_extension_identifier(identifier: &str) -> bool {
    identifier.contains('/') && is_meta_key(identifier)
}

#[cfg(test)]
mod tests {
    use super::*;

    // Z-10, Z-11, C-14
    #[test]
    fn keys_and_identifiers() {
        for (key, is_key, reserved, identifier) in [
            ("a", true, false, false),
            ("A1_b.c-2", true, false, false),
            ("", true, false, false),
            ("-a", false, false, false),
            ("a.", false, false, false),
            ("a b", false, false, false),
            ("ä", false, false, false),
            ("com.example/a", true, false, true),
            ("com.ex-ample/", true, false, true),
            ("c/a", true, false, true),
            ("/a", false, false, false),
            ("com..example/a", false, false, false),
            ("1com/a", false, false, false),
            ("com-/a", false, false, false),
            ("com.ex_ample/a", false, false, false),
            ("com.example/a/b", false, false, false),
            ("com.example/a_", false, false, false),
            ("io.mcp/a", true, true, true),
            ("io.modelcontextprotocol/a", true, true, true),
            ("io.modelcontextprotocol/a b", false, true, false),
            ("io.modelcontextprotocol.more/a", true, true, true),
            ("mcp/a", true, false, true),
            ("com.example.mcp/a", true, false, true),
            ("io.mcp", true, false, false),
        ] {
            assert_eq!(
                (
                    is_meta_key(key),
                    is_reserved(key),
                    is_extension_identifier(key)
                ),
                (is_key, reserved, identifier),
                "{key}"
            );
            assert_eq!(is_illegal_meta_key(key), reserved || !is_key, "{key}");
        }
    }
}
