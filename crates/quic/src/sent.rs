//! The packets of one packet number space that were sent [RFC 9002 appendix A.1].

use crate::frame::{Chunk, Frame};
use dumbbell_tcp::TxState;
use dumbbell_units::Time;
use std::collections::VecDeque;

/// The state of a packet number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fate {
    /// Neither acknowledged nor lost.
    Outstanding,
    Acknowledged,
    Lost,
    /// Not ack-eliciting: it isn't in flight, and nothing in it has to arrive.
    Untracked,
    /// Never sent.
    Skipped,
}

/// A packet that was sent.
#[derive(Clone, Debug)]
pub(crate) struct SentPacket {
    pub(crate) fate: Fate,
    pub(crate) sent_at: Time,
    pub(crate) bytes: u32,
    /// Bytes of all packets in flight that were sent before it on the connection.
    pub(crate) start: u64,
    /// True if it counts in bytes_in_flight: here only ack-eliciting packets do.
    pub(crate) ack_eliciting: bool,
    /// True if it was sent as ECN-capable.
    pub(crate) ect: bool,
    /// True if it probes a datagram size [RFC 9000 §14.4].
    pub(crate) mtu_probe: bool,
    /// State of the connection, for delivery-rate samples.
    pub(crate) tx: TxState,
    /// Its first STREAM frame: nearly always it has no other frame that has to be repeated.
    pub(crate) chunk: Option<Chunk>,
    /// Its other frames that have to be repeated if it is lost.
    pub(crate) rest: Vec<Frame>,
    /// The largest packet number that its ACK frame reports.
    pub(crate) acks: Option<u64>,
    /// Its bytes of stream data.
    pub(crate) payload: u32,
}

impl SentPacket {
    /// The offset after it in the bytes of the connection.
    pub(crate) fn end(&self) -> u64 {
        self.start + u64::from(self.bytes)
    }
}

/// See the top of this file.
#[derive(Debug, Default)]
pub(crate) struct SentPackets {
    packets: VecDeque<SentPacket>,
    /// Number of the first packet in the list: the oldest that is outstanding.
    first: u64,
}

impl SentPackets {
    /// Number of the next packet.
    pub(crate) fn next_number(&self) -> u64 {
        self.first + self.packets.len() as u64
    }

    pub(crate) fn push(&mut self, packet: SentPacket) {
        self.packets.push_back(packet);
        self.forget_settled();
    }

    /// Leaves out the next number.
    pub(crate) fn push_skipped(&mut self) {
        self.push(SentPacket {
            fate: Fate::Skipped,
            sent_at: Time::ZERO,
            bytes: 0,
            start: 0,
            ack_eliciting: false,
            ect: false,
            mtu_probe: false,
            tx: TxState::default(),
            chunk: None,
            rest: Vec::new(),
            acks: None,
            payload: 0,
        });
    }

    /// The oldest packet that is outstanding.
    pub(crate) fn oldest(&self) -> Option<&SentPacket> {
        self.packets.front()
    }

    /// The outstanding packet with this number.
    fn outstanding(&mut self, number: u64) -> Option<&mut SentPacket> {
        let place = number.checked_sub(self.first)?;
        self.packets.get_mut(place as usize).filter(|p| p.fate == Fate::Outstanding)
    }

    /// Marks a packet as acknowledged, if it is outstanding, and returns it.
    pub(crate) fn acknowledge(&mut self, number: u64) -> Option<&mut SentPacket> {
        let packet = self.outstanding(number)?;
        packet.fate = Fate::Acknowledged;
        Some(packet)
    }

    /// The number of the oldest outstanding packet, or of the next one.
    pub(crate) fn first_known(&self) -> u64 {
        self.first
    }

    /// The state of a number of [`SentPackets::known_part`].
    pub(crate) fn fate(&self, number: u64) -> Fate {
        self.packets[(number - self.first) as usize].fate
    }

    /// The part of a range of numbers that may be outstanding.
    pub(crate) fn known_part(&self, start: u64, end: u64) -> std::ops::Range<u64> {
        start.max(self.first)..end.min(self.next_number())
    }

    /// The packets with numbers up to `largest`, to be changed; each with its number.
    pub(crate) fn up_to(&mut self, largest: u64) -> impl Iterator<Item = (u64, &mut SentPacket)> {
        let first = self.first;
        let count = (largest + 1).saturating_sub(first) as usize;
        self.packets.iter_mut().take(count).enumerate().map(move |(i, p)| (first + i as u64, p))
    }

    /// All outstanding packets, oldest first.
    pub(crate) fn all_outstanding(&self) -> impl Iterator<Item = &SentPacket> {
        self.packets.iter().filter(|p| p.fate == Fate::Outstanding)
    }

    /// Drops the packets before the oldest outstanding one.
    pub(crate) fn forget_settled(&mut self) {
        while self.packets.front().is_some_and(|p| p.fate != Fate::Outstanding) {
            self.packets.pop_front();
            self.first += 1;
        }
    }

    /// Drops all packets.
    pub(crate) fn clear(&mut self) {
        self.first = self.next_number();
        self.packets.clear();
    }
}
