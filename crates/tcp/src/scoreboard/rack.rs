//! The scoreboard's part of RACK [RFC 8985 §6]: losses by the time of transmission.

use super::transmissions::Transmissions;
use super::{Scoreboard, SentSegment};
use dumbbell_units::{Dur, Time};
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// Lists that only RACK needs.
#[derive(Clone, Debug, Default)]
pub(super) struct RackLists {
    pub(super) transmissions: Transmissions,
    /// Numbers of segments that were lost, lowest first; some have been retransmitted or delivered since.
    pub(super) lost: BinaryHeap<Reverse<u64>>,
}

impl RackLists {
    /// The lists without the memory of segments that are acknowledged; none is left.
    pub(super) fn without_memory(self) -> RackLists {
        RackLists { transmissions: self.transmissions.without_memory(), lost: BinaryHeap::new() }
    }
}

impl Scoreboard {
    /// Marks as lost each segment that was sent before the newest delivered one (RACK.xmit_ts, RACK.end_seq), and
    /// `wait` or longer ago [RFC 8985 §6.2 step 5 RACK_detect_loss]. Returns when the last of the others sent before it
    /// will be lost.
    pub(crate) fn rack_detect_loss(&mut self, newest: (Time, u64), wait: Dur, now: Time) -> Option<Time> {
        loop {
            let number = self.rack.as_ref()?.transmissions.oldest()?;
            let i = (number - self.first) as usize;
            let s = &self.segments[i];
            if (s.xmit_ts, s.end) >= newest {
                return None;
            }
            if s.xmit_ts + wait > now {
                break;
            }
            self.mark_transmission_lost(i);
        }
        let (segments, first) = (&self.segments, self.first);
        let sent = |number: u64| &segments[(number - first) as usize];
        let before = |number: u64| (sent(number).xmit_ts, sent(number).end) < newest;
        let last = self.rack.as_mut()?.transmissions.last_before(before)?;
        Some(sent(last).xmit_ts + wait)
    }

    /// Marks as lost the oldest segment and those that were sent `wait` or longer ago: the retransmission timer has
    /// expired [RFC 8985 §6.3 RACK_mark_losses_on_RTO].
    pub(crate) fn rack_mark_losses_on_rto(&mut self, wait: Dur, now: Time) {
        for i in 0..self.segments.len() {
            if i == 0 || self.segments[i].xmit_ts + wait <= now {
                self.mark_transmission_lost(i);
            }
        }
    }

    /// Returns the lowest lost segment that has not been retransmitted.
    pub(crate) fn next_retransmission(&mut self) -> Option<&SentSegment> {
        if !self.needs_retransmission() {
            return None;
        }
        let rack = self.rack.as_mut()?;
        while let Some(Reverse(number)) = rack.lost.peek() {
            let i = number.checked_sub(self.first).map(|i| i as usize);
            if i.is_some_and(|i| self.segments[i].needs_retransmission()) {
                return i.map(|i| &self.segments[i]);
            }
            rack.lost.pop();
        }
        None
    }

    /// Returns how many lost segments from `start` on are retransmitted together: those of one burst, at most `limit`.
    /// The rest of the burst is a burst of its own from then on.
    pub(crate) fn take_burst(&mut self, start: u64, limit: u64) -> u64 {
        let Some(first) = self.index_of(start) else { return 1 };
        self.segments[first].follows_in_burst = false;
        let same_burst = |s: &&SentSegment| s.follows_in_burst && s.needs_retransmission();
        let follow = self.segments.iter().skip(first + 1).take_while(same_burst).count() as u64;
        let taken = (1 + follow).min(limit.max(1));
        if let Some(next) = self.segments.get_mut(first + taken as usize) {
            next.follows_in_burst = false;
        }
        taken
    }

    /// Removes all loss marks: the losses were spurious [Linux tcp_input.c tcp_undo_cwnd_reduction: unmark_loss].
    pub(crate) fn unmark_losses(&mut self) {
        for i in 0..self.segments.len() {
            if self.segments[i].lost && !self.segments[i].sacked {
                self.change(i, |s| s.lost = false);
            }
        }
        let Some(rack) = &mut self.rack else { return };
        rack.lost.clear();
        let mut in_flight: Vec<(Time, u64, u64)> = (self.first..)
            .zip(&self.segments)
            .filter(|(_, s)| !s.sacked)
            .map(|(number, s)| (s.xmit_ts, s.end, number))
            .collect();
        in_flight.sort_unstable();
        for (_, _, number) in in_flight {
            rack.transmissions.retransmit(number);
        }
    }
}
