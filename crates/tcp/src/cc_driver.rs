//! The congestion control algorithm of a connection (`dumbbell-cc`), and its last answer: window, ssthresh, pacing
//! rate. Most events correspond to an operation of Linux [Linux include/net/tcp.h tcp_congestion_ops].

use crate::config::Config;
use crate::delivery_rate::DeliveryRate;
use crate::scoreboard::Scoreboard;
use dumbbell_cc::{CongestionControl, Control, Cx, Phase};
use dumbbell_units::Time;

/// Losses for which a list stays allocated after it was reported.
const KEPT_LOSSES: usize = 8;

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
    /// True if it needs delivery rates.
    pub(crate) wants_rates: bool,
    /// True if it needs one-way delays.
    pub(crate) wants_one_way: bool,
    /// The context of the last event.
    cx: Cx,
}

impl CcDriver {
    pub(crate) fn new(algorithm: Box<dyn CongestionControl>, config: &Config) -> CcDriver {
        CcDriver {
            cx: Cx {
                now: Time::ZERO,
                mss: f64::from(config.connection.mss),
                initial_window: config.growth.initial_window as f64,
                increase: config.growth.increase,
                whole_segments: config.growth.whole_segments,
            },
            control: algorithm.control(),
            wants_sent: algorithm.wants_sent(),
            wants_arrivals: algorithm.wants_arrivals(),
            wants_rates: algorithm.wants_rates(),
            wants_one_way: algorithm.wants_one_way(),
            algorithm,
        }
    }

    /// Calls the algorithm with an event.
    #[inline]
    pub(crate) fn notify(&mut self, now: Time, event: impl FnOnce(&mut dyn CongestionControl, &Cx)) {
        self.cx.now = now;
        event(self.algorithm.as_mut(), &self.cx);
        self.control = self.algorithm.control();
    }

    /// Reports each transmission that was newly marked as lost.
    #[inline]
    pub(crate) fn notify_losses(&mut self, scoreboard: &mut Scoreboard, delivery_rate: &mut DeliveryRate, now: Time) {
        delivery_rate.count_lost(std::mem::take(&mut scoreboard.newly_lost_bytes));
        if !scoreboard.newly_lost.is_empty() {
            self.notify_some_losses(scoreboard, delivery_rate, now);
        }
    }

    #[inline(never)]
    fn notify_some_losses(&mut self, scoreboard: &mut Scoreboard, delivery_rate: &mut DeliveryRate, now: Time) {
        let mut lost = std::mem::take(&mut scoreboard.newly_lost);
        for l in lost.drain(..) {
            let ev = delivery_rate.on_lost(&l.tx, l.start, l.bytes);
            self.notify(now, |cc, cx| cc.on_lost(&ev, cx));
        }
        if lost.capacity() <= KEPT_LOSSES {
            scoreboard.newly_lost = lost; // keeps the allocation
        }
    }

    pub(crate) fn phase(&self) -> Phase {
        self.algorithm.phase()
    }

    pub(crate) fn observe(&self, row: &mut Vec<f64>) {
        self.algorithm.observe(row);
    }
}
