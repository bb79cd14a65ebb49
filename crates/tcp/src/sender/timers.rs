//! The one timer of a sender: it stands for the retransmission timeout, a loss probe or the reordering window, of which
//! at most one is due [RFC 8985 §8].

use super::Sender;
use crate::recovery::{Mode, Recovery};
use crate::ticks::expiry;
use dumbbell_cc::{Congestion, LossRecovery};
use dumbbell_units::{Dur, Time};

/// What the timer stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Timer {
    /// The retransmission timeout.
    Rto,
    /// A loss probe.
    Probe,
    /// The end of the reordering window.
    Reorder,
}

impl Sender {
    /// A whole timeout from now on.
    pub(crate) fn restart_timer(&mut self, now: Time) {
        self.timer = Timer::Rto;
        self.timer_at = Some(self.expiry(self.rtt.rto(), now));
    }

    /// When a timer expires that is set now.
    pub(crate) fn expiry(&self, span: Dur, now: Time) -> Time {
        expiry(now, span, self.config.timer_tick)
    }

    /// What is added to timers that may be very short: half a tick (Linux: 2 ms).
    pub(crate) fn least_span(&self) -> Dur {
        self.config.timer_tick / 2
    }

    /// A timeout counted from the last sending of the oldest segment.
    pub(crate) fn restart_timer_from_front(&mut self, now: Time) {
        self.timer = Timer::Rto;
        let rest = self.sent.front().map(|s| (s.last_at + self.rtt.rto()).since(now));
        self.timer_at = rest.map(|rest| self.expiry(rest, now));
    }

    /// The timer has come.
    pub(crate) fn on_timer(&mut self, now: Time) {
        self.reconsider_burst();
        match self.timer {
            _ if self.una == self.max => self.timer_at = None,
            Timer::Rto => self.on_timeout(now),
            Timer::Probe => self.on_probe_timer(now),
            Timer::Reorder => self.on_reorder_timer(now),
        }
    }

    /// The retransmission timer has expired [RFC 6298 (5.4)-(5.6)].
    fn on_timeout(&mut self, now: Time) {
        self.counters.timeouts += 1;
        if self.config.rack.is_some() {
            self.by_time_timeout(now);
        } else {
            self.sent.lose_all();
            self.tell_congestion(Congestion::Timeout, now);
            self.expiries += 1;
            // To Tahoe further duplicates of the hole that the timer has taken on say nothing.
            let dupacks =
                if self.config.shell == LossRecovery::Tahoe { self.config.dupack_threshold } else { 0 };
            self.recovery =
                Recovery { mode: Mode::Loss, recover: Some(self.max), dupacks, ..Recovery::default() };
            if self.config.shell != LossRecovery::Sack {
                self.nxt = self.una;
            }
        }
        self.timed = None; // Karn's algorithm [RFC 6298 §3]
        self.rtt.back_off();
        self.restart_timer(now);
    }
}
