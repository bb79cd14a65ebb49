//! Metrics of one direction of a link.
//!
//! A link with lookahead runs ahead of the clock (see [`crate::network`]). Each metric therefore uses the time passed
//! with the call, and nothing is reset when the measurement begins.
//!
//! On most links no packet ever waits and none is dropped, so that the metrics of these have records of their own: a
//! network of many hosts has four links for each flow.

use crate::meter::{BacklogMeter, DurationStats};
use dumbbell_qdisc::{Backlog, DropReason};
use dumbbell_units::{Dur, Time};

/// Counts of packets.
#[derive(Clone, Debug, Default)]
pub(crate) struct Counts {
    pub(crate) arrivals: u64,
    pub(crate) departures: u64,
    pub(crate) departed_bytes: u64,
    rare: Option<Box<RareCounts>>,
}

/// Counts of rare events.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RareCounts {
    pub(crate) drops: [u64; DropReason::ALL.len()],
    pub(crate) marks: u64,
    /// Duplicates put on the wire.
    pub(crate) duplicated: u64,
    /// Packets that arrived after a packet sent later.
    pub(crate) reordered: u64,
    /// Largest reordering extent.
    pub(crate) largest_extent: u64,
}

impl Counts {
    /// Counts of rare events.
    pub(crate) fn rare(&self) -> &RareCounts {
        self.rare.as_deref().unwrap_or(&RareCounts::NONE)
    }

    pub(crate) fn rare_mut(&mut self) -> &mut RareCounts {
        self.rare.get_or_insert_with(|| Box::new(RareCounts::NONE))
    }
}

impl RareCounts {
    const NONE: RareCounts =
        RareCounts { drops: [0; DropReason::ALL.len()], marks: 0, duplicated: 0, reordered: 0, largest_extent: 0 };

    /// Packets dropped before or in the queue. Packets lost on the wire have departed.
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
    measured: Counts,
    /// Boxed, because most runs are measured from their start.
    before: Option<Box<Before>>,
    pub(crate) busy: Dur,
    /// Packets of the measurement that did not wait.
    undelayed: u64,
    waits: Option<Box<Waits>>,
}

/// Counts of the time before the measurement.
#[derive(Clone, Debug, Default)]
struct Before {
    counts: Counts,
    /// Packets that departed before the measurement and arrive during it.
    on_wire_at_start: u64,
}

/// Metrics of packets that wait.
#[derive(Clone, Debug)]
pub(crate) struct Waits {
    pub(crate) backlog: BacklogMeter,
    pub(crate) sojourn: DurationStats,
}

impl Waits {
    #[cold]
    fn boxed(from: Time) -> Box<Waits> {
        Box::new(Waits::new(from))
    }

    fn new(from: Time) -> Waits {
        Waits { backlog: BacklogMeter::new(from), sojourn: DurationStats::new() }
    }
}

impl LinkMeter {
    pub(crate) fn new(from: Time, end: Time) -> LinkMeter {
        LinkMeter { from, end, measured: Counts::default(), before: None, busy: Dur::ZERO, undelayed: 0, waits: None }
    }

    #[inline]
    fn waits(&mut self) -> &mut Waits {
        let from = self.from;
        self.waits.get_or_insert_with(|| Waits::boxed(from))
    }

    /// Takes the metrics of waiting, those of packets that did not wait included.
    pub(crate) fn take_waits(&mut self) -> Waits {
        let mut waits = self.waits.take().map_or_else(|| Waits::new(self.from), |waits| *waits);
        waits.sojourn.record_zeros(std::mem::take(&mut self.undelayed));
        waits
    }

    /// Counts of the period that contains `now`.
    #[inline]
    pub(crate) fn counts(&mut self, now: Time) -> &mut Counts {
        if now >= self.from { &mut self.measured } else { &mut self.before().counts }
    }

    #[inline(never)]
    fn before(&mut self) -> &mut Before {
        self.before.get_or_insert_default()
    }

    /// Counts marked packets.
    #[inline(never)] // rare
    pub(crate) fn marked(&mut self, marks: u64, now: Time) {
        self.counts(now).rare_mut().marks += marks;
    }

    /// Counts of the measurement.
    pub(crate) fn measured(&self) -> &Counts {
        &self.measured
    }

    /// Packets waiting when the measurement began.
    pub(crate) fn waiting_at_start(&self) -> u64 {
        let before = self.before.as_ref().map(|before| &before.counts);
        before.map_or(0, |b| b.arrivals - b.departures - b.rare().queue_drops())
    }

    /// Packets in transmission or on the wire when the measurement began.
    pub(crate) fn on_wire_at_start(&self) -> u64 {
        self.before.as_ref().map_or(0, |before| before.on_wire_at_start)
    }

    /// Counts a packet that is in transmission or on the wire when the measurement begins.
    pub(crate) fn is_on_wire_at_start(&mut self) {
        self.before().on_wire_at_start += 1;
    }

    /// True if a transmission from `now` until `until` is within the measurement.
    #[inline]
    pub(crate) fn contains(&self, now: Time, until: Time) -> bool {
        now >= self.from && until <= self.end
    }

    /// The start of the measurement.
    #[inline]
    pub(crate) fn from(&self) -> Time {
        self.from
    }

    /// The time from the start of the measurement in which a transmission of `time` can begin that ends within it.
    pub(crate) fn room_for(&self, time: Dur) -> Dur {
        (self.end.since(self.from) + Dur(1)).saturating_sub(time)
    }

    /// Records a packet that does not wait; it arrives at the other end at `arrival`.
    #[inline(never)] // rare: within the measurement such packets are counted by size, see [`LinkMeter::left`]
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
            if sojourn == Dur::ZERO {
                self.undelayed += 1;
            } else {
                self.waits().sojourn.record_positive(sojourn);
            }
        } else if arrival >= self.from {
            self.is_on_wire_at_start();
        }
    }

    /// Records the waiting of a packet that comes and leaves within the measurement; [`LinkMeter::left`] and
    /// [`LinkMeter::have_waited`] count it.
    #[inline]
    pub(crate) fn waited(&mut self, sojourn: Dur) {
        self.waits().sojourn.record(sojourn);
    }

    /// Adds packets of `bytes` to the backlog that have waited `ns` together, after the start.
    pub(crate) fn have_waited(&mut self, bytes: u32, ns: u64) {
        self.waits().backlog.add_spans(bytes, ns.into());
    }

    /// Records the waiting of a packet from `since` until `until`, which may be before the measurement.
    #[inline]
    pub(crate) fn waits_from(&mut self, bytes: u32, since: Time, until: Time) {
        self.waits().backlog.add(bytes, since, until);
    }

    /// Adds packets of `bytes` that came and left within the measurement: those that did not wait, and those that did;
    /// `time`: the transmission of one.
    pub(crate) fn left(&mut self, passed: u64, waited: u64, bytes: u32, time: Dur) {
        let packets = passed + waited;
        let counts = &mut self.measured;
        counts.arrivals += packets;
        counts.departures += packets;
        counts.departed_bytes += packets * u64::from(bytes);
        self.busy += time * packets;
        self.undelayed += passed;
    }

    /// Records a duplicate that arrives at `arrival`.
    pub(crate) fn copied(&mut self, now: Time, arrival: Time) {
        self.counts(now).rare_mut().duplicated += 1;
        if now < self.from && arrival >= self.from {
            self.is_on_wire_at_start();
        }
    }

    /// Records that a packet's arrival moved from `until` forward to `arrival`.
    pub(crate) fn arrives_earlier(&mut self, now: Time, until: Time, arrival: Time) {
        if now < self.from && until >= self.from && arrival < self.from {
            self.before().on_wire_at_start -= 1;
        }
    }

    /// Records a reordered packet.
    pub(crate) fn reordered(&mut self, now: Time, extent: u64) {
        let counts = self.counts(now).rare_mut();
        counts.reordered += 1;
        counts.largest_extent = counts.largest_extent.max(extent);
    }

    #[inline]
    pub(crate) fn waiting(&mut self, backlog: Backlog, now: Time) {
        match &mut self.waits {
            Some(waits) => waits.backlog.set(backlog, now),
            None if backlog == Backlog::default() => {}
            None => self.waits().backlog.set(backlog, now),
        }
    }
}
