//! HyStart: slow start ends before the loss, when a train of ACKs or the delay says that the path is full [Ha and Rhee,
//! Taming the elephants: New TCP slow start, Computer Networks 55(9), 2011], with the numbers of Linux's CUBIC.
//!
//! ```text
//! round     from the first ACK that tells of a segment sent after the last round began; not below 16 segments
//! train     ACKs at most 2 ms apart since the round began: over once it is longer than half the smallest RTT, or than
//!           all of it where segments are paced, which spreads a round over half an RTT by itself
//! delay     the smallest of a round's more than 8 samples is above the smallest RTT by an eighth of it, 4 to 16 ms
//! ```
//! Linux adds to the smallest RTT of the train's bound what 256 KiB take at the pacing rate, 1 ms at most; below
//! 2 Gbit/s that is 1 ms, which it always is here.

use super::Round;
use crate::{AckEvent, Cx};
use dumbbell_units::{Dur, Time};

/// Segments from which on it looks (hystart_low_window).
const LOW_WINDOW: f64 = 16.0;
/// Longest gap within a train (hystart_ack_delta_us).
const GAP: Dur = Dur::millis(2);
/// What a train may be longer because segments leave in batches.
const CUSHION: Dur = Dur::millis(1);
/// Samples of a round before its smallest counts.
const SAMPLES: u32 = 8;
/// Bounds of the delay that ends slow start.
const DELAY: (Dur, Dur) = (Dur::millis(4), Dur::millis(16));

/// More than any RTT.
const NONE: Dur = Dur(u64::MAX);

/// See the top of this file.
#[derive(Clone, Copy, Debug)]
pub struct HyStart {
    paced: bool,
    round: Option<Round>,
    began: Time,
    /// The last ACK of the train.
    train: Time,
    /// The smallest RTT of the round, and how many there were.
    least: Dur,
    samples: u32,
    /// The smallest RTT since it began.
    base: Dur,
    /// It has ended slow start, and everything hasn't been lost since.
    found: bool,
}

impl HyStart {
    /// For a stack that paces segments or doesn't.
    #[must_use]
    pub fn new(paced: bool) -> HyStart {
        HyStart {
            paced,
            round: None,
            began: Time::ZERO,
            train: Time::ZERO,
            least: NONE,
            samples: 0,
            base: NONE,
            found: false,
        }
    }

    /// Forgets what it knows of the path.
    pub fn restart(&mut self) {
        *self = HyStart::new(self.paced);
    }

    /// Takes in an ACK of slow start; gives whether that is over.
    pub fn on_ack(&mut self, ev: &AckEvent, cwnd: f64, cx: &Cx) -> bool {
        let Some(rtt) = ev.rtt else { return false };
        self.base = self.base.min(rtt);
        if self.round.is_none_or(|round| round.ended(ev.snd_una)) {
            self.round = Some(Round::from(ev.snd_nxt));
            (self.began, self.train) = (cx.now, cx.now);
            (self.least, self.samples) = (NONE, 0);
        }
        if self.found || cwnd < LOW_WINDOW * cx.mss {
            return false;
        }
        self.found = self.long_train(cx.now) | self.delayed(rtt);
        self.found
    }

    fn long_train(&mut self, now: Time) -> bool {
        if now.since(self.train) > GAP {
            return false;
        }
        self.train = now;
        let whole = self.base + CUSHION;
        now.since(self.began) > if self.paced { whole } else { whole / 2 }
    }

    fn delayed(&mut self, rtt: Dur) -> bool {
        self.least = self.least.min(rtt);
        if self.samples < SAMPLES {
            self.samples += 1;
            return false;
        }
        self.least > self.base + (self.base / 8).clamp(DELAY.0, DELAY.1)
    }
}
