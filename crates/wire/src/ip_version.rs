//! Versions of the Internet Protocol.

/// A version of the Internet Protocol.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum IpVersion {
    /// IPv4 [RFC 791].
    #[default]
    V4,
    /// IPv6 [RFC 8200].
    V6,
}

impl IpVersion {
    /// The version of a number, 4 or 6.
    #[must_use]
    pub fn of(number: u8) -> Option<IpVersion> {
        match number {
            4 => Some(IpVersion::V4),
            6 => Some(IpVersion::V6),
            _ => None,
        }
    }

    /// The version of a packet, from its first bytes.
    #[must_use]
    pub fn of_packet(bytes: &[u8]) -> Option<IpVersion> {
        IpVersion::of(bytes.first()? >> 4)
    }

    /// Bytes of a header without options [RFC 791 §3.1] and without extension headers [RFC 8200 §3].
    #[must_use]
    pub const fn header_bytes(self) -> u32 {
        match self {
            IpVersion::V4 => 20,
            IpVersion::V6 => 40,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::IpVersion;

    #[test]
    fn versions_are_read_from_the_first_four_bits() {
        assert_eq!(IpVersion::of_packet(&[0x45]), Some(IpVersion::V4));
        assert_eq!(IpVersion::of_packet(&[0x60, 0]), Some(IpVersion::V6));
        assert_eq!((IpVersion::of_packet(&[0x50]), IpVersion::of_packet(&[])), (None, None));
        assert_eq!(IpVersion::V6.header_bytes() - IpVersion::V4.header_bytes(), 20);
    }
}
