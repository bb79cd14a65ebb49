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
    /// Copies put on the wire.
    pub(crate) duplicated: u64,
    /// Arrivals at the other end behind a packet that was sent later.
    pub(crate) reordered: u64,
}

impl Counts {
    /// Packets dropped at the entrance or in the queue; what the wire loses has departed.
    pub(crate) fn queue_drops(&self) -> u64 {
        self.drops.iter().sum::<u64>() - self.wire_losses()
    }

    /// Packets lost after their departure.
    pub(crate) fn wire_losses(&self) -> u64 {
        DropReason::WIRE.iter().map(|r| self.drops[*r as usize]).sum()
    }
}

#[derive(Clone, Debug)]
pub(crate) struct LinkMeter {
    from: Time,
    end: Time,
    /// Before measurement, and from its beginning on.
    counts: [Counts; 2],
    pub(crate) busy: Dur,
    /// Packets that departed before measurement and arrive in it.
    pub(crate) on_wire_at_start: u64,
    /// Largest extent of a reordered packet, since measurement began.
    pub(crate) largest_extent: u64,
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
            on_wire_at_start: 0,
            largest_extent: 0,
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

    /// Arrival and departure of a packet that doesn't wait; it arrives at the other end at `arrival`.
    #[inline]
    pub(crate) fn passes(&mut self, now: Time, until: Time, bytes: u32, arrival: Time) {
        self.counts(now).arrivals += 1;
        self.departure(now, until, bytes, Dur::ZERO, arrival);
    }

    #[inline]
    pub(crate) fn departure(&mut self, now: Time, until: Time, bytes: u32, sojourn: Dur, arrival: Time) {
        let counts = self.counts(now);
        counts.departures += 1;
        counts.departed_bytes += u64::from(bytes);
        self.busy += until.min(self.end).since(now.max(self.from));
        if now >= self.from {
            self.sojourn.record(sojourn);
        } else {
            self.on_wire_at_start += u64::from(arrival >= self.from);
        }
    }

    /// A copy sets out with its original, to arrive at `arrival`.
    pub(crate) fn copied(&mut self, now: Time, arrival: Time) {
        self.counts(now).duplicated += 1;
        self.on_wire_at_start += u64::from(now < self.from && arrival >= self.from);
    }

    /// A packet that was to arrive at `until` will do so at `arrival`, before that.
    pub(crate) fn arrives_earlier(&mut self, now: Time, until: Time, arrival: Time) {
        if now < self.from && until >= self.from && arrival < self.from {
            self.on_wire_at_start -= 1;
        }
    }

    /// A packet arrives behind one that was sent later.
    pub(crate) fn reordered(&mut self, now: Time, extent: u64) {
        self.counts(now).reordered += 1;
        if now >= self.from {
            self.largest_extent = self.largest_extent.max(extent);
        }
    }

    #[inline]
    pub(crate) fn waiting(&mut self, backlog: Backlog, now: Time) {
        self.backlog.set(backlog, now);
    }
}
