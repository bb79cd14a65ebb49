//! TCP sequence numbers: 32 bits with modular order [RFC 9293 §3.4], and their 64-bit offsets, which never wrap.
//!
//! [`Seq`] is the type of the endpoint. The free functions compare raw numbers, for code that applies the rules of
//! other programs (Wireshark, tcptrace) to the numbers in a capture.

/// A 32-bit sequence number.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Seq(pub u32);

impl Seq {
    /// The number on the wire of the byte at `offset` from this initial sequence number.
    #[must_use]
    #[inline]
    pub fn at(self, offset: u64) -> Seq {
        Seq(self.0.wrapping_add(offset as u32))
    }

    /// The 64-bit offset of this number from the initial sequence number `isn`. Of all offsets with this number, it is
    /// the one nearest to `near`. None if that offset would be negative.
    #[must_use]
    #[inline]
    pub fn unwrap_near(self, isn: Seq, near: u64) -> Option<u64> {
        near.checked_add_signed(distance(isn.at(near).0, self.0).into())
    }
}

/// Converts the sequence numbers of one direction to 64-bit offsets. The first number it receives has offset 0.
#[derive(Clone, Copy, Debug, Default)]
pub struct SeqUnwrapper {
    first: Option<Seq>,
    highest: u64,
}

impl SeqUnwrapper {
    /// The offset of `seq`: the one nearest to the highest offset so far. A number before the first one has offset 0.
    pub fn unwrap(&mut self, seq: Seq) -> u64 {
        let first = *self.first.get_or_insert(seq);
        let offset = seq.unwrap_near(first, self.highest).unwrap_or(0);
        self.highest = self.highest.max(offset);
        offset
    }

    /// The number that has offset 0; None before the first call of [`unwrap`](Self::unwrap).
    #[must_use]
    pub fn first(&self) -> Option<Seq> {
        self.first
    }
}

/// The distance from `from` to `to` on the shorter side of the circle: negative if `to` is the earlier number.
#[must_use]
#[inline]
pub fn distance(from: u32, to: u32) -> i32 {
    to.wrapping_sub(from) as i32
}

/// `a < b`: the distance from `b` to `a` is negative.
#[must_use]
#[inline]
pub fn lt(a: u32, b: u32) -> bool {
    distance(b, a) < 0
}

/// `a <= b`.
#[must_use]
#[inline]
pub fn le(a: u32, b: u32) -> bool {
    distance(b, a) <= 0
}

/// `a > b`. At a distance of exactly 2^31 each number is both less and greater than the other.
#[must_use]
#[inline]
pub fn gt(a: u32, b: u32) -> bool {
    lt(b, a)
}

/// The later of two numbers.
#[must_use]
#[inline]
pub fn max(a: u32, b: u32) -> u32 {
    if lt(a, b) { b } else { a }
}

/// The earlier of two numbers.
#[must_use]
#[inline]
pub fn min(a: u32, b: u32) -> u32 {
    if lt(b, a) { b } else { a }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn offsets_survive_the_wrap() {
        let isn = Seq(u32::MAX - 5);
        for offset in [0u64, 3, 6, 1 << 31, (1 << 32) + 7, 10_000_000_000] {
            for near in [offset.saturating_sub(1000), offset, offset + 1000] {
                assert_eq!(isn.at(offset).unwrap_near(isn, near), Some(offset));
            }
        }
    }

    #[test]
    fn numbers_before_the_initial_one_have_no_offset() {
        assert_eq!(Seq(99).unwrap_near(Seq(100), 0), None);
    }

    #[test]
    fn an_unwrapper_follows_the_highest_number() {
        let mut offsets = SeqUnwrapper::default();
        assert_eq!(offsets.first(), None);
        // First number 0xffff_ff00; 0x100 numbers later the field is 0, then 0x64 = 100 above that.
        assert_eq!(offsets.unwrap(Seq(0xffff_ff00)), 0);
        assert_eq!(offsets.unwrap(Seq(0)), 0x100);
        assert_eq!(offsets.unwrap(Seq(100)), 0x100 + 100);
        // A retransmission from before the wrap: 0xffff_ff80 is 0x80 above the first.
        assert_eq!(offsets.unwrap(Seq(0xffff_ff80)), 0x80);
        assert_eq!(offsets.unwrap(Seq(0xffff_feff)), 0, "one before the first");
        // A second wrap, in steps of less than 2^31.
        assert_eq!(offsets.unwrap(Seq(0x7000_0000)), 0x7000_0100);
        assert_eq!(offsets.unwrap(Seq(0xe000_0000)), 0xe000_0100);
        assert_eq!(offsets.unwrap(Seq(0x10)), 0x1_0000_0110);
        assert_eq!(offsets.first(), Some(Seq(0xffff_ff00)));
    }

    #[test]
    fn comparisons_are_modular() {
        assert!(lt(0xffff_fff0, 0x10) && gt(0x10, 0xffff_fff0) && le(7, 7) && !lt(7, 7));
        assert_eq!((max(0xffff_fff0, 0x10), min(0xffff_fff0, 0x10)), (0x10, 0xffff_fff0));
        assert_eq!((distance(0xffff_fff0, 0x10), distance(0x10, 0xffff_fff0)), (0x20, -0x20));
        assert!(lt(0, 1 << 31) && lt(1 << 31, 0), "half of the space apart: both");
    }
}
