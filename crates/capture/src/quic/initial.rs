//! Decryption of Initial packets, whose keys are derived from a connection ID that the client sends in clear
//! [RFC 9001 §5.2; RFC 9369 §3.3].

use aes::Aes128;
use aes::cipher::BlockCipherEncrypt;
use aes_gcm::aead::AeadInOut;
use aes_gcm::{Aes128Gcm, KeyInit};
use hkdf::Hkdf;
use sha2::Sha256;

use super::header::{Long, V1, V2};

const SALT_V1: [u8; 20] = [
    0x38, 0x76, 0x2c, 0xf7, 0xf5, 0x59, 0x34, 0xb3, 0x4d, 0x17, 0x9a, 0xe6, 0xa4, 0xc8, 0x0c, 0xad, 0xcc,
    0xbb, 0x7f, 0x0a,
];
const SALT_V2: [u8; 20] = [
    0x0d, 0xed, 0xe3, 0xde, 0xf7, 0x00, 0xa6, 0xdb, 0x81, 0x93, 0x81, 0xbe, 0x6e, 0x26, 0x9d, 0xcb, 0xf9,
    0xbd, 0x2e, 0xd9,
];
/// Drafts 29 to 32.
const SALT_DRAFT: [u8; 20] = [
    0xaf, 0xbf, 0xec, 0x28, 0x99, 0x93, 0xd2, 0x4c, 0x9e, 0x97, 0x86, 0xf1, 0x9c, 0x61, 0x11, 0xe0, 0x43,
    0x90, 0xa8, 0x99,
];

/// Offset of the header protection sample from the start of the packet number [RFC 9001 §5.4.2].
const SAMPLE_AT: usize = 4;
const SAMPLE: usize = 16;
/// Bytes of the authentication tag at the end of a packet [RFC 9001 §5.3].
const TAG: usize = 16;

/// HKDF-Expand-Label of TLS 1.3 with an empty context.
fn expand(secret: &Hkdf<Sha256>, label: &str, out: &mut [u8]) -> Option<()> {
    let length = (out.len() as u16).to_be_bytes();
    let size = [6 + label.len() as u8];
    let info: [&[u8]; 5] = [&length, &size, b"tls13 ", label.as_bytes(), &[0]];
    secret.expand_multi_info(&info, out).ok()
}

/// The keys of one endpoint's Initial packets.
pub(crate) struct Keys {
    pub(crate) key: [u8; 16],
    pub(crate) iv: [u8; 12],
    pub(crate) hp: [u8; 16],
}

impl Keys {
    /// The client's keys, from the destination connection ID of its first Initial.
    pub(crate) fn client(version: u32, dcid: &[u8]) -> Option<Self> {
        let (salt, [key_label, iv_label, hp_label]) = match version {
            V2 => (&SALT_V2, ["quicv2 key", "quicv2 iv", "quicv2 hp"]),
            V1 | 0xff00_0021.. => (&SALT_V1, ["quic key", "quic iv", "quic hp"]),
            _ => (&SALT_DRAFT, ["quic key", "quic iv", "quic hp"]),
        };
        let mut secret = [0; 32];
        expand(&Hkdf::extract(Some(salt), dcid).1, "client in", &mut secret)?;
        let secret = Hkdf::from_prk(&secret).ok()?;
        let mut keys = Self { key: [0; 16], iv: [0; 12], hp: [0; 16] };
        expand(&secret, key_label, &mut keys.key)?;
        expand(&secret, iv_label, &mut keys.iv)?;
        expand(&secret, hp_label, &mut keys.hp)?;
        Some(keys)
    }

    /// Decrypts the frames of an Initial packet; `None` if it is cut or the keys are wrong.
    pub(crate) fn open(&self, packet: &[u8], header: &Long<'_>) -> Option<Vec<u8>> {
        let sample = packet.get(header.number_at + SAMPLE_AT..header.number_at + SAMPLE_AT + SAMPLE)?;
        // The mask is the sample, encrypted as one block [RFC 9001 §5.4.3].
        let mut mask = aes::Block::try_from(sample).ok()?;
        Aes128::new(&self.hp.into()).encrypt_block(&mut mask);
        let first = packet[0] ^ mask[0] & 0x0f;
        let number_len = usize::from(first & 3) + 1;
        let body_at = header.number_at + number_len;
        let mut head = packet.get(..body_at)?.to_vec();
        head[0] = first;
        let mut nonce = self.iv;
        for i in 0..number_len {
            head[header.number_at + i] ^= mask[1 + i];
            nonce[12 - number_len + i] ^= head[header.number_at + i];
        }
        let mut body = packet.get(body_at..header.end)?.to_vec();
        let tag = body.split_off(body.len().checked_sub(TAG)?);
        let tag = aes_gcm::Tag::try_from(&tag[..]).ok()?;
        let key = Aes128Gcm::new(&self.key.into());
        key.decrypt_inout_detached(&nonce.into(), &head, body.as_mut_slice().into(), &tag).ok()?;
        Some(body)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_those_of_rfc_9001_appendix_a() {
        // RFC 9001, appendix A: destination connection ID 0x8394c8f03e515708, the client's keys.
        let dcid = [0x83, 0x94, 0xc8, 0xf0, 0x3e, 0x51, 0x57, 0x08];
        let keys = Keys::client(V1, &dcid).unwrap();
        let hex = |b: &[u8]| b.iter().map(|x| format!("{x:02x}")).collect::<String>();
        assert_eq!(hex(&keys.key), "1f369613dd76d5467730efcbe3b1a22d");
        assert_eq!(hex(&keys.iv), "fa044b2f42a3fd3b46fb255c");
        assert_eq!(hex(&keys.hp), "9f50449e04a0e810283a1e9933adedd2");
    }
}
