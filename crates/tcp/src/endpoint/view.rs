//! Read access to an endpoint: state, counters, the segments of the last ACK, a snapshot of the sending half.

use super::{Endpoint, Snapshot, State};
use crate::config::Config;
use crate::scoreboard::DeliveredSegment;
use crate::send_sequence::Counters;
use dumbbell_units::Dur;

impl Endpoint {
    /// The connection's state.
    #[must_use]
    pub fn state(&self) -> State {
        self.state
    }

    /// True if the handshake is over and the connection is not closed in both directions.
    #[must_use]
    pub fn is_open(&self) -> bool {
        matches!(self.state, State::Established | State::FinWait | State::CloseWait | State::Closing)
    }

    /// Payload bytes delivered to the application, in order, each once.
    #[must_use]
    pub fn delivered(&self) -> u64 {
        self.receiver.nxt.saturating_sub(1 + u64::from(self.receiver.fin_received()))
    }

    /// Payload bytes that have arrived, in order or not, each counted once.
    #[must_use]
    pub fn received(&self) -> u64 {
        self.delivered() + self.receiver.out_of_order_payload()
    }

    /// Payload bytes that arrived more than once.
    #[must_use]
    pub fn duplicate_bytes(&self) -> u64 {
        self.receiver.duplicate_bytes
    }

    /// True if the peer's FIN and all data before it have arrived.
    #[must_use]
    pub fn peer_has_closed(&self) -> bool {
        self.receiver.fin_received()
    }

    /// True if everything written has been acknowledged (the FIN too, after [`Endpoint::close`]).
    #[must_use]
    pub fn everything_acknowledged(&self) -> bool {
        self.sender.everything_acknowledged()
    }

    /// Bytes written that were never sent.
    #[must_use]
    pub fn unsent(&self) -> u64 {
        self.sender.write_seq.saturating_sub(self.sender.snd.max)
    }

    /// The counters of the sending half.
    #[must_use]
    pub fn counters(&self) -> &Counters {
        &self.sender.counters
    }

    /// The segments that the ACK in the last [`Endpoint::on_segment`] newly reported.
    #[must_use]
    pub fn newly_delivered(&self) -> &[DeliveredSegment] {
        &self.sender.delivered
    }

    /// The parameters.
    #[must_use]
    pub fn config(&self) -> &Config {
        &self.sender.config
    }

    /// Congestion window in use, inflation included, bytes.
    #[must_use]
    pub fn cwnd(&self) -> f64 {
        self.sender.window() + self.sender.recovery.inflation()
    }

    /// Bytes outstanding (pipe with SACK).
    #[must_use]
    pub fn inflight(&self) -> u64 {
        self.sender.flight()
    }

    /// Smoothed round-trip time; None before the first sample.
    #[must_use]
    pub fn srtt(&self) -> Option<Dur> {
        self.sender.rtt.srtt()
    }

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
