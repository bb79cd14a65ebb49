//! One pass over both captures: which packet of one is which of the other.

use std::collections::{HashMap, VecDeque};
use std::path::Path;

use super::stream::Seen;
use super::way::Flow;
use super::{Key2, MOST_WAITING, Print, Side, hash, next, print};
use crate::series::Ticks;
use crate::tcp::track::Folding;
use crate::{Damage, Error};
use dumbbell_wire::seq::le;

/// A packet that doesn't come within this time is lost, ns.
const PATIENCE: i64 = 10_000_000_000;

/// Segments of a direction that are looked through for one that was cut or joined.
const NEARBY: usize = 256;
/// Waiting for its match.
#[derive(Clone, Copy, Debug)]
struct Waiting {
    seen: Seen,
    flow: u32,
    way: u8,
    order: u64,
    matched: bool,
}

/// A packet in both captures.
pub(super) struct Both {
    pub(super) frames: [u64; 2],
    pub(super) time_a: i64,
    pub(super) time_b: i64,
    pub(super) flow: u64,
    pub(super) way: u8,
}

/// One pass over both captures.
pub(super) struct Pass<'a> {
    rough: i64,
    sides: &'a HashMap<Key2, bool, Folding>,
    hasher: Folding,
    ids: HashMap<Key2, u32, Folding>,
    pub(super) flows: Vec<Flow>,
    waiting: HashMap<Print, VecDeque<u64>, Folding>,
    /// In the order of arrival; `begun` is the number of the first.
    queue: VecDeque<Waiting>,
    begun: u64,
    /// Numbers of the newest segments with payload of each direction, for cut and joined ones.
    nearby: HashMap<(u32, u8), VecDeque<u64>, Folding>,
    orders: u64,
    pub(super) packets: [u64; 3],
    /// The newest time in A and in B, by their own clocks.
    newest: [i64; 2],
    pub(super) ticks: Ticks,
}

impl<'a> Pass<'a> {
    pub(super) fn new(rough: i64, sides: &'a HashMap<Key2, bool, Folding>, interval: Option<u64>) -> Self {
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

    pub(super) fn run(
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
