//! The packets of one packet number space that were received, and when they are acknowledged [RFC 9000 §13.2].
//!
//! ```text
//! ACK at once     Initial and Handshake packets; a packet out of order or after a gap; a CE mark; IMMEDIATE_ACK
//! ACK after       `every` ack-eliciting packets, or max_delay after the first of them
//! ```

use crate::config::AckConfig;
use crate::frame::{ACK_DELAY_UNIT, EcnCounts, Frame};
use crate::packet::Datagram;
use crate::ranges::RangeSet;
use dumbbell_units::{Dur, Time};
use dumbbell_wire::Ecn;

/// Ranges in an ACK frame at most; older ones are forgotten [RFC 9000 §13.2.3].
const MAX_RANGES: usize = 32;
/// Ranges from which a receiver asks the peer to acknowledge its ACKs.
const MANY_RANGES: usize = 8;

/// See the top of this file.
#[derive(Debug)]
pub(crate) struct Received {
    numbers: RangeSet,
    /// Packets below this are ignored: they were forgotten.
    floor: u64,
    largest: Option<(u64, Time)>,
    ecn: EcnCounts,
    every: u64,
    max_delay: Dur,
    /// Ack-eliciting packets since the last ACK.
    unacked: u64,
    /// True if an ACK has to be sent now.
    pub(crate) due: bool,
    /// When an ACK has to be sent.
    pub(crate) timer: Option<Time>,
}

impl Received {
    /// `at_once`: every packet is acknowledged at once, as in the handshake's spaces.
    pub(crate) fn new(config: &AckConfig, at_once: bool) -> Received {
        Received {
            numbers: RangeSet::default(),
            floor: 0,
            largest: None,
            ecn: EcnCounts::default(),
            every: if at_once { 1 } else { config.every },
            max_delay: config.max_delay,
            unacked: 0,
            due: false,
            timer: None,
        }
    }

    /// Changes the rule, as the peer asks [draft-ietf-quic-ack-frequency §4].
    pub(crate) fn set_frequency(&mut self, threshold: u64, max_delay: Dur) {
        (self.every, self.max_delay) = (threshold + 1, max_delay);
    }

    /// True if a packet with this number has arrived before, or may have.
    pub(crate) fn is_duplicate(&self, number: u64) -> bool {
        number < self.floor || self.numbers.contains(number)
    }

    /// The largest packet number.
    pub(crate) fn largest(&self) -> Option<u64> {
        self.largest.map(|(number, _)| number)
    }

    /// True if ACK frames have become long.
    pub(crate) fn has_many_ranges(&self) -> bool {
        self.numbers.ranges().len() > MANY_RANGES
    }

    /// Adds a packet.
    pub(crate) fn add(&mut self, number: u64, ack_eliciting: bool, ecn: Ecn, now: Time) {
        let expected = self.largest.map_or(0, |(largest, _)| largest + 1);
        self.numbers.insert(number, number + 1);
        if number >= expected {
            self.largest = Some((number, now));
        }
        match ecn {
            Ecn::ECT0 => self.ecn.ect0 += 1,
            Ecn::ECT1 => self.ecn.ect1 += 1,
            Ecn::CE => self.ecn.ce += 1,
            _ => {}
        }
        while self.numbers.ranges().len() > MAX_RANGES {
            self.forget(self.numbers.ranges()[0].1);
        }
        if !ack_eliciting {
            return;
        }
        self.unacked += 1;
        // [RFC 9000 §13.2.1]
        self.due |= number != expected || ecn == Ecn::CE || self.unacked >= self.every;
        if self.timer.is_none() && !self.due {
            self.timer = Some(now + self.max_delay);
        }
    }

    fn forget(&mut self, below: u64) {
        self.numbers.remove(0, below);
        self.floor = self.floor.max(below);
    }

    /// The peer has received an ACK of `largest`: older packets need not be reported again [RFC 9000 §13.2.4].
    pub(crate) fn on_ack_received(&mut self, largest: u64) {
        self.forget(largest);
    }

    /// The timer has expired.
    pub(crate) fn on_timer(&mut self, now: Time) {
        if self.timer.is_some_and(|at| at <= now) {
            (self.due, self.timer) = (true, None);
        }
    }

    /// True if packets have arrived for which no ACK was sent.
    pub(crate) fn has_unacked(&self) -> bool {
        self.unacked > 0
    }

    /// Returns an ACK frame, without recording that it is sent; its ranges are added to the datagram.
    pub(crate) fn frame(&self, datagram: &mut Datagram, now: Time) -> Option<Frame> {
        let (_, at) = self.largest?;
        let first = datagram.ranges.len() as u32;
        datagram.ranges.extend(self.numbers.ranges().iter().rev());
        let held = now.since(at);
        let delay = Dur(held.0 / ACK_DELAY_UNIT.0 * ACK_DELAY_UNIT.0);
        let ecn = (self.ecn != EcnCounts::default()).then_some(self.ecn);
        Some(Frame::Ack { first, count: datagram.ranges.len() as u32 - first, delay, ecn })
    }

    /// An ACK frame is sent.
    pub(crate) fn on_ack_sent(&mut self) {
        (self.unacked, self.due, self.timer) = (0, false, None);
    }
}
