//! Access to an endpoint: state, counters, the packets of the last ACK, a snapshot of the sending part.

use super::{Endpoint, Role, State};
use crate::config::Config;
use crate::packet::Form;
use dumbbell_tcp::{Counters, DeliveredSegment, Snapshot};
use dumbbell_units::Dur;

dumbbell_units::getters! {
    endpoint: Endpoint;
    /// The connection's state.
    state: State = endpoint.state;
    /// True while data can be sent or received: not before the handshake begins, and not after a close.
    is_open: bool = matches!(endpoint.state, State::Handshaking | State::Established);
    /// True after a close by either end, or after the idle timeout.
    is_over: bool = matches!(endpoint.state, State::Closing | State::Draining | State::Closed);
    /// True once the handshake is complete.
    is_established: bool = endpoint.state == State::Established;
    /// Bytes delivered to the application in the order of each stream, each once.
    delivered: u64 = endpoint.streams.delivered();
    /// Bytes that have arrived, in order or not, each counted once.
    received: u64 = endpoint.streams.received();
    /// Bytes that arrived more than once.
    duplicate_bytes: u64 = endpoint.streams.duplicate();
    /// True if the peer has ended its streams, and all their data has arrived.
    peer_has_finished: bool = endpoint.streams.peer_has_finished();
    /// True if everything written, and the ends of streams, have been acknowledged.
    everything_acknowledged: bool = endpoint.streams.is_acknowledged();
    /// The counters of the sending part: packets with stream data, PTOs, recovery periods that a loss began.
    counters: &Counters = &endpoint.counters;
    /// Packets declared lost.
    lost_packets: u64 = endpoint.lost_packets;
    /// The packets that the last datagram newly acknowledged.
    newly_delivered: &[DeliveredSegment] = &endpoint.newly_delivered;
    /// The parameters.
    config: &Config = &endpoint.config;
    /// UDP payload of a full datagram.
    datagram_bytes: u32 = endpoint.mtu.current;
    /// Stream data of a full datagram: without the header with a packet number of two bytes, and the header of a STREAM
    /// frame with an offset of four bytes.
    full_payload: u64 = u64::from(endpoint.mtu.current - Form::OneRtt.overhead(2, 0) - 8);
    /// Congestion window in use, bytes.
    cwnd: f64 = endpoint.cc.window(&endpoint.config);
    /// Bytes in flight.
    inflight: u64 = endpoint.in_flight;
    /// Smoothed round-trip time; None before the first sample.
    srtt: Option<Dur> = endpoint.rtt.srtt();
    /// The latest, the smallest and the smoothed round-trip time, and its mean deviation; None before the first sample.
    rtt: Option<[Dur; 4]> = {
        let rtt = &endpoint.rtt;
        rtt.min_rtt().map(|min| [rtt.latest, min, rtt.estimate(), rtt.rttvar()])
    };
    /// Expiries of the PTO without an ACK since.
    pto_count: u32 = endpoint.pto_count;
    /// True once the handshake is confirmed [RFC 9001 §4.1.2].
    is_confirmed: bool = endpoint.handshake.confirmed;
    /// The part of this end in the handshake.
    role: Role = endpoint.role;
    /// The spin bit of the 1-RTT packets that are sent now.
    spin: bool = endpoint.spin;
}

impl Endpoint {
    /// Bytes of a stream delivered to the application in order, each once.
    #[must_use]
    pub fn delivered_of(&self, stream: u32) -> u64 {
        self.streams.delivered_of(stream)
    }

    /// A stream that the peer has ended and whose data have all arrived. Each is returned once, the last one first.
    pub fn take_finished(&mut self) -> Option<u32> {
        self.streams.take_finished()
    }

    /// The pacing rate in use, bit/s; None without pacing, or before the first round-trip sample.
    #[must_use]
    pub fn pacing_rate(&self) -> Option<u64> {
        let srtt = self.srtt()?;
        self.cc.pacing(&self.config, srtt.as_secs()).map(|(rate, _)| rate.0)
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
