//! Results of a flow, from the taps at its two hosts and from samples of its socket: RTTs and ACK delays (as in the
//! simulator, [`AckTimes`]), delivered bytes in order, bytes in flight from SND.UNA to SND.NXT [RFC 9293 §3.3.1].

use super::Window;
use super::connections::Connections;
use super::ranges::Ranges;
use super::segments::Segments;
use super::socket::{Progress, SocketColumns, TcpSample};
use crate::meter::packet::Packet;
use dumbbell_plan::{FlowResult, Optional};
use dumbbell_sim::meter::{AckTimes, DurationStats, RttSeries, TimeAverages, VoiceMeter};
use dumbbell_trace::Table;
use dumbbell_units::{Dur, Time};
use dumbbell_wire::Seq;
use std::collections::VecDeque;

/// Bytes of a row of the RTT samples.
const RTT_ROW: usize = 16;

#[derive(Debug)]
struct Columns {
    socket: SocketColumns,
    rtt: RttSeries,
}

/// See the top of this file.
#[derive(Debug)]
pub(crate) struct FlowMeter {
    window: Window,
    /// At the data sender.
    sending: Connections<Segments>,
    /// At the data receiver: the ranges received.
    arriving: Connections<Ranges>,
    /// Payload bytes received on closed connections: each once; in order.
    delivered_before: [u64; 2],
    /// Payload bytes received in the measured interval, each once.
    delivered_bytes: u64,
    /// Payload of a full segment, bytes, of the last sample.
    mss: u32,
    /// Packets and bytes.
    sent: (u64, u64),
    /// Packets and bytes.
    retransmitted: (u64, u64),
    received_bytes: u64,
    received_packets: u64,
    duplicate_bytes: u64,
    ack_times: AckTimes,
    /// One-way delays of datagrams.
    owd: DurationStats,
    /// The packets of a voice call.
    voice: Option<VoiceMeter>,
    /// Packets with payload that were sent and have neither arrived nor been lost: key and sending time.
    in_network: VecDeque<(u64, u64)>,
    /// Packets with payload sent in the measured interval and lost.
    lost: u64,
    /// cwnd in segments and SRTT in ms, over time.
    means: TimeAverages<2>,
    /// Segments outstanding, over time.
    inflight: TimeAverages<1>,
    /// True after `inflight` and `means` were restarted at the beginning of the measured interval.
    restarted: [bool; 2],
    columns: Option<Columns>,
}

impl FlowMeter {
    /// Counts within `window`; keeps series if `series` gives the minimum time between two rows.
    pub(crate) fn new(window: Window, series: Option<Dur>) -> FlowMeter {
        FlowMeter {
            window,
            sending: Connections::default(),
            arriving: Connections::default(),
            delivered_before: [0; 2],
            delivered_bytes: 0,
            mss: 1448,
            sent: (0, 0),
            retransmitted: (0, 0),
            received_bytes: 0,
            received_packets: 0,
            duplicate_bytes: 0,
            ack_times: AckTimes::new(),
            owd: DurationStats::new(),
            voice: None,
            in_network: VecDeque::new(),
            lost: 0,
            means: TimeAverages::new(),
            inflight: TimeAverages::new(),
            restarted: [false; 2],
            columns: series.map(|interval| Columns { socket: SocketColumns::default(), rtt: RttSeries::new(interval) }),
        }
    }

    /// The flow is a voice call.
    pub(crate) fn hear(&mut self, call: VoiceMeter) {
        self.voice = Some(call);
    }

    /// The flow has several connections at a time. As in the simulator, it then has no series, and no means of windows
    /// and bytes in flight.
    pub(crate) fn join_connections(&mut self) {
        self.columns = None;
        self.sending.join();
        self.arriving.join();
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
        if packet.payload > 0 {
            self.in_network.push_back((packet.key, now));
        }
        let Some(tcp) = packet.tcp else {
            if let Some(voice) = &mut self.voice {
                voice.sent(now);
            }
            self.sent.0 += u64::from(counts);
            self.sent.1 += u64::from(counts) * u64::from(packet.bytes);
            return;
        };
        let (_, connection) = self.sending.of(&tcp);
        // The SYN takes one number before the first byte.
        let start = connection.offsets.unwrap(tcp.seq.at(u64::from(tcp.syn)));
        if packet.payload == 0 {
            return;
        }
        let end = start + u64::from(packet.payload);
        let again = connection.data.sent(start, end, now);
        self.note_inflight(now);
        if counts {
            self.sent.0 += 1;
            self.sent.1 += end - start;
            self.retransmitted.0 += u64::from(again);
            self.retransmitted.1 += if again { end - start } else { 0 };
        }
    }

    fn note_inflight(&mut self, now: u64) {
        let Some(segments) = self.sending.only().filter(|_| now < self.window.to) else { return };
        self.inflight.set([segments.outstanding() as f64 / f64::from(self.mss)], Time(now));
    }

    /// A packet of the reverse direction has reached the data sender's host.
    pub(crate) fn answered(&mut self, packet: &Packet, now: u64) {
        self.restart_inflight(now);
        let Some(tcp) = packet.tcp.filter(|t| t.acks) else { return };
        let Some(connection) = self.sending.known(tcp.connection) else { return };
        let acked = connection.data.acked();
        let Some(first) = connection.offsets.first() else { return };
        let offset = |seq: Seq| seq.unwrap_near(first, acked).unwrap_or(0);
        let blocks = tcp.sack.as_slice().iter().map(|b| (offset(b.left), offset(b.right)));
        let packets = connection.data.acknowledged(offset(tcp.ack), blocks);
        let progressed = connection.data.acked() > acked;
        if self.window.holds(now) {
            self.ack_times.add(&packets, Time(now));
        }
        if let Some(c) = self.columns.as_mut().filter(|_| now < self.window.to) {
            c.rtt.add(&packets, Time(now));
        }
        if progressed {
            self.note_inflight(now);
        }
    }

    /// A packet has reached the data receiver's host.
    pub(crate) fn arrived(&mut self, packet: &Packet, now: u64) {
        let counts = self.window.holds(now);
        let sent = self.leaves_network(packet.key);
        // Of a packet with payload, only the first copy counts.
        if counts && (sent.is_some() || packet.payload == 0) {
            self.received_bytes += u64::from(packet.bytes);
        }
        let Some(tcp) = packet.tcp else {
            if let (Some(voice), Some(sent)) = (&mut self.voice, sent) {
                voice.arrived(sent, now);
            }
            if let Some(sent) = sent.filter(|_| counts) {
                self.received_packets += 1;
                self.owd.record(Dur(now - sent));
            }
            return;
        };
        if now >= self.window.to {
            return;
        }
        let (past, connection) = self.arriving.of(&tcp);
        if let Some(past) = past {
            let [bytes, in_order] = &mut self.delivered_before;
            (*bytes, *in_order) = (*bytes + past.bytes(), *in_order + past.in_order());
        }
        let start = connection.offsets.unwrap(tcp.seq.at(u64::from(tcp.syn)));
        if packet.payload > 0 {
            let known = connection.data.add(start, start + u64::from(packet.payload));
            if counts {
                self.duplicate_bytes += known;
                self.delivered_bytes += u64::from(packet.payload) - known;
            }
        }
    }

    /// Removes a packet from those in the network; returns its sending time.
    fn leaves_network(&mut self, key: u64) -> Option<u64> {
        let at = self.in_network.iter().position(|(k, _)| *k == key)?;
        self.in_network.remove(at).map(|(_, sent)| sent)
    }

    /// A packet with payload was lost. It counts if it was sent in the measured interval.
    pub(crate) fn lost(&mut self, key: u64) {
        if let Some(sent) = self.leaves_network(key) {
            self.lost += u64::from(self.window.holds(sent));
        }
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
        let [bytes, in_order] = self.delivered_before;
        let (segments, ranges) = (self.sending.only(), self.arriving.only());
        if let Some(c) = &mut self.columns {
            let progress = Progress {
                snd_una: segments.map_or(0, Segments::acked),
                snd_nxt: segments.map_or(0, Segments::highest),
                delivered: bytes + ranges.map_or(0, Ranges::bytes),
                delivered_in_order: in_order + ranges.map_or(0, Ranges::in_order),
            };
            c.socket.push(s, progress, now);
        }
    }

    /// Fills in the results.
    pub(crate) fn finish(&mut self, tcp: bool, r: &mut FlowResult) {
        let seconds = self.window.seconds();
        let rate = |bytes: u64| if seconds > 0.0 { bytes as f64 * 8.0 / seconds } else { 0.0 };
        let end = Time(self.window.to);
        r.throughput_bps = rate(self.received_bytes);
        (r.sent_packets, r.sent_bytes) = self.sent;
        r.dropped_packets = self.lost;
        if tcp {
            r.delivered_bytes = self.delivered_bytes;
            (r.retransmitted_packets, r.retransmitted_bytes) = self.retransmitted;
            r.duplicate_bytes = self.duplicate_bytes;
            self.ack_times.fill(r);
            r.snd_mss_bytes = Some(u64::from(self.mss));
            [r.cwnd_mean_packets, r.srtt_mean_ms] = self.means.means(end).map(Optional::from);
            [r.mean_inflight_packets] = self.inflight.means(end).map(Optional::from);
        } else {
            r.delivered_bytes = self.received_bytes;
            r.owd_mean_ms = self.owd.mean_ms().into();
            r.owd_p99_ms = self.owd.percentile_ms(0.99).into();
            if let Some(voice) = &self.voice {
                voice.fill(self.window.from, self.window.to, r);
            }
        }
        r.goodput_bps = rate(r.delivered_bytes);
    }

    /// Passes on the rows so far of each series that has at least so many bytes: [`FlowMeter::tables`] returns the
    /// others.
    pub(crate) fn drain(&mut self, least: usize, name: &str, sink: &mut dyn FnMut(Table)) {
        let Some(c) = self.columns.as_mut().filter(|_| self.voice.is_none()) else { return };
        c.socket.drain(least, name, sink);
        c.rtt.drain(least / RTT_ROW, name, sink);
    }

    /// Returns the series, if they are kept: the samples of the socket and the RTT samples, or the packets of a voice
    /// call.
    pub(crate) fn tables(&mut self, name: &str) -> Vec<Table> {
        let Some(c) = self.columns.take() else { return Vec::new() };
        if let Some(voice) = &self.voice {
            return vec![voice.table(self.window.to, name)];
        }
        let Some(state) = c.socket.into_table(name) else { return Vec::new() };
        std::iter::once(state).chain(c.rtt.into_table(name)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::meter::packet::Tcp;
    use dumbbell_wire::SackBlocks;

    const PAYLOAD: u64 = 1000;
    const MS: u64 = 1_000_000;

    fn packet(seq: Seq, payload: u64, ack: Seq, blocks: &[(Seq, Seq)]) -> Packet {
        let mut sack = SackBlocks::default();
        blocks.iter().for_each(|(left, right)| sack.push(*left, *right));
        let tcp = Tcp { seq, ack, syn: false, acks: true, sack, connection: 20_000 };
        let payload = payload as u32;
        Packet { direction: 0, bytes: 52 + payload, payload, ce: false, key: 0, tcp: Some(tcp) }
    }

    /// Five packets leave at 0 to 4 ms, the second is lost. Its retransmission leaves at 45 ms.
    #[test]
    fn rtts_end_at_sacks_across_the_wrap_of_sequence_numbers() {
        let first = Seq(u32::MAX - 2499);
        let at = |n: u64| first.at(n * PAYLOAD); // the third packet contains the wrap
        let mut meter = FlowMeter::new(Window { from: 0, to: 1000 * MS }, Some(Dur::ZERO));
        (0..5).for_each(|n| meter.sent(&packet(at(n), PAYLOAD, Seq(0), &[]), n * MS));
        let acks = [
            (40, 1, &[][..]),
            (42, 1, &[(at(2), at(3))]),
            (43, 1, &[(at(2), at(4))]),
            (44, 1, &[(at(2), at(5))]),
            // The third packet arrived twice: D-SACK.
            (47, 1, &[(at(2), at(3)), (at(2), at(5))]),
        ];
        for (ms, ack, blocks) in acks {
            meter.answered(&packet(Seq(0), 0, at(ack), blocks), ms * MS);
        }
        meter.sent(&packet(at(1), PAYLOAD, Seq(0), &[]), 45 * MS);
        meter.answered(&packet(Seq(0), 0, at(5), &[(at(2), at(3))]), 85 * MS);
        let mut r = FlowResult::default();
        meter.finish(true, &mut r);
        let rtt = [r.rtt_mean_ms, r.rtt_min_ms, r.rtt_max_ms].map(Optional::get);
        assert_eq!(rtt, [Some(40.0); 3]); // of packets 1, 3, 4, 5
        // To the cumulative ACK: 40, 83, 82 and 81 ms; of the retransmitted packet 84 ms since its first transmission.
        assert_eq!(r.ack_delay_mean_ms, Some((40.0 + 83.0 + 82.0 + 81.0) / 4.0));
        assert_eq!(r.ack_delay_first_mean_ms, Some((40.0 + 84.0 + 83.0 + 82.0 + 81.0) / 5.0));
        assert_eq!((r.sent_packets, r.retransmitted_packets), (6, 1));
    }
}
