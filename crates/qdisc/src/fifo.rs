//! A first-in first-out queue of packets that counts its bytes. The disciplines are built from it.

use crate::{Backlog, Packet};
use std::collections::VecDeque;

#[derive(Debug, Default)]
pub(crate) struct Fifo {
    packets: VecDeque<Packet>,
    bytes: u64,
}

impl Fifo {
    pub(crate) fn push(&mut self, packet: Packet) {
        self.bytes += u64::from(packet.bytes);
        self.packets.push_back(packet);
    }

    /// Takes the first packet.
    pub(crate) fn pop(&mut self) -> Option<Packet> {
        let packet = self.packets.pop_front()?;
        self.bytes -= u64::from(packet.bytes);
        Some(packet)
    }

    /// Takes the last packet.
    pub(crate) fn pop_last(&mut self) -> Option<Packet> {
        let packet = self.packets.pop_back()?;
        self.bytes -= u64::from(packet.bytes);
        Some(packet)
    }

    /// Returns the first packet.
    pub(crate) fn first(&self) -> Option<&Packet> {
        self.packets.front()
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.packets.is_empty()
    }

    pub(crate) fn packets(&self) -> u64 {
        self.packets.len() as u64
    }

    pub(crate) fn bytes(&self) -> u64 {
        self.bytes
    }

    pub(crate) fn backlog(&self) -> Backlog {
        Backlog { packets: self.packets(), bytes: self.bytes }
    }
}
