//! Two captures of one path, matched packet by packet: one-direction delay, loss, reordering, queueing.
//!
//! ```text
//! A ─┐   both are read side by side, in the order of time        first pass: offset and drift of the clocks
//!    ├─> packets that wait for the other capture, at most a      second pass: delays, losses, order
//! B ─┘   million and for at most ten seconds
//! ```
//!
//! A packet is known by its connection and the fields that stay the same on the direction. Where offload has cut or joined
//! segments, the one with the byte in question counts. Delays are relative: without a common clock only the sum of
//! both directions can be measured, and the least delays of both directions are taken for equal ([`Clock`]).

mod clock;
mod direction;
mod packets;
mod pass;

use std::collections::{HashMap, VecDeque};
use std::path::Path;

use crate::table::Table;
use crate::tcp::track::{Folding, Key};
use crate::{Damage, Error};
pub use clock::Clock;
use clock::Envelope;
use direction::{flows, series};
use packets::{Packet, Packets};
use pass::Pass;

/// Most packets that wait.
const MOST_WAITING: usize = 1_000_000;
/// Most connections.
const MOST_FLOWS: usize = 100_000;
/// Packets from which the first guess of the offset is made.
const FIRST: usize = 20_000;

/// What was found.
#[derive(Debug)]
pub struct Pair {
    /// The clocks.
    pub clock: Clock,
    /// One row for each direction of each connection.
    pub flows: Table,
    /// One row for each direction and interval.
    pub series: Table,
    /// Length of the intervals, ns.
    pub interval: u64,
    /// Packets of A, of B, and those that are in both.
    pub packets: [u64; 3],
    /// Where the files can't be read to their end.
    pub damage: Vec<Damage>,
}

/// A packet of both captures, for those who want each of them.
#[derive(Clone, Copy, Debug)]
pub struct Match {
    /// Frame in A and in B.
    pub frames: [u64; 2],
    /// Time at the first of both places, ns since 1970 by A's clock.
    pub time: i64,
    /// Number of the connection.
    pub flow: u64,
    /// Its direction: 0 from A to B.
    pub direction: u8,
    /// Relative one-direction delay, ns.
    pub delay: f64,
}

/// Reads both captures side by side.
struct Side {
    packets: Packets,
    next: Option<Packet>,
}

impl Side {
    fn open(path: &Path) -> Result<Self, Error> {
        let mut packets = Packets::open(path)?;
        let next = packets.next();
        Ok(Self { packets, next })
    }

    fn take(&mut self) -> Option<Packet> {
        let next = self.packets.next();
        std::mem::replace(&mut self.next, next)
    }
}

type Fingerprint = (u64, u64, bool);

fn fingerprint(key_hash: u64, s: &Packet) -> Fingerprint {
    (key_hash, s.fingerprint, s.from_low)
}

fn hash(hasher: &Folding, key: &Key) -> u64 {
    use std::hash::BuildHasher;
    hasher.hash_one(key)
}

/// A first guess of B's time minus A's, from packets that both have near their begin: between the least difference of
/// what A saw first and the greatest of what B saw first, so that by it each packet comes first where it was first.
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

/// Matches two captures of one path; A should be the one at the sender's side. `same_clock`: one clock stamped both, so
/// that delays are absolute. `matched` is given each packet of both.
///
/// # Errors
///
/// If a file can't be read at all.
pub fn pair(
    a: &Path,
    b: &Path,
    interval: Option<u64>,
    same_clock: bool,
    progress: &mut dyn FnMut(u64) -> bool,
    mut matched: Option<&mut dyn FnMut(Match)>,
) -> Result<Pair, Error> {
    let Some(rough) = rough_offset(a, b)? else {
        return Ok(Pair {
            clock: Clock::default(),
            flows: flows(&[]),
            series: series(&[], 1),
            interval: interval.unwrap_or(1),
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
            let time =
                if m.direction == 0 { m.time_a } else { m.time_b - clock.at(m.time_a - origin) as i64 };
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
        series: series(&flows_of, length),
        interval: length,
        packets: pass.packets,
        damage,
    })
}

/// Which lower halves lie on A's side.
fn sides(a: &Path, b: &Path, rough: i64) -> Result<HashMap<Key, bool, Folding>, Error> {
    let hasher = Folding::default();
    let mut times: HashMap<Fingerprint, (), Folding> = HashMap::default();
    let mut order: VecDeque<Fingerprint> = VecDeque::new();
    let mut counts: HashMap<Key, [u64; 2], Folding> = HashMap::default();
    let (mut a, mut b) = (Side::open(a)?, Side::open(b)?);
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
            // By the rough offset A saw it first: it comes from A's side.
            counts.entry(s.key).or_default()[usize::from(s.from_low)] += 1;
        }
    }
    Ok(counts.into_iter().map(|(key, [high, low])| (key, low >= high)).collect())
}

/// The next packet of both in the order of time.
fn next(a: &mut Side, b: &mut Side, rough: i64) -> Option<(Packet, bool)> {
    let from_a = match (&a.next, &b.next) {
        (Some(x), Some(y)) => x.time + rough <= y.time,
        (Some(_), None) => true,
        (None, Some(_)) => false,
        (None, None) => return None,
    };
    let s = if from_a { a.take() } else { b.take() };
    s.map(|s| (s, from_a))
}
