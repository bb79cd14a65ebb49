//! Times from the sending of a flow's packets to the ACKs that report them. The simulator and the kernel back ends
//! measure with the same code, so that a column has one definition.
//!
//! ```text
//! rtt         to the ACK or SACK that first covers the packet; packets sent once [RFC 6298 §3, Karn's algorithm]
//! ACK delay   to the cumulative ACK that covers the packet; packets sent once
//! first       from the first transmission to the cumulative ACK; all packets
//! ```
//! A packet behind a hole is covered by a SACK when it arrives. Without SACK only the ACK that follows the repair of
//! the hole covers it, and the time until then is mostly that of the repair. That ACK covers a retransmitted packet
//! too, and such an ACK gives no RTT of the packets that it covers first, as in Linux [Linux tcp_input.c
//! tcp_clean_rtx_queue: FLAG_RETRANS_DATA_ACKED]. Their time remains in the ACK delay.

use super::DurationStats;
use crate::record::Gate;
use dumbbell_plan::FlowResult;
use dumbbell_tcp::{DeliveredSegment, SegmentFate};
use dumbbell_trace::tables::RttTable;
use dumbbell_trace::{Table, TableSlice};
use dumbbell_units::{Dur, Time};
use std::borrow::Cow;

/// True if the cumulative ACK covers, beside others, a retransmitted packet that no SACK has reported before.
#[inline]
fn covers_retransmission(packets: &[DeliveredSegment]) -> bool {
    packets.len() > 1
        && packets.iter().any(|p| p.fate == SegmentFate::Acknowledged && p.transmissions > 1 && p.payload > 0)
}

/// True if a packet that was sent once has its RTT at this report.
fn gives_rtt(fate: SegmentFate, covers_retransmission: bool) -> bool {
    match fate {
        SegmentFate::Sacked => true,
        SegmentFate::Acknowledged => !covers_retransmission,
        SegmentFate::AcknowledgedAfterSack => false,
    }
}

/// Statistics of the RTT and the ACK delay of a flow: see the top of this file.
#[derive(Clone, Debug, Default)]
pub struct AckTimes {
    /// Times that are an RTT and an ACK delay: nearly all of them, so that a packet costs one record.
    both: DurationStats,
    /// Times that are an RTT only: until a SACK. Most flows have none, or none of the next ones.
    rtt_only: Option<Box<DurationStats>>,
    /// Times that are an ACK delay only.
    ack_delay_only: Option<Box<DurationStats>>,
    /// Sum (ns) and number of the times from the first transmission to the cumulative ACK that aren't in `both`.
    first: (u128, u64),
}

impl AckTimes {
    /// Returns statistics without times.
    #[must_use]
    pub fn new() -> AckTimes {
        AckTimes::default()
    }

    /// Adds the packets that an ACK covers or SACKs, which arrived at `now`.
    #[inline(always)] // for each ACK
    pub fn add(&mut self, packets: &[DeliveredSegment], now: Time) {
        let is_plain =
            |p: &DeliveredSegment| p.fate == SegmentFate::Acknowledged && p.transmissions == 1 && p.payload > 0;
        if !packets.iter().all(is_plain) {
            self.add_any(packets, now);
            return;
        }
        for p in packets {
            self.both.record(now.since(p.first_at));
        }
    }

    /// The same where not each packet was sent once and is covered by the cumulative ACK.
    #[inline(never)]
    fn add_any(&mut self, packets: &[DeliveredSegment], now: Time) {
        let covers_retransmission = covers_retransmission(packets);
        for p in packets.iter().filter(|p| p.payload > 0) {
            let age = now.since(p.first_at);
            let (once, sacked) = (p.transmissions == 1, p.fate == SegmentFate::Sacked);
            let gives_rtt = once && gives_rtt(p.fate, covers_retransmission);
            match (gives_rtt, sacked) {
                (true, true) => self.rtt_only.get_or_insert_default().record(age),
                (true, false) => self.both.record(age),
                (false, false) if once => self.ack_delay_only.get_or_insert_default().record(age),
                (false, _) => {}
            }
            if !gives_rtt && !sacked {
                self.first.0 += u128::from(age.0);
                self.first.1 += 1;
            }
        }
    }

    /// Removes all times.
    pub fn clear(&mut self) {
        *self = AckTimes::new();
    }

    fn both_and(&self, others: Option<&DurationStats>) -> Cow<'_, DurationStats> {
        let mut all = Cow::Borrowed(&self.both);
        if let Some(others) = others {
            all.to_mut().merge(others);
        }
        all
    }

    /// Sets the columns of a flow's result.
    pub fn fill(&self, r: &mut FlowResult) {
        let rtt = self.both_and(self.rtt_only.as_deref());
        r.rtt_mean_ms = rtt.mean_ms().into();
        r.rtt_min_ms = rtt.min_ms().into();
        r.rtt_p50_ms = rtt.percentile_ms(0.5).into();
        r.rtt_p95_ms = rtt.percentile_ms(0.95).into();
        r.rtt_p99_ms = rtt.percentile_ms(0.99).into();
        r.rtt_max_ms = rtt.max_ms().into();
        let ack_delay = self.both_and(self.ack_delay_only.as_deref());
        r.ack_delay_mean_ms = ack_delay.mean_ms().into();
        r.ack_delay_min_ms = ack_delay.min_ms().into();
        r.ack_delay_p50_ms = ack_delay.percentile_ms(0.5).into();
        r.ack_delay_p95_ms = ack_delay.percentile_ms(0.95).into();
        r.ack_delay_p99_ms = ack_delay.percentile_ms(0.99).into();
        r.ack_delay_max_ms = ack_delay.max_ms().into();
        let (sum, count) = (self.first.0 + self.both.sum, self.first.1 + self.both.count());
        r.ack_delay_first_mean_ms = (count > 0).then(|| sum as f64 / count as f64 * 1e-6).into();
    }
}

/// The series of the RTT samples of a flow, with the definition of [`AckTimes`].
#[derive(Clone, Debug)]
pub struct RttSeries {
    gate: Gate,
    table: RttTable,
    /// True if rows were passed on before the end.
    drained: bool,
}

impl RttSeries {
    /// Returns a series without rows, which keeps at most one row per `interval`; zero: one row per sample.
    #[must_use]
    pub fn new(interval: Dur) -> RttSeries {
        RttSeries { gate: Gate::new(interval), table: RttTable::default(), drained: false }
    }

    /// Adds the packets that an ACK covers or SACKs, which arrived at `now`.
    pub fn add(&mut self, packets: &[DeliveredSegment], now: Time) {
        let covers_retransmission = covers_retransmission(packets);
        for p in packets.iter().filter(|p| p.payload > 0 && p.transmissions == 1) {
            if gives_rtt(p.fate, covers_retransmission) && self.gate.passes(now) {
                self.table.t_ns.push(now.0);
                self.table.rtt_ns.push(now.since(p.first_at).0);
            }
        }
    }

    /// The rows so far of the flow `name`; None without rows.
    #[must_use]
    pub fn so_far(&self, name: &str) -> Option<TableSlice<'_>> {
        (!self.table.t_ns.is_empty()).then(|| self.table.as_slice(name))
    }

    /// Passes on the rows so far if they are at least so many.
    pub fn drain(&mut self, least: usize, name: &str, sink: &mut dyn FnMut(Table)) {
        if self.table.rows() >= least.max(1) {
            self.drained = true;
            sink(std::mem::take(&mut self.table).into_table(name));
        }
    }

    /// Returns the table of the flow `name`; None if it never had rows.
    #[must_use]
    pub fn into_table(self, name: &str) -> Option<Table> {
        (self.drained || !self.table.t_ns.is_empty()).then(|| self.table.into_table(name))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use dumbbell_plan::Optional;

    /// A packet that was sent at `ms` first, with its number of transmissions.
    fn packet(fate: SegmentFate, ms: u64, transmissions: u32) -> DeliveredSegment {
        DeliveredSegment { fate, first_at: Time(ms * 1_000_000), transmissions, payload: 1448 }
    }

    /// RTT mean and maximum, ACK delay mean and maximum, mean from the first transmission, ms.
    fn results(acks: &[(u64, &[DeliveredSegment])]) -> [Option<f64>; 5] {
        let mut times = AckTimes::new();
        acks.iter().for_each(|(ms, packets)| times.add(packets, Time(ms * 1_000_000)));
        let mut r = FlowResult::default();
        times.fill(&mut r);
        let [mean, max] = [r.ack_delay_mean_ms, r.ack_delay_max_ms];
        [r.rtt_mean_ms, r.rtt_max_ms, mean, max, r.ack_delay_first_mean_ms].map(Optional::get)
    }

    use SegmentFate::{Acknowledged, AcknowledgedAfterSack, Sacked};

    #[test]
    fn a_sacked_packet_has_its_rtt_until_the_sack_and_its_ack_delay_until_the_cumulative_ack() {
        // Sent at 0, 1, 2 and 3 ms; the second is lost and retransmitted. RTT: 40, 40, 40. ACK delay: 40, 98, 97.
        let got = results(&[
            (40, &[packet(Acknowledged, 0, 1)]),
            (42, &[packet(Sacked, 2, 1)]),
            (43, &[packet(Sacked, 3, 1)]),
            (
                100,
                &[packet(Acknowledged, 1, 2), packet(AcknowledgedAfterSack, 2, 1), packet(AcknowledgedAfterSack, 3, 1)],
            ),
        ]);
        let ack_delay = (40.0 + 98.0 + 97.0) / 3.0;
        let first = (40.0 + 99.0 + 98.0 + 97.0) / 4.0;
        assert_eq!(got, [40.0, 40.0, ack_delay, 98.0, first].map(Some));
    }

    #[test]
    fn without_sack_the_ack_of_a_repair_gives_no_rtt() {
        let got = results(&[
            (40, &[packet(Acknowledged, 0, 1)]),
            (100, &[packet(Acknowledged, 1, 2), packet(Acknowledged, 2, 1), packet(Acknowledged, 3, 1)]),
        ]);
        assert_eq!(got[..4], [40.0, 40.0, (40.0 + 98.0 + 97.0) / 3.0, 98.0].map(Some));
    }

    #[test]
    fn a_sack_beside_the_ack_of_a_repair_counts() {
        let got = results(&[(100, &[packet(Sacked, 58, 1), packet(Acknowledged, 1, 2)])]);
        assert_eq!(got, [Some(42.0), Some(42.0), None, None, Some(99.0)]);
    }

    #[test]
    fn a_retransmission_that_was_sacked_before_leaves_the_rtt_of_other_packets() {
        // The ACK covers a retransmitted packet, reported by an earlier SACK, and the late packet before it.
        let got = results(&[(100, &[packet(Acknowledged, 60, 1), packet(AcknowledgedAfterSack, 20, 2)])]);
        assert_eq!(got[0], Some(40.0));
    }

    #[test]
    fn retransmitted_packets_and_a_fin_have_no_rtt() {
        let fin = DeliveredSegment { payload: 0, ..packet(Acknowledged, 0, 1) };
        assert_eq!(results(&[(40, &[fin]), (50, &[packet(Sacked, 0, 2)])]), [None; 5]);
    }
}
