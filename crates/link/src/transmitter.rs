//! A transmitter whose rate is not constant: a rate profile or a packet-delivery trace, with outages.
//!
//! ```text
//! rate profile: the transmission of a packet that starts at t ends at the earliest u (whole ns) with
//!               integral from t to u of rate(s) ds >= its bits,     rate = 0 while an outage holds packets
//! ```
//! A change of the rate during a transmission therefore applies to the remaining bits of the packet.

use crate::opportunities::Opportunities;
use crate::outages::Outages;
use crate::profile::{Piece, Profile};
use dumbbell_units::{Dur, Time};

/// Converts bytes to bit x 10^9, the product of bit/s and ns.
#[must_use]
pub fn nanobits(bytes: u64) -> u128 {
    u128::from(bytes) * 8_000_000_000
}

/// A transmitter with a variable rate.
#[derive(Clone, Debug)]
pub struct Transmitter {
    source: Source,
    /// The outages that hold packets.
    outages: Outages,
    /// The time of the measurement. Searches end with it, because an outage may have no end.
    window: (Time, Time),
    /// Wire bits sent within the window.
    sent: f64,
}

#[derive(Clone, Debug)]
enum Source {
    Rate(Profile),
    Trace(Opportunities),
}

impl Transmitter {
    /// Returns a transmitter with a rate profile. `outages` are those that hold packets; `window` is the time of the
    /// measurement, which ends with the run.
    #[must_use]
    pub fn rate(profile: Profile, outages: Outages, window: (Time, Time)) -> Transmitter {
        Transmitter { source: Source::Rate(profile), outages, window, sent: 0.0 }
    }

    /// Returns a transmitter with a packet-delivery trace, otherwise as [`Transmitter::rate`].
    #[must_use]
    pub fn trace(trace: Opportunities, outages: Outages, window: (Time, Time)) -> Transmitter {
        Transmitter { source: Source::Trace(trace), outages, window, sent: 0.0 }
    }

    /// Returns the earliest start for a packet that arrives at the idle transmitter at `now`.
    #[must_use]
    pub fn earliest_start_idle(&self, now: Time) -> Time {
        match &self.source {
            Source::Rate(_) => self.up_from(now),
            Source::Trace(trace) => trace.usable_after(now, &self.outages, self.window.1),
        }
    }

    /// Returns the earliest start for a packet that was waiting before `now`.
    pub fn earliest_start(&mut self, now: Time) -> Time {
        let open = match &mut self.source {
            Source::Rate(_) => true,
            Source::Trace(trace) => trace.is_open(now),
        };
        if open && self.outages.until(now).is_none() { now } else { self.earliest_start_idle(now) }
    }

    /// Returns the end of the transmission of a packet that starts now; any time after the window if it ends later.
    pub fn finish(&mut self, now: Time, bytes: u32) -> Time {
        let (from, end) = self.window;
        match &mut self.source {
            Source::Rate(rate) => {
                let out = finish(rate, now, nanobits(u64::from(bytes)), &self.outages, end);
                self.sent += if now >= from && out <= end {
                    f64::from(bytes) * 8.0
                } else {
                    bits_between(rate, now.max(from), out.min(end), &self.outages)
                };
                out
            }
            Source::Trace(trace) => {
                let sent = &mut self.sent;
                trace.deliver(now, u64::from(bytes), &self.outages, end, |at, taken| {
                    if at > from && at <= end {
                        *sent += (taken * 8) as f64;
                    }
                })
            }
        }
    }

    /// Returns the wire bits sent within the window, and the capacity of the window in bits.
    #[must_use]
    pub fn sent_and_capacity(&self) -> (f64, f64) {
        let (from, end) = self.window;
        let capacity = match &self.source {
            Source::Rate(rate) => bits_between(rate, from, end, &self.outages),
            Source::Trace(trace) => (trace.bytes_between(from, end, &self.outages) * 8) as f64,
        };
        (self.sent, capacity)
    }

    fn up_from(&self, now: Time) -> Time {
        let mut at = now;
        while at <= self.window.1
            && let Some(end) = self.outages.until(at)
        {
            at = end;
        }
        at
    }
}

fn finish(rate: &Profile, begin: Time, mut work: u128, outages: &Outages, horizon: Time) -> Time {
    let mut t = begin;
    while t <= horizon {
        if let Some(end) = outages.until(t) {
            t = end;
            continue;
        }
        let piece = rate.piece(t);
        let end = piece.end.min(outages.next(t));
        match time_for(&piece, t, work) {
            Some(out) if out <= end => return out,
            _ => work -= work_between(&piece, t, end).min(work),
        }
        t = end;
    }
    t
}

/// Returns the end of work that starts at `t` in this piece, if the piece lasted long enough.
fn time_for(piece: &Piece, t: Time, work: u128) -> Option<Time> {
    if piece.from == piece.to {
        let span = work.div_ceil(u128::from(piece.from));
        return Some(t + Dur(u64::try_from(span).unwrap_or(u64::MAX)));
    }
    // The rate changes by s per ns: r y + s y^2 / 2 = work, solved in the form without cancellation.
    let (work, r, s) = (work as f64, rate_at(piece, t), slope(piece));
    let under_root = r * r + 2.0 * s * work;
    if under_root < 0.0 {
        return None; // the rate reaches zero before
    }
    let span = 2.0 * work / (r + under_root.sqrt());
    Some(t + Dur((span - ROUNDING).ceil().max(0.0) as u64))
}

/// Tolerance in ns, so that a rounding error does not add a whole ns. Transmission times are milliseconds at most, with
/// a relative error of 1e-15.
const ROUNDING: f64 = 1e-6;

/// Returns the work done within a piece, in bit x 10^9.
fn work_between(piece: &Piece, from: Time, to: Time) -> u128 {
    let span = to.since(from).0;
    if piece.from == piece.to {
        return u128::from(piece.from) * u128::from(span);
    }
    let mean = (rate_at(piece, from) + rate_at(piece, to)) / 2.0;
    (mean * span as f64).round() as u128
}

/// Returns the change of the rate per ns.
fn slope(piece: &Piece) -> f64 {
    (piece.to as f64 - piece.from as f64) / piece.end.since(piece.begin).0 as f64
}

/// Returns the rate with its fraction.
fn rate_at(piece: &Piece, t: Time) -> f64 {
    piece.from as f64 + slope(piece) * t.since(piece.begin).0 as f64
}

fn bits_between(rate: &Profile, from: Time, end: Time, outages: &Outages) -> f64 {
    let (mut t, mut work) = (from, 0.0);
    while t < end {
        let piece = rate.piece(t);
        let (until, down) = match outages.until(t) {
            Some(up) => (up, true),
            None => (outages.next(t).min(piece.end), false),
        };
        let until = until.min(end);
        if !down {
            work += work_between(&piece, t, until) as f64;
        }
        t = until;
    }
    work * 1e-9
}
