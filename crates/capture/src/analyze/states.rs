//! The states of the connections by slot. Those with recent segments are ready for use, at most [`Options::max_ready`]
//! of them; the others are [packed](crate::pack), and unpacked with their next segment. The choice is that of the
//! second-chance (clock) algorithm. Where most segments are of a packed connection, keeping many ready only costs cache
//! misses: then [`LEAST`] are kept, until a review finds that more would help. Results do not depend on it.
//!
//! [`Options::max_ready`]: super::Options::max_ready

use std::net::IpAddr;

use crate::flow::Connection;
use crate::pack::{Pack, Packer, fields, unpack, unpack_into};
use crate::series::Series;

/// Connections kept ready while most segments are of a packed one: they stay in the processor's cache.
const LEAST: usize = 256;
/// Connections unpacked from one review of the number to the next.
const REVIEW: u64 = 16_384;
/// Every so many reviews with [`LEAST`] the larger number is tried again.
const RETRY: u32 = 32;

/// A connection with the series of both directions.
pub(super) struct Open {
    pub(super) connection: Connection,
    pub(super) ends: [(IpAddr, u16); 2],
    pub(super) series: [Series; 2],
    /// True if the log has it.
    pub(super) logged: bool,
    /// True if used since the clock hand last passed.
    used: bool,
}

fields!(Open { connection, ends, series, logged, used });

impl Open {
    pub(super) fn new(connection: Connection, ends: [(IpAddr, u16); 2]) -> Self {
        Self { connection, ends, series: Default::default(), logged: false, used: true }
    }

    /// Rows of the series beyond one for each direction.
    pub(super) fn excess(&self) -> usize {
        self.series.iter().map(Series::excess).sum()
    }
}

enum State {
    Absent,
    Ready(Box<Open>),
    /// `excess`: see [`Open::excess`].
    Packed {
        bytes: Box<[u8]>,
        excess: u32,
    },
}

/// The states.
pub(super) struct States {
    slots: Vec<State>,
    /// The slots of the ready ones.
    ready: Vec<u32>,
    hand: usize,
    most: usize,
    /// Connections kept ready now: `most` or `LEAST`.
    limit: usize,
    /// Uses, and those of packed connections, since the last review.
    uses: u64,
    misses: u64,
    /// Reviews since `limit` became `LEAST`.
    reviews: u32,
    packer: Packer,
    /// Memory for the next connection that becomes ready.
    spare: Option<Box<Open>>,
}

impl States {
    /// Keeps at most `most` connections ready.
    pub(super) fn new(most: usize) -> Self {
        let most = most.max(1);
        Self {
            slots: Vec::new(),
            ready: Vec::new(),
            hand: 0,
            most,
            limit: most,
            uses: 0,
            misses: 0,
            reviews: 0,
            packer: Packer::default(),
            spare: None,
        }
    }

    /// The connection of a slot.
    #[inline]
    pub(super) fn get(&mut self, slot: usize) -> Option<&mut Open> {
        self.uses += 1;
        if let State::Packed { .. } = self.slots.get(slot)? {
            self.misses += 1;
            self.admit(slot);
            self.unpack(slot);
        }
        let State::Ready(open) = &mut self.slots[slot] else { return None };
        open.used = true;
        Some(open)
    }

    /// Makes a packed connection ready.
    fn unpack(&mut self, slot: usize) {
        let mut open = self.spare.take().unwrap_or_else(Pack::blank);
        if let State::Packed { bytes, .. } = &self.slots[slot] {
            unpack_into(&mut *open, bytes);
            self.slots[slot] = State::Ready(open);
        }
    }

    /// Begins a connection; returns the earlier one of this slot.
    #[cold]
    pub(super) fn begin(&mut self, slot: usize, open: Open) -> Option<Box<Open>> {
        if slot >= self.slots.len() {
            self.slots.resize_with(slot + 1, || State::Absent);
        }
        if !matches!(self.slots[slot], State::Ready(_)) {
            self.admit(slot);
        }
        let old = self.take(slot);
        let new = match self.spare.take() {
            Some(mut spare) => {
                *spare = open;
                spare
            }
            None => Box::new(open),
        };
        self.slots[slot] = State::Ready(new);
        old
    }

    /// Adds a slot to the ready ones. If there are too many, one that was not used recently is packed.
    #[cold]
    fn admit(&mut self, slot: usize) {
        if self.misses >= REVIEW {
            self.review();
        }
        if self.ready.len() < self.limit {
            self.ready.push(slot as u32);
            return;
        }
        // Ends after two rounds at the latest: the first round clears all `used` flags.
        loop {
            self.hand = (self.hand + 1) % self.ready.len();
            let state = &mut self.slots[self.ready[self.hand] as usize];
            if let State::Ready(open) = state {
                if std::mem::take(&mut open.used) {
                    continue;
                }
                let excess = open.excess() as u32;
                let packed = State::Packed { bytes: self.packer.pack(&**open), excess };
                if let State::Ready(open) = std::mem::replace(state, packed) {
                    self.spare = Some(open);
                }
            }
            break;
        }
        self.ready[self.hand] = slot as u32;
    }

    /// Chooses the number of connections that are kept ready.
    fn review(&mut self) {
        let most_miss = 2 * self.misses > self.uses;
        (self.uses, self.misses) = (0, 0);
        self.reviews = if self.limit < self.most { self.reviews + 1 } else { 0 };
        self.limit = if most_miss && self.reviews < RETRY { LEAST.min(self.most) } else { self.most };
        for slot in self.ready.drain(self.limit.min(self.ready.len())..) {
            let state = &mut self.slots[slot as usize];
            if let State::Ready(open) = state {
                let excess = open.excess() as u32;
                *state = State::Packed { bytes: self.packer.pack(&**open), excess };
            }
        }
        self.hand = self.hand.min(self.ready.len().saturating_sub(1));
    }

    /// Number of slots.
    pub(super) fn len(&self) -> usize {
        self.slots.len()
    }

    /// Removes the connection of a slot. The slot stays among the ready ones.
    pub(super) fn take(&mut self, slot: usize) -> Option<Box<Open>> {
        if let State::Packed { .. } = self.slots.get(slot)? {
            self.unpack(slot);
        }
        match std::mem::replace(&mut self.slots[slot], State::Absent) {
            State::Ready(open) => Some(open),
            _ => None,
        }
    }

    /// The memory of a connection that has ended is used again.
    pub(super) fn recycle(&mut self, open: Box<Open>) {
        self.spare = Some(open);
    }

    /// Calls `change` for each connection whose series have more than one row for a direction.
    pub(super) fn with_excess(&mut self, mut change: impl FnMut(&mut Open)) {
        for state in &mut self.slots {
            match state {
                State::Ready(open) if open.excess() > 0 => change(open),
                State::Packed { bytes, excess } if *excess > 0 => {
                    let mut open: Open = unpack(bytes);
                    change(&mut open);
                    *excess = open.excess() as u32;
                    *bytes = self.packer.pack(&open);
                }
                _ => {}
            }
        }
    }

    /// The series of each `every`-th connection with more than one row for a direction.
    pub(super) fn sample(&self, every: usize) -> impl Iterator<Item = [Series; 2]> {
        self.slots.iter().step_by(every).filter_map(|state| match state {
            State::Ready(open) if open.excess() > 0 => Some(open.series.clone()),
            State::Packed { bytes, excess } if *excess > 0 => Some(unpack::<Open>(bytes).series),
            _ => None,
        })
    }
}

#[cfg(test)]
mod tests {
    use std::net::Ipv4Addr;

    use super::*;

    const MOST: usize = 1_024;

    fn open(number: u64) -> Open {
        let end = |port| (IpAddr::V4(Ipv4Addr::LOCALHOST), port);
        Open::new(Connection::new(number, number), [end(1), end(2)])
    }

    fn states(connections: usize) -> States {
        let mut states = States::new(MOST);
        for slot in 0..connections {
            assert!(states.begin(slot, open(slot as u64)).is_none());
        }
        states
    }

    /// Uses the slots in turn until `uses` are counted.
    fn use_in_turn(states: &mut States, slots: usize, uses: u64) {
        for slot in (0..slots).cycle().take(uses as usize) {
            assert_eq!(states.get(slot).map(|open| open.connection.number), Some(slot as u64));
            assert!(states.ready.len() <= states.limit);
        }
    }

    #[test]
    fn few_are_ready_while_most_uses_are_of_packed_ones_and_many_again_later() {
        let mut states = states(4 * MOST);
        use_in_turn(&mut states, 4 * MOST, 2 * REVIEW);
        assert_eq!((states.limit, states.ready.len()), (LEAST, LEAST));
        // MOST / 2 connections don't fit into LEAST; the larger number is tried again, and stays.
        use_in_turn(&mut states, MOST / 2, (u64::from(RETRY) + 2) * REVIEW);
        assert_eq!(states.limit, MOST);
        let misses = states.misses;
        use_in_turn(&mut states, MOST / 2, 4 * REVIEW);
        assert_eq!((states.limit, states.misses), (MOST, misses));
    }

    #[test]
    fn many_stay_ready_while_most_uses_are_of_ready_ones() {
        let mut states = states(4 * MOST);
        for round in 0..REVIEW as usize {
            use_in_turn(&mut states, MOST / 4, 4);
            assert!(states.get(MOST + round % (3 * MOST)).is_some());
        }
        assert_eq!(states.limit, MOST);
    }
}
