//! Decryption of Initial packets, whose keys are derived from a connection ID that the client sends in clear
//! [RFC 9001 §5.2; RFC 9369 §3.3].

#[cfg(not(target_family = "wasm"))]
use super::crypto::{Secret, mask, open};
#[cfg(target_family = "wasm")]
use super::crypto_in_rust::{Secret, mask, open};
use super::header::{Long, V1, V2};

const SALT_V1: [u8; 20] = [
    0x38, 0x76, 0x2c, 0xf7, 0xf5, 0x59, 0x34, 0xb3, 0x4d, 0x17, 0x9a, 0xe6, 0xa4, 0xc8, 0x0c, 0xad, 0xcc, 0xbb, 0x7f,
    0x0a,
];
const SALT_V2: [u8; 20] = [
    0x0d, 0xed, 0xe3, 0xde, 0xf7, 0x00, 0xa6, 0xdb, 0x81, 0x93, 0x81, 0xbe, 0x6e, 0x26, 0x9d, 0xcb, 0xf9, 0xbd, 0x2e,
    0xd9,
];
/// Drafts 29 to 32.
const SALT_DRAFT: [u8; 20] = [
    0xaf, 0xbf, 0xec, 0x28, 0x99, 0x93, 0xd2, 0x4c, 0x9e, 0x97, 0x86, 0xf1, 0x9c, 0x61, 0x11, 0xe0, 0x43, 0x90, 0xa8,
    0x99,
];

/// Offset of the header protection sample from the start of the packet number [RFC 9001 §5.4.2].
const SAMPLE_AT: usize = 4;

/// HKDF-Expand-Label of TLS 1.3 with an empty context.
fn expand(secret: &Secret, label: &str, out: &mut [u8]) -> Option<()> {
    let length = (out.len() as u16).to_be_bytes();
    let size = [6 + label.len() as u8];
    secret.expand(&[&length, &size, b"tls13 ", label.as_bytes(), &[0]], out)
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
        expand(&Secret::extract(salt, dcid), "client in", &mut secret)?;
        let secret = Secret::new(&secret)?;
        let mut keys = Self { key: [0; 16], iv: [0; 12], hp: [0; 16] };
        expand(&secret, key_label, &mut keys.key)?;
        expand(&secret, iv_label, &mut keys.iv)?;
        expand(&secret, hp_label, &mut keys.hp)?;
        Some(keys)
    }

    /// Decrypts the frames of an Initial packet; `None` if it is cut or the keys are wrong.
    pub(crate) fn open(&self, packet: &[u8], header: &Long<'_>) -> Option<Vec<u8>> {
        let sample = packet.get(header.number_at + SAMPLE_AT..)?.first_chunk()?;
        let mask = mask(&self.hp, sample)?;
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
        open(&self.key, nonce, &head, packet.get(body_at..header.end)?.to_vec())
    }
}

#[cfg(test)]
mod tests {
    use super::super::{crypto, crypto_in_rust};
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

    #[test]
    fn both_libraries_find_the_same() {
        let (salt, input) = (&SALT_V2, [7; 8]);
        let (mut first, mut second) = ([0; 32], [0; 32]);
        crypto::Secret::extract(salt, &input).expand(&[b"a", b"bc"], &mut first).unwrap();
        crypto_in_rust::Secret::extract(salt, &input).expand(&[b"a", b"bc"], &mut second).unwrap();
        assert_eq!(first, second);
        crypto::Secret::new(&second).unwrap().expand(&[b"d"], &mut first).unwrap();
        crypto_in_rust::Secret::new(&{ second }).unwrap().expand(&[b"d"], &mut second).unwrap();
        assert_eq!(first, second);
        let (key, sample) = ([5; 16], [9; 16]);
        assert_eq!(crypto::mask(&key, &sample), crypto_in_rust::mask(&key, &sample));
        // 100 bytes, encrypted by ring.
        let nonce = [3; 12];
        let mut packet: Vec<u8> = (0..100).collect();
        let sealing = ring::aead::UnboundKey::new(&ring::aead::AES_128_GCM, &key).unwrap();
        ring::aead::LessSafeKey::new(sealing)
            .seal_in_place_append_tag(
                ring::aead::Nonce::assume_unique_for_key(nonce),
                ring::aead::Aad::from(b"head"),
                &mut packet,
            )
            .unwrap();
        for open in [crypto::open, crypto_in_rust::open] {
            assert_eq!(open(&key, nonce, b"head", packet.clone()).unwrap(), (0..100).collect::<Vec<u8>>());
            assert_eq!(open(&key, nonce, b"Head", packet.clone()), None);
            assert_eq!(open(&key, nonce, b"head", packet[..10].to_vec()), None);
        }
    }
}
