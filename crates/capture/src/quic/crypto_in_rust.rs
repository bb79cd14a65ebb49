//! The cryptography of Initial packets in Rust: ring needs a C compiler, and is faster natively.

use aes::Aes128;
use aes::cipher::BlockCipherEncrypt;
use aes_gcm::aead::AeadInOut;
use aes_gcm::{Aes128Gcm, KeyInit};
use hkdf::Hkdf;
use sha2::Sha256;

/// Bytes of the authentication tag [RFC 9001 §5.3].
const TAG: usize = 16;

/// A secret of HKDF with SHA-256 [RFC 5869].
pub(super) struct Secret(Hkdf<Sha256>);

impl Secret {
    /// Never `None`; the form of the native library has the same type.
    pub(super) fn new(bytes: &[u8; 32]) -> Option<Self> {
        Hkdf::from_prk(bytes).ok().map(Self)
    }

    /// HKDF-Extract.
    pub(super) fn extract(salt: &[u8], input: &[u8]) -> Self {
        Self(Hkdf::extract(Some(salt), input).1)
    }

    /// HKDF-Expand; `None` if `out` is too long.
    pub(super) fn expand(&self, info: &[&[u8]], out: &mut [u8]) -> Option<()> {
        self.0.expand_multi_info(info, out).ok()
    }
}

/// The mask of header protection with AES: the sample, encrypted as one block [RFC 9001 §5.4.3].
pub(super) fn mask(key: &[u8; 16], sample: &[u8; 16]) -> Option<[u8; 5]> {
    let mut block = aes::Block::from(*sample);
    Aes128::new(key.into()).encrypt_block(&mut block);
    block.first_chunk().copied()
}

/// Decrypts a body, with its tag at the end, with AEAD_AES_128_GCM; `None` if it isn't authentic.
pub(super) fn open(key: &[u8; 16], nonce: [u8; 12], head: &[u8], mut body: Vec<u8>) -> Option<Vec<u8>> {
    let tag = body.split_off(body.len().checked_sub(TAG)?);
    let tag = aes_gcm::Tag::try_from(&tag[..]).ok()?;
    let key = Aes128Gcm::new(key.into());
    key.decrypt_inout_detached(&nonce.into(), head, body.as_mut_slice().into(), &tag).ok()?;
    Some(body)
}
