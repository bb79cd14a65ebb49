//! TCP sequence numbers as they stand on the wire.

/// A 32-bit sequence number with modular order [RFC 9293 §3.4].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Seq(pub u32);

impl Seq {
    /// The wire form of the `offset`-th number after this initial sequence number.
    #[must_use]
    pub fn at(self, offset: u64) -> Seq {
        Seq(self.0.wrapping_add(offset as u32))
    }

    /// The 64-bit offset (counted from the initial number `isn`) that this wire number stands for: the one
    /// nearest to `near`. None where that would lie before the initial number.
    #[must_use]
    pub fn unwrap_near(self, isn: Seq, near: u64) -> Option<u64> {
        let expected = isn.at(near);
        let ahead = self.0.wrapping_sub(expected.0) as i32;
        near.checked_add_signed(i64::from(ahead))
    }
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
    fn numbers_before_the_initial_one_are_refused() {
        assert_eq!(Seq(99).unwrap_near(Seq(100), 0), None);
    }
}
