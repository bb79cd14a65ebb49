//! Read access to an endpoint: state, counters, the segments of the last ACK, a snapshot of the sending half.

use super::{Endpoint, Snapshot, State};
use crate::config::Config;
use crate::scoreboard::DeliveredSegment;
use crate::send_sequence::Counters;
use dumbbell_units::Dur;

dumbbell_units::getters! {
    endpoint: Endpoint;
    /// The connection's state.
    state: State = endpoint.state;
    /// True if the handshake is over and the connection is not closed in both directions.
    is_open: bool = matches!(endpoint.state, State::Established | State::FinWait | State::CloseWait | State::Closing);
    /// Payload bytes delivered to the application, in order, each once.
    delivered: u64 = endpoint.receiver.nxt.saturating_sub(1 + u64::from(endpoint.receiver.fin_received()));
    /// Payload bytes that have arrived, in order or not, each counted once.
    received: u64 = endpoint.delivered() + endpoint.receiver.out_of_order_payload();
    /// Payload bytes that arrived more than once.
    duplicate_bytes: u64 = endpoint.receiver.duplicate_bytes;
    /// True if the peer's FIN and all data before it have arrived.
    peer_has_closed: bool = endpoint.receiver.fin_received();
    /// True if everything written has been acknowledged (the FIN too, after [`Endpoint::close`]).
    everything_acknowledged: bool = endpoint.sender.everything_acknowledged();
    /// Bytes written that were never sent.
    unsent: u64 = endpoint.sender.write_seq.saturating_sub(endpoint.sender.snd.max);
    /// The counters of the sending half.
    counters: &Counters = &endpoint.sender.counters;
    /// The segments that the ACK in the last [`Endpoint::on_segment`] newly reported.
    newly_delivered: &[DeliveredSegment] = &endpoint.sender.delivered;
    /// The parameters.
    config: &Config = &endpoint.sender.config;
    /// Congestion window in use, inflation included, bytes.
    cwnd: f64 = endpoint.sender.window() + endpoint.sender.recovery.inflation();
    /// Bytes outstanding (pipe with SACK).
    inflight: u64 = endpoint.sender.flight();
    /// Smoothed round-trip time; None before the first sample.
    srtt: Option<Dur> = endpoint.sender.rtt.srtt();
}

impl Endpoint {
    /// Returns a snapshot of the sending half.
    #[must_use]
    pub fn snapshot(&self) -> Snapshot {
        let s = &self.sender;
        let control = s.cc.control;
        let data_end = |offset: u64| offset.min(s.write_seq).saturating_sub(1);
        Snapshot {
            cwnd: self.cwnd(),
            ssthresh: control.ssthresh,
            srtt: self.srtt(),
            rto: s.rtt.rto(),
            inflight: s.flight(),
            snd_una: data_end(s.snd.una),
            snd_nxt: data_end(s.snd.nxt),
            phase: s.phase(),
            timeouts: s.counters.timeouts,
        }
    }

    /// Appends the private columns of congestion control to `row`.
    pub fn observe_cc(&self, row: &mut Vec<f64>) {
        self.sender.cc.observe(row);
    }
}
