//! The kernel's RED: lengths in bytes, a weight that is a power of two, no gentle ramp.

use std::fmt;

/// Parameters of the kernel's RED.
#[derive(Clone, Debug, PartialEq)]
pub struct Red {
    /// Bytes that may wait.
    pub limit: u32,
    /// Average from which on packets are dropped or marked, bytes.
    pub min: u32,
    /// Average from which on all are, bytes.
    pub max: u32,
    /// The weight of an arrival is 2^-weight_log.
    pub weight_log: u8,
    /// Probability at `max`.
    pub probability: f64,
    /// The typical packet, bytes.
    pub packet: u32,
    /// Rate of the link, bit/s: how fast the average falls while nothing comes.
    pub rate_bps: u64,
    /// Whether packets are marked where they can be.
    pub ecn: bool,
    /// Whether the probability adapts.
    pub adaptive: bool,
}

const ECN: u8 = 1;
/// Above `max` everything is dropped, also what could be marked.
const HARD_DROP: u8 = 2;
const ADAPTIVE: u8 = 4;

impl Red {
    /// The structure that holds most of it.
    pub(crate) fn structure(&self) -> Vec<u8> {
        let mut flags = 0;
        flags |= if self.ecn { ECN | HARD_DROP } else { 0 };
        flags |= if self.adaptive { ADAPTIVE } else { 0 };
        let (cell_log, _) = self.idle_table();
        let words = [self.limit, self.min, self.max].into_iter().flat_map(u32::to_ne_bytes);
        words.chain([self.weight_log, 0, cell_log, flags]).collect()
    }

    /// Probability as the kernel has it: in units of 2^-32.
    pub(crate) fn max_p(&self) -> u32 {
        (self.probability * f64::from(u32::MAX)).round() as u32
    }

    /// By how many halvings the average falls while the queue is idle: the scale of the time (log2 of µs a step), and a
    /// table over it. As tc makes it, which takes the natural logarithm.
    pub(crate) fn idle_table(&self) -> (u8, [u8; 256]) {
        const MOST: f64 = 31.0;
        let packet_us = f64::from(self.packet) * 8e6 / self.rate_bps.max(1) as f64;
        let per_us = -(1.0 - 0.5f64.powi(i32::from(self.weight_log))).ln() / packet_us;
        let log = (0..31).find(|l| MOST / per_us / f64::from(1u32 << l) < 512.0).unwrap_or(31);
        let mut table = [0; 256];
        for (step, halvings) in table.iter_mut().enumerate() {
            *halvings = (step as f64 * f64::from(1u32 << log) * per_us).min(MOST).round() as u8;
        }
        table[255] = MOST as u8;
        (log, table)
    }
}

impl fmt::Display for Red {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Red { limit, min, max, weight_log, probability, packet, rate_bps, ecn, adaptive } = self;
        write!(f, "red limit {limit} min {min} max {max} avpkt {packet} probability {probability}")?;
        write!(f, " bandwidth {rate_bps}bit")?;
        f.write_str(if *ecn { " ecn harddrop" } else { "" })?;
        f.write_str(if *adaptive { " adaptive" } else { "" })?;
        write!(f, " # weight 2^-{weight_log}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn idle_table_by_hand() {
        let red = Red {
            limit: 150_000,
            min: 15_000,
            max: 45_000,
            weight_log: 9,
            probability: 0.1,
            packet: 1000,
            rate_bps: 8_000_000,
            ecn: true,
            adaptive: false,
        };
        // A packet takes 1000 µs; -ln(1 - 1/512) = 0.0019550; per µs 1.9550e-6. 31 / 1.9550e-6 = 15,856,700 µs, which is
        // below 512 steps of 2^15 = 32,768 µs (16,777,216) and not of 2^14.
        let (log, table) = red.idle_table();
        assert_eq!(log, 15);
        // Step 100: 3,276,800 µs x 1.9550e-6 = 6.406.
        assert_eq!((table[0], table[100], table[255]), (0, 6, 31));
        assert_eq!(red.structure()[12..], [9, 0, 15, ECN | HARD_DROP]);
        assert_eq!(red.max_p(), 429_496_730); // 0.1 x 4294967295 = 429496729.5
    }
}
