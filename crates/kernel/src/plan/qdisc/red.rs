//! The kernel's RED: thresholds in bytes, a weight that is a power of two, no gentle mode
//! [Linux include/net/red.h red_set_parms, sch_red.c].

use dumbbell_qdisc::aqm::red_linux::IdleTable;
use dumbbell_units::{Bytes, Rate};
use std::fmt;

/// Parameters of the kernel's RED.
#[derive(Clone, Debug, PartialEq)]
pub struct Red {
    /// Queue limit, bytes.
    pub limit: u32,
    /// Average queue from which packets are dropped or marked, bytes (`qth_min`).
    pub min: u32,
    /// Average queue from which all packets are dropped or marked, bytes (`qth_max`).
    pub max: u32,
    /// Weight of an arrival: 2^-weight_log (`Wlog`).
    pub weight_log: u8,
    /// Probability at `max`.
    pub probability: f64,
    /// Mean packet, bytes (`avpkt`).
    pub packet: u32,
    /// Rate of the link, bit/s: the decay of the average while the queue is idle.
    pub rate_bps: u64,
    /// True: ECN-capable packets are marked instead of dropped.
    pub ecn: bool,
    /// True: Adaptive RED [Linux include/net/red.h red_adaptative_algo].
    pub adaptive: bool,
}

/// Flags of `tc_red_qopt` [Linux pkt_sched.h].
const TC_RED_ECN: u8 = 1;
/// Above `max` ECN-capable packets are dropped too.
const TC_RED_HARDDROP: u8 = 2;
const TC_RED_ADAPTATIVE: u8 = 4;

impl Red {
    /// The structure `tc_red_qopt`.
    pub(crate) fn structure(&self) -> Vec<u8> {
        let mut flags = 0;
        flags |= if self.ecn { TC_RED_ECN | TC_RED_HARDDROP } else { 0 };
        flags |= if self.adaptive { TC_RED_ADAPTATIVE } else { 0 };
        let cell_log = self.idle_table().cell_log;
        let fields = [self.limit, self.min, self.max].into_iter().flat_map(u32::to_ne_bytes);
        fields.chain([self.weight_log, 0, cell_log, flags]).collect()
    }

    /// `TCA_RED_MAX_P`: the probability in units of 2^-32.
    pub(crate) fn max_p(&self) -> u32 {
        (self.probability * f64::from(u32::MAX)).round() as u32
    }

    /// `Scell_log` and `TCA_RED_STAB`: the decay of the average over idle time.
    pub(crate) fn idle_table(&self) -> IdleTable {
        let packet = Rate(self.rate_bps.max(1)).time_for(Bytes(u64::from(self.packet)));
        IdleTable::new(0.5f64.powi(i32::from(self.weight_log)), packet)
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
    fn the_structure_has_the_flags_and_the_idle_table() {
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
        // The table is that of `dumbbell_qdisc::aqm::red_linux`, whose tests work it out.
        assert_eq!(red.structure()[12..], [9, 0, 15, TC_RED_ECN | TC_RED_HARDDROP]);
        assert_eq!(red.max_p(), 429_496_730); // 0.1 x 4294967295 = 429496729.5
    }
}
