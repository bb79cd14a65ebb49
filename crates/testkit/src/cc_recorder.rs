//! A congestion control algorithm that records the calls of the endpoint. The test sets its window; a timeout lowers
//! the window only if the test requests it.

use dumbbell_cc::{
    AckEvent, Congestion, CongestionControl, CongestionEvent, Control, CwndValidation, Cx, LostEvent, Phase,
    RecoveryExit, SentEvent,
};
use dumbbell_units::{Dur, Rate};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// A call of the endpoint, named after the method of [`CongestionControl`].
#[derive(Clone, Copy, Debug)]
pub enum CcCall {
    /// `on_sent`.
    Sent(SentEvent),
    /// `on_lost`.
    Lost(LostEvent),
    /// `on_ack`.
    Ack(AckEvent),
    /// `on_congestion`.
    Congestion(CongestionEvent),
    /// `on_recovery_exit`.
    Exit,
    /// `on_undo`.
    Undo,
    /// `on_cwnd_validation`.
    Validation(CwndValidation),
    /// `on_restart`.
    Restart,
}

/// The recording algorithm. Copies share the recorded calls.
#[derive(Clone, Debug)]
pub struct CcRecorder {
    control: Control,
    /// The window before a timeout, up to which it grows again; None: timeouts do not change the window.
    collapses_from: Option<f64>,
    calls: Arc<Mutex<Vec<CcCall>>>,
}

impl CcRecorder {
    /// Returns an algorithm with a window of this number of bytes.
    #[must_use]
    pub fn new(cwnd: f64) -> CcRecorder {
        let control = Control { cwnd, ssthresh: f64::INFINITY, pacing: None, quantum: None };
        CcRecorder { control, collapses_from: None, calls: Arc::default() }
    }

    /// Sets a pacing rate and a send quantum in bytes.
    #[must_use]
    pub fn paced(mut self, rate: Rate, quantum: u64) -> CcRecorder {
        (self.control.pacing, self.control.quantum) = (Some(rate), Some(quantum));
        self
    }

    /// Makes a timeout reduce the window to one segment. It then grows by the acknowledged bytes up to its former
    /// value.
    #[must_use]
    pub fn collapsing(mut self) -> CcRecorder {
        self.collapses_from = Some(self.control.cwnd);
        self
    }

    /// Returns the calls so far.
    pub fn calls(&self) -> MutexGuard<'_, Vec<CcCall>> {
        self.calls.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn record(&self, calls: CcCall) {
        self.calls().push(calls);
    }
}

impl CongestionControl for CcRecorder {
    fn on_sent(&mut self, ev: &SentEvent, _cx: &Cx) {
        self.record(CcCall::Sent(*ev));
    }

    fn on_lost(&mut self, ev: &LostEvent, _cx: &Cx) {
        self.record(CcCall::Lost(*ev));
    }

    fn on_ack(&mut self, ev: &AckEvent, _cx: &Cx) {
        self.record(CcCall::Ack(*ev));
        if let Some(most) = self.collapses_from {
            self.control.cwnd = (self.control.cwnd + ev.acked as f64).min(most);
        }
    }

    fn on_congestion(&mut self, ev: &CongestionEvent, cx: &Cx) {
        self.record(CcCall::Congestion(*ev));
        if self.collapses_from.is_some() && ev.kind == Congestion::Timeout {
            self.control.cwnd = cx.mss;
        }
    }

    fn on_recovery_exit(&mut self, _ev: &RecoveryExit, _cx: &Cx) {
        self.record(CcCall::Exit);
    }

    fn on_undo(&mut self, _cx: &Cx) {
        self.record(CcCall::Undo);
        self.control.cwnd = self.collapses_from.unwrap_or(self.control.cwnd);
    }

    fn on_cwnd_validation(&mut self, ev: &CwndValidation, _cx: &Cx) {
        self.record(CcCall::Validation(*ev));
    }

    fn on_restart(&mut self, _idle: Dur, _cx: &Cx) {
        self.record(CcCall::Restart);
    }

    fn control(&self) -> Control {
        self.control
    }

    fn phase(&self) -> Phase {
        Phase::Avoidance
    }
}
