//! A law that writes down what it hears. Its window is what the test says; a timeout collapses it only if the test
//! asks.

use dumbbell_cc::{
    AckEvent, Congestion, CongestionControl, CongestionEvent, Control, Cx, LostEvent, Phase, RecoveryExit,
    SentEvent,
};
use dumbbell_units::{Dur, Rate};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// One thing that a law was told.
#[derive(Clone, Copy, Debug)]
#[allow(missing_docs)]
pub enum CcCall {
    Sent(SentEvent),
    Lost(LostEvent),
    Ack(AckEvent),
    Congestion(CongestionEvent),
    Exit,
    Undo,
    Restart,
}

/// See the top of this file. Copies share what they have calls.
#[derive(Clone, Debug)]
pub struct CcRecorder {
    control: Control,
    /// The window that a collapse starts from; None: timeouts leave it alone.
    collapses_from: Option<f64>,
    calls: Arc<Mutex<Vec<CcCall>>>,
}

impl CcRecorder {
    /// A window of so many bytes.
    #[must_use]
    pub fn new(cwnd: f64) -> CcRecorder {
        let control = Control { cwnd, ssthresh: f64::INFINITY, pacing: None, quantum: None };
        CcRecorder { control, collapses_from: None, calls: Arc::default() }
    }

    /// Paced at this rate, in bursts of so many bytes.
    #[must_use]
    pub fn paced(mut self, rate: Rate, quantum: u64) -> CcRecorder {
        (self.control.pacing, self.control.quantum) = (Some(rate), Some(quantum));
        self
    }

    /// A timeout leaves one segment, which grows by what ACKs acknowledge, back to where it was at most.
    #[must_use]
    pub fn collapsing(mut self) -> CcRecorder {
        self.collapses_from = Some(self.control.cwnd);
        self
    }

    /// Everything calls so far.
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
