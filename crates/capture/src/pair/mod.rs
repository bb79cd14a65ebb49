//! Two captures of one path, matched packet by packet: one-way delay, loss, reordering, queueing.
//!
//! ```text
//! A ─┐   both are read side by side, in the order of time        first pass: offset and drift of the clocks
//!    ├─> packets that wait for the other capture, at most a      second pass: delays, losses, order
//! B ─┘   million and for at most ten seconds
//! ```
//!
//! A packet is known by its connection and the fields that stay the same on the way. Where offload has cut or joined
//! segments, the one with the byte in question counts. Delays are relative: without a common clock only the sum of
//! both ways can be measured, and the least delays of both ways are taken for equal ([`Clock`]).

mod clock;
mod stream;

use std::collections::{HashMap, VecDeque};
use std::path::Path;

use crate::flow::sketch::Sketch;
use crate::series::{Series, Ticks};
use crate::table::{Table, column};
use crate::tcp::seq::le;
use crate::tcp::track::{Folding, Key};
use crate::{Damage, Error};
pub use clock::Clock;
use clock::Envelope;
use stream::{Packets, Seen};

/// A packet that doesn't come within this time is lost, ns.
const PATIENCE: i64 = 10_000_000_000;
/// Most packets that wait.
const MOST_WAITING: usize = 1_000_000;
/// Most connections.
const MOST_FLOWS: usize = 100_000;
/// Packets from which the first guess of the offset is made.
const FIRST: usize = 20_000;
/// Segments of a direction that are looked through for one that was cut or joined.
const NEARBY: usize = 256;

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
    /// Relative one-way delay, ns.
    pub delay: f64,
}

/// A direction of a connection.
#[derive(Debug, Default)]
struct Way {
    /// Packets seen at the first and at the second place, in both.
    packets: [u64; 2],
    matched: u64,
    lost: u64,
    lost_bytes: u64,
    /// Sent so late that the second capture may have ended before they came.
    under_way: u64,
    /// The longest time from the first place to the second, by their clocks.
    longest: i64,
    /// Only at the second place: not captured at the first (or made in between).
    extra: u64,
    reordered: u64,
    reordering: u64,
    delay: Sketch,
    /// Delays are relative and may be negative: the least one, ns.
    least: Option<f64>,
    /// Order of the newest matched packet at the first place.
    newest: u64,
    sum: f64,
    series: Series,
}

impl Way {
    fn mean(&self) -> f64 {
        self.sum / self.delay.count() as f64
    }

    /// What of a delay is queueing: all beyond the least.
    fn above_least(&self, delay: Option<f64>) -> Option<f64> {
        delay.zip(self.least).map(|(d, least)| (d - least).max(0.0))
    }
}

struct Flow {
    number: u64,
    key: Key,
    /// The lower half of the key lies on A's side.
    low_at_a: bool,
    tcp: bool,
    /// From A to B, from B to A.
    ways: [Way; 2],
}

/// Waiting for its match.
#[derive(Clone, Copy, Debug)]
struct Waiting {
    seen: Seen,
    flow: u32,
    way: u8,
    order: u64,
    matched: bool,
}

/// Reads both captures side by side.
struct Side {
    packets: Packets,
    next: Option<Seen>,
}

impl Side {
    fn open(path: &Path) -> Result<Self, Error> {
        let mut packets = Packets::open(path)?;
        let next = packets.next();
        Ok(Self { packets, next })
    }

    fn take(&mut self) -> Option<Seen> {
        let next = self.packets.next();
        std::mem::replace(&mut self.next, next)
    }
}

type Print = (u64, u64, bool);

fn print(key_hash: u64, s: &Seen) -> Print {
    (key_hash, s.print, s.from_low)
}

fn hash(hasher: &Folding, key: &Key) -> u64 {
    use std::hash::BuildHasher;
    hasher.hash_one(key)
}

/// A first guess of B's time minus A's, from packets that both have near their begin: between the least difference of
/// what A saw first and the greatest of what B saw first, so that by it each packet comes first where it was first.
fn rough_offset(a: &Path, b: &Path) -> Result<Option<i64>, Error> {
    let hasher = Folding::default();
    let mut times: HashMap<Print, i64, Folding> = HashMap::default();
    let mut first = Packets::open(a)?;
    for _ in 0..FIRST * 4 {
        let Some(s) = first.next() else { break };
        times.entry(print(hash(&hasher, &s.key), &s)).or_insert(s.time);
    }
    let mut second = Packets::open(b)?;
    let mut ways: HashMap<Key2, [Option<(i64, i64)>; 2], Folding> = HashMap::default();
    for _ in 0..FIRST * 4 {
        let Some(s) = second.next() else { break };
        if let Some(time) = times.remove(&print(hash(&hasher, &s.key), &s)) {
            let difference = s.time - time;
            let way = &mut ways.entry(Key2(s.key)).or_default()[usize::from(s.from_low)];
            let (least, greatest) = way.unwrap_or((difference, difference));
            *way = Some((least.min(difference), greatest.max(difference)));
        }
    }
    let (mut there, mut back): (Option<i64>, Option<i64>) = (None, None);
    for way in ways.values() {
        match way {
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

#[derive(Clone, Copy, PartialEq, Eq, Hash)]
struct Key2(Key);

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
        if m.way == 0 {
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
        let delay = if m.way == 0 { difference } else { -difference };
        if let Some(matched) = &mut matched {
            let time = if m.way == 0 { m.time_a } else { m.time_b - clock.at(m.time_a - origin) as i64 };
            matched(Match { frames: m.frames, time, flow: m.flow, direction: m.way, delay });
        }
        Some(delay)
    })?;
    let length = pass.ticks.length();
    let mut flows_of = pass.flows;
    for way in flows_of.iter_mut().flat_map(|f| &mut f.ways) {
        way.series.coarsen(pass.ticks.doublings);
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
fn sides(a: &Path, b: &Path, rough: i64) -> Result<HashMap<Key2, bool, Folding>, Error> {
    let hasher = Folding::default();
    let mut times: HashMap<Print, (), Folding> = HashMap::default();
    let mut order: VecDeque<Print> = VecDeque::new();
    let mut counts: HashMap<Key2, [u64; 2], Folding> = HashMap::default();
    let (mut a, mut b) = (Side::open(a)?, Side::open(b)?);
    while let Some((s, from_a)) = next(&mut a, &mut b, rough) {
        let p = print(hash(&hasher, &s.key), &s);
        if from_a {
            times.insert(p, ());
            order.push_back(p);
            if order.len() > MOST_WAITING
                && let Some(old) = order.pop_front()
            {
                times.remove(&old);
            }
        } else if times.remove(&p).is_some()
            && (counts.len() < MOST_FLOWS || counts.contains_key(&Key2(s.key)))
        {
            // By the rough offset A saw it first: it comes from A's side.
            counts.entry(Key2(s.key)).or_default()[usize::from(s.from_low)] += 1;
        }
    }
    Ok(counts.into_iter().map(|(key, [high, low])| (key, low >= high)).collect())
}

/// The next packet of both in the order of time.
fn next(a: &mut Side, b: &mut Side, rough: i64) -> Option<(Seen, bool)> {
    let from_a = match (&a.next, &b.next) {
        (Some(x), Some(y)) => x.time + rough <= y.time,
        (Some(_), None) => true,
        (None, Some(_)) => false,
        (None, None) => return None,
    };
    let s = if from_a { a.take() } else { b.take() };
    s.map(|s| (s, from_a))
}

/// A packet in both captures.
struct Both {
    frames: [u64; 2],
    time_a: i64,
    time_b: i64,
    flow: u64,
    way: u8,
}

/// One pass over both captures.
struct Pass<'a> {
    rough: i64,
    sides: &'a HashMap<Key2, bool, Folding>,
    hasher: Folding,
    ids: HashMap<Key2, u32, Folding>,
    flows: Vec<Flow>,
    waiting: HashMap<Print, VecDeque<u64>, Folding>,
    /// In the order of arrival; `begun` is the number of the first.
    queue: VecDeque<Waiting>,
    begun: u64,
    /// Numbers of the newest segments with payload of each direction, for cut and joined ones.
    nearby: HashMap<(u32, u8), VecDeque<u64>, Folding>,
    orders: u64,
    packets: [u64; 3],
    /// The newest time in A and in B, by their own clocks.
    newest: [i64; 2],
    ticks: Ticks,
}

impl<'a> Pass<'a> {
    fn new(rough: i64, sides: &'a HashMap<Key2, bool, Folding>, interval: Option<u64>) -> Self {
        Self {
            rough,
            sides,
            hasher: Folding::default(),
            ids: HashMap::default(),
            flows: Vec::new(),
            waiting: HashMap::default(),
            queue: VecDeque::new(),
            begun: 0,
            nearby: HashMap::default(),
            orders: 0,
            packets: [0; 3],
            newest: [i64::MIN; 2],
            ticks: Ticks::new(interval),
        }
    }

    fn run(
        &mut self,
        a: &Path,
        b: &Path,
        progress: &mut dyn FnMut(u64) -> bool,
        found: &mut dyn FnMut(&Both) -> Option<f64>,
    ) -> Result<Vec<Damage>, Error> {
        let (mut a, mut b) = (Side::open(a)?, Side::open(b)?);
        let mut count = 0_u64;
        while let Some((s, from_a)) = next(&mut a, &mut b, self.rough) {
            count += 1;
            if count.is_multiple_of(16_384) && !progress(a.packets.consumed() + b.packets.consumed()) {
                break;
            }
            self.packet(s, from_a, found);
        }
        while !self.queue.is_empty() {
            self.give_up(true);
        }
        Ok([a, b].iter().filter_map(|s| s.packets.damage()).collect())
    }

    fn packet(&mut self, s: Seen, from_a: bool, found: &mut dyn FnMut(&Both) -> Option<f64>) {
        let Some(&low_at_a) = self.sides.get(&Key2(s.key)) else { return };
        let flow = match self.ids.get(&Key2(s.key)) {
            Some(&f) => f,
            None => {
                let f = self.flows.len() as u32;
                let ways = Default::default();
                self.flows.push(Flow { number: u64::from(f), key: s.key, low_at_a, tcp: s.tcp, ways });
                self.ids.insert(Key2(s.key), f);
                f
            }
        };
        let way = u8::from(s.from_low != low_at_a);
        // A packet on way 0 is seen by A first.
        let first = from_a == (way == 0);
        let now = if from_a { s.time } else { s.time - self.rough };
        self.ticks.start(now);
        self.packets[usize::from(!from_a)] += 1;
        let newest = &mut self.newest[usize::from(!from_a)];
        *newest = s.time.max(*newest);
        self.flows[flow as usize].ways[usize::from(way)].packets[usize::from(!first)] += 1;
        while self.queue.len() >= MOST_WAITING
            || self.queue.front().is_some_and(|w| now - self.time(&w.seen, w.way) > PATIENCE)
        {
            self.give_up(false);
        }
        let p = print(hash(&self.hasher, &s.key), &s);
        if first {
            self.orders += 1;
            let number = self.begun + self.queue.len() as u64;
            self.queue.push_back(Waiting { seen: s, flow, way, order: self.orders, matched: false });
            self.waiting.entry(p).or_default().push_back(number);
            if s.len > 0 && s.tcp {
                let nearby = self.nearby.entry((flow, way)).or_default();
                nearby.push_back(number);
                if nearby.len() > NEARBY {
                    nearby.pop_front();
                }
            }
            return;
        }
        let exact = self.waiting.get_mut(&p).and_then(VecDeque::pop_front);
        let number = exact.or_else(|| self.covering(&s, flow, way));
        let Some(w) = number.and_then(|n| self.queue.get_mut(n.checked_sub(self.begun)? as usize)) else {
            self.flows[flow as usize].ways[usize::from(way)].extra += 1;
            return;
        };
        let again = std::mem::replace(&mut w.matched, true);
        let w = *w;
        self.packets[2] += u64::from(!again);
        let longest = &mut self.flows[flow as usize].ways[usize::from(way)].longest;
        *longest = s.time.saturating_sub(w.seen.time).max(*longest);
        let (at_a, at_b) = if from_a { (s, w.seen) } else { (w.seen, s) };
        let both = Both {
            frames: [at_a.frame, at_b.frame],
            time_a: at_a.time,
            time_b: at_b.time,
            flow: u64::from(flow),
            way,
        };
        let Some(delay) = found(&both) else { return };
        let at = self.ticks.at(now);
        let way = &mut self.flows[flow as usize].ways[usize::from(way)];
        way.matched += u64::from(!again);
        if w.order < way.newest {
            way.reordered += 1;
            way.reordering = way.reordering.max(way.newest - w.order);
        }
        way.newest = way.newest.max(w.order);
        way.sum += delay;
        way.least = Some(way.least.map_or(delay, |l| l.min(delay)));
        way.delay.add(delay.max(0.0) as i64);
        let row = way.series.at(at, self.ticks.doublings).0;
        row.packets += 1;
        row.bytes += u64::from(s.bytes);
        row.rtt(delay.max(0.0) as u64);
    }

    /// The time of a waiting packet by A's clock.
    fn time(&self, s: &Seen, way: u8) -> i64 {
        if way == 0 { s.time } else { s.time - self.rough }
    }

    /// The waiting segment with the first byte of `s`: offload has cut or joined it on the way.
    fn covering(&self, s: &Seen, flow: u32, way: u8) -> Option<u64> {
        if s.len == 0 || !s.tcp {
            return None;
        }
        let near = self.nearby.get(&(flow, way))?;
        near.iter().copied().find(|&n| {
            n.checked_sub(self.begun).and_then(|i| self.queue.get(i as usize)).is_some_and(|w| {
                let end = w.seen.seq.wrapping_add(w.seen.len);
                let inside = le(w.seen.seq, s.seq) && le(s.seq.wrapping_add(1), end);
                inside && w.seen.len != s.len && w.seen.tsval == s.tsval
            })
        })
    }

    /// The oldest waiting packet is lost, unless it was matched or may have come after the end.
    fn give_up(&mut self, at_end: bool) {
        let Some(w) = self.queue.pop_front() else { return };
        let p = print(hash(&self.hasher, &w.seen.key), &w.seen);
        if let Some(numbers) = self.waiting.get_mut(&p) {
            numbers.retain(|&n| n != self.begun);
            if numbers.is_empty() {
                self.waiting.remove(&p);
            }
        }
        self.begun += 1;
        if !w.matched {
            let now = self.time(&w.seen, w.way);
            let at = self.ticks.at(now);
            let end = self.newest[usize::from(w.way == 0)];
            let way = &mut self.flows[w.flow as usize].ways[usize::from(w.way)];
            if at_end && w.seen.time.saturating_add(way.longest) > end {
                way.under_way += 1;
                return;
            }
            way.lost += 1;
            way.lost_bytes += u64::from(w.seen.bytes);
            way.series.at(at, self.ticks.doublings).0.retransmitted += 1;
        }
    }
}

fn flows(flows: &[Flow]) -> Table {
    let rows: Vec<(&Flow, usize)> = flows.iter().flat_map(|f| [(f, 0), (f, 1)]).collect();
    let rows = &rows[..];
    // Direction 0 begins on A's side.
    let ends = |r: &(&Flow, usize)| r.0.key.endpoints(r.0.low_at_a);
    let count = |value: fn(&Way) -> u64| column(rows, |r| value(&r.0.ways[r.1]));
    let ms = |value: fn(&Way) -> Option<f64>| {
        column(rows, |r| value(&r.0.ways[r.1]).map_or(f64::NAN, |ns| ns / 1e6))
    };
    Table::default()
        .with("flow", column(rows, |r| r.0.number))
        .with("direction", column(rows, |r| r.1 as u8))
        .with("protocol", column(rows, |r| if r.0.tcp { "tcp" } else { "udp" }.to_owned()))
        .with("src", column(rows, |r| ends(r)[r.1].0.to_string()))
        .with("src_port", column(rows, |r| u32::from(ends(r)[r.1].1)))
        .with("dst", column(rows, |r| ends(r)[1 - r.1].0.to_string()))
        .with("dst_port", column(rows, |r| u32::from(ends(r)[1 - r.1].1)))
        .with("packets_first", count(|w| w.packets[0]))
        .with("packets_second", count(|w| w.packets[1]))
        .with("matched", count(|w| w.matched))
        .with("lost", count(|w| w.lost))
        .with("lost_bytes", count(|w| w.lost_bytes))
        .with("under_way", count(|w| w.under_way))
        .with("extra", count(|w| w.extra))
        .with("reordered", count(|w| w.reordered))
        .with("reordering_packets", count(|w| w.reordering))
        .with("delay_min_ms", ms(|w| w.least))
        .with("delay_mean_ms", ms(|w| (w.delay.count() > 0).then(|| w.mean())))
        .with("delay_p50_ms", ms(|w| w.delay.quantile(0.5)))
        .with("delay_p95_ms", ms(|w| w.delay.quantile(0.95)))
        .with("delay_p99_ms", ms(|w| w.delay.quantile(0.99)))
        .with("delay_max_ms", ms(|w| w.delay.greatest().map(|g| g as f64)))
        .with("queueing_mean_ms", ms(|w| w.above_least((w.delay.count() > 0).then(|| w.mean()))))
        .with("queueing_p95_ms", ms(|w| w.above_least(w.delay.quantile(0.95))))
        .with("queueing_max_ms", ms(|w| w.above_least(w.delay.greatest().map(|g| g as f64))))
}

fn series(flows: &[Flow], length: u64) -> Table {
    let mut rows = Vec::new();
    for f in flows {
        for (d, way) in f.ways.iter().enumerate() {
            rows.extend(way.series.rows().iter().map(|r| (f.number, d as u8, r)));
        }
    }
    let rows = &rows[..];
    let ms = |known: bool, ns: f64| if known { ns / 1e6 } else { f64::NAN };
    Table::default()
        .with("flow", column(rows, |r| r.0))
        .with("direction", column(rows, |r| r.1))
        .with("t_ns", column(rows, |r| r.2.at * length))
        .with("packets", column(rows, |r| r.2.packets))
        .with("bytes", column(rows, |r| r.2.bytes))
        .with("lost", column(rows, |r| r.2.retransmitted))
        .with("delay_min_ms", column(rows, |r| ms(r.2.rtts > 0, r.2.rtt_min as f64)))
        .with("delay_mean_ms", column(rows, |r| ms(r.2.rtts > 0, r.2.rtt_sum as f64 / f64::from(r.2.rtts))))
        .with("delay_max_ms", column(rows, |r| ms(r.2.rtts > 0, r.2.rtt_max as f64)))
}
