//! Bulk data in one direction. While an endpoint only sends new data, or only receives data in order, many decisions of
//! a general endpoint have one possible outcome. They are made once, when such a phase begins, and the segments of the
//! phase are handled in few steps, with the same effect as in [`super::receive`] and [`super::transmit`].
//!
//! ```text
//! BulkSender     open, no ECN, no data of the peer, nothing lost, repeated, SACKed or due but new segments
//! BulkReceiver   open, no ECN, no holes, nothing outstanding, nothing due but ACKs
//! Any            neither, or not known
//! ```
//! Every event that this file doesn't handle ends the phase ([`Endpoint::end_bulk`]); the next segment begins a new
//! one.

use super::{Endpoint, State};
use crate::ecn::EcnMode;
use crate::segment::Segment;
use crate::sender::{BulkStep, NewSegment};
use dumbbell_units::Time;
use dumbbell_wire::TcpFlags;

/// See the top of this file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Role {
    Any,
    BulkSender,
    BulkReceiver,
}

impl Endpoint {
    /// Ends a phase of bulk data: something else happens.
    #[inline]
    pub(super) fn end_bulk(&mut self) {
        self.role = Role::Any;
    }

    /// True in a phase in which it only sends new data.
    #[inline(always)] // before each burst, and for each ACK
    pub fn is_bulk_sender(&mut self) -> bool {
        match self.role {
            Role::BulkSender => true,
            Role::Any => self.sender.may_be_bulk() && self.becomes_bulk_sender(),
            Role::BulkReceiver => false,
        }
    }

    /// True in a phase in which it only receives data in order.
    #[inline(always)] // for each segment with data
    pub(super) fn is_bulk_receiver(&mut self) -> bool {
        match self.role {
            Role::BulkReceiver => true,
            Role::Any => self.receiver.has_no_hole() && self.becomes_bulk_receiver(),
            Role::BulkSender => false,
        }
    }

    #[inline(never)]
    fn becomes_bulk_sender(&mut self) -> bool {
        let begins = self.sender.is_bulk()
            && self.is_open_without_marks()
            && self.handshake_rto_at.is_none()
            && self.last_ack_sent == self.receiver.nxt
            && self.receiver.is_silent();
        let Some(window) = self.resting_window().filter(|_| begins) else { return false };
        (self.role, self.bulk_window) = (Role::BulkSender, window);
        true
    }

    /// The window field of all segments until data arrives; None if the next one may differ from those after it.
    fn resting_window(&self) -> Option<u16> {
        match &self.receiver.window {
            None => Some(self.window_field),
            Some(window) => window.resting_offer(self.receiver.nxt).map(|offer| self.field_of(offer)),
        }
    }

    #[inline(never)]
    fn becomes_bulk_receiver(&mut self) -> bool {
        let begins = self.is_open_without_marks() && self.receiver.is_in_order() && self.sender.is_at_rest();
        if begins {
            self.role = Role::BulkReceiver;
            self.sender.delivered.clear();
        }
        begins
    }

    fn is_open_without_marks(&self) -> bool {
        self.sender.config.shortcuts
            && matches!(self.state, State::Established | State::FinWait)
            && self.ecn.mode == EcnMode::Off
            && !self.rare_is_due()
    }

    /// Handles the next data in order of a bulk receiver. Returns false if the segment is another one.
    #[inline(always)] // for each segment with data
    pub(super) fn on_bulk_data(&mut self, segment: &Segment, now: Time) -> bool {
        let (una, nxt) = (self.sender.snd.una, self.receiver.nxt);
        let is_next = is_plain(segment)
            && segment.payload > 0
            && segment.seq == self.peer_isn.at(nxt)
            && segment.ack == self.isn.at(una);
        if !is_next {
            return false;
        }
        self.store_timestamp(segment, nxt);
        self.sender.extend_window(una + self.offered(segment));
        self.note_echo(segment, now);
        let end = nxt + u64::from(segment.payload);
        let psh = segment.flags.contains(TcpFlags::PSH);
        self.receiver.on_next_data(end, psh, now, self.sender.rtt.path(), &self.sender.config);
        true
    }

    /// Handles an ACK of new data that arrives at a bulk sender. Returns false if the segment is another one.
    #[inline(always)] // for each ACK
    pub(super) fn on_bulk_ack(&mut self, segment: &Segment, now: Time) -> bool {
        let (una, nxt) = (self.sender.snd.una, self.receiver.nxt);
        let acked = u64::from(segment.ack.0.wrapping_sub(self.isn.at(una).0));
        let is_new = is_plain(segment)
            && segment.payload == 0
            && segment.seq == self.peer_isn.at(nxt)
            && acked > 0
            && una + acked <= self.sender.snd.max;
        if is_new {
            self.on_expected_ack(segment, una + acked, now);
        }
        is_new
    }

    /// Decides about the next segment of a bulk sender. [`Endpoint::write_bulk`] must follow if there is one.
    #[inline(always)] // it has one caller
    pub fn next_bulk(&mut self, now: Time) -> BulkStep {
        self.sender.next_bulk(now)
    }

    /// Writes a segment of a bulk sender into `out`, and returns the bytes of its packet.
    #[inline(always)] // it has one caller
    pub fn write_bulk(&mut self, next: &NewSegment, now: Time, out: &mut Segment) -> u32 {
        self.fill_fields(next.start, self.bulk_window, now, out);
        out.payload = self.sender.config.connection.mss;
        out.flags |= TcpFlags::PSH.when(next.psh);
        self.packet_bytes_without_blocks(out)
    }
}

/// True if nothing but the data and the acknowledgment of the segment has to be handled.
#[inline(always)]
fn is_plain(segment: &Segment) -> bool {
    segment.flags.without(TcpFlags::PSH) == TcpFlags::ACK && segment.sack.is_empty()
}
