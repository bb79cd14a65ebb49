//! Whether a policer lies on the path: a token bucket that lets a burst through and then drops what is above its rate.
//!
//! An interval begins with a loss, when the bucket is empty, and ends with a loss after 4 to 16 round trips in which
//! at least a fifth as much was lost as delivered. Two intervals in a row with rates within an eighth (or 4 kbit/s) of
//! each other show a policer: for 48 round trips their mean is the rate, without probing [Linux 6.12 tcp_bbr.c, Flach et
//! al., An Internet-Wide Analysis of Traffic Policing, SIGCOMM 2016].

use dumbbell_units::Time;

/// Round trips that an interval takes at least; four times that are too many.
const SHORTEST: u64 = 4;
/// Bytes lost per byte delivered that make an interval lossy (Linux: 50/256).
const LOSSY: f64 = 50.0 / 256.0;
/// How much the rates of two intervals may differ: this share of the first, or so many bytes/s (4 kbit/s).
const CONSISTENT: (f64, f64) = (1.0 / 8.0, 500.0);
/// Round trips for which the rate holds.
const HOLDS: u64 = 48;

/// The connection's counts at an ACK.
#[derive(Clone, Copy, Debug)]
pub(super) struct Seen {
    pub(super) now: Time,
    /// Bytes delivered and lost so far.
    pub(super) delivered: u64,
    pub(super) lost: u64,
    /// Whether this ACK showed a loss.
    pub(super) loss: bool,
    /// Whether it ended a round trip.
    pub(super) round_start: bool,
    /// Whether its rate was held back by the application.
    pub(super) app_limited: bool,
}

/// See the top of this file.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Policer {
    /// What the interval under way began with; None while none is.
    interval: Option<Setup>,
    /// The rate of the interval before, bytes/s.
    last: Option<f64>,
    /// The policed rate, bytes/s, and the round trips for which it has held.
    policed: Option<(f64, u64)>,
}

#[derive(Clone, Copy, Debug)]
struct Setup {
    at: Time,
    delivered: u64,
    lost: u64,
    rounds: u64,
}

impl Policer {
    /// The rate that a policer allows, bytes/s.
    pub(super) fn rate(&self) -> Option<f64> {
        self.policed.map(|(rate, _)| rate)
    }

    /// Forgets everything.
    pub(super) fn reset(&mut self) {
        *self = Policer::default();
    }

    /// Takes in an ACK. True when a policed rate has held for long enough and is given up: probing starts again.
    pub(super) fn on_ack(&mut self, seen: &Seen, probing_bw: bool) -> bool {
        if let Some((_, rounds)) = &mut self.policed {
            *rounds += u64::from(probing_bw && seen.round_start);
            let over = *rounds >= HOLDS;
            if over {
                self.reset();
            }
            return over;
        }
        if self.interval.is_none() && !seen.loss {
            return false;
        }
        if seen.app_limited {
            self.reset(); // what wasn't sent can't tell what would be let through
            return false;
        }
        let interval = self.interval.get_or_insert_with(|| Setup::new(seen));
        interval.rounds += u64::from(seen.round_start);
        let interval = *interval;
        if interval.rounds > 4 * SHORTEST {
            self.reset();
        } else if interval.rounds >= SHORTEST && seen.loss {
            self.measure(&interval, seen);
        }
        false
    }

    fn measure(&mut self, interval: &Setup, seen: &Seen) {
        let (delivered, lost) = (seen.delivered - interval.delivered, seen.lost - interval.lost);
        let ms = seen.now.0 / 1_000_000 - interval.at.0 / 1_000_000; // by a clock of milliseconds [Linux]
        if delivered == 0 || (lost as f64) < LOSSY * delivered as f64 || ms == 0 {
            return;
        }
        let rate = delivered as f64 * 1e3 / ms as f64;
        if let Some(last) = self.last {
            let apart = (rate - last).abs();
            if apart <= CONSISTENT.0 * last || apart <= CONSISTENT.1 {
                self.policed = Some(((rate + last) / 2.0, 0));
                return;
            }
        }
        self.last = Some(rate);
        self.interval = Some(Setup::new(seen));
    }
}

impl Setup {
    fn new(seen: &Seen) -> Setup {
        Setup { at: seen.now, delivered: seen.delivered, lost: seen.lost, rounds: 0 }
    }
}
