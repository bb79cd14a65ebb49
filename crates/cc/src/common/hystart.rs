//! HyStart: slow start ends before the first loss, when the length of an ACK train or the delay shows that the path is
//! full [Ha and Rhee, Taming the elephants: New TCP slow start, Computer Networks 55(9), 2011], with the constants of
//! [Linux tcp_cubic.c hystart_update].
//!
//! ```text
//! round       begins with the first ACK of a segment sent after the last round began; evaluated from 16 segments on
//! ACK train   ACKs at most 2 ms apart since the round began; slow start ends when the train is longer than half the
//!             minimum RTT (than the minimum RTT with pacing, which spreads a round over half an RTT)
//! delay       minimum of more than 8 samples of a round > minimum RTT + clamp(minimum RTT / 8, 4 ms, 16 ms)
//! ```
//! [Linux tcp_cubic.c hystart_ack_delay] adds to the minimum RTT, for the train, the time of 256 KiB at the pacing
//! rate, at most 1 ms. Below 2 Gbit/s that is 1 ms; this file always adds 1 ms.

use super::Round;
use crate::{AckEvent, Cx};
use dumbbell_units::{Dur, Time};

/// Segments below which HyStart does nothing [Linux tcp_cubic.c hystart_low_window].
const HYSTART_LOW_WINDOW: f64 = 16.0;
/// Longest gap within an ACK train [Linux tcp_cubic.c hystart_ack_delta_us].
const HYSTART_ACK_DELTA: Dur = Dur::millis(2);
/// Allowance for segments sent in batches [Linux tcp_cubic.c hystart_ack_delay].
const HYSTART_ACK_DELAY: Dur = Dur::millis(1);
/// RTT samples before the minimum of a round is used [Linux tcp_cubic.c HYSTART_MIN_SAMPLES].
const HYSTART_MIN_SAMPLES: u32 = 8;
/// Bounds of the delay increase [Linux tcp_cubic.c HYSTART_DELAY_MIN, HYSTART_DELAY_MAX].
const HYSTART_DELAY: (Dur, Dur) = (Dur::millis(4), Dur::millis(16));

/// No RTT sample yet.
const UNKNOWN: Dur = Dur(u64::MAX);

/// The state of HyStart; names of `struct bictcp` [Linux tcp_cubic.c bictcp].
#[derive(Clone, Copy, Debug)]
pub struct HyStart {
    paced: bool,
    round: Option<Round>,
    round_start: Time,
    /// The last ACK of the train.
    last_ack: Time,
    /// The minimum RTT of the round, and the number of its samples up to 8.
    curr_rtt: Dur,
    sample_cnt: u32,
    /// The minimum RTT since the start or the last timeout.
    delay_min: Dur,
    /// True if HyStart has ended slow start since the start or the last timeout.
    found: bool,
}

impl HyStart {
    /// Returns the state at the start of a connection; `paced`: the stack paces segments.
    #[must_use]
    pub fn new(paced: bool) -> HyStart {
        HyStart {
            paced,
            round: None,
            round_start: Time::ZERO,
            last_ack: Time::ZERO,
            curr_rtt: UNKNOWN,
            sample_cnt: 0,
            delay_min: UNKNOWN,
            found: false,
        }
    }

    /// Forgets everything, as after a timeout [Linux tcp_cubic.c cubictcp_state].
    pub fn reset(&mut self) {
        *self = HyStart::new(self.paced);
    }

    /// Processes an ACK in slow start [Linux tcp_cubic.c cubictcp_acked, hystart_update]. Returns true if slow start
    /// ends.
    pub fn on_ack(&mut self, ev: &AckEvent, cwnd: f64, cx: &Cx) -> bool {
        let Some(rtt) = ev.rtt else { return false };
        self.delay_min = self.delay_min.min(rtt);
        if self.round.is_none_or(|round| round.ended(ev.snd_una)) {
            self.round = Some(Round::from(ev.snd_nxt));
            (self.round_start, self.last_ack) = (cx.now, cx.now);
            (self.curr_rtt, self.sample_cnt) = (UNKNOWN, 0);
        }
        if self.found || cwnd < HYSTART_LOW_WINDOW * cx.mss {
            return false;
        }
        self.found = self.ack_train(cx.now) | self.delay_increase(rtt);
        self.found
    }

    /// Returns true if the ACK train is too long [Linux tcp_cubic.c hystart_update, HYSTART_ACK_TRAIN].
    fn ack_train(&mut self, now: Time) -> bool {
        if now.since(self.last_ack) > HYSTART_ACK_DELTA {
            return false;
        }
        self.last_ack = now;
        let threshold = self.delay_min + HYSTART_ACK_DELAY;
        now.since(self.round_start) > if self.paced { threshold } else { threshold / 2 }
    }

    /// Returns true if the delay has grown too much [Linux tcp_cubic.c hystart_update, HYSTART_DELAY].
    fn delay_increase(&mut self, rtt: Dur) -> bool {
        self.curr_rtt = self.curr_rtt.min(rtt);
        if self.sample_cnt < HYSTART_MIN_SAMPLES {
            self.sample_cnt += 1;
            return false;
        }
        self.curr_rtt > self.delay_min + (self.delay_min / 8).clamp(HYSTART_DELAY.0, HYSTART_DELAY.1)
    }
}
