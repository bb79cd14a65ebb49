//! The packets that an external discipline has been given and has neither returned nor dropped.

use crate::{Backlog, DropReason, Packet, QdiscContext};
use std::collections::VecDeque;

/// Bits of a handle that name its place; the others count how often the place was used.
const PLACE_BITS: u32 = 20;
/// Most packets that a queue can hold. A discipline without a limit would otherwise use all memory.
const MOST: usize = 1 << PLACE_BITS;

/// A packet in [`Held`]. A handle of a packet that has left is refused, also when its place is used again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Handle(pub u32);

impl Handle {
    fn place(self) -> usize {
        (self.0 as usize) & (MOST - 1)
    }

    /// Returns the handle of the next packet at this place.
    fn next(self) -> Handle {
        Handle(self.0.wrapping_add(1 << PLACE_BITS))
    }
}

#[derive(Debug)]
struct Place {
    handle: Handle,
    /// The packet, with its number in the order of arrival.
    packet: Option<(Packet, u64)>,
}

/// See the top of this file.
#[derive(Debug, Default)]
pub struct Held {
    places: Vec<Place>,
    free: VecDeque<u32>,
    backlog: Backlog,
    arrived: u64,
}

impl Held {
    /// Takes a packet that arrives.
    ///
    /// # Errors
    /// The queue holds as many packets as it can; the packet is returned.
    pub fn admit(&mut self, packet: Packet) -> Result<Handle, Packet> {
        let backlog = self.backlog + Backlog { packets: 1, bytes: u64::from(packet.bytes) };
        let place = match self.free.pop_front() {
            Some(place) => place as usize,
            None if self.places.len() == MOST => return Err(packet),
            None => {
                self.places.push(Place { handle: Handle(self.places.len() as u32), packet: None });
                self.places.len() - 1
            }
        };
        let place = &mut self.places[place];
        place.packet = Some((packet, self.arrived));
        self.arrived += 1;
        self.backlog = backlog;
        Ok(place.handle)
    }

    /// Returns a packet.
    #[must_use]
    pub fn get(&self, handle: Handle) -> Option<&Packet> {
        self.places.get(handle.place()).filter(|p| p.handle == handle)?.packet.as_ref().map(|(packet, _)| packet)
    }

    /// Returns the number of a packet: packets are numbered from 0 in the order of arrival.
    #[must_use]
    pub fn number(&self, handle: Handle) -> Option<u64> {
        self.places.get(handle.place()).filter(|p| p.handle == handle)?.packet.as_ref().map(|(_, number)| *number)
    }

    /// Removes a packet that leaves; None if it isn't here.
    pub fn release(&mut self, handle: Handle) -> Option<Packet> {
        let place = self.places.get_mut(handle.place()).filter(|p| p.handle == handle)?;
        let (packet, _) = place.packet.take()?;
        place.handle = handle.next();
        self.free.push_back(handle.place() as u32);
        self.backlog.remove(&packet);
        Some(packet)
    }

    /// Drops a packet; false if it isn't here.
    #[must_use]
    pub fn drop_packet(&mut self, handle: Handle, reason: DropReason, cx: &mut QdiscContext) -> bool {
        let Some(packet) = self.release(handle) else { return false };
        cx.drop_packet(packet, reason);
        true
    }

    /// Marks a packet "congestion experienced" if it is ECN-capable; returns whether it is, None if it isn't here.
    #[must_use]
    pub fn mark(&mut self, handle: Handle, cx: &mut QdiscContext) -> Option<bool> {
        let place = self.places.get_mut(handle.place()).filter(|p| p.handle == handle)?;
        let (packet, _) = place.packet.as_mut()?;
        Some(cx.mark(packet))
    }

    /// Returns the packets that wait.
    #[must_use]
    pub fn backlog(&self) -> Backlog {
        self.backlog
    }

    /// Describes the packets that wait by their numbers, the first of them if they are many.
    #[must_use]
    pub fn describe(&self) -> String {
        const SHOWN: usize = 5;
        let mut numbers: Vec<u64> = self.places.iter().filter_map(|p| p.packet.as_ref().map(|(_, n)| *n)).collect();
        numbers.sort_unstable();
        let shown: Vec<String> = numbers.iter().take(SHOWN).map(u64::to_string).collect();
        let more = if numbers.len() > SHOWN { ", ..." } else { "" };
        match numbers.len() {
            1 => format!("1 packet waits (number {})", shown.join("")),
            n => format!("{n} packets wait (numbers {}{more})", shown.join(", ")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Ecn;
    use dumbbell_units::Time;

    fn packet(bytes: u32) -> Packet {
        Packet { bytes, flow: 0, body: 0, class: 0, ecn: Ecn::ECT0, enqueued: Time::ZERO }
    }

    #[test]
    fn a_handle_is_valid_once() {
        let (mut held, mut cx) = (Held::default(), QdiscContext::default());
        let first = held.admit(packet(100)).unwrap();
        let second = held.admit(packet(50)).unwrap();
        assert_eq!(held.backlog(), Backlog { packets: 2, bytes: 150 });
        assert_eq!(held.describe(), "2 packets wait (numbers 0, 1)");
        assert_eq!(held.mark(second, &mut cx), Some(true));
        assert!(held.drop_packet(first, DropReason::Early, &mut cx));
        assert!(!held.drop_packet(first, DropReason::Early, &mut cx));
        assert!(held.get(first).is_none() && held.mark(first, &mut cx).is_none());
        // The place of the first is used again; its old handle stays invalid.
        let third = held.admit(packet(7)).unwrap();
        assert_eq!((third.place(), held.number(third)), (first.place(), Some(2)));
        assert!(held.release(first).is_none());
        assert_eq!(held.release(third).map(|p| p.bytes), Some(7));
        assert_eq!(held.release(second).map(|p| p.ecn), Some(Ecn::CE));
        assert_eq!(held.backlog(), Backlog::default());
        assert_eq!(
            (cx.take_dropped().map(|(p, r)| (p.bytes, r)), cx.take_marked()),
            (Some((100, DropReason::Early)), 1)
        );
    }
}
