//! Data that a server lets a client keep: encrypted and authenticated, so that the client can neither read nor change it.
//!
//! The algorithm is XChaCha20-Poly1305: its nonces are long enough that any number of processes that share a key can use random ones.

use std::fmt;

#[cfg(feature = "ask")]
pub(crate) use self::with_cipher::Keys;
#[cfg(not(feature = "ask"))]
pub(crate) use self::without_cipher::Keys;

/// Length of a key in bytes.
pub(crate) const KEY_BYTES: usize = 32;

impl fmt::Debug for Keys {
    /// Omits the keys.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Keys")
    }
}

#[cfg(feature = "ask")]
mod with_cipher {
    use std::sync::OnceLock;

    use base64::{Engine as _, prelude::BASE64_URL_SAFE_NO_PAD};
    use chacha20poly1305::{
        KeyInit, XChaCha20Poly1305, XNonce,
        aead::{Aead, Generate, Key, Payload},
    };

    use super::KEY_BYTES;

    /// Length of a nonce in bytes.
    const NONCE_BYTES: usize = 24;

    /// The keys of a server: the first key seals, all keys open.
    pub(crate) struct Keys {
        /// Empty for one random key that is generated when it is needed.
        given: Vec<XChaCha20Poly1305>,
        drawn: OnceLock<XChaCha20Poly1305>,
    }

    impl Keys {
        /// Uses `keys`; if there are none, a random key of this process.
        pub(crate) fn new(keys: &[[u8; KEY_BYTES]]) -> Self {
            let ciphers = keys.iter().map(|key| XChaCha20Poly1305::new(key.into()));
            Self {
                given: ciphers.collect(),
                drawn: OnceLock::new(),
            }
        }

        /// Returns the keys. Empty if the system cannot generate random numbers.
        fn all(&self) -> &[XChaCha20Poly1305] {
            if !self.given.is_empty() {
                return &self.given;
            }
            if let Some(drawn) = self.drawn.get() {
                return std::slice::from_ref(drawn);
            }
            match Key::<XChaCha20Poly1305>::try_generate() {
                // If several are generated at once, the first one is used.
                Ok(key) => {
                    let drawn = self.drawn.get_or_init(|| XChaCha20Poly1305::new(&key));
                    std::slice::from_ref(drawn)
                }
                Err(error) => {
                    tracing::error!(%error, "no random numbers for a key");
                    &[]
                }
            }
        }

        /// Seals `plain` as text that only [`open`](Self::open) with the same `bound` can read. `None` if the system cannot generate random
        /// numbers.
        pub(crate) fn seal(&self, plain: &[u8], bound: &[u8]) -> Option<String> {
            let nonce = XNonce::try_generate().ok()?;
            let payload = Payload {
                msg: plain,
                aad: bound,
            };
            let sealed = self.all().first()?.encrypt(&nonce, payload).ok()?;
            let mut bytes = nonce.to_vec();
            bytes.extend_from_slice(&sealed);
            Some(BASE64_URL_SAFE_NO_PAD.encode(bytes))
        }

        /// Opens `text`, which was sealed with the same `bound` and one of these keys.
        pub(crate) fn open(&self, text: &str, bound: &[u8]) -> Option<Vec<u8>> {
            let bytes = BASE64_URL_SAFE_NO_PAD.decode(text).ok()?;
            let (nonce, sealed) = bytes.split_first_chunk::<NONCE_BYTES>()?;
            self.all().iter().find_map(|key| {
                let payload = Payload {
                    msg: sealed,
                    aad: bound,
                };
                key.decrypt(nonce.into(), payload).ok()
            })
        }
    }
}

#[cfg(not(feature = "ask"))]
mod without_cipher {
    /// No keys: without the feature `ask` nothing is sealed.
    pub(crate) struct Keys;

    impl Keys {
        pub(crate) fn new(_: &[[u8; super::KEY_BYTES]]) -> Self {
            Self
        }

        pub(crate) fn seal(&self, _: &[u8], _: &[u8]) -> Option<String> {
            None
        }

        pub(crate) fn open(&self, _: &str, _: &[u8]) -> Option<Vec<u8>> {
            None
        }
    }
}

#[cfg(all(test, feature = "ask"))]
mod tests {
    use super::*;

    // T-8, T-9
    #[test]
    fn what_is_sealed_opens_only_as_it_was() {
        let keys = Keys::new(&[[1; KEY_BYTES], [2; KEY_BYTES]]);
        let sealed = keys.seal(b"state", b"bound").unwrap();
        assert_ne!(
            sealed,
            keys.seal(b"state", b"bound").unwrap(),
            "a new nonce each time"
        );
        assert_eq!(keys.open(&sealed, b"bound").as_deref(), Some(&b"state"[..]));
        // The keys in another order, and an additional one.
        let rotated = Keys::new(&[[3; KEY_BYTES], [1; KEY_BYTES]]);
        assert_eq!(
            rotated.open(&sealed, b"bound").as_deref(),
            Some(&b"state"[..])
        );
        let newer = rotated.seal(b"state", b"bound").unwrap();
        assert!(keys.open(&newer, b"bound").is_none(), "the first key seals");
        assert!(keys.open(&sealed, b"other").is_none());
        assert!(Keys::new(&[]).open(&sealed, b"bound").is_none());
        // Each character matters.
        for at in 0..sealed.len() {
            let mut bytes = sealed.clone().into_bytes();
            bytes[at] = if bytes[at] == b'A' { b'B' } else { b'A' };
            let changed = String::from_utf8(bytes).unwrap();
            assert!(keys.open(&changed, b"bound").is_none(), "character {at}");
            assert!(keys.open(&sealed[..at], b"bound").is_none(), "cut at {at}");
        }
        for more in ["-TAMPERED", "=", "A", " ", "\n"] {
            assert!(keys.open(&format!("{sealed}{more}"), b"bound").is_none());
        }
        assert!(keys.open("", b"").is_none());
    }

    #[test]
    fn without_keys_one_is_drawn() {
        let keys = Keys::new(&[]);
        let sealed = keys.seal(b"state", b"").unwrap();
        assert_eq!(keys.open(&sealed, b"").as_deref(), Some(&b"state"[..]));
    }
}
