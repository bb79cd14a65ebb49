//! What can be seen of an endpoint.

use super::{Endpoint, Snapshot, State};
use crate::config::Config;
use crate::segment::Segment;
use crate::sender::Counters;
use crate::sent::DeliveredSegment;
use dumbbell_units::Dur;

impl Endpoint {
    /// The connection's state.
    #[must_use]
    pub fn state(&self) -> State {
        self.state
    }

    /// Whether data can go both ways.
    #[must_use]
    pub fn is_open(&self) -> bool {
        matches!(self.state, State::Established | State::FinWait | State::CloseWait | State::Closing)
    }

    /// Payload bytes delivered to the application, in order, each once.
    #[must_use]
    pub fn delivered(&self) -> u64 {
        self.receiver.nxt.saturating_sub(1 + u64::from(self.receiver.fin_received()))
    }

    /// Payload bytes that arrived more than once.
    #[must_use]
    pub fn duplicate_bytes(&self) -> u64 {
        self.receiver.duplicate_bytes
    }

    /// Whether the peer's FIN and all data before it have arrived.
    #[must_use]
    pub fn peer_has_closed(&self) -> bool {
        self.receiver.fin_received()
    }

    /// Whether everything written has been acknowledged (the FIN too, after [`Endpoint::close`]).
    #[must_use]
    pub fn everything_acknowledged(&self) -> bool {
        self.sender.everything_acknowledged()
    }

    /// What the sending half has done.
    #[must_use]
    pub fn counters(&self) -> &Counters {
        &self.sender.counters
    }

    /// The segments of which the last [`Endpoint::on_segment`] told something.
    #[must_use]
    pub fn newly_delivered(&self) -> &[DeliveredSegment] {
        &self.sender.delivered
    }

    /// The parameters in force.
    #[must_use]
    pub fn config(&self) -> &Config {
        &self.sender.config
    }

    /// Congestion window as the endpoint uses it, inflation included, bytes.
    #[must_use]
    pub fn cwnd(&self) -> f64 {
        self.sender.window() + self.sender.recovery.inflation as f64
    }

    /// Bytes outstanding (SACK: pipe).
    #[must_use]
    pub fn inflight(&self) -> u64 {
        self.sender.flight()
    }

    /// Smoothed round-trip time; None before the first sample.
    #[must_use]
    pub fn srtt(&self) -> Option<Dur> {
        self.sender.rtt.srtt()
    }

    /// Bytes of the IP packet that carries a segment of ours.
    #[must_use]
    pub fn packet_bytes(&self, segment: &Segment) -> u32 {
        if segment.payload > 0 && !self.sender.config.data_headers {
            return segment.payload;
        }
        segment.packet_bytes()
    }

    /// What can be seen of the sending half now.
    #[must_use]
    pub fn snapshot(&self) -> Snapshot {
        let s = &self.sender;
        let control = s.control;
        let data_end = |offset: u64| offset.min(s.written).saturating_sub(1);
        Snapshot {
            cwnd: self.cwnd(),
            ssthresh: control.ssthresh,
            srtt: self.srtt(),
            rto: s.rtt.rto(),
            inflight: s.flight(),
            snd_una: data_end(s.una),
            snd_nxt: data_end(s.nxt),
            phase: s.phase(),
        }
    }

    /// The law's private columns.
    pub fn observe_cc(&self, row: &mut Vec<f64>) {
        self.sender.observe_cc(row);
    }
}
