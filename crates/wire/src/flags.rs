//! The control bits of the TCP header [RFC 9293 §3.1], with AE beside them [RFC 9768 §3.1].

use std::ops::{BitOr, BitOrAssign};

/// A set of control bits, each at its place in the 16-bit word that also holds the data offset.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct TcpFlags(u16);

impl TcpFlags {
    /// No more data from the sender.
    pub const FIN: TcpFlags = TcpFlags(0x001);
    /// Synchronize sequence numbers.
    pub const SYN: TcpFlags = TcpFlags(0x002);
    /// Reset the connection.
    pub const RST: TcpFlags = TcpFlags(0x004);
    /// Push.
    pub const PSH: TcpFlags = TcpFlags(0x008);
    /// The acknowledgment field is significant.
    pub const ACK: TcpFlags = TcpFlags(0x010);
    /// The urgent pointer is significant.
    pub const URG: TcpFlags = TcpFlags(0x020);
    /// ECN-Echo [RFC 3168 §6.1]; the lowest bit of AccECN's ACE field [RFC 9768 §3.1].
    pub const ECE: TcpFlags = TcpFlags(0x040);
    /// Congestion Window Reduced [RFC 3168 §6.1]; the middle bit of the ACE field.
    pub const CWR: TcpFlags = TcpFlags(0x080);
    /// Accurate ECN, the highest bit of the ACE field [RFC 9768 §3.1]; formerly the nonce sum.
    pub const AE: TcpFlags = TcpFlags(0x100);

    /// The flags in the low 12 bits of a word; the data offset above them is ignored.
    #[must_use]
    #[inline]
    pub const fn from_bits(word: u16) -> TcpFlags {
        TcpFlags(word & 0x0fff)
    }

    /// The low 12 bits of the word in the header, the three reserved bits included.
    #[must_use]
    #[inline]
    pub const fn bits(self) -> u16 {
        self.0
    }

    /// True if all flags of `other` are set.
    #[must_use]
    #[inline]
    pub const fn contains(self, other: TcpFlags) -> bool {
        self.0 & other.0 == other.0
    }

    /// True if at least one flag of `other` is set.
    #[must_use]
    #[inline]
    pub const fn intersects(self, other: TcpFlags) -> bool {
        self.0 & other.0 != 0
    }

    /// The flags without those of `other`.
    #[must_use]
    #[inline]
    pub const fn without(self, other: TcpFlags) -> TcpFlags {
        TcpFlags(self.0 & !other.0)
    }

    /// These flags if `condition` holds, otherwise none.
    #[must_use]
    #[inline]
    pub const fn when(self, condition: bool) -> TcpFlags {
        if condition { self } else { TcpFlags(0) }
    }

    /// Sets or clears the flags of `other`.
    #[inline]
    pub fn set(&mut self, other: TcpFlags, on: bool) {
        *self = self.without(other) | other.when(on);
    }

    /// The ACE field of AccECN: AE, CWR and ECE as a number from 0 to 7 [RFC 9768 §3.1].
    #[must_use]
    #[inline]
    pub const fn ace(self) -> u8 {
        (self.0 >> 6 & 7) as u8
    }

    /// Sets the ACE field to the low three bits of `value`.
    #[inline]
    pub fn set_ace(&mut self, value: u8) {
        self.0 = self.0 & !(7 << 6) | u16::from(value & 7) << 6;
    }
}

impl BitOr for TcpFlags {
    type Output = TcpFlags;

    #[inline]
    fn bitor(self, other: TcpFlags) -> TcpFlags {
        TcpFlags(self.0 | other.0)
    }
}

impl BitOrAssign for TcpFlags {
    #[inline]
    fn bitor_assign(&mut self, other: TcpFlags) {
        self.0 |= other.0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bits_are_those_of_the_header() {
        // Data offset 5, flags SYN and ACK: 0101 0000 0001 0010.
        let flags = TcpFlags::from_bits(0x5012);
        assert_eq!(flags, TcpFlags::SYN | TcpFlags::ACK);
        assert_eq!(flags.bits(), 0x012);
        assert!(flags.contains(TcpFlags::SYN) && !flags.contains(TcpFlags::SYN | TcpFlags::FIN));
        assert!(flags.intersects(TcpFlags::SYN | TcpFlags::FIN) && !flags.intersects(TcpFlags::RST));
    }

    #[test]
    fn flags_are_set_and_cleared() {
        let mut flags = TcpFlags::ACK | TcpFlags::PSH.when(false) | TcpFlags::ECE.when(true);
        assert_eq!(flags.bits(), 0x050);
        flags.set(TcpFlags::CWR, true);
        flags.set(TcpFlags::ECE, false);
        assert_eq!(flags, TcpFlags::ACK | TcpFlags::CWR);
    }

    #[test]
    fn the_ace_field_is_ae_cwr_ece() {
        // 5 = 101: AE and ECE.
        let mut flags = TcpFlags::ACK | TcpFlags::CWR;
        assert_eq!(flags.ace(), 2);
        flags.set_ace(5);
        assert_eq!(flags, TcpFlags::ACK | TcpFlags::AE | TcpFlags::ECE);
        flags.set_ace(8 + 2);
        assert_eq!((flags.ace(), flags.bits()), (2, 0x090));
    }
}
