//! The wire of a link: a FIFO of known arrival times, into which jitter and duplication insert packets.

use super::Link;
use crate::events::{EventQueue, Kind};
use crate::impairments::Transit;
use dumbbell_qdisc::Packet;
use dumbbell_units::Time;

impl Link {
    /// Puts a packet onto a wire that may reorder, and releases held packets that enough others have overtaken.
    pub(super) fn put_on_reordering_wire(
        &mut self,
        transit: Transit,
        packet: Packet,
        now: Time,
        events: &mut EventQueue,
    ) {
        let Some(reorder) = self.impairments.as_mut().and_then(|x| x.reorder.as_mut()) else { return };
        reorder.on_sent(packet.body);
        let mut released = Vec::new();
        match transit.extent {
            Some(extent) => reorder.hold(packet.body, extent, transit.regular),
            None if transit.selected => {}
            None => released = reorder.on_passed(transit.at),
        }
        if let Some(at) = transit.copy {
            let Packet { bytes, flow, body, class, ecn, enqueued } = packet;
            reorder.copies.push((at, Packet { bytes, flow, body, class, ecn, enqueued }));
            self.meter.copied(now, at);
        }
        self.put_on_wire(transit.at, packet, events);
        for (body, at) in released {
            self.release_held(body, at, now, events);
        }
    }

    /// Moves the arrival of a held packet forward to `at`, unless it arrives earlier.
    fn release_held(&mut self, body: u32, at: Time, now: Time, events: &mut EventQueue) {
        let waits = |(until, packet): &(Time, Packet)| packet.body == body && *until > at;
        let place = self.wire.iter().position(waits);
        if let Some((until, packet)) = place.and_then(|i| self.wire.remove(i)) {
            self.meter.arrives_earlier(now, until, at);
            self.put_on_wire(at, packet, events);
        }
    }

    /// Takes the duplicates of packets just sent. Each needs its own slot in the packet pool before it is put on the
    /// wire.
    pub(crate) fn take_copies(&mut self) -> Vec<(Time, Packet)> {
        let reorder = self.impairments.as_mut().and_then(|x| x.reorder.as_mut());
        reorder.map(|d| std::mem::take(&mut d.copies)).unwrap_or_default()
    }

    /// True if no packet waits for the event of its arrival.
    #[inline]
    pub(crate) fn is_wire_empty(&self) -> bool {
        self.wire.is_empty()
    }

    /// Number of packets in transmission or on the wire.
    pub(crate) fn packets_on_wire(&self) -> u64 {
        self.wire.len() as u64 + u64::from(self.in_inboxes)
    }

    /// Puts a packet on the wire, to arrive at `at`.
    #[inline]
    pub(crate) fn put_on_wire(&mut self, at: Time, packet: Packet, events: &mut EventQueue) {
        if self.wire.back().is_some_and(|(last, _)| *last <= at) {
            self.wire.push_back((at, packet));
        } else {
            self.insert_on_wire(at, packet, events);
        }
    }

    /// Slow path of [`Link::put_on_wire`]: the wire is empty, or the packet overtakes others.
    #[cold]
    fn insert_on_wire(&mut self, at: Time, packet: Packet, events: &mut EventQueue) {
        let place = self.wire.partition_point(|(t, _)| *t <= at);
        if place == 0 {
            self.schedule_arrival(at, &packet, events);
        }
        self.wire.insert(place, (at, packet));
    }

    /// Takes the first packet off the wire and schedules the next arrival.
    #[inline]
    pub(crate) fn arrive(&mut self, events: &mut EventQueue) -> Option<Packet> {
        let (_, packet) = self.wire.pop_front()?;
        if let Some((at, next)) = self.wire.front() {
            self.schedule_arrival(*at, next, events);
        }
        Some(packet)
    }

    #[inline]
    fn schedule_arrival(&self, at: Time, packet: &Packet, events: &mut EventQueue) {
        events.schedule(self.arrival_slot as usize, at, Kind::Arrival(at.since(packet.enqueued)));
    }

    /// Records the reordering extent of a packet that has arrived.
    #[inline(never)]
    pub(crate) fn record_reordering(&mut self, body: u32, now: Time) {
        let reorder = self.impairments.as_mut().and_then(|x| x.reorder.as_mut());
        if let Some(extent) = reorder.and_then(|d| d.on_arrival(body)) {
            self.meter.reordered(now, extent);
        }
    }
}
