//! The connections of one direction of a flow as a tap observes them, by the port that differs ([`Tcp::connection`]).
//!
//! A flow has one connection after the other, or several at a time. Of the former only the last one is kept: its
//! predecessors are over. Of the latter all are kept, because none is known to be over; the state of one without data
//! is small.

use crate::meter::packet::Tcp;
use dumbbell_wire::SeqUnwrapper;
use std::collections::BTreeMap;

/// A connection.
#[derive(Debug, Default)]
pub(super) struct Connection<T> {
    /// Offsets of the data sender's sequence numbers.
    pub(super) offsets: SeqUnwrapper,
    pub(super) data: T,
}

/// See the top of this file.
#[derive(Debug, Default)]
pub(super) struct Connections<T> {
    several: bool,
    by_port: BTreeMap<u16, Connection<T>>,
}

impl<T: Default> Connections<T> {
    /// Several are open at a time.
    pub(super) fn join(&mut self) {
        self.several = true;
    }

    /// Returns the connection of a packet from the data sender, and the data of the one that it replaces: the last one
    /// of a flow that has one at a time, or an earlier one with the same port.
    pub(super) fn of(&mut self, tcp: &Tcp) -> (Option<T>, &mut Connection<T>) {
        let port = tcp.connection;
        let past = match self.by_port.get(&port) {
            None if self.several => None,
            None => self.by_port.pop_first().map(|(_, past)| past.data),
            // Another initial sequence number than that of the SYN before: the port is used again.
            Some(known) if tcp.syn && known.offsets.first().is_some_and(|first| first != tcp.seq.at(1)) => {
                self.by_port.remove(&port).map(|past| past.data)
            }
            Some(_) => None,
        };
        (past, self.by_port.entry(port).or_default())
    }

    /// Returns a connection, if its sender has sent packets.
    pub(super) fn known(&mut self, port: u16) -> Option<&mut Connection<T>> {
        self.by_port.get_mut(&port)
    }

    /// Returns the data of the present connection of a flow that has one at a time.
    pub(super) fn only(&self) -> Option<&T> {
        self.by_port.values().next().map(|connection| &connection.data).filter(|_| !self.several)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use dumbbell_wire::{SackBlocks, Seq};

    fn packet(port: u16, seq: u32, syn: bool) -> Tcp {
        Tcp { seq: Seq(seq), ack: Seq(0), syn, acks: false, sack: SackBlocks::default(), connection: port }
    }

    #[test]
    fn of_one_connection_after_the_other_the_last_one_is_kept() {
        let mut all = Connections::<u32>::default();
        let (past, first) = all.of(&packet(20_000, 7, true));
        assert_eq!(past, None);
        first.data = 1;
        assert_eq!((all.of(&packet(20_000, 8, false)).0, all.only()), (None, Some(&1)));
        assert_eq!(all.of(&packet(20_001, 9, true)).0, Some(1));
        assert!(all.known(20_000).is_none());
        assert_eq!(all.only(), Some(&0));
    }

    #[test]
    fn connections_at_the_same_time_are_all_kept_until_their_port_is_used_again() {
        let mut all = Connections::<u32>::default();
        all.join();
        for (port, value) in [(20_000, 1), (20_001, 2)] {
            let (past, connection) = all.of(&packet(port, 6, true));
            assert_eq!(past, None);
            connection.offsets.unwrap(Seq(7));
            connection.data = value;
        }
        assert_eq!(all.of(&packet(20_000, 6, true)).0, None); // the same SYN again
        assert_eq!(all.known(20_001).map(|connection| connection.data), Some(2));
        assert_eq!(all.only(), None);
        assert_eq!(all.of(&packet(20_000, 500, true)).0, Some(1));
        assert_eq!(all.known(20_000).map(|connection| connection.data), Some(0));
    }
}
