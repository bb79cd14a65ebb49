//! Results of a flow, from the taps at its two hosts and from samples of its socket: RTTs of segments sent once (Karn's
//! algorithm [RFC 6298 §3]), delivered bytes in order, bytes in flight from SND.UNA to SND.NXT [RFC 9293 §3.3.1].

use super::Window;
use super::ranges::Ranges;
use super::segments::Segments;
use crate::meter::packet::{Packet, Tcp};
use crate::meter::tcp_cc_info::CcInfo;
use dumbbell_plan::FlowResult;
use dumbbell_sim::meter::{DurationStats, TimeAverages};
use dumbbell_trace::Table;
use dumbbell_trace::tables::{FlowTable, KernelFlowColumns};
use dumbbell_units::{Dur, Time};
use dumbbell_wire::SeqUnwrapper;
use std::collections::VecDeque;

/// A sample of a sender's socket: fields of `tcp_info` and the state of its congestion control.
#[derive(Clone, Copy, Debug)]
pub(crate) struct TcpSample {
    /// Segments.
    pub(crate) cwnd: f64,
    /// Segments; infinite before the first loss.
    pub(crate) ssthresh: f64,
    /// ns; None before the first.
    pub(crate) srtt: Option<f64>,
    /// ns.
    pub(crate) rttvar: f64,
    /// ns.
    pub(crate) rto: f64,
    /// Payload of a full segment, bytes.
    pub(crate) mss: u32,
    /// Phase, as the trace numbers it.
    pub(crate) phase: u8,
    /// bit/s.
    pub(crate) pacing_rate: f64,
    /// bit/s.
    pub(crate) delivery_rate: f64,
    /// ns.
    pub(crate) min_rtt: f64,
    /// Segments marked lost and not yet acknowledged (`tcpi_lost`).
    pub(crate) lost: u32,
    /// Retransmitted segments so far (`tcpi_total_retrans`).
    pub(crate) retransmits: u32,
    /// Reordering that the sender tolerates, segments (`tcpi_reordering`).
    pub(crate) reordering: u32,
    /// State of the congestion control.
    pub(crate) cc_info: CcInfo,
}

#[derive(Debug, Default)]
struct Columns {
    flow: FlowTable,
    kernel: KernelFlowColumns,
    cc_infos: Vec<CcInfo>,
}

/// See the top of this file.
#[derive(Debug)]
pub(crate) struct FlowMeter {
    window: Window,
    /// Port that identifies the sender's current connection ([`Tcp::connection`]).
    connection: u16,
    segments: Segments,
    /// Offsets of the sender's sequence numbers.
    data: SeqUnwrapper,
    /// At the receiver: the current connection, the offsets of its sequence numbers, the ranges received.
    arrived_at: (u16, SeqUnwrapper, Ranges),
    /// In-order bytes of closed connections.
    delivered_before: u64,
    /// In-order bytes at the beginning of the measured interval.
    delivered_at_start: Option<u64>,
    /// Payload of a full segment, bytes, of the last sample.
    mss: u32,
    /// Packets and bytes.
    sent: (u64, u64),
    /// Packets and bytes.
    retransmitted: (u64, u64),
    received_bytes: u64,
    received_packets: u64,
    duplicate_bytes: u64,
    /// RTTs of segments sent once.
    rtt: DurationStats,
    /// Sum and number of the times from a segment's first transmission to its ACK, ns.
    first_rtt: (u128, u64),
    /// One-way delays of datagrams.
    owd: DurationStats,
    /// Datagrams that were sent and have not arrived: key and sending time.
    in_network: VecDeque<(u64, u64)>,
    /// cwnd in segments and SRTT in ms, over time.
    means: TimeAverages<2>,
    /// Segments outstanding, over time.
    inflight: TimeAverages<1>,
    /// True after `inflight` and `means` were restarted at the beginning of the measured interval.
    restarted: [bool; 2],
    columns: Option<Columns>,
}

impl FlowMeter {
    /// Counts within `window`; keeps series if `series`.
    pub(crate) fn new(window: Window, series: bool) -> FlowMeter {
        FlowMeter {
            window,
            connection: 0,
            segments: Segments::default(),
            data: SeqUnwrapper::default(),
            arrived_at: (0, SeqUnwrapper::default(), Ranges::default()),
            delivered_before: 0,
            delivered_at_start: None,
            mss: 1448,
            sent: (0, 0),
            retransmitted: (0, 0),
            received_bytes: 0,
            received_packets: 0,
            duplicate_bytes: 0,
            rtt: DurationStats::new(),
            first_rtt: (0, 0),
            owd: DurationStats::new(),
            in_network: VecDeque::new(),
            means: TimeAverages::new(),
            inflight: TimeAverages::new(),
            restarted: [false; 2],
            columns: series.then(Columns::default),
        }
    }

    /// The flow ends at `end`; later packets are not counted.
    pub(crate) fn stop(&mut self, end: u64) {
        self.window.to = self.window.to.min(end);
    }

    /// Returns the payload sent in the measured interval, bytes.
    pub(crate) fn sent_bytes(&self) -> u64 {
        self.sent.1
    }

    fn restart_inflight(&mut self, now: u64) {
        if now >= self.window.from && !self.restarted[0] {
            self.restarted[0] = true;
            self.inflight.restart(Time(self.window.from));
        }
    }

    /// A packet has left the data sender's host.
    pub(crate) fn sent(&mut self, packet: &Packet, now: u64) {
        self.restart_inflight(now);
        let counts = self.window.holds(now);
        let Some(tcp) = packet.tcp else {
            self.in_network.push_back((packet.key, now));
            self.sent.0 += u64::from(counts);
            self.sent.1 += u64::from(counts) * u64::from(packet.bytes);
            return;
        };
        let Some((start, end)) = self.place(packet, tcp) else { return };
        let again = self.segments.sent(start, end, now);
        self.note_inflight(now);
        if counts {
            self.sent.0 += 1;
            self.sent.1 += end - start;
            self.retransmitted.0 += u64::from(again);
            self.retransmitted.1 += if again { end - start } else { 0 };
        }
    }

    /// Returns the range of a segment's payload in its connection; None without payload.
    fn place(&mut self, packet: &Packet, tcp: Tcp) -> Option<(u64, u64)> {
        if tcp.connection != self.connection {
            self.connection = tcp.connection;
            self.segments = Segments::default();
            self.data = SeqUnwrapper::default();
        }
        // The SYN takes one number before the first byte.
        let start = self.data.unwrap(tcp.seq.at(u64::from(tcp.syn)));
        (packet.payload > 0).then(|| (start, start + u64::from(packet.payload)))
    }

    fn note_inflight(&mut self, now: u64) {
        if now < self.window.to {
            let segments = self.segments.outstanding() as f64 / f64::from(self.mss);
            self.inflight.set([segments], Time(now));
        }
    }

    /// A packet of the reverse direction has reached the data sender's host.
    pub(crate) fn answered(&mut self, packet: &Packet, now: u64) {
        self.restart_inflight(now);
        let Some(tcp) = packet.tcp.filter(|t| t.acks && t.connection == self.connection) else { return };
        let acked = self.segments.acked();
        let Some(ack) = self.data.first().and_then(|first| tcp.ack.unwrap_near(first, acked)) else { return };
        if ack <= acked {
            return;
        }
        let ack = ack.min(self.segments.highest());
        let counts = self.window.holds(now);
        let (rtt, all) = (&mut self.rtt, &mut self.first_rtt);
        self.segments.acknowledged(ack, |a| {
            if counts {
                all.0 += u128::from(now - a.first);
                all.1 += 1;
                if a.times == 1 {
                    rtt.record(Dur(now - a.last));
                }
            }
        });
        self.note_inflight(now);
    }

    /// A packet has reached the data receiver's host.
    pub(crate) fn arrived(&mut self, packet: &Packet, now: u64) {
        let counts = self.window.holds(now);
        if now >= self.window.from && self.delivered_at_start.is_none() {
            self.delivered_at_start = Some(self.delivered());
        }
        self.received_bytes += u64::from(counts) * u64::from(packet.bytes);
        let Some(tcp) = packet.tcp else {
            self.received_packets += u64::from(counts);
            if let Some(at) = self.in_network.iter().position(|(key, _)| *key == packet.key) {
                let sent = self.in_network[at].1;
                self.in_network.drain(..=at);
                if counts {
                    self.owd.record(Dur(now - sent));
                }
            }
            return;
        };
        if now >= self.window.to {
            return;
        }
        let (connection, unwrapped, ranges) = &mut self.arrived_at;
        if *connection != tcp.connection {
            self.delivered_before += ranges.in_order();
            (*connection, *unwrapped, *ranges) = (tcp.connection, SeqUnwrapper::default(), Ranges::default());
        }
        let start = unwrapped.unwrap(tcp.seq.at(u64::from(tcp.syn)));
        if packet.payload > 0 {
            let known = ranges.add(start, start + u64::from(packet.payload));
            self.duplicate_bytes += if counts { known } else { 0 };
        }
    }

    fn delivered(&self) -> u64 {
        self.delivered_before + self.arrived_at.2.in_order()
    }

    /// A sample of the sender's socket; None: it has no connection.
    pub(crate) fn sampled(&mut self, state: Option<&TcpSample>, now: u64) {
        if now >= self.window.from && !self.restarted[1] {
            self.restarted[1] = true;
            self.means.restart(Time(self.window.from));
        }
        if now >= self.window.to {
            return;
        }
        let Some(s) = state else {
            self.means.set([f64::NAN; 2], Time(now));
            self.inflight.set([f64::NAN], Time(now));
            return;
        };
        self.mss = s.mss;
        let srtt = s.srtt.unwrap_or(f64::NAN);
        self.means.set([s.cwnd, srtt * 1e-6], Time(now));
        let delivered = self.delivered();
        if let Some(c) = &mut self.columns {
            let mss = f64::from(s.mss);
            let (una, next) = (self.segments.acked(), self.segments.highest());
            c.flow.t_ns.push(now);
            c.flow.cwnd.push(s.cwnd * mss);
            c.flow.ssthresh.push(s.ssthresh * mss);
            c.flow.srtt_ns.push(srtt);
            c.flow.rto_ns.push(s.rto);
            c.flow.inflight.push(next.saturating_sub(una));
            c.flow.snd_una.push(una);
            c.flow.snd_nxt.push(next);
            c.flow.delivered.push(delivered);
            c.flow.phase.push(s.phase);
            c.kernel.pacing_rate.push(s.pacing_rate);
            c.kernel.delivery_rate.push(s.delivery_rate);
            c.kernel.min_rtt_ns.push(s.min_rtt);
            c.kernel.rttvar_ns.push(s.rttvar);
            c.kernel.lost.push(u64::from(s.lost));
            c.kernel.retransmits.push(u64::from(s.retransmits));
            c.kernel.reordering.push(u64::from(s.reordering));
            c.cc_infos.push(s.cc_info);
        }
    }

    /// Fills in the results.
    pub(crate) fn finish(&mut self, tcp: bool, r: &mut FlowResult) {
        let seconds = self.window.seconds();
        let rate = |bytes: u64| if seconds > 0.0 { bytes as f64 * 8.0 / seconds } else { 0.0 };
        let end = Time(self.window.to);
        r.throughput_bps = rate(self.received_bytes);
        (r.sent_packets, r.sent_bytes) = self.sent;
        if tcp {
            r.delivered_bytes =
                self.delivered() - self.delivered_at_start.unwrap_or_else(|| self.delivered());
            (r.retransmitted_packets, r.retransmitted_bytes) = self.retransmitted;
            r.duplicate_bytes = self.duplicate_bytes;
            r.rtt_mean_ms = self.rtt.mean_ms();
            r.rtt_first_mean_ms =
                (self.first_rtt.1 > 0).then(|| self.first_rtt.0 as f64 / self.first_rtt.1 as f64 * 1e-6);
            r.rtt_min_ms = self.rtt.min_ms();
            r.rtt_p50_ms = self.rtt.percentile_ms(0.5);
            r.rtt_p95_ms = self.rtt.percentile_ms(0.95);
            r.rtt_p99_ms = self.rtt.percentile_ms(0.99);
            r.rtt_max_ms = self.rtt.max_ms();
            [r.cwnd_mean_packets, r.srtt_mean_ms] = self.means.means(end);
            [r.mean_inflight_packets] = self.inflight.means(end);
        } else {
            r.delivered_bytes = self.received_bytes;
            r.owd_mean_ms = self.owd.mean_ms();
            r.owd_p99_ms = self.owd.percentile_ms(0.99);
        }
        r.goodput_bps = rate(r.delivered_bytes);
    }

    /// Returns the series, if they are kept.
    pub(crate) fn table(&mut self, name: &str) -> Option<Table> {
        let c = self.columns.take().filter(|c| !c.flow.t_ns.is_empty())?;
        let table = c.kernel.append_to(c.flow.into_table(name));
        let own =
            c.cc_infos.iter().map(|info| info.columns).max_by_key(|columns| columns.len()).unwrap_or(&[]);
        let column = |n: usize| {
            let value = |info: &CcInfo| if info.columns == own { info.values[n] } else { f64::NAN };
            c.cc_infos.iter().map(value).collect()
        };
        Some(table.with_private(own, (0..own.len()).map(column).collect()))
    }
}
