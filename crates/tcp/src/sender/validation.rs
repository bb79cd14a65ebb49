//! Whether the window is used, and what becomes of one that isn't.
//!
//! ```text
//! now        it held sending back at the last attempt
//! window     it has done so since a window of data ago; in slow start also while less than twice what was outstanding,
//!            so that it keeps doubling although the last of it is never quite used                          (Linux)
//!
//! RFC 2861   not used for a timeout: ssthresh at least 3/4 cwnd, cwnd halfway down to what was used;
//!            each timeout of idling halves it, down to the initial window
//! ```

use super::Sender;
use crate::config::Validation;
use crate::recovery::Mode;
use dumbbell_cc::CwndValidation;
use dumbbell_units::{Dur, Time};

/// See the top of this file.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Usage {
    limited: bool,
    /// Something has left since the last attempt that failed.
    pub(super) sent: bool,
    /// The window would let out a segment, but not a burst.
    waits: bool,
    /// The most outstanding in the current window of data, bytes, and where that window ends.
    most: u64,
    window_end: u64,
    /// Since when the window hasn't been used, and the most outstanding since.
    unused_since: Time,
    used: u64,
}

impl Sender {
    /// Whether the law may grow, as far as this is concerned.
    pub(crate) fn is_cwnd_limited(&self) -> bool {
        if self.usage.limited || !self.config.limited_for_a_window {
            return self.usage.limited;
        }
        let control = &self.control;
        control.cwnd < control.ssthresh && control.cwnd < 2.0 * self.usage.most as f64
    }

    /// Whether the window, or something else, has just held sending back.
    pub(crate) fn held_by_window(&mut self, held: bool) {
        if !self.config.limited_for_a_window {
            self.usage.limited = held;
        }
    }

    /// The window lets out something, but too little to be worth it yet.
    pub(super) fn wait_for_window(&mut self) {
        self.held_by_window(true);
        self.usage.waits = true;
    }

    /// An attempt to send has failed: takes stock, where a window of data counts.
    pub(super) fn take_stock(&mut self, now: Time) {
        let waits = std::mem::take(&mut self.usage.waits);
        let held = waits || (self.flight() + self.mss()) as f64 > self.window();
        let sent = std::mem::take(&mut self.usage.sent);
        if !(sent || held) {
            return;
        }
        let outstanding = self.max - self.una;
        let u = &mut self.usage;
        if held || self.una >= u.window_end || (!u.limited && outstanding > u.most) {
            (u.limited, u.most, u.window_end) = (held, outstanding, self.max);
        }
        if self.is_cwnd_limited() {
            (self.usage.used, self.usage.unused_since) = (0, now);
            return;
        }
        self.usage.used = self.usage.used.max(outstanding);
        let unused = now.since(self.usage.unused_since) >= self.rtt.rto();
        if self.config.validation == Validation::Rfc2861 && unused && !self.config.own_recovery {
            self.shrink_unused(now);
        }
    }

    /// Halfway down to what was used [RFC 2861].
    fn shrink_unused(&mut self, now: Time) {
        let used = (self.usage.used as f64).max(self.config.initial_window as f64);
        let cwnd = self.control.cwnd;
        if self.recovery.mode == Mode::Open && used < cwnd {
            let ev = CwndValidation { cwnd: (cwnd + used) / 2.0, ssthresh: 0.75 * cwnd };
            let cx = self.cx(now);
            self.tell_law(|law| law.on_cwnd_validation(&ev, &cx));
        }
        (self.usage.used, self.usage.unused_since) = (0, now);
    }

    /// Sending starts again after `idle` [RFC 5681 §4.1].
    pub(super) fn restart_after_idling(&mut self, idle: Dur, now: Time) {
        let mut cx = self.cx(now);
        if self.config.validation == Validation::Rfc2861 {
            if self.config.own_recovery {
                return; // Linux leaves it to a law that governs its window itself
            }
            let before = self.control.cwnd;
            let timeouts = (idle.0 / self.rtt.rto().0.max(1)).min(64) as i32;
            let cwnd = (before * 0.5f64.powi(timeouts)).max(cx.initial_window);
            let ev = CwndValidation { cwnd, ssthresh: 0.75 * before };
            self.tell_law(|law| law.on_cwnd_validation(&ev, &cx));
            cx.initial_window = cwnd;
            (self.usage.used, self.usage.unused_since) = (0, now);
        }
        self.tell_law(|law| law.on_restart(idle, &cx));
    }
}
