//! The Internet checksum [RFC 1071]: the complement of the one's complement sum of all 16-bit words; and its update
//! when one word changes [RFC 1624].

/// A checksum that is being computed.
#[derive(Clone, Copy, Debug, Default)]
pub struct Checksum(u64);

impl Checksum {
    /// Adds bytes as big-endian words. Only the last part of a packet may have an odd number of bytes; a zero follows
    /// its last byte.
    pub fn add(&mut self, bytes: &[u8]) {
        let (words, rest) = bytes.as_chunks::<2>();
        for word in words {
            self.0 += u64::from(u16::from_be_bytes(*word));
        }
        if let [last] = rest {
            self.0 += u64::from(*last) << 8;
        }
    }

    /// Adds the protocol and the transport length of the pseudo-header [RFC 9293 §3.1]. The addresses are added with
    /// [`add`](Self::add). (The length field has 32 bits in IPv6 [RFC 8200 §8.1]: the sum of both halves is the same.)
    pub fn add_protocol(&mut self, protocol: u8, len: u32) {
        self.0 += u64::from(protocol) + u64::from(len >> 16) + u64::from(len & 0xffff);
    }

    /// The value of the checksum field. Over data whose checksum field is already filled in it is 0 if the checksum is
    /// correct.
    #[must_use]
    pub fn finish(self) -> u16 {
        !fold(self.0)
    }

    /// The value of the checksum field of UDP. There 0 means that no checksum was computed, so a computed 0 is sent as
    /// 0xffff, which is the same number in one's complement [RFC 768].
    #[must_use]
    pub fn finish_udp(self) -> u16 {
        match self.finish() {
            0 => 0xffff,
            other => other,
        }
    }
}

/// The value of a checksum field `sum` after one of the words that it covers changes from `old` to `new`
/// [RFC 1624 §3, eqn. 3].
#[must_use]
pub fn update(sum: u16, old: u16, new: u16) -> u16 {
    !fold(u64::from(!sum) + u64::from(!old) + u64::from(new))
}

/// Adds the carries to the low 16 bits.
fn fold(mut sum: u64) -> u16 {
    while sum > 0xffff {
        sum = (sum >> 16) + (sum & 0xffff);
    }
    sum as u16
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(bytes: &[u8]) -> u16 {
        let mut sum = Checksum::default();
        sum.add(bytes);
        sum.finish()
    }

    /// The numerical example of RFC 1071 §3: the sum of 0001 f203 f4f5 f6f7 is ddf2.
    #[test]
    fn sum_of_the_example_of_rfc_1071() {
        assert_eq!(of(&[0x00, 0x01, 0xf2, 0x03, 0xf4, 0xf5, 0xf6, 0xf7]), !0xddf2);
    }

    #[test]
    fn an_odd_byte_is_the_high_half_of_a_word() {
        // 0x0102 + 0x0300 = 0x0402.
        assert_eq!(of(&[1, 2, 3]), !0x0402);
    }

    #[test]
    fn the_pseudo_header_adds_both_halves_of_the_length() {
        // 6 + 0x0001 + 0x0203 = 0x020a.
        let mut sum = Checksum::default();
        sum.add_protocol(6, 0x0001_0203);
        assert_eq!(sum.finish(), !0x020a);
    }

    #[test]
    fn udp_sends_ones_for_zero() {
        assert_eq!(of(&[0xff, 0xff]), 0);
        let mut sum = Checksum::default();
        sum.add(&[0xff, 0xff]);
        assert_eq!(sum.finish_udp(), 0xffff);
        sum.add(&[0, 1]);
        assert_eq!(sum.finish_udp(), 0xfffe); // 0xffff + 1 = 0x1_0000, with the carry 1; its complement
    }

    /// The example of RFC 1624 §4: header checksum dd2f, a word changes from 5555 to 3285; the new checksum is 0000.
    #[test]
    fn update_of_the_example_of_rfc_1624() {
        assert_eq!(update(0xdd2f, 0x5555, 0x3285), 0x0000);
    }

    #[test]
    fn an_update_equals_a_new_sum() {
        let mut header = [0x45, 0x02, 0, 20, 0x12, 0x34, 0, 0, 64, 6, 10, 1, 0, 0, 10, 2, 0, 0];
        let before = of(&header);
        header[1] = 0x03;
        assert_eq!(update(before, 0x4502, 0x4503), of(&header));
    }
}
