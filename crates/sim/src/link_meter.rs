//! The figures of one direction of a link.
//!
//! A link may run ahead of the clock (see [`crate::network`]), so each figure looks at the time it is told instead of
//! being reset when measurement begins.

use crate::meter::{BacklogMeter, Spans};
use dumbbell_qdisc::{Backlog, DropReason};
use dumbbell_units::{Dur, Time};

/// Counts of packets.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Counts {
    pub(crate) arrivals: u64,
    pub(crate) departures: u64,
    pub(crate) departed_bytes: u64,
    pub(crate) drops: [u64; DropReason::ALL.len()],
    pub(crate) marks: u64,
}

impl Counts {
    /// Packets dropped at the entrance or in the queue; what the wire loses has departed.
    pub(crate) fn queue_drops(&self) -> u64 {
        self.drops.iter().sum::<u64>() - self.drops[DropReason::Loss as usize]
    }
}

#[derive(Clone, Debug)]
pub(crate) struct LinkMeter {
    from: Time,
    end: Time,
    /// Before measurement, and from its beginning on.
    counts: [Counts; 2],
    pub(crate) busy: Dur,
    pub(crate) backlog: BacklogMeter,
    pub(crate) sojourn: Spans,
}

impl LinkMeter {
    pub(crate) fn new(from: Time, end: Time) -> LinkMeter {
        LinkMeter {
            from,
            end,
            counts: Default::default(),
            busy: Dur::ZERO,
            backlog: BacklogMeter::new(from),
            sojourn: Spans::new(),
        }
    }

    /// The counts of the period that `now` lies in.
    #[inline]
    pub(crate) fn counts(&mut self, now: Time) -> &mut Counts {
        &mut self.counts[usize::from(now >= self.from)]
    }

    /// The counts of the measurement.
    pub(crate) fn measured(&self) -> &Counts {
        &self.counts[1]
    }

    /// Packets waiting when measurement began.
    pub(crate) fn waiting_at_start(&self) -> u64 {
        let before = &self.counts[0];
        before.arrivals - before.departures - before.queue_drops()
    }

    /// Arrival and departure of a packet that doesn't wait.
    #[inline]
    pub(crate) fn passes(&mut self, now: Time, until: Time, bytes: u32) {
        self.counts(now).arrivals += 1;
        self.departure(now, until, bytes, Dur::ZERO);
    }

    #[inline]
    pub(crate) fn departure(&mut self, now: Time, until: Time, bytes: u32, sojourn: Dur) {
        let counts = self.counts(now);
        counts.departures += 1;
        counts.departed_bytes += u64::from(bytes);
        self.busy += until.min(self.end).since(now.max(self.from));
        if now >= self.from {
            self.sojourn.record(sojourn);
        }
    }

    #[inline]
    pub(crate) fn waiting(&mut self, backlog: Backlog, now: Time) {
        self.backlog.set(backlog, now);
    }
}
