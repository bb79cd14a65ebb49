//! The ECN field of the IP header and its codepoints: the two low bits of the former TOS byte or traffic class [RFC
//! 3168 §5].

/// An ECN codepoint, with the value that it has in the IP header.
///
/// A plain byte, not an enumeration: an enumeration has unused values, the compiler uses them to represent
/// `Option<Packet>`, and such an option is then copied in several small pieces.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Ecn(u8);

impl Ecn {
    /// Not ECN-capable: a queue can signal congestion only by a drop.
    pub const NOT_ECT: Ecn = Ecn(0b00);
    /// ECN-capable transport with the L4S response to marks [RFC 9331 §2].
    pub const ECT1: Ecn = Ecn(0b01);
    /// ECN-capable transport that responds to a mark as to a drop [RFC 3168 §5].
    pub const ECT0: Ecn = Ecn(0b10);
    /// Congestion experienced: a queue has marked the packet.
    pub const CE: Ecn = Ecn(0b11);

    /// The codepoint in the two low bits of a TOS byte or traffic class.
    #[must_use]
    #[inline]
    pub const fn from_bits(byte: u8) -> Ecn {
        Ecn(byte & 0b11)
    }

    /// The two bits as the IP header holds them.
    #[must_use]
    #[inline]
    pub const fn bits(self) -> u8 {
        self.0
    }

    /// True if a queue may mark the packet: ECT(0), ECT(1), or already CE.
    #[must_use]
    #[inline]
    pub fn is_capable(self) -> bool {
        self != Ecn::NOT_ECT
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_codepoint_is_the_low_two_bits_of_the_byte() {
        // 0xb8 is DSCP EF (46 << 2) with not-ECT; 0xbb the same with CE.
        let read = [0xb8, 0xb9, 0xba, 0xbb].map(Ecn::from_bits);
        assert_eq!(read, [Ecn::NOT_ECT, Ecn::ECT1, Ecn::ECT0, Ecn::CE]);
        assert_eq!(read.map(Ecn::bits), [0, 1, 2, 3]);
        assert_eq!(read.map(Ecn::is_capable), [false, true, true, true]);
    }
}
