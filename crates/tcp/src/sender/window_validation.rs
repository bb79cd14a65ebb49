//! Congestion window validation: whether cwnd limits sending, and the reduction of a window that isn't used [RFC 2861,
//! RFC 5681 §4.1; Linux tcp_output.c tcp_cwnd_validate].
//!
//! ```text
//! now        cwnd limited sending at the last attempt
//! window     cwnd did so within the last window of data; in slow start also while it is less than twice the data
//!            outstanding, so that it keeps doubling although its last part isn't used  (tcp_is_cwnd_limited)
//!
//! RFC 2861   neither limited nor grown for an RTO: ssthresh at least a half and a quarter of cwnd, cwnd halfway down
//!            to the part in use (tcp_cwnd_application_limited), unless the application waits for the send buffer; each
//!            RTO of an idle time halves it, down to the initial window                              (tcp_cwnd_restart)
//! ```

use super::Sender;
use crate::config::WindowValidation;
use dumbbell_cc::{CaState, CwndValidation, Cx};
use dumbbell_units::Time;

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
    /// The time since which cwnd has neither limited sending nor grown, nor the application waited for the send buffer
    /// [Linux tcp_input.c tcp_cong_avoid, tcp_new_space], and the most bytes outstanding since then.
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
        if limited {
            let u = &mut self.usage; // max_outstanding counts only while cwnd doesn't limit sending
            (u.is_cwnd_limited, u.cwnd_usage_seq) = (true, self.snd.max);
            (u.snd_cwnd_used, u.snd_cwnd_stamp) = (0, now);
            return;
        }
        if sent {
            self.validate_unlimited(now);
        }
    }

    /// The same if cwnd did not prevent sending.
    #[inline(never)]
    fn validate_unlimited(&mut self, now: Time) {
        let outstanding = self.outstanding();
        let u = &mut self.usage;
        let new_window = self.snd.una >= u.cwnd_usage_seq;
        if new_window || (!u.is_cwnd_limited && outstanding > u.max_outstanding) {
            (u.is_cwnd_limited, u.max_outstanding, u.cwnd_usage_seq) = (false, outstanding, self.snd.max);
        }
        if self.is_cwnd_limited() {
            (self.usage.snd_cwnd_used, self.usage.snd_cwnd_stamp) = (0, now);
            return;
        }
        self.usage.snd_cwnd_used = self.usage.snd_cwnd_used.max(outstanding);
        if self.config.growth.validation == WindowValidation::Rfc2861
            && !self.config.recovery.own_recovery
            && self.is_unused(now)
        {
            self.on_application_limited(now);
        }
    }

    /// True if cwnd has neither limited sending nor grown for an RTO.
    #[inline]
    fn is_unused(&self, now: Time) -> bool {
        let (stamp, tick) = (self.usage.snd_cwnd_stamp, self.config.rto.timer_tick);
        let maybe = now.since(stamp) + tick >= self.rtt.rto();
        maybe && self.ticks_since(stamp, now) >= self.rto_ticks()
    }

    /// Moves cwnd halfway down to the part in use [RFC 2861; Linux tcp_output.c tcp_cwnd_application_limited].
    #[inline(never)]
    fn on_application_limited(&mut self, now: Time) {
        self.usage.snd_cwnd_stamp = now;
        // Not if its own buffer limits it rather than the application.
        if self.ca_state() != CaState::Open || self.buffer.is_full() {
            return;
        }
        let used = (self.usage.snd_cwnd_used as f64).max(self.config.growth.initial_window as f64);
        self.usage.snd_cwnd_used = 0;
        let cwnd = self.cc.control.cwnd;
        if used < cwnd {
            let ev = CwndValidation { cwnd: self.whole((cwnd + used) / 2.0), ssthresh: self.three_quarters_of_cwnd() };
            self.cc.notify(now, |cc, cx| cc.on_cwnd_validation(&ev, cx));
        }
    }

    /// Restarts sending after an idle time, if it is longer than an RTO [RFC 5681 §4.1; Linux include/net/tcp.h
    /// tcp_slow_start_after_idle_check].
    pub(super) fn check_idle(&mut self, now: Time) {
        let idle = self.ticks_since(self.last_sent_at, now);
        if idle > self.rto_ticks() {
            self.restart_after_idle(idle, now);
        }
    }

    /// The same after an idle time of `idle` ticks [Linux tcp_output.c tcp_cwnd_restart].
    fn restart_after_idle(&mut self, mut idle: u64, now: Time) {
        let mut initial_window = self.config.growth.initial_window as f64;
        let since = now.since(self.last_sent_at);
        if self.config.growth.validation == WindowValidation::Rfc2861 {
            if self.config.recovery.own_recovery {
                return; // left to the algorithm [Linux include/net/tcp.h tcp_slow_start_after_idle_check]
            }
            let mut cwnd = self.cc.control.cwnd;
            let rto = self.rto_ticks();
            while idle > rto && cwnd > initial_window {
                cwnd = self.whole(cwnd / 2.0);
                idle -= rto;
            }
            let ev = CwndValidation { cwnd: cwnd.max(initial_window), ssthresh: self.three_quarters_of_cwnd() };
            self.cc.notify(now, |cc, cx| cc.on_cwnd_validation(&ev, cx));
            initial_window = ev.cwnd;
            (self.usage.snd_cwnd_used, self.usage.snd_cwnd_stamp) = (0, now);
        }
        self.cc.notify(now, |cc, cx| cc.on_restart(since, &Cx { initial_window, ..*cx }));
    }

    /// The least ssthresh of a window that wasn't used [Linux include/net/tcp.h tcp_current_ssthresh].
    fn three_quarters_of_cwnd(&self) -> f64 {
        let cwnd = self.cc.control.cwnd;
        self.whole(cwnd / 2.0) + self.whole(cwnd / 4.0)
    }

    /// A window in whole segments, where the stack counts in these.
    fn whole(&self, window: f64) -> f64 {
        if !self.config.growth.whole_segments {
            return window;
        }
        let mss = self.mss() as f64;
        (window / mss).floor() * mss
    }

    /// Ticks of the stack's clock from one time to another; ns without such a clock [Linux include/net/tcp.h
    /// tcp_jiffies32].
    fn ticks_since(&self, from: Time, to: Time) -> u64 {
        let tick = self.config.rto.timer_tick.0.max(1);
        (to.0 / tick).saturating_sub(from.0 / tick)
    }

    /// The RTO in the same unit, rounded up [Linux include/net/tcp.h __tcp_set_rto].
    fn rto_ticks(&self) -> u64 {
        self.rtt.rto().0.div_ceil(self.config.rto.timer_tick.0.max(1)).max(1)
    }
}
