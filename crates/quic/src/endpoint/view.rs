//! Access to an endpoint: state, counters, the packets of the last ACK, a snapshot of the sending part.

use super::{Endpoint, Role, State};
use crate::config::Config;
use crate::packet::Form;
use dumbbell_tcp::{Counters, DeliveredSegment, Snapshot};
use dumbbell_units::Dur;

impl Endpoint {
    /// The connection's state.
    #[must_use]
    pub fn state(&self) -> State {
        self.state
    }

    /// True while data can be sent or received: not before the handshake begins, and not after a close.
    #[must_use]
    pub fn is_open(&self) -> bool {
        matches!(self.state, State::Handshaking | State::Established)
    }

    /// True after a close by either end, or after the idle timeout.
    #[must_use]
    pub fn is_over(&self) -> bool {
        matches!(self.state, State::Closing | State::Draining | State::Closed)
    }

    /// True once the handshake is complete.
    #[must_use]
    pub fn is_established(&self) -> bool {
        self.state == State::Established
    }

    /// Bytes delivered to the application in the order of each stream, each once.
    #[must_use]
    pub fn delivered(&self) -> u64 {
        self.streams.delivered()
    }

    /// The same of one stream.
    #[must_use]
    pub fn delivered_of(&self, stream: u32) -> u64 {
        self.streams.delivered_of(stream)
    }

    /// Bytes that have arrived, in order or not, each counted once.
    #[must_use]
    pub fn received(&self) -> u64 {
        self.streams.received()
    }

    /// Bytes that arrived more than once.
    #[must_use]
    pub fn duplicate_bytes(&self) -> u64 {
        self.streams.duplicate()
    }

    /// True if the peer has ended its streams, and all their data has arrived.
    #[must_use]
    pub fn peer_has_finished(&self) -> bool {
        self.streams.peer_has_finished()
    }

    /// A stream that the peer has ended and whose data have all arrived. Each is returned once, the last one first.
    pub fn take_finished(&mut self) -> Option<u32> {
        self.streams.take_finished()
    }

    /// True if everything written, and the ends of streams, have been acknowledged.
    #[must_use]
    pub fn everything_acknowledged(&self) -> bool {
        self.streams.is_acknowledged()
    }

    /// The counters of the sending part: packets with stream data, PTOs, recovery periods that a loss began.
    #[must_use]
    pub fn counters(&self) -> &Counters {
        &self.counters
    }

    /// Packets declared lost.
    #[must_use]
    pub fn lost_packets(&self) -> u64 {
        self.lost_packets
    }

    /// The packets that the last datagram newly acknowledged.
    #[must_use]
    pub fn newly_delivered(&self) -> &[DeliveredSegment] {
        &self.newly_delivered
    }

    /// The parameters.
    #[must_use]
    pub fn config(&self) -> &Config {
        &self.config
    }

    /// UDP payload of a full datagram.
    #[must_use]
    pub fn datagram_bytes(&self) -> u32 {
        self.mtu.current
    }

    /// Stream data of a full datagram: without the header with a packet number of two bytes, and the header of a STREAM
    /// frame with an offset of four bytes.
    #[must_use]
    pub fn full_payload(&self) -> u64 {
        u64::from(self.mtu.current - Form::OneRtt.overhead(2, 0) - 8)
    }

    /// Congestion window in use, bytes.
    #[must_use]
    pub fn cwnd(&self) -> f64 {
        self.cc.window(&self.config)
    }

    /// Bytes in flight.
    #[must_use]
    pub fn inflight(&self) -> u64 {
        self.in_flight
    }

    /// Smoothed round-trip time; None before the first sample.
    #[must_use]
    pub fn srtt(&self) -> Option<Dur> {
        self.rtt.srtt()
    }

    /// The latest, the smallest and the smoothed round-trip time, and its mean deviation; None before the first sample.
    #[must_use]
    pub fn rtt(&self) -> Option<[Dur; 4]> {
        self.rtt.min_rtt().map(|min| [self.rtt.latest, min, self.rtt.estimate(), self.rtt.rttvar()])
    }

    /// Expiries of the PTO without an ACK since.
    #[must_use]
    pub fn pto_count(&self) -> u32 {
        self.pto_count
    }

    /// The pacing rate in use, bit/s; None without pacing, or before the first round-trip sample.
    #[must_use]
    pub fn pacing_rate(&self) -> Option<u64> {
        let srtt = self.srtt()?;
        self.cc.pacing(&self.config, srtt.as_secs()).map(|(rate, _)| rate.0)
    }

    /// True once the handshake is confirmed [RFC 9001 §4.1.2].
    #[must_use]
    pub fn is_confirmed(&self) -> bool {
        self.handshake.confirmed
    }

    /// The part of this end in the handshake.
    #[must_use]
    pub fn role(&self) -> Role {
        self.role
    }

    /// The spin bit of the 1-RTT packets that are sent now.
    #[must_use]
    pub fn spin(&self) -> bool {
        self.spin
    }

    /// Returns a snapshot of the sending part; its `rto` is the PTO with backoff. Offsets are summed over the streams.
    #[must_use]
    pub fn snapshot(&self) -> Snapshot {
        let (snd_una, snd_nxt) = self.streams.progress();
        Snapshot {
            cwnd: self.cwnd(),
            ssthresh: self.cc.control.ssthresh,
            srtt: self.srtt(),
            rto: (self.rtt.pto() + self.config.ack.max_delay) * (1 << self.pto_count.min(30)),
            inflight: self.in_flight,
            snd_una,
            snd_nxt,
            phase: self.cc.phase(),
            timeouts: self.counters.timeouts,
        }
    }

    /// Appends the private columns of congestion control to `row`.
    pub fn observe_cc(&self, row: &mut Vec<f64>) {
        self.cc.observe(row);
    }
}
