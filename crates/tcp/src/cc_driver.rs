//! The congestion control algorithm of a connection (`dumbbell-cc`), and its last answer: window, ssthresh, pacing rate.
//! Most events correspond to an operation of Linux [Linux include/net/tcp.h tcp_congestion_ops].

use crate::config::Config;
use crate::delivery_rate::DeliveryRate;
use crate::scoreboard::Scoreboard;
use dumbbell_cc::{CongestionControl, Control, Cx, Phase};
use dumbbell_units::Time;

/// Calls the algorithm: [`CcDriver::notify`] passes an event and stores the answer.
#[derive(Debug)]
pub(crate) struct CcDriver {
    algorithm: Box<dyn CongestionControl>,
    /// The answer after the last event; stored because it is read more often than it changes.
    pub(crate) control: Control,
    /// True if the algorithm receives an event for each segment sent.
    pub(crate) wants_sent: bool,
    /// True if it receives an event for each ACK that arrives.
    pub(crate) wants_arrivals: bool,
}

impl CcDriver {
    pub(crate) fn new(algorithm: Box<dyn CongestionControl>) -> CcDriver {
        CcDriver {
            control: algorithm.control(),
            wants_sent: algorithm.wants_sent(),
            wants_arrivals: algorithm.wants_arrivals(),
            algorithm,
        }
    }

    /// Calls the algorithm with an event.
    pub(crate) fn notify(&mut self, event: impl FnOnce(&mut dyn CongestionControl)) {
        event(self.algorithm.as_mut());
        self.control = self.algorithm.control();
    }

    /// Reports each transmission that was newly marked as lost.
    pub(crate) fn notify_losses(
        &mut self,
        scoreboard: &mut Scoreboard,
        delivery_rate: &mut DeliveryRate,
        cx: &Cx,
    ) {
        if scoreboard.newly_lost.is_empty() {
            return;
        }
        let mut lost = std::mem::take(&mut scoreboard.newly_lost);
        for l in lost.drain(..) {
            let ev = delivery_rate.on_lost(&l.tx, l.start, l.payload);
            self.notify(|cc| cc.on_lost(&ev, cx));
        }
        scoreboard.newly_lost = lost; // keeps the allocation
    }

    pub(crate) fn phase(&self) -> Phase {
        self.algorithm.phase()
    }

    pub(crate) fn observe(&self, row: &mut Vec<f64>) {
        self.algorithm.observe(row);
    }
}

/// Returns the context of an event.
pub(crate) fn cc_cx(config: &Config, now: Time) -> Cx {
    Cx {
        now,
        mss: f64::from(config.connection.mss),
        initial_window: config.growth.initial_window as f64,
        increase: config.growth.increase,
        whole_segments: config.growth.whole_segments,
    }
}
