//! What RACK asks the board for [RFC 8985 §6]: losses by the time of transmission.

use super::flights::Flights;
use super::{Sent, SentQueue};
use dumbbell_units::{Dur, Time};
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// What RACK needs.
#[derive(Clone, Debug, Default)]
pub(super) struct ByTime {
    pub(super) flights: Flights,
    /// Numbers of segments that were lost, lowest first; some have been sent again or delivered since.
    pub(super) waiting: BinaryHeap<Reverse<u64>>,
}

impl SentQueue {
    /// Takes for lost what was sent before the edge (when a delivered segment was sent, and where it ends) and `wait`
    /// or longer ago. Gives when the rest of what was sent before the edge will be.
    pub(crate) fn lose_overdue(&mut self, edge: (Time, u64), wait: Dur, now: Time) -> Option<Time> {
        loop {
            let number = self.by_time.as_ref()?.flights.oldest()?;
            let i = (number - self.first) as usize;
            let s = &self.segments[i];
            if (s.last_at, s.end) >= edge {
                return None;
            }
            if s.last_at + wait > now {
                break;
            }
            self.lose_transmission(i);
        }
        let (segments, first) = (&self.segments, self.first);
        let sent = |number: u64| &segments[(number - first) as usize];
        let last = self.by_time.as_mut()?.flights.mark(|n| (sent(n).last_at, sent(n).end) < edge)?;
        Some(sent(last).last_at + wait)
    }

    /// A timeout: the oldest segment is lost, and what was sent `wait` or longer ago [RFC 8985 §6.3].
    pub(crate) fn lose_old(&mut self, wait: Dur, now: Time) {
        for i in 0..self.segments.len() {
            if i == 0 || self.segments[i].last_at + wait <= now {
                self.lose_transmission(i);
            }
        }
    }

    /// The lowest segment that waits to be sent again.
    pub(crate) fn next_waiting(&mut self) -> Option<&Sent> {
        let by_time = self.by_time.as_mut()?;
        while let Some(Reverse(number)) = by_time.waiting.peek() {
            let i = number.checked_sub(self.first).map(|i| i as usize);
            if i.is_some_and(|i| self.segments[i].waits()) {
                return i.map(|i| &self.segments[i]);
            }
            by_time.waiting.pop();
        }
        None
    }

    /// How many segments go again together from the waiting one at `start` on: those of one burst, `most` of them; the rest
    /// is a burst of its own from then on.
    pub(crate) fn take_burst(&mut self, start: u64, most: u64) -> u64 {
        let Some(first) = self.index_of(start) else { return 1 };
        self.segments[first].joined = false;
        let follow =
            self.segments.iter().skip(first + 1).take_while(|s| s.joined && s.waits()).count() as u64;
        let taken = (1 + follow).min(most.max(1));
        if let Some(next) = self.segments.get_mut(first + taken as usize) {
            next.joined = false;
        }
        taken
    }

    /// Nothing was lost after all: what waits to be sent again is under way.
    pub(crate) fn forget_losses(&mut self) {
        for i in 0..self.segments.len() {
            if self.segments[i].lost && !self.segments[i].sacked {
                self.change(i, |s| s.lost = false);
            }
        }
        let Some(by_time) = &mut self.by_time else { return };
        by_time.waiting.clear();
        let mut under_way: Vec<(Time, u64, u64)> = (self.first..)
            .zip(&self.segments)
            .filter(|(_, s)| !s.sacked)
            .map(|(number, s)| (s.last_at, s.end, number))
            .collect();
        under_way.sort_unstable();
        for (_, _, number) in under_way {
            by_time.flights.again(number);
        }
    }
}
