//! The one timer of a sender. It is the retransmission timer, a probe timer or the reordering timer, of which at most
//! one is needed at a time [RFC 8985 §8; Linux include/net/inet_connection_sock.h icsk_pending].

use crate::timer_wheel::expiry;
use dumbbell_units::{Dur, Time};

/// The purpose of the timer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TimerKind {
    /// Retransmission timeout [RFC 6298].
    Rto,
    /// Tail loss probe [RFC 8985 §7].
    Probe,
    /// End of the reordering window [RFC 8985 §6].
    Reorder,
}

/// The timer.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SendTimer {
    pub(crate) kind: TimerKind,
    /// When it expires; None while it is stopped.
    pub(crate) expires: Option<Time>,
    /// Timeouts since the last ACK of new data.
    pub(crate) backoffs: u32,
    /// Tick of its clock; zero: exact.
    tick: Dur,
}

impl SendTimer {
    pub(crate) fn new(tick: Dur) -> SendTimer {
        SendTimer { kind: TimerKind::Rto, expires: None, backoffs: 0, tick }
    }

    /// Starts the timer for `span`.
    pub(crate) fn start(&mut self, kind: TimerKind, span: Dur, now: Time) {
        self.kind = kind;
        self.expires = Some(self.expiry(span, now));
    }

    /// Returns when the timer would expire if it were started now.
    #[inline]
    pub(crate) fn expiry(&self, span: Dur, now: Time) -> Time {
        expiry(now, span, self.tick)
    }

    /// The time that is added to spans that may be very short: half a tick, 2 ms with 250 ticks a second [Linux
    /// include/net/tcp.h TCP_TIMEOUT_MIN_US].
    pub(crate) fn least_span(&self) -> Dur {
        self.tick / 2
    }
}
