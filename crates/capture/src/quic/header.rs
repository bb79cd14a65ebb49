//! Headers of QUIC packets [RFC 9000 §17; RFC 9369 §3 for version 2], as far as they are readable without keys.

/// QUIC version 1.
pub(crate) const V1: u32 = 1;
/// QUIC version 2.
pub(crate) const V2: u32 = 0x6b33_43cf;

/// Type of a long header packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Initial,
    ZeroRtt,
    Handshake,
    Retry,
    VersionNegotiation,
}

/// A long header. Offsets count from the packet's first byte.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Long<'a> {
    pub(crate) kind: Kind,
    pub(crate) version: u32,
    pub(crate) dcid: &'a [u8],
    pub(crate) scid: &'a [u8],
    /// Offset of the (protected) packet number.
    pub(crate) number_at: usize,
    /// Offset of the end of the packet.
    pub(crate) end: usize,
}

/// The variable-length integer at `at` [RFC 9000 §16]: value and length.
pub(crate) fn varint(bytes: &[u8], at: usize) -> Option<(u64, usize)> {
    let first = *bytes.get(at)?;
    let len = 1 << (first >> 6);
    let mut value = u64::from(first & 0x3f);
    for &b in bytes.get(at + 1..at + len)? {
        value = value << 8 | u64::from(b);
    }
    Some((value, len))
}

/// True for versions with the header format of RFC 9000: 1, 2, and the last drafts.
pub(crate) fn is_known(version: u32) -> bool {
    matches!(version, V1 | V2 | 0xff00_001d..=0xff00_0022)
}

/// True for a version that is reserved to exercise version negotiation [RFC 9000 §15].
fn is_reserved(version: u32) -> bool {
    version & 0x0f0f_0f0f == 0x0a0a_0a0a
}

/// Reads the long header at the start of `packet`; `None` if it has none. `whole`: length of the packet before the snap
/// length cut it.
pub(crate) fn long(packet: &[u8], whole: usize) -> Option<Long<'_>> {
    let first = *packet.first()?;
    if first & 0x80 == 0 {
        return None;
    }
    let version = u32::from_be_bytes(packet.get(1..5)?.try_into().ok()?);
    let dcid_len = usize::from(*packet.get(5)?);
    let dcid = packet.get(6..6 + dcid_len)?;
    let at = 6 + dcid_len;
    let scid_len = usize::from(*packet.get(at)?);
    let scid = packet.get(at + 1..at + 1 + scid_len)?;
    let mut at = at + 1 + scid_len;
    if version == 0 {
        let kind = Kind::VersionNegotiation;
        return Some(Long { kind, version, dcid, scid, number_at: at, end: whole });
    }
    if is_reserved(version) && (8..=20).contains(&dcid_len) && scid_len <= 20 {
        // Only the fields before are invariant [RFC 8999]; a client's first packet has a known length.
        return Some(Long { kind: Kind::Initial, version, dcid, scid, number_at: at, end: whole });
    }
    if !is_known(version) || first & 0x40 == 0 || dcid_len > 20 || scid_len > 20 {
        return None;
    }
    let code = first >> 4 & 3;
    // Version 2 rotates the type codes by one [RFC 9369 §3.2].
    let kind = match if version == V2 { code.wrapping_sub(1) & 3 } else { code } {
        0 => Kind::Initial,
        1 => Kind::ZeroRtt,
        2 => Kind::Handshake,
        _ => Kind::Retry,
    };
    if kind == Kind::Retry {
        return Some(Long { kind, version, dcid, scid, number_at: at, end: whole });
    }
    if kind == Kind::Initial {
        let (token, len) = varint(packet, at)?;
        at = at.checked_add(len)?.checked_add(usize::try_from(token).ok()?)?;
    }
    let (length, len) = varint(packet, at)?;
    at += len;
    let end = at.checked_add(usize::try_from(length).ok()?)?;
    (end <= whole).then_some(Long { kind, version, dcid, scid, number_at: at, end })
}
