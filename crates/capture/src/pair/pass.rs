//! One pass over both captures, which matches each packet of one with a packet of the other.
//!
//! A packet waits, in the order of time, for its counterpart from the other capture: with the same connection and
//! fingerprint, or, if offload has split or merged segments, for a segment that covers its first byte.

use std::collections::{HashMap, VecDeque};
use std::path::Path;

use super::direction::Flow;
use super::merge::{Capture, Fingerprint, MOST_WAITING, fingerprint, hash, next};
use super::packets::Packet;
use crate::series::Ticks;
use crate::tcp::track::{Folding, Key};
use crate::{Damage, Error};
use dumbbell_units::Dur;
use dumbbell_wire::seq::le;

/// A packet that is not in the other capture after this time is lost, ns.
const PATIENCE: i64 = 10_000_000_000;

/// Recent segments of a direction that are searched for one that was split or merged.
const NEARBY: usize = 256;

/// A packet that waits for its counterpart.
#[derive(Clone, Copy, Debug)]
struct Waiting {
    seen: Packet,
    flow: u32,
    direction: u8,
    order: u64,
    matched: bool,
}

/// A packet in both captures.
pub(super) struct Both {
    pub(super) frames: [u64; 2],
    pub(super) time_a: i64,
    pub(super) time_b: i64,
    pub(super) flow: u64,
    pub(super) direction: u8,
}

/// One pass over both captures.
pub(super) struct Pass<'a> {
    rough: i64,
    sides: &'a HashMap<Key, bool, Folding>,
    hasher: Folding,
    ids: HashMap<Key, u32, Folding>,
    pub(super) flows: Vec<Flow>,
    waiting: HashMap<Fingerprint, VecDeque<u64>, Folding>,
    /// In order of arrival; `first_number` is the number of the first one.
    queue: VecDeque<Waiting>,
    first_number: u64,
    /// Numbers of the most recent data segments of each direction, to find split and merged ones.
    nearby: HashMap<(u32, u8), VecDeque<u64>, Folding>,
    orders: u64,
    pub(super) packets: [u64; 3],
    /// The latest time in A and in B, by their own clocks.
    newest: [i64; 2],
    pub(super) ticks: Ticks,
}

impl<'a> Pass<'a> {
    pub(super) fn new(rough: i64, sides: &'a HashMap<Key, bool, Folding>, interval: Option<Dur>) -> Self {
        Self {
            rough,
            sides,
            hasher: Folding::default(),
            ids: HashMap::default(),
            flows: Vec::new(),
            waiting: HashMap::default(),
            queue: VecDeque::new(),
            first_number: 0,
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
        let (mut a, mut b) = (Capture::open(a)?, Capture::open(b)?);
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

    fn packet(&mut self, s: Packet, from_a: bool, found: &mut dyn FnMut(&Both) -> Option<f64>) {
        let Some(&low_at_a) = self.sides.get(&s.key) else { return };
        let flow = match self.ids.get(&s.key) {
            Some(&f) => f,
            None => {
                let f = self.flows.len() as u32;
                let directions = Default::default();
                self.flows.push(Flow { number: u64::from(f), key: s.key, low_at_a, tcp: s.tcp, directions });
                self.ids.insert(s.key, f);
                f
            }
        };
        let direction = u8::from(s.from_low != low_at_a);
        // A captures the packets of direction 0 first.
        let first = from_a == (direction == 0);
        let now = if from_a { s.time } else { s.time - self.rough };
        self.ticks.start(now);
        self.packets[usize::from(!from_a)] += 1;
        let newest = &mut self.newest[usize::from(!from_a)];
        *newest = s.time.max(*newest);
        self.flows[flow as usize].directions[usize::from(direction)].packets[usize::from(!first)] += 1;
        while self.queue.len() >= MOST_WAITING
            || self.queue.front().is_some_and(|w| now - self.time(&w.seen, w.direction) > PATIENCE)
        {
            self.give_up(false);
        }
        let p = fingerprint(hash(&self.hasher, &s.key), &s);
        if first {
            self.orders += 1;
            let number = self.first_number + self.queue.len() as u64;
            self.queue.push_back(Waiting { seen: s, flow, direction, order: self.orders, matched: false });
            self.waiting.entry(p).or_default().push_back(number);
            if s.len > 0 && s.tcp {
                let nearby = self.nearby.entry((flow, direction)).or_default();
                nearby.push_back(number);
                if nearby.len() > NEARBY {
                    nearby.pop_front();
                }
            }
            return;
        }
        let exact = self.waiting.get_mut(&p).and_then(VecDeque::pop_front);
        let number = exact.or_else(|| self.covering(&s, flow, direction));
        let Some(w) = number.and_then(|n| self.queue.get_mut(n.checked_sub(self.first_number)? as usize)) else {
            self.flows[flow as usize].directions[usize::from(direction)].extra += 1;
            return;
        };
        let again = std::mem::replace(&mut w.matched, true);
        let w = *w;
        self.packets[2] += u64::from(!again);
        let longest = &mut self.flows[flow as usize].directions[usize::from(direction)].longest;
        *longest = s.time.saturating_sub(w.seen.time).max(*longest);
        let (at_a, at_b) = if from_a { (s, w.seen) } else { (w.seen, s) };
        let both = Both {
            frames: [at_a.frame, at_b.frame],
            time_a: at_a.time,
            time_b: at_b.time,
            flow: u64::from(flow),
            direction,
        };
        let Some(delay) = found(&both) else { return };
        let at = self.ticks.at(now);
        let direction = &mut self.flows[flow as usize].directions[usize::from(direction)];
        direction.matched += u64::from(!again);
        if w.order < direction.newest {
            direction.reordered += 1;
            direction.reordering = direction.reordering.max(direction.newest - w.order);
        }
        direction.newest = direction.newest.max(w.order);
        direction.sum += delay;
        direction.least = Some(direction.least.map_or(delay, |l| l.min(delay)));
        direction.delay.add(delay.max(0.0) as i64);
        let row = direction.series.at(at, self.ticks.doublings).0;
        row.packets += 1;
        row.bytes += u64::from(s.bytes);
        row.rtt(delay.max(0.0) as u64);
    }

    /// The time of a waiting packet on A's clock.
    fn time(&self, s: &Packet, direction: u8) -> i64 {
        if direction == 0 { s.time } else { s.time - self.rough }
    }

    /// The waiting segment that has the first byte of `s`, split or merged by offload.
    fn covering(&self, s: &Packet, flow: u32, direction: u8) -> Option<u64> {
        if s.len == 0 || !s.tcp {
            return None;
        }
        let near = self.nearby.get(&(flow, direction))?;
        near.iter().copied().find(|&n| {
            n.checked_sub(self.first_number).and_then(|i| self.queue.get(i as usize)).is_some_and(|w| {
                let end = w.seen.seq.wrapping_add(w.seen.len);
                let inside = le(w.seen.seq, s.seq) && le(s.seq.wrapping_add(1), end);
                inside && w.seen.len != s.len && w.seen.tsval == s.tsval
            })
        })
    }

    /// Removes the oldest waiting packet. It is lost unless it was matched or may have arrived after the end.
    fn give_up(&mut self, at_end: bool) {
        let Some(w) = self.queue.pop_front() else { return };
        let p = fingerprint(hash(&self.hasher, &w.seen.key), &w.seen);
        if let Some(numbers) = self.waiting.get_mut(&p) {
            numbers.retain(|&n| n != self.first_number);
            if numbers.is_empty() {
                self.waiting.remove(&p);
            }
        }
        self.first_number += 1;
        if !w.matched {
            let now = self.time(&w.seen, w.direction);
            let at = self.ticks.at(now);
            let end = self.newest[usize::from(w.direction == 0)];
            let direction = &mut self.flows[w.flow as usize].directions[usize::from(w.direction)];
            if at_end && w.seen.time.saturating_add(direction.longest) > end {
                direction.under_way += 1;
                return;
            }
            direction.lost += 1;
            direction.lost_bytes += u64::from(w.seen.bytes);
            direction.series.at(at, self.ticks.doublings).0.retransmitted += 1;
        }
    }
}
