//! The states of the connections by slot. Those with recent segments are ready for use, at most [`Options::max_ready`] of
//! them; the others are [packed](crate::pack), and unpacked with their next segment. The choice is that of the
//! second-chance (clock) algorithm. Results do not depend on it.
//!
//! [`Options::max_ready`]: super::Options::max_ready

use std::net::IpAddr;

use crate::flow::Connection;
use crate::pack::{Pack, Packer, fields, unpack, unpack_into};
use crate::series::Series;

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
    packer: Packer,
    /// Memory for the next connection that becomes ready.
    spare: Option<Box<Open>>,
}

impl States {
    /// Keeps at most `most` connections ready.
    pub(super) fn new(most: usize) -> Self {
        let most = most.max(1);
        Self { slots: Vec::new(), ready: Vec::new(), hand: 0, most, packer: Packer::default(), spare: None }
    }

    /// The connection of a slot.
    #[inline]
    pub(super) fn get(&mut self, slot: usize) -> Option<&mut Open> {
        if let State::Packed { .. } = self.slots.get(slot)? {
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
        if self.ready.len() < self.most {
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
