//! A law that writes down what it hears. Its window is what the test says; a timeout collapses it only if the test asks.

use dumbbell_cc::{
    AckEvent, Congestion, CongestionControl, CongestionEvent, Control, Cx, LostEvent, Phase, RecoveryExit,
    SentEvent,
};
use dumbbell_units::{Dur, Rate};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// One thing that a law was told.
#[derive(Clone, Copy, Debug)]
#[allow(missing_docs)]
pub enum Heard {
    Sent(SentEvent),
    Lost(LostEvent),
    Ack(AckEvent),
    Congestion(CongestionEvent),
    Exit,
    Undo,
    Restart,
}

/// See the top of this file. Copies share what they have heard.
#[derive(Clone, Debug)]
pub struct Listener {
    control: Control,
    /// The window that a collapse starts from; None: timeouts leave it alone.
    collapses_from: Option<f64>,
    heard: Arc<Mutex<Vec<Heard>>>,
}

impl Listener {
    /// A window of so many bytes.
    #[must_use]
    pub fn new(cwnd: f64) -> Listener {
        let control = Control { cwnd, ssthresh: f64::INFINITY, pacing: None, quantum: None };
        Listener { control, collapses_from: None, heard: Arc::default() }
    }

    /// Paced at this rate, in bursts of so many bytes.
    #[must_use]
    pub fn paced(mut self, rate: Rate, quantum: u64) -> Listener {
        (self.control.pacing, self.control.quantum) = (Some(rate), Some(quantum));
        self
    }

    /// A timeout leaves one segment, which grows by what ACKs acknowledge, back to where it was at most.
    #[must_use]
    pub fn collapsing(mut self) -> Listener {
        self.collapses_from = Some(self.control.cwnd);
        self
    }

    /// Everything heard so far.
    pub fn heard(&self) -> MutexGuard<'_, Vec<Heard>> {
        self.heard.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn note(&self, heard: Heard) {
        self.heard().push(heard);
    }
}

impl CongestionControl for Listener {
    fn on_sent(&mut self, ev: &SentEvent, _cx: &Cx) {
        self.note(Heard::Sent(*ev));
    }

    fn on_lost(&mut self, ev: &LostEvent, _cx: &Cx) {
        self.note(Heard::Lost(*ev));
    }

    fn on_ack(&mut self, ev: &AckEvent, _cx: &Cx) {
        self.note(Heard::Ack(*ev));
        if let Some(most) = self.collapses_from {
            self.control.cwnd = (self.control.cwnd + ev.acked as f64).min(most);
        }
    }

    fn on_congestion(&mut self, ev: &CongestionEvent, cx: &Cx) {
        self.note(Heard::Congestion(*ev));
        if self.collapses_from.is_some() && ev.kind == Congestion::Timeout {
            self.control.cwnd = cx.mss;
        }
    }

    fn on_recovery_exit(&mut self, _ev: &RecoveryExit, _cx: &Cx) {
        self.note(Heard::Exit);
    }

    fn on_undo(&mut self, _cx: &Cx) {
        self.note(Heard::Undo);
        self.control.cwnd = self.collapses_from.unwrap_or(self.control.cwnd);
    }

    fn on_restart(&mut self, _idle: Dur, _cx: &Cx) {
        self.note(Heard::Restart);
    }

    fn control(&self) -> Control {
        self.control
    }

    fn phase(&self) -> Phase {
        Phase::Avoidance
    }
}
