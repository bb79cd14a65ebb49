//! Congestion window validation: whether cwnd limits sending, and the reduction of a window that isn't used [RFC 2861,
//! RFC 5681 §4.1; Linux tcp_output.c tcp_cwnd_validate].
//!
//! ```text
//! now        cwnd limited sending at the last attempt
//! window     cwnd did so within the last window of data; in slow start also while it is less than twice the data
//!            outstanding, so that it keeps doubling although its last part isn't used          (tcp_is_cwnd_limited)
//!
//! RFC 2861   not limited for an RTO: ssthresh at least 3/4 cwnd, cwnd halfway down to the part in use
//!            (tcp_cwnd_application_limited), unless the application waits for the send buffer; each RTO of an idle time halves it, down to the initial window
//!            (tcp_cwnd_restart)
//! ```

use super::Sender;
use crate::config::WindowValidation;
use dumbbell_cc::{CaState, CwndValidation, Cx};
use dumbbell_units::{Dur, Time};

/// The use of cwnd so far. The names are those of struct tcp_sock [Linux include/linux/tcp.h].
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct CwndUsage {
    pub(super) is_cwnd_limited: bool,
    /// True if a segment was sent since the last failed attempt.
    pub(super) sent: bool,
    /// True if cwnd allows a segment, but not a burst.
    waits_for_burst: bool,
    /// Most bytes outstanding in the current window of data (max_packets_out), and the end of that window.
    max_outstanding: u64,
    cwnd_usage_seq: u64,
    /// The time since which cwnd has not limited sending, nor the application waited for the send buffer [Linux tcp_input.c
    /// tcp_new_space], and the most bytes outstanding since then.
    pub(super) snd_cwnd_stamp: Time,
    snd_cwnd_used: u64,
}

impl Sender {
    /// True if cwnd limits sending, so that it may grow [Linux include/net/tcp.h tcp_is_cwnd_limited].
    pub(super) fn is_cwnd_limited(&self) -> bool {
        if self.usage.is_cwnd_limited || !self.config.growth.limited_for_a_window {
            return self.usage.is_cwnd_limited;
        }
        let control = &self.cc.control;
        control.cwnd < control.ssthresh && control.cwnd < 2.0 * self.usage.max_outstanding as f64
    }

    /// Notes whether cwnd, or something else, has just prevented sending.
    pub(super) fn note_cwnd_limited(&mut self, limited: bool) {
        if !self.config.growth.limited_for_a_window {
            self.usage.is_cwnd_limited = limited;
        }
    }

    /// Notes that cwnd allows a segment, but not the burst that the sender waits for.
    pub(super) fn note_waiting_for_burst(&mut self) {
        self.note_cwnd_limited(true);
        self.usage.waits_for_burst = true;
    }

    /// Updates the use of cwnd after a failed attempt to send [Linux tcp_output.c tcp_cwnd_validate].
    pub(super) fn validate_cwnd(&mut self, now: Time) {
        let waits = std::mem::take(&mut self.usage.waits_for_burst);
        let limited = waits || (self.flight() + self.mss()) as f64 > self.window();
        let sent = std::mem::take(&mut self.usage.sent);
        if !(sent || limited) {
            return;
        }
        let outstanding = self.snd.max - self.snd.una;
        let u = &mut self.usage;
        let new_window = self.snd.una >= u.cwnd_usage_seq;
        if limited || new_window || (!u.is_cwnd_limited && outstanding > u.max_outstanding) {
            (u.is_cwnd_limited, u.max_outstanding, u.cwnd_usage_seq) = (limited, outstanding, self.snd.max);
        }
        if self.is_cwnd_limited() {
            (self.usage.snd_cwnd_used, self.usage.snd_cwnd_stamp) = (0, now);
            return;
        }
        self.usage.snd_cwnd_used = self.usage.snd_cwnd_used.max(outstanding);
        let unused = now.since(self.usage.snd_cwnd_stamp) >= self.rtt.rto();
        if self.config.growth.validation == WindowValidation::Rfc2861
            && unused
            && !self.config.recovery.own_recovery
        {
            self.on_application_limited(now);
        }
    }

    /// Moves cwnd halfway down to the part in use [RFC 2861; Linux tcp_output.c tcp_cwnd_application_limited].
    #[inline(never)]
    fn on_application_limited(&mut self, now: Time) {
        let used = (self.usage.snd_cwnd_used as f64).max(self.config.growth.initial_window as f64);
        let cwnd = self.cc.control.cwnd;
        if self.buffer.is_full() {
            self.usage.snd_cwnd_stamp = now; // limited by its own buffer, not by the application
            return;
        }
        if self.recovery.state == CaState::Open && used < cwnd {
            let ev = CwndValidation { cwnd: (cwnd + used) / 2.0, ssthresh: 0.75 * cwnd };
            self.cc.notify(now, |cc, cx| cc.on_cwnd_validation(&ev, cx));
        }
        (self.usage.snd_cwnd_used, self.usage.snd_cwnd_stamp) = (0, now);
    }

    /// Restarts sending after an idle time [RFC 5681 §4.1; Linux tcp_output.c tcp_cwnd_restart].
    pub(super) fn restart_after_idle(&mut self, idle: Dur, now: Time) {
        let mut initial_window = self.config.growth.initial_window as f64;
        if self.config.growth.validation == WindowValidation::Rfc2861 {
            if self.config.recovery.own_recovery {
                return; // left to the algorithm [Linux include/net/tcp.h tcp_slow_start_after_idle_check]
            }
            let before = self.cc.control.cwnd;
            let timeouts = (idle.0 / self.rtt.rto().0.max(1)).min(64) as i32;
            let cwnd = (before * 0.5f64.powi(timeouts)).max(initial_window);
            let ev = CwndValidation { cwnd, ssthresh: 0.75 * before };
            self.cc.notify(now, |cc, cx| cc.on_cwnd_validation(&ev, cx));
            initial_window = cwnd;
            (self.usage.snd_cwnd_used, self.usage.snd_cwnd_stamp) = (0, now);
        }
        self.cc.notify(now, |cc, cx| cc.on_restart(idle, &Cx { initial_window, ..*cx }));
    }
}
