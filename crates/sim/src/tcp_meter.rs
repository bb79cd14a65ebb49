//! Metrics of a TCP or QUIC flow, summed over its connections. The definitions are the field docs of
//! [`dumbbell_plan::FlowResult`].

use crate::meter::{AckTimes, TimeAverages};
use dumbbell_plan::{FlowResult, Optional};
use dumbbell_tcp::{Counters, DeliveredSegment};
use dumbbell_units::{Dur, Time};

/// The endpoints of a connection.
pub(crate) struct Ends<E> {
    pub(crate) sender: E,
    pub(crate) receiver: E,
}

/// The values of a connection that the metrics need.
pub(crate) trait Connected {
    /// Counters of the data sender.
    fn counters(&self) -> &Counters;
    /// Payload bytes that have arrived, each once; the part that is in order; bytes that have arrived again. With TLS,
    /// payload is the application's data in whole records.
    fn arrived(&self) -> (Delivered, u64);
}

impl Connected for Ends<dumbbell_quic::Endpoint> {
    fn counters(&self) -> &Counters {
        self.sender.counters()
    }

    fn arrived(&self) -> (Delivered, u64) {
        let receiver = &self.receiver;
        let delivered = Delivered { bytes: receiver.received(), in_order: receiver.delivered() };
        (delivered, receiver.duplicate_bytes())
    }
}

/// The values of a data sender that the metrics need.
pub(crate) trait Metered {
    /// True while the connection has a congestion window.
    fn is_open(&self) -> bool;
    /// The unit in which windows are shown, bytes.
    fn unit(&self) -> u64;
    fn cwnd(&self) -> f64;
    fn inflight(&self) -> u64;
    fn srtt(&self) -> Option<Dur>;
    fn newly_delivered(&self) -> &[DeliveredSegment];
}

impl Metered for dumbbell_tcp::Endpoint {
    fn is_open(&self) -> bool {
        self.is_open()
    }

    fn unit(&self) -> u64 {
        self.config().mss()
    }

    fn cwnd(&self) -> f64 {
        self.cwnd()
    }

    fn inflight(&self) -> u64 {
        self.inflight()
    }

    fn srtt(&self) -> Option<Dur> {
        self.srtt()
    }

    fn newly_delivered(&self) -> &[DeliveredSegment] {
        self.newly_delivered()
    }
}

impl Metered for dumbbell_quic::Endpoint {
    fn is_open(&self) -> bool {
        self.is_established()
    }

    fn unit(&self) -> u64 {
        u64::from(self.datagram_bytes())
    }

    fn cwnd(&self) -> f64 {
        self.cwnd()
    }

    fn inflight(&self) -> u64 {
        self.inflight()
    }

    fn srtt(&self) -> Option<Dur> {
        self.srtt()
    }

    fn newly_delivered(&self) -> &[DeliveredSegment] {
        self.newly_delivered()
    }
}

/// Payload that has reached the receiver, over all connections.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Delivered {
    /// Bytes, in order or not, each counted once.
    pub(crate) bytes: u64,
    /// Bytes before the first hole.
    pub(crate) in_order: u64,
}

impl Delivered {
    pub(crate) fn combine(self, o: Delivered, f: impl Fn(u64, u64) -> u64) -> Delivered {
        Delivered { bytes: f(self.bytes, o.bytes), in_order: f(self.in_order, o.in_order) }
    }
}

/// Cumulative counters. A measurement is the difference of two.
#[derive(Clone, Copy, Debug, Default)]
struct Totals {
    counters: Counters,
    delivered: Delivered,
    duplicate: u64,
}

impl Totals {
    /// The counters of a connection; zero without one.
    fn of(connection: Option<&impl Connected>) -> Totals {
        let Some(connection) = connection else { return Totals::default() };
        let (delivered, duplicate) = connection.arrived();
        Totals { counters: *connection.counters(), delivered, duplicate }
    }

    fn combine(self, o: Totals, f: impl Fn(u64, u64) -> u64) -> Totals {
        Totals {
            counters: self.counters.combine(o.counters, &f),
            delivered: self.delivered.combine(o.delivered, &f),
            duplicate: f(self.duplicate, o.duplicate),
        }
    }
}

pub(crate) struct TcpMeter {
    /// Of finished connections.
    past: Totals,
    /// At the start of the measurement.
    base: Totals,
    /// cwnd and bytes in flight, in segments; srtt in ms.
    means: TimeAverages<3>,
    ack_times: AckTimes,
    /// True once all transfers have arrived.
    closed: bool,
}

impl TcpMeter {
    pub(crate) fn new() -> TcpMeter {
        TcpMeter {
            past: Totals::default(),
            base: Totals::default(),
            means: TimeAverages::new(),
            ack_times: AckTimes::new(),
            closed: false,
        }
    }

    /// Ends the averages: all transfers of the flow have arrived.
    pub(crate) fn close(&mut self, now: Time) {
        self.means.set([f64::NAN; 3], now);
        self.closed = true;
    }

    pub(crate) fn connection_ends(&mut self, connection: Option<&impl Connected>) {
        self.past = self.past.combine(Totals::of(connection), |a, b| a + b);
    }

    /// Payload that has reached the receiver since the flow started.
    pub(crate) fn delivered(&self, connection: &impl Connected) -> Delivered {
        self.past.delivered.combine(connection.arrived().0, |a, b| a + b)
    }

    #[inline(always)] // after each ACK
    pub(crate) fn state(&mut self, sender: &impl Metered, open: bool, now: Time) {
        if self.closed {
            return;
        }
        if !(open && sender.is_open()) {
            self.means.set([f64::NAN; 3], now);
            return;
        }
        let segments = 1.0 / sender.unit() as f64;
        let number = |n: u64| n.cast_signed() as f64; // cheaper than from u64, and never above its range
        let srtt = sender.srtt().map_or(f64::NAN, |d| number(d.0) * 1e-6);
        let inflight = number(sender.inflight());
        self.means.set([sender.cwnd() * segments, inflight * segments, srtt], now);
    }

    /// Adds the packets that the sender's last ACK reported.
    #[inline(always)]
    pub(crate) fn acknowledged(&mut self, sender: &impl Metered, now: Time) {
        self.ack_times.add(sender.newly_delivered(), now);
    }

    /// Forgets the times of ACKs after the flow's result is made: their histograms are the largest part of a flow.
    pub(crate) fn forget_ack_times(&mut self) {
        self.ack_times.clear();
    }

    pub(crate) fn restart(&mut self, connection: Option<&impl Connected>, now: Time) {
        self.base = self.past.combine(Totals::of(connection), |a, b| a + b);
        self.means.restart(now);
        self.ack_times.clear();
    }

    pub(crate) fn finish(
        &mut self,
        connection: Option<&impl Connected>,
        mss: u64,
        seconds: f64,
        end: Time,
        r: &mut FlowResult,
    ) {
        let now = self.past.combine(Totals::of(connection), |a, b| a + b);
        let t = now.combine(self.base, |a, b| a - b);
        let delivered = t.delivered.bytes;
        r.goodput_bps = if seconds > 0.0 { delivered as f64 * 8.0 / seconds } else { 0.0 };
        r.sent_packets = t.counters.sent_segments;
        r.sent_bytes = t.counters.sent_bytes;
        r.delivered_bytes = delivered;
        r.retransmitted_packets = t.counters.retransmitted_segments;
        r.retransmitted_bytes = t.counters.retransmitted_bytes;
        r.snd_mss_bytes = Some(mss);
        r.timeouts = t.counters.timeouts;
        r.fast_retransmits = t.counters.fast_retransmits;
        r.duplicate_bytes = t.duplicate;
        self.ack_times.fill(r);
        let means = self.means.means(end).map(Optional::from);
        [r.cwnd_mean_packets, r.mean_inflight_packets, r.srtt_mean_ms] = means;
    }
}
