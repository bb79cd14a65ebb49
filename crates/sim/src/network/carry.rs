//! Packets pass links.

use super::slots::LinkEvent;
use super::{Arrived, Network, Onward, PacketFate, Step};
use crate::inbox::Incoming;
use crate::packets::Body;
use crate::record::PacketEvent;
use dumbbell_plan::LOCAL;
use dumbbell_qdisc::{DropReason, Packet};
use dumbbell_units::Time;
use dumbbell_units::flow_number::direction_of;

impl Network {
    /// A packet arrives at a link, now, or later on a link with lookahead. Continues over all following links that have
    /// lookahead.
    #[inline(always)] // in the four places of the usual path
    pub(super) fn carry(&mut self, mut link: usize, mut moving: Incoming) {
        loop {
            let (first, at) = (&mut self.links[link], moving.at);
            let onward = if first.is_idle_fifo(at) {
                moving.packet.enqueued = at;
                moving.at = first.cut_through_fifo(moving.packet.bytes, at);
                first.onward
            } else if first.fifo.is_some() {
                match first.enter_busy_fifo(&mut moving.packet, at, self.end) {
                    Some(arrival) if arrival < Time::NEVER => moving.at = arrival,
                    Some(_) => return, // its transmission begins after the end of the run
                    None => return self.drop_from_fifo(link, moving.packet, at),
                }
                first.onward
            } else {
                let Some((at, packet)) = self.pass(link, moving.packet, at) else { return };
                (moving.at, moving.packet) = (at, packet);
                self.links[link].onward
            };
            moving.link = link as u32;
            match self.send_on(onward, moving) {
                Some((next, same)) => (link, moving) = (next, same),
                None => return,
            }
        }
    }

    /// The same, compiled once.
    #[inline(never)]
    fn carry_on(&mut self, link: usize, packet: Packet, at: Time) {
        self.carry(link, Incoming { at, packet, link: 0 });
    }

    /// A link with a plain FIFO drops a packet.
    #[cold]
    fn drop_from_fifo(&mut self, link: usize, packet: Packet, at: Time) {
        let packet = self.links[link].drop_from_fifo(packet, at);
        self.dropped_at(link, &packet, DropReason::Full, at);
    }

    /// A packet arrives at a link whose discipline is called. Returns the packet whose transmission begins at once, if
    /// any, and its arrival time at the other end.
    #[inline(never)]
    fn pass(&mut self, link: usize, mut packet: Packet, at: Time) -> Option<(Time, Packet)> {
        // A transmission that ends at this instant ends first: the arriving packet finds its place in the queue free.
        while let Some(due) = self.links[link].dequeue_due_by(at) {
            self.dequeue_next(link, due);
        }
        if let Some(captures) = &mut self.captures {
            captures.at_link(link, packet.body, packet.ecn, at);
        }
        if self.links[link].air.is_some() {
            self.enter_air(link, packet, at);
            return None;
        }
        let first = &mut self.links[link];
        if first.can_cut_through(at) {
            packet.enqueued = at;
            return Some((first.cut_through(packet.bytes, at), packet));
        }
        let has_data = |packet: &Packet| self.pool.get(packet.body).data;
        let leaves = first.enter(packet, at, &mut self.events, has_data);
        self.collect_losses_and_copies(link, at);
        leaves
    }

    /// Puts a packet onto a link's wire, to arrive at `at`. Returns the packet and the next link, if that has
    /// lookahead.
    #[inline]
    pub(crate) fn put_on_wire(&mut self, link: usize, at: Time, packet: Packet) -> Option<(usize, Packet)> {
        let onward = self.links[link].onward;
        let moving = Incoming { at, packet, link: link as u32 };
        self.send_on(onward, moving).map(|(next, moving)| (next, moving.packet))
    }

    /// The same; `onward`: the step after the link.
    #[inline(always)] // as a part of the loop of `carry`
    fn send_on(&mut self, onward: Onward, moving: Incoming) -> Option<(usize, Incoming)> {
        let Onward { step, next } = self.onward.of(onward, direction_of(moving.packet.flow));
        if step == Step::Inbox {
            self.links[next as usize].receive(moving, &mut self.events);
        } else if moving.at > self.end || step == Step::Event {
            self.links[moving.link as usize].put_on_wire(moving.at, moving.packet, &mut self.events);
        } else if step == Step::Lookahead {
            return Some((next as usize, moving));
        } else {
            self.ahead.push(moving);
        }
        None
    }

    /// The n-th packet of the list `ahead`, as it arrives, and the time. None: its destination may not process it now,
    /// as far as the network is concerned.
    #[inline]
    pub(crate) fn arrives_ahead(&self, n: usize) -> Option<(Arrived, Time)> {
        let Incoming { at, link, packet: Packet { bytes, flow, body, ecn, .. } } = self.ahead[n];
        let may = self.links[link as usize].is_wire_empty()
            && self.pool.get(body).copies.is_none()
            && (at < self.measure_from || self.now >= self.measure_from);
        may.then_some((Arrived { flow, bytes, body, ecn, is_first: true }, at))
    }

    /// The packet is processed ahead of the clock, at `at`.
    #[inline]
    pub(crate) fn begin_ahead(&mut self, packet: &Arrived, at: Time) {
        self.now = at;
        self.record_packet(PacketEvent::Received, packet.flow, packet.body, packet.bytes, at);
    }

    /// The n-th packet of the list `ahead` is processed when it arrives.
    pub(crate) fn not_ahead(&mut self, n: usize) {
        let Incoming { at, link, packet: Packet { bytes, flow, body, class, ecn, enqueued } } = self.ahead[n];
        let packet = Packet { bytes, flow, body, class, ecn, enqueued };
        self.links[link as usize].put_on_wire(at, packet, &mut self.events);
    }

    fn dequeue_next(&mut self, link: usize, at: Time) {
        let leaves = self.links[link].dequeue_next(at, &mut self.events);
        self.collect_losses_and_copies(link, at);
        let Some((arrival, packet)) = leaves else { return };
        if let Some((next, packet)) = self.put_on_wire(link, arrival, packet) {
            self.carry_on(next, packet, arrival);
        }
    }

    /// Processes the arrivals and dequeues of a link up to and including `until`.
    fn run_link(&mut self, link: usize, until: Time) {
        while let Some(incoming) = self.links[link].next_incoming(until) {
            self.carry(link, incoming);
        }
        while let Some(due) = self.links[link].dequeue_due_by(until) {
            self.dequeue_next(link, due);
        }
    }

    /// The run is over: links that are late process the rest.
    pub(crate) fn catch_up(&mut self) {
        for link in 0..self.links.len() {
            self.run_link(link, self.end);
        }
        for link in 0..self.links.len() {
            let inbox = self.links[link].inbox.take().unwrap_or_default();
            for from in inbox.links() {
                self.links[from as usize].in_inboxes += 1;
            }
        }
    }

    /// Frees the packets that a link has dropped, and puts its duplicates on the wire.
    #[inline(always)] // nearly always the link has none
    fn collect_losses_and_copies(&mut self, link: usize, at: Time) {
        if self.links[link].has_losses_or_copies() {
            self.handle_losses_and_copies(link, at);
        }
    }

    #[inline(never)]
    pub(crate) fn handle_losses_and_copies(&mut self, link: usize, at: Time) {
        for (arrival, mut copy) in self.links[link].take_copies() {
            let original = copy.body;
            let body = self.pool.get_mut(original);
            body.copies = Some(self.copies.add(body.copies));
            self.duplicated[direction_of(copy.flow) as usize] += u64::from(body.measured);
            copy.body = self.pool.copy(original);
            let path = &mut self.paths[direction_of(copy.flow) as usize];
            path.packets = path.packets.wrapping_add(1);
            if let Some(captures) = &mut self.captures {
                captures.copied(link, original, copy.body);
            }
            if let Some(fates) = &mut self.fates {
                fates.push(PacketFate::Copied { of: original, to: copy.body });
            }
            self.links[link].put_on_wire(arrival, copy, &mut self.events);
        }
        while let Some((packet, reason)) = self.links[link].take_dropped(at) {
            self.dropped_at(link, &packet, reason, at);
        }
    }

    /// A link has dropped a packet.
    fn dropped_at(&mut self, link: usize, packet: &Packet, reason: DropReason, at: Time) {
        if let Some(captures) = &mut self.captures {
            captures.dropped(link, packet.body, reason);
        }
        self.record_packet(PacketEvent::Dropped, packet.flow, packet.body, packet.bytes, at);
        let Body { measured, copies, .. } = *self.body(packet.body);
        let lost = copies.is_none_or(|id| self.copies.dropped(id));
        self.dropped[direction_of(packet.flow) as usize] += u64::from(measured && lost);
        if let Some(fates) = &mut self.fates {
            fates.push(PacketFate::Dropped { handle: packet.body, lost });
        }
        let path = &mut self.paths[direction_of(packet.flow) as usize];
        path.packets = path.packets.wrapping_sub(1);
        self.free(packet.body);
    }

    /// Processes a link's event. Returns the packet that has reached its destination, if any; the caller frees it.
    #[inline]
    pub(crate) fn on_link_event(&mut self, slot: usize) -> Option<Arrived> {
        let link = match self.slots.link_event(slot) {
            LinkEvent::Arrival(link) => link,
            LinkEvent::Wake(link) => {
                if self.links[link].air.is_some() {
                    self.run_air(link);
                } else {
                    self.run_link(link, self.now);
                    self.links[link].wake_again(&mut self.events);
                }
                return None;
            }
        };
        let link = &mut self.links[link];
        let packet = link.arrive(&mut self.events)?;
        if !link.is_fifo() {
            link.record_reordering(packet.body, self.now);
        }
        if let Some(captures) = &mut self.captures {
            captures.at_node(link.to(), packet.body, packet.ecn, self.now);
        }
        let next = self.routes.next(link.to(), packet.flow);
        if next == LOCAL {
            let Packet { bytes, flow, body, ecn, .. } = packet;
            self.record_packet(PacketEvent::Received, flow, body, bytes, self.now);
            let is_first = self.pool.get(body).copies.is_none_or(|id| self.copies.arrives(id));
            return Some(Arrived { flow, bytes, body, ecn, is_first });
        }
        self.carry_on(next as usize, packet, self.now);
        None
    }
}
