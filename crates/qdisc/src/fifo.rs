//! A first-in first-out queue of packets that counts its bytes. The disciplines are built from it.

use crate::{Backlog, Packet};
use std::collections::VecDeque;

/// See the top of this file.
#[derive(Debug, Default)]
pub struct Fifo {
    packets: VecDeque<Packet>,
    bytes: u64,
}

impl Fifo {
    /// Appends a packet.
    pub fn push(&mut self, packet: Packet) {
        self.bytes += u64::from(packet.bytes);
        self.packets.push_back(packet);
    }

    /// Takes the first packet.
    pub fn pop(&mut self) -> Option<Packet> {
        let packet = self.packets.pop_front()?;
        self.bytes -= u64::from(packet.bytes);
        Some(packet)
    }

    /// Takes the last packet.
    pub fn pop_last(&mut self) -> Option<Packet> {
        let packet = self.packets.pop_back()?;
        self.bytes -= u64::from(packet.bytes);
        Some(packet)
    }

    /// Returns the first packet.
    #[must_use]
    pub fn first(&self) -> Option<&Packet> {
        self.packets.front()
    }

    /// True without a packet.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.packets.is_empty()
    }

    /// Returns the number of packets.
    #[must_use]
    pub fn packets(&self) -> u64 {
        self.packets.len() as u64
    }

    /// Returns their wire bytes.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Returns both.
    #[must_use]
    pub fn backlog(&self) -> Backlog {
        Backlog { packets: self.packets(), bytes: self.bytes }
    }
}
