//! The timers of a workload's connections, in one heap.

use dumbbell_units::Time;
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// A timer that expires. Those of one instant expire by slot, the data sender's first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Due {
    pub(super) at: Time,
    pub(super) slot: u32,
    pub(super) side: u8,
    /// Number of the connection: the slot may have another one by then.
    pub(super) connection: u32,
}

/// See the top of this file.
#[derive(Debug)]
pub(super) struct Timers {
    heap: BinaryHeap<Reverse<Due>>,
    /// Time of the flow's event.
    scheduled: Time,
}

impl Default for Timers {
    fn default() -> Timers {
        Timers { heap: BinaryHeap::new(), scheduled: Time::NEVER }
    }
}

impl Timers {
    /// Adds a timer; returns its time if the flow's event has to be scheduled for it.
    pub(super) fn add(&mut self, due: Due) -> Option<Time> {
        self.heap.push(Reverse(due));
        (due.at < self.scheduled).then(|| {
            self.scheduled = due.at;
            due.at
        })
    }

    /// Takes a timer that is due.
    pub(super) fn pop(&mut self, now: Time) -> Option<Due> {
        if self.scheduled <= now {
            self.scheduled = Time::NEVER;
        }
        let Reverse(due) = *self.heap.peek()?;
        (due.at <= now).then(|| {
            self.heap.pop();
            due
        })
    }

    /// The time for which the flow's event has to be scheduled, if it is not scheduled.
    pub(super) fn first(&mut self) -> Option<Time> {
        let Reverse(first) = *self.heap.peek()?;
        (first.at < self.scheduled).then(|| {
            self.scheduled = first.at;
            first.at
        })
    }
}
