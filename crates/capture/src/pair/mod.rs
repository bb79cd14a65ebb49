//! Two captures of one path, matched packet by packet: one-way delay, loss, reordering, queueing delay.
//!
//! ```text
//! A ─┐   both are read in order of time                          first pass: offset and drift of the clocks
//!    ├─> packets wait for the other capture, at most one         second pass: delays, losses, reordering
//! B ─┘   million packets and ten seconds
//! ```
//!
//! A packet is identified by its connection and the fields that do not change on the path; a segment that offload has
//! split or merged, by its first byte. The metrics are those of RFC 7679 (one-way delay), RFC 7680 (one-way loss) and
//! RFC 4737 (reordering). Delays are relative: without a common clock only the sum of both directions can be measured,
//! and both directions are assumed to have the same least delay ([`Clock`]).

mod clock;
mod direction;
mod merge;
mod packets;
mod pass;

use std::collections::{HashMap, VecDeque};
use std::path::Path;

use crate::table::Table;
use crate::tcp::track::{Folding, Key};
use crate::{Damage, Error};
use dumbbell_units::Dur;

pub use clock::Clock;
use clock::Envelope;
use direction::{flows, series};
use merge::{Capture, Fingerprint, MOST_WAITING, fingerprint, hash, next};
use packets::Packets;
use pass::Pass;

/// Most connections.
const MOST_FLOWS: usize = 100_000;
/// The first estimate of the offset uses four times as many packets of each capture.
const FIRST: usize = 20_000;

/// Results of a pair of captures.
#[derive(Debug)]
pub struct Pair {
    /// B's clock relative to A's.
    pub clock: Clock,
    /// One row for each direction of each connection.
    pub flows: Table,
    /// One row for each direction and interval.
    pub series: Table,
    /// Length of the intervals.
    pub interval: Dur,
    /// Number of packets in A, in B, and in both.
    pub packets: [u64; 3],
    /// Damage of the files.
    pub damage: Vec<Damage>,
}

/// A packet that is in both captures.
#[derive(Clone, Copy, Debug)]
pub struct Match {
    /// Frame in A and in B.
    pub frames: [u64; 2],
    /// Time at the first capture point of its path, ns since 1970 on A's clock.
    pub time: i64,
    /// Number of the connection.
    pub flow: u64,
    /// Its direction: 0 from A to B.
    pub direction: u8,
    /// Relative one-way delay, ns.
    pub delay: f64,
}

/// A first estimate of B's time minus A's, from packets near the start of both captures. It lies between the minimum
/// difference of the packets that A captured first and the maximum of those that B captured first, so that after its
/// subtraction each packet is earlier at its first capture point.
#[expect(
    clippy::disallowed_methods,
    clippy::iter_over_hash_type,
    reason = "minimum and maximum don't depend on the order of the directions"
)]
fn rough_offset(a: &Path, b: &Path) -> Result<Option<i64>, Error> {
    let hasher = Folding::default();
    let mut times: HashMap<Fingerprint, i64, Folding> = HashMap::default();
    let mut first = Packets::open(a)?;
    for _ in 0..FIRST * 4 {
        let Some(s) = first.next() else { break };
        times.entry(fingerprint(hash(&hasher, &s.key), &s)).or_insert(s.time);
    }
    let mut second = Packets::open(b)?;
    let mut directions: HashMap<Key, [Option<(i64, i64)>; 2], Folding> = HashMap::default();
    for _ in 0..FIRST * 4 {
        let Some(s) = second.next() else { break };
        if let Some(time) = times.remove(&fingerprint(hash(&hasher, &s.key), &s)) {
            let difference = s.time - time;
            let direction = &mut directions.entry(s.key).or_default()[usize::from(s.from_low)];
            let (least, greatest) = direction.unwrap_or((difference, difference));
            *direction = Some((least.min(difference), greatest.max(difference)));
        }
    }
    let (mut there, mut back): (Option<i64>, Option<i64>) = (None, None);
    for direction in directions.values() {
        match direction {
            [Some(x), Some(y)] => {
                let (forward, backward) = if x.0 >= y.0 { (x, y) } else { (y, x) };
                there = Some(there.map_or(forward.0, |t| t.min(forward.0)));
                back = Some(back.map_or(backward.1, |t| t.max(backward.1)));
            }
            [Some(x), None] | [None, Some(x)] => there = Some(there.map_or(x.0, |t| t.min(x.0))),
            [None, None] => {}
        }
    }
    Ok(match (there, back) {
        (Some(t), Some(b)) => Some(i64::midpoint(t, b)),
        (Some(t), None) => Some(t - 1),
        (None, b) => b,
    })
}

/// Matches two captures of one path; A should be the capture nearer to the sender. `same_clock`: both have time stamps
/// of one clock, so delays are absolute. `matched` receives each packet that is in both.
///
/// # Errors
///
/// If a file can't be read at all.
pub fn pair(
    a: &Path,
    b: &Path,
    interval: Option<Dur>,
    same_clock: bool,
    progress: &mut dyn FnMut(u64) -> bool,
    mut matched: Option<&mut dyn FnMut(Match)>,
) -> Result<Pair, Error> {
    let Some(rough) = rough_offset(a, b)? else {
        return Ok(Pair {
            clock: Clock::default(),
            flows: flows(&[]),
            series: series(&[], 1),
            interval: interval.unwrap_or(Dur(1)),
            packets: [0; 3],
            damage: Vec::new(),
        });
    };
    let rough = if same_clock { 0 } else { rough };
    let sides = sides(a, b, rough)?;
    let mut there = Envelope::least();
    let mut back = Envelope::greatest();
    let mut origin = None;
    let mut pass = Pass::new(rough, &sides, interval);
    pass.run(a, b, progress, &mut |m| {
        let t = m.time_a - *origin.get_or_insert(m.time_a);
        let difference = m.time_b - m.time_a;
        if m.direction == 0 {
            there.add(t, difference)
        } else {
            back.add(t, difference)
        }
        None
    })?;
    let estimate = Clock::estimate(&there, &back);
    let clock = if same_clock { Clock { offset: 0.0, drift: 0.0, ..estimate } } else { estimate };
    let origin = origin.unwrap_or(0);
    let mut pass = Pass::new(rough, &sides, interval);
    let damage = pass.run(a, b, progress, &mut |m| {
        let difference = (m.time_b - m.time_a) as f64 - clock.at(m.time_a - origin);
        let delay = if m.direction == 0 { difference } else { -difference };
        if let Some(matched) = &mut matched {
            let time = if m.direction == 0 { m.time_a } else { m.time_b - clock.at(m.time_a - origin) as i64 };
            matched(Match { frames: m.frames, time, flow: m.flow, direction: m.direction, delay });
        }
        Some(delay)
    })?;
    let length = pass.ticks.length();
    let mut flows_of = pass.flows;
    for direction in flows_of.iter_mut().flat_map(|f| &mut f.directions) {
        direction.series.coarsen(pass.ticks.doublings);
    }
    Ok(Pair {
        clock,
        flows: flows(&flows_of),
        series: series(&flows_of, length.0),
        interval: length,
        packets: pass.packets,
        damage,
    })
}

/// Finds for each connection whether the lower endpoint of its key is on A's side.
fn sides(a: &Path, b: &Path, rough: i64) -> Result<HashMap<Key, bool, Folding>, Error> {
    let hasher = Folding::default();
    let mut times: HashMap<Fingerprint, (), Folding> = HashMap::default();
    let mut order: VecDeque<Fingerprint> = VecDeque::new();
    let mut counts: HashMap<Key, [u64; 2], Folding> = HashMap::default();
    let (mut a, mut b) = (Capture::open(a)?, Capture::open(b)?);
    while let Some((s, from_a)) = next(&mut a, &mut b, rough) {
        let p = fingerprint(hash(&hasher, &s.key), &s);
        if from_a {
            times.insert(p, ());
            order.push_back(p);
            if order.len() > MOST_WAITING
                && let Some(old) = order.pop_front()
            {
                times.remove(&old);
            }
        } else if times.remove(&p).is_some() && (counts.len() < MOST_FLOWS || counts.contains_key(&s.key)) {
            // With the estimated offset A captured it first: it was sent from A's side.
            counts.entry(s.key).or_default()[usize::from(s.from_low)] += 1;
        }
    }
    Ok(counts.into_iter().map(|(key, [high, low])| (key, low >= high)).collect())
}
