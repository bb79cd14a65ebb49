//! The cryptography of Initial packets by ring. `crypto_in_rust` has the same functions for WebAssembly.

use ring::aead::{AES_128_GCM, Aad, LessSafeKey, Nonce, UnboundKey, quic};
use ring::hkdf::{HKDF_SHA256, KeyType, Prk, Salt};

struct Length(usize);

impl KeyType for Length {
    fn len(&self) -> usize {
        self.0
    }
}

/// A secret of HKDF with SHA-256 [RFC 5869].
pub(super) struct Secret(Prk);

impl Secret {
    pub(super) fn new(bytes: &[u8; 32]) -> Option<Self> {
        Some(Self(Prk::new_less_safe(HKDF_SHA256, bytes)))
    }

    /// HKDF-Extract.
    pub(super) fn extract(salt: &[u8], input: &[u8]) -> Self {
        Self(Salt::new(HKDF_SHA256, salt).extract(input))
    }

    /// HKDF-Expand; `None` if `out` is too long.
    pub(super) fn expand(&self, info: &[&[u8]], out: &mut [u8]) -> Option<()> {
        self.0.expand(info, Length(out.len())).ok()?.fill(out).ok()
    }
}

/// The mask of header protection with AES [RFC 9001 §5.4.3].
pub(super) fn mask(key: &[u8; 16], sample: &[u8; 16]) -> Option<[u8; 5]> {
    quic::HeaderProtectionKey::new(&quic::AES_128, key).ok()?.new_mask(sample).ok()
}

/// Decrypts a body, with its tag at the end, with AEAD_AES_128_GCM; `None` if it isn't authentic.
pub(super) fn open(key: &[u8; 16], nonce: [u8; 12], head: &[u8], mut body: Vec<u8>) -> Option<Vec<u8>> {
    let key = LessSafeKey::new(UnboundKey::new(&AES_128_GCM, key).ok()?);
    let opened = key.open_in_place(Nonce::assume_unique_for_key(nonce), Aad::from(head), &mut body).ok()?.len();
    body.truncate(opened);
    Some(body)
}
