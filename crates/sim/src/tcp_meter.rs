//! Metrics of a TCP flow, summed over its connections. The definitions are the field docs of
//! [`dumbbell_plan::FlowResult`].

use crate::meter::{DurationStats, TimeAverages};
use dumbbell_plan::FlowResult;
use dumbbell_tcp::{Counters, DeliveredSegment, Endpoint, SegmentFate};
use dumbbell_units::Time;

/// Cumulative counters. A measurement is the difference of two.
#[derive(Clone, Copy, Debug, Default)]
struct Totals {
    counters: Counters,
    delivered: u64,
    duplicate: u64,
}

impl Totals {
    fn of(sender: &Endpoint, receiver: &Endpoint) -> Totals {
        Totals {
            counters: *sender.counters(),
            delivered: receiver.delivered(),
            duplicate: receiver.duplicate_bytes(),
        }
    }

    fn combine(self, o: Totals, f: impl Fn(u64, u64) -> u64) -> Totals {
        let (a, b) = (self.counters, o.counters);
        Totals {
            counters: Counters {
                sent_segments: f(a.sent_segments, b.sent_segments),
                sent_bytes: f(a.sent_bytes, b.sent_bytes),
                retransmitted_segments: f(a.retransmitted_segments, b.retransmitted_segments),
                retransmitted_bytes: f(a.retransmitted_bytes, b.retransmitted_bytes),
                timeouts: f(a.timeouts, b.timeouts),
                fast_retransmits: f(a.fast_retransmits, b.fast_retransmits),
            },
            delivered: f(self.delivered, o.delivered),
            duplicate: f(self.duplicate, o.duplicate),
        }
    }
}

pub(crate) struct TcpMeter {
    /// Of finished connections.
    past: Totals,
    /// At the begin of the measurement.
    base: Totals,
    /// cwnd and bytes in flight, in segments; srtt in ms.
    means: TimeAverages<3>,
    /// RTT of segments sent once.
    rtt: DurationStats,
    /// Sum (ns) and number of the times from first transmission to cumulative ACK, of all segments.
    first: (u128, u64),
}

impl TcpMeter {
    pub(crate) fn new() -> TcpMeter {
        TcpMeter {
            past: Totals::default(),
            base: Totals::default(),
            means: TimeAverages::new(),
            rtt: DurationStats::new(),
            first: (0, 0),
        }
    }

    pub(crate) fn connection_ends(&mut self, sender: &Endpoint, receiver: &Endpoint) {
        self.past = self.past.combine(Totals::of(sender, receiver), |a, b| a + b);
    }

    /// Payload bytes delivered since the flow started, over all connections.
    pub(crate) fn delivered(&self, receiver: &Endpoint) -> u64 {
        self.past.delivered + receiver.delivered()
    }

    pub(crate) fn state(&mut self, sender: &Endpoint, open: bool, now: Time) {
        if !(open && sender.is_open()) {
            self.means.set([f64::NAN; 3], now);
            return;
        }
        let segments = 1.0 / sender.config().mss() as f64;
        let srtt = sender.srtt().map_or(f64::NAN, |d| d.as_millis());
        self.means.set([sender.cwnd() * segments, sender.inflight() as f64 * segments, srtt], now);
    }

    pub(crate) fn round_trips(&mut self, delivered: &[DeliveredSegment], now: Time) {
        // Until the cumulative ACK, for every loss recovery alike: a SACK would end the sample earlier for some of them.
        for d in delivered.iter().filter(|d| d.payload > 0 && d.fate != SegmentFate::Sacked) {
            self.first.0 += u128::from(now.since(d.first_at).0);
            self.first.1 += 1;
            if d.transmissions == 1 {
                self.rtt.record(now.since(d.last_at));
            }
        }
    }

    pub(crate) fn restart(&mut self, sender: &Endpoint, receiver: &Endpoint, now: Time) {
        self.base = self.past.combine(Totals::of(sender, receiver), |a, b| a + b);
        self.means.restart(now);
        self.rtt.clear();
        self.first = (0, 0);
    }

    pub(crate) fn finish(
        &mut self,
        sender: &Endpoint,
        receiver: &Endpoint,
        seconds: f64,
        end: Time,
        r: &mut FlowResult,
    ) {
        let now = self.past.combine(Totals::of(sender, receiver), |a, b| a + b);
        let t = now.combine(self.base, |a, b| a - b);
        r.goodput_bps = if seconds > 0.0 { t.delivered as f64 * 8.0 / seconds } else { 0.0 };
        r.sent_packets = t.counters.sent_segments;
        r.sent_bytes = t.counters.sent_bytes;
        r.delivered_bytes = t.delivered;
        r.retransmitted_packets = t.counters.retransmitted_segments;
        r.retransmitted_bytes = t.counters.retransmitted_bytes;
        r.timeouts = t.counters.timeouts;
        r.fast_retransmits = t.counters.fast_retransmits;
        r.duplicate_bytes = t.duplicate;
        r.rtt_mean_ms = self.rtt.mean_ms();
        r.rtt_first_mean_ms = (self.first.1 > 0).then(|| self.first.0 as f64 / self.first.1 as f64 * 1e-6);
        r.rtt_min_ms = self.rtt.min_ms();
        r.rtt_p50_ms = self.rtt.percentile_ms(0.5);
        r.rtt_p95_ms = self.rtt.percentile_ms(0.95);
        r.rtt_p99_ms = self.rtt.percentile_ms(0.99);
        r.rtt_max_ms = self.rtt.max_ms();
        [r.cwnd_mean_packets, r.mean_inflight_packets, r.srtt_mean_ms] = self.means.means(end);
    }
}
