//! The slots of the event queue: the next arrival at the end of each link, the next other event of the links that have
//! some, the timers of the flows, the start of the measurement.
//!
//! Most links of hosts have arrivals only: the departure of a packet is known when it enters.

use crate::flows::TIMERS;
use crate::link::Link;

/// See the top of this file.
#[derive(Debug)]
pub(crate) struct Slots {
    links: usize,
    /// The links with other events, in the order of the slots of these.
    waking: Vec<u32>,
    timers: usize,
}

/// An event of a link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum LinkEvent {
    /// A packet arrives at its end.
    Arrival(usize),
    /// It processes packets in its inbox or its queue.
    Wake(usize),
}

impl Slots {
    /// The slots of links and flows; the links receive theirs.
    pub(super) fn new(links: &mut [Link], flows: usize) -> Slots {
        let arrivals = links.len() as u32;
        let mut waking = Vec::new();
        for (number, link) in (0..).zip(links.iter_mut()).filter(|(_, link)| link.wakes()) {
            link.wake_slot = arrivals + waking.len() as u32;
            waking.push(number);
        }
        Slots { links: links.len(), waking, timers: TIMERS * flows }
    }

    /// Number of all slots.
    pub(super) fn count(&self) -> usize {
        self.measurement() + 1
    }

    /// The slot of the first timer of the first flow; those of the links come before.
    pub(crate) fn first_timer(&self) -> usize {
        self.links + self.waking.len()
    }

    /// The slot of the start of the measurement.
    pub(crate) fn measurement(&self) -> usize {
        self.first_timer() + self.timers
    }

    /// The event of a link's slot.
    #[inline]
    pub(super) fn link_event(&self, slot: usize) -> LinkEvent {
        match slot.checked_sub(self.links) {
            None => LinkEvent::Arrival(slot),
            Some(place) => LinkEvent::Wake(self.waking[place] as usize),
        }
    }
}
