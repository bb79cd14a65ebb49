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
    /// Nothing is looked into beyond this: an outage may never end.
    horizon: Time,
}

#[derive(Clone, Debug)]
enum By {
    Rate(Course),
    Trace(Opportunities),
}

impl Service {
    /// A rate over time, for a run that ends at `horizon`.
    #[must_use]
    pub fn rate(course: Course, horizon: Time) -> Service {
        Service { by: By::Rate(course), horizon }
    }

    /// A trace, for a run that ends at `horizon`.
    #[must_use]
    pub fn trace(trace: Opportunities, horizon: Time) -> Service {
        Service { by: By::Trace(trace), horizon }
    }

    /// From when on a packet could be sent that comes to the idle transmitter at `now`.
    #[must_use]
    pub fn opens(&self, now: Time, outages: &Outages) -> Time {
        match &self.by {
            By::Rate(_) => self.up_from(now, outages),
            By::Trace(trace) => trace.usable_after(now, outages, self.horizon),
        }
    }

    /// From when on a packet can be sent that has waited.
    pub fn next(&mut self, now: Time, outages: &Outages) -> Time {
        let open = match &mut self.by {
            By::Rate(_) => true,
            By::Trace(trace) => trace.is_open(now),
        };
        if open && outages.held_until(now).is_none() { now } else { self.opens(now, outages) }
    }

    /// When a packet of so many wire bytes is out that begins now; if that is behind the horizon, just somewhere there.
    pub fn finish(&mut self, now: Time, bytes: u32, outages: &Outages) -> Time {
        match &mut self.by {
            By::Rate(rate) => finish(rate, now, nanobits(u64::from(bytes)), outages, self.horizon),
            By::Trace(trace) => trace.deliver(now, u64::from(bytes), outages, self.horizon),
        }
    }

    /// The wire bits that can be sent between two times, outages of both kinds taken away.
    #[must_use]
    pub fn capacity(&self, from: Time, end: Time, outages: &Outages) -> f64 {
        match &self.by {
            By::Rate(rate) => bits_between(rate, from, end, outages),
            By::Trace(trace) => {
                (trace.bytes_between(from, end, |at| outages.down_until(at).is_none()) * 8) as f64
            }
        }
    }

    fn up_from(&self, now: Time, outages: &Outages) -> Time {
        let mut at = now;
        while at <= self.horizon
            && let Some(end) = outages.held_until(at)
        {
            at = end;
        }
        at
    }
}

fn finish(rate: &Course, begin: Time, mut work: u128, outages: &Outages, horizon: Time) -> Time {
    let mut t = begin;
    while t <= horizon {
        if let Some(end) = outages.held_until(t) {
            t = end;
            continue;
        }
        let piece = rate.piece(t);
        let end = piece.end.min(outages.next_hold(t));
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
        let (until, down) = match outages.down_until(t) {
            Some(up) => (up, true),
            None => (outages.next_down(t).min(piece.end), false),
        };
        let until = until.min(end);
        if !down {
            work += work_between(&piece, t, until) as f64;
        }
        t = until;
    }
    work * 1e-9
}
