//! Header prediction: nearly all segments of a bulk transfer are either the next data in order or an ACK of new data,
//! while nothing is lost, out of order or marked. They are handled here, with the same effect as in [`super::receive`]
//! and fewer steps [Jacobson & Braden, "TCP header prediction"; Linux tcp_input.c tcp_rcv_established].

use super::{Endpoint, State};
use crate::ecn::EcnMode;
use crate::segment::Segment;
use dumbbell_units::Time;
use dumbbell_wire::{Ecn, TcpFlags};

/// The kind of a segment.
pub(super) enum Expected {
    /// The next data in order, while nothing is outstanding in the other direction.
    Data,
    /// An ACK of new data.
    Ack,
    /// Another one, which was not handled.
    No,
}

impl Endpoint {
    /// Handles a segment that arrives at a data receiver, as [`Endpoint::on_segment`] does: in few steps if it is the
    /// next data.
    #[inline(always)] // it has one caller for most segments
    pub fn on_data_segment(&mut self, segment: &Segment, ecn: Ecn, now: Time) -> bool {
        if self.is_bulk_receiver() && self.on_bulk_data(segment, now) {
            return true;
        }
        self.sender.delivered.clear();
        if !self.is_steady(segment) {
            self.on_any_segment(segment, ecn, now);
            return false;
        }
        if segment.payload > 0 && self.on_next_data(segment, now) {
            return self.sender.is_quiet(now);
        }
        self.on_segment(segment, ecn, now)
    }

    /// Handles a segment that arrives at a data sender, as [`Endpoint::on_segment`] does: in few steps if it is an ACK
    /// of new data.
    #[inline(never)]
    pub fn on_ack_segment(&mut self, segment: &Segment, ecn: Ecn, now: Time) {
        self.sender.delivered.clear();
        if self.is_bulk_sender() && self.on_bulk_ack(segment, now) {
            return;
        }
        if !self.is_steady(segment) {
            self.on_any_segment(segment, ecn, now);
        } else if segment.payload > 0 || !self.on_new_ack(segment, now) {
            self.on_segment(segment, ecn, now);
        }
    }

    /// Handles the segment if it is an expected one.
    #[inline]
    pub(super) fn on_expected_segment(&mut self, segment: &Segment, now: Time) -> Expected {
        match (self.is_steady(segment), segment.payload > 0) {
            (true, true) if self.on_next_data(segment, now) => Expected::Data,
            (true, false) if self.on_new_ack(segment, now) => Expected::Ack,
            _ => Expected::No,
        }
    }

    /// True if the segment is in order, and nothing but its data and acknowledgment has to be handled.
    #[inline(always)]
    fn is_steady(&self, segment: &Segment) -> bool {
        self.sender.config.shortcuts
            && matches!(self.state, State::Established | State::FinWait)
            && self.ecn.mode == EcnMode::Off
            && segment.flags.without(TcpFlags::PSH) == TcpFlags::ACK
            && segment.sack.is_empty()
            && segment.seq == self.peer_isn.at(self.receiver.nxt)
    }

    /// Handles the next data in order, if this end has nothing outstanding.
    #[inline(always)]
    fn on_next_data(&mut self, segment: &Segment, now: Time) -> bool {
        let una = self.sender.snd.una;
        let only_receives = una == self.sender.snd.max && segment.ack == self.isn.at(una);
        if !only_receives || self.receiver.fin.is_some() {
            return false;
        }
        self.end_bulk();
        self.store_timestamp(segment, self.receiver.nxt);
        self.sender.on_idle_ack(una + self.offered(segment));
        self.receive_data(segment, self.receiver.nxt, now);
        true
    }

    /// Handles an ACK of new data, if the sender has no loss, duplicate or probe outstanding.
    #[inline(always)]
    fn on_new_ack(&mut self, segment: &Segment, now: Time) -> bool {
        let una = self.sender.snd.una;
        let acked = u64::from(segment.ack.0.wrapping_sub(self.isn.at(una).0));
        if acked == 0 || una + acked > self.sender.snd.max || !self.sender.is_steady() {
            return false;
        }
        self.on_expected_ack(segment, una + acked, now);
        true
    }

    /// Handles an ACK of everything below `ack`, which is new.
    #[inline(always)]
    pub(super) fn on_expected_ack(&mut self, segment: &Segment, ack: u64, now: Time) {
        self.store_timestamp(segment, self.receiver.nxt);
        self.sender.on_idle_ack(ack + self.offered(segment));
        let timestamps = segment.timestamps.filter(|_| self.peer_timestamps);
        let late = self.sender.on_expected_ack(ack, timestamps, now);
        if late {
            self.end_bulk();
        }
    }
}
