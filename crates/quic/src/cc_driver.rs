//! The congestion control algorithm of a connection, its last answer, and the recovery period [RFC 9002 §7.3.2].

use crate::config::Config;
use dumbbell_cc::{CaState, Congestion, CongestionControl, CongestionEvent, Control, Cx, Phase, RecoveryExit};
use dumbbell_units::{Rate, Time};

/// When a packet was sent, and the bytes sent on the connection before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct SentAt {
    pub(crate) start: u64,
    pub(crate) at: Time,
}

/// See the top of this file.
#[derive(Debug)]
pub(crate) struct CcDriver {
    algorithm: Box<dyn CongestionControl>,
    /// The answer after the last event.
    pub(crate) control: Control,
    pub(crate) wants_sent: bool,
    pub(crate) wants_arrivals: bool,
    /// Bytes sent on the connection when the last recovery period started, in place of congestion_recovery_start_time:
    /// in virtual time, packets of the period leave at the instant of its start.
    recovery_start: u64,
    /// The state while that period lasts; [`CaState::Open`] otherwise.
    state: CaState,
}

impl CcDriver {
    pub(crate) fn new(algorithm: Box<dyn CongestionControl>) -> CcDriver {
        CcDriver {
            control: algorithm.control(),
            wants_sent: algorithm.wants_sent(),
            wants_arrivals: algorithm.wants_arrivals(),
            algorithm,
            recovery_start: 0,
            state: CaState::Open,
        }
    }

    /// Calls the algorithm with an event.
    pub(crate) fn notify(&mut self, event: impl FnOnce(&mut dyn CongestionControl)) {
        event(self.algorithm.as_mut());
        self.control = self.algorithm.control();
    }

    /// The congestion window in use, bytes.
    pub(crate) fn window(&self, config: &Config) -> f64 {
        self.control.cwnd.max(config.growth.minimum_window as f64)
    }

    /// The pacing rate and the largest burst: those of the algorithm, or the endpoint's for one that sets none.
    pub(crate) fn pacing(&self, config: &Config, srtt: f64) -> Option<(Rate, u64)> {
        if let Some(rate) = self.control.pacing {
            return Some((rate, self.control.quantum.unwrap_or(config.mss())));
        }
        let growth = &config.growth;
        let rate = f64::from(growth.pacing_percent) / 100.0 * self.window(config) * 8.0 / srtt.max(1e-9);
        growth.paced.then(|| (Rate(rate.max(1.0) as u64), growth.pacing_burst))
    }

    /// Reports congestion that the loss or the mark of a packet shows. Returns true if it begins a recovery period: one
    /// answer to all signals of a round trip [RFC 9002 §7.3.2]. `sent_bytes`: bytes sent on the connection.
    pub(crate) fn on_congestion(
        &mut self,
        kind: Congestion,
        packet: SentAt,
        sent_bytes: u64,
        config: &Config,
        cx: &Cx,
    ) -> bool {
        if kind != Congestion::Timeout && packet.start < self.recovery_start {
            return false;
        }
        self.recovery_start = sent_bytes;
        self.state = match kind {
            Congestion::Ecn => CaState::Cwr,
            Congestion::Timeout => CaState::Loss,
            Congestion::Loss | Congestion::Collapse => CaState::Recovery,
        };
        let window = self.window(config);
        let ev = CongestionEvent { kind, window, lost_sent_at: packet.at, lost_transmissions: 1, backoffs: 0 };
        self.notify(|cc| cc.on_congestion(&ev, cx));
        true
    }

    /// Ends the recovery period if a packet that was sent in it is acknowledged.
    pub(crate) fn on_acked(&mut self, packet: SentAt, cx: &Cx) {
        if self.state == CaState::Open || packet.start < self.recovery_start {
            return;
        }
        let in_fast_recovery = self.state == CaState::Recovery;
        self.state = CaState::Open;
        if in_fast_recovery {
            self.notify(|cc| cc.on_recovery_exit(&RecoveryExit { bound: f64::INFINITY }, cx));
        }
    }

    /// The state; Disorder if packets before an acknowledged one are outstanding and none is lost.
    pub(crate) fn ca_state(&self, disordered: bool) -> CaState {
        if self.state == CaState::Open && disordered { CaState::Disorder } else { self.state }
    }

    /// The phase of recovery or of the algorithm.
    pub(crate) fn phase(&self) -> Phase {
        match self.state {
            CaState::Recovery => Phase::Recovery,
            CaState::Loss => Phase::Loss,
            _ => self.algorithm.phase(),
        }
    }

    pub(crate) fn observe(&self, row: &mut Vec<f64>) {
        self.algorithm.observe(row);
    }
}
