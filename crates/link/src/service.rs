//! How a transmitter works that is not simply constant: by a rate over time, or by a packet-delivery trace, each with
//! outages.
//!
//! ```text
//! rate over time: a packet that begins at t is out at the earliest u (whole ns) with
//!                 integral from t to u of rate(s) ds >= its bits,     rate = 0 while an outage holds packets
//! ```
//! So a packet in service when the rate changes is finished with the bits that it has left, at the new rate.

use crate::course::{Course, Piece};
use crate::opportunities::Opportunities;
use crate::outages::Outages;
use dumbbell_units::{Dur, Time};

/// Wire bytes of one delivery opportunity.
pub const OPPORTUNITY: u64 = 1500;

/// Bytes as work: bits times 10^9, which is what one bit/s does in as many ns.
#[must_use]
pub fn nanobits(bytes: u64) -> u128 {
    u128::from(bytes) * 8_000_000_000
}

/// See the top of this file.
#[derive(Clone, Debug)]
pub struct Service {
    by: By,
    /// Those that hold packets.
    outages: Outages,
    /// The time that counts. Nothing is looked into beyond its end: an outage may never be over.
    window: (Time, Time),
    /// Wire bits sent in the window.
    sent: f64,
}

#[derive(Clone, Debug)]
enum By {
    Rate(Course),
    Trace(Opportunities),
}

impl Service {
    /// A rate over time. `outages` are those that hold packets; `window` is the time that counts, until the end of all.
    #[must_use]
    pub fn rate(course: Course, outages: Outages, window: (Time, Time)) -> Service {
        Service { by: By::Rate(course), outages, window, sent: 0.0 }
    }

    /// A trace, otherwise like [`Service::rate`].
    #[must_use]
    pub fn trace(trace: Opportunities, outages: Outages, window: (Time, Time)) -> Service {
        Service { by: By::Trace(trace), outages, window, sent: 0.0 }
    }

    /// From when on a packet could be sent that comes to the idle transmitter at `now`.
    #[must_use]
    pub fn opens(&self, now: Time) -> Time {
        match &self.by {
            By::Rate(_) => self.up_from(now),
            By::Trace(trace) => trace.usable_after(now, &self.outages, self.window.1),
        }
    }

    /// From when on a packet can be sent that has waited.
    pub fn next(&mut self, now: Time) -> Time {
        let open = match &mut self.by {
            By::Rate(_) => true,
            By::Trace(trace) => trace.is_open(now),
        };
        if open && self.outages.until(now).is_none() { now } else { self.opens(now) }
    }

    /// When a packet of so many wire bytes is out that begins now; if that is after the end, just somewhere there.
    pub fn finish(&mut self, now: Time, bytes: u32) -> Time {
        let (from, end) = self.window;
        match &mut self.by {
            By::Rate(rate) => {
                let out = finish(rate, now, nanobits(u64::from(bytes)), &self.outages, end);
                self.sent += if now >= from && out <= end {
                    f64::from(bytes) * 8.0
                } else {
                    bits_between(rate, now.max(from), out.min(end), &self.outages)
                };
                out
            }
            By::Trace(trace) => {
                let sent = &mut self.sent;
                trace.deliver(now, u64::from(bytes), &self.outages, end, |at, taken| {
                    if at > from && at <= end {
                        *sent += (taken * 8) as f64;
                    }
                })
            }
        }
    }

    /// The wire bits that were sent in the window, and those that could have been.
    #[must_use]
    pub fn use_of_capacity(&self) -> (f64, f64) {
        let (from, end) = self.window;
        let capacity = match &self.by {
            By::Rate(rate) => bits_between(rate, from, end, &self.outages),
            By::Trace(trace) => (trace.bytes_between(from, end, &self.outages) * 8) as f64,
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

fn finish(rate: &Course, begin: Time, mut work: u128, outages: &Outages, horizon: Time) -> Time {
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

/// When so much work is done that begins at `t` in this piece and stays in it.
fn time_for(piece: &Piece, t: Time, work: u128) -> Option<Time> {
    if piece.from == piece.to {
        let span = work.div_ceil(u128::from(piece.from));
        return Some(t + Dur(u64::try_from(span).unwrap_or(u64::MAX)));
    }
    // The rate changes by s in each ns: r y + s y^2 / 2 = work, solved so that nothing cancels.
    let (work, r, s) = (work as f64, rate_at(piece, t), slope(piece));
    let under_root = r * r + 2.0 * s * work;
    if under_root < 0.0 {
        return None; // the rate falls to nothing before
    }
    let span = 2.0 * work / (r + under_root.sqrt());
    Some(t + Dur((span - ROUNDING).ceil().max(0.0) as u64))
}

/// Of a ns: what rounding adds must not make it one more. Packets take milliseconds at most, and their time is known to
/// 1e-15 of itself.
const ROUNDING: f64 = 1e-6;

/// The work done within a piece.
fn work_between(piece: &Piece, from: Time, to: Time) -> u128 {
    let span = to.since(from).0;
    if piece.from == piece.to {
        return u128::from(piece.from) * u128::from(span);
    }
    let mean = (rate_at(piece, from) + rate_at(piece, to)) / 2.0;
    (mean * span as f64).round() as u128
}

/// Change of the rate in a ns.
fn slope(piece: &Piece) -> f64 {
    (piece.to as f64 - piece.from as f64) / piece.end.since(piece.begin).0 as f64
}

/// The rate with its fraction.
fn rate_at(piece: &Piece, t: Time) -> f64 {
    piece.from as f64 + slope(piece) * t.since(piece.begin).0 as f64
}

fn bits_between(rate: &Course, from: Time, end: Time, outages: &Outages) -> f64 {
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
