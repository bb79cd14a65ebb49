//! Queue disciplines.
//!
//! A discipline owns the packets that wait at a link. The link calls [`Qdisc::enqueue`] for each arrival and
//! [`Qdisc::dequeue`] whenever it can send. The packet in transmission has left the discipline: a limit counts
//! waiting packets only, as Linux's `pfifo` does. With `counting = "ns2"` DropTail and RED count as the ns-2 queue of
//! the same name does: DropTail counts the packet in service too (a limit of L holds L - 1 waiting packets), RED in
//! bytes tests the limit without the arrival. What finds the link idle and nothing waiting is always accepted.
//!
//! Adding a discipline: one file beside these, one row in [`registry`].

pub mod aqm;
mod discipline;
mod disciplines;
mod fifo;
mod flows;
mod packet;
mod registry;
mod ticks;

pub use discipline::{Build, Discipline, Limit, LinkInfo};
pub use dumbbell_wire::Ecn;
pub use packet::{DropReason, Packet};
pub use registry::{build, find, registry};

use aqm::Verdict;
use dumbbell_units::Time;

/// What waits in a discipline.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Backlog {
    /// Packets waiting, the one in transmission not counted.
    pub packets: u64,
    /// Their wire bytes.
    pub bytes: u64,
}

/// The moment of a call, and the only way out for a packet that isn't delivered.
#[derive(Debug, Default)]
pub struct QdiscContext {
    /// Now.
    pub now: Time,
    /// Whether the link is sending a packet at this moment.
    pub link_busy: bool,
    dropped: Vec<(Packet, DropReason)>,
    marked: u64,
}

impl QdiscContext {
    /// Gives up a packet: the only way to lose one.
    pub fn drop_packet(&mut self, packet: Packet, reason: DropReason) {
        self.dropped.push((packet, reason));
    }

    /// Marks a packet "congestion experienced" if it is ECN-capable; false if it isn't [RFC 3168 §5]. One that was marked
    /// before stays so and doesn't count.
    #[must_use]
    pub fn mark(&mut self, packet: &mut Packet) -> bool {
        if !packet.ecn.is_capable() {
            return false;
        }
        self.marked += u64::from(packet.ecn != Ecn::CE);
        packet.ecn = Ecn::CE;
        true
    }

    /// Carries out a law's verdict: gives the packet back, maybe marked, unless it is dropped.
    pub(crate) fn apply(&mut self, verdict: Verdict, mut packet: Packet) -> Option<Packet> {
        let passes = match verdict {
            Verdict::Pass => true,
            Verdict::Mark => self.mark(&mut packet),
            Verdict::Drop => false,
        };
        if passes {
            return Some(packet);
        }
        self.drop_packet(packet, DropReason::Early);
        None
    }

    /// Whether packets were dropped since the last [`QdiscContext::take_dropped`].
    #[must_use]
    pub fn has_dropped(&self) -> bool {
        !self.dropped.is_empty()
    }

    /// Takes the packets dropped since the last call; the order is that of the drops.
    pub fn take_dropped(&mut self) -> Option<(Packet, DropReason)> {
        if self.dropped.is_empty() { None } else { Some(self.dropped.remove(0)) }
    }

    /// Takes the number of packets marked since the last call.
    pub fn take_marked(&mut self) -> u64 {
        std::mem::take(&mut self.marked)
    }
}

/// A queue discipline. In = out + dropped + waiting holds at all times.
pub trait Qdisc: Send + std::fmt::Debug {
    /// Takes a packet in, or drops it (or another) through `cx`; never when the link is idle and nothing waits.
    fn enqueue(&mut self, packet: Packet, cx: &mut QdiscContext);

    /// The next packet to send; None if none is waiting or none may go yet.
    fn dequeue(&mut self, cx: &mut QdiscContext) -> Option<Packet>;

    /// Whether a packet that finds link and queue idle goes through at once, whatever it is, and leaves no trace in the
    /// discipline: such packets needn't be shown to it.
    fn can_bypass(&self) -> bool {
        false
    }

    /// What is waiting.
    fn backlog(&self) -> Backlog;

    /// How many classes it has, if it tells them apart and their number is fixed: a packet's class is below.
    fn classes(&self) -> Option<u16> {
        None
    }

    /// When [`Qdisc::dequeue`] is worth calling again although it gave None with packets waiting (shapers).
    fn next_ready(&self) -> Option<Time> {
        None
    }

    /// The discipline's private state, one value for each of its registry row's columns.
    fn observe(&self, _row: &mut Vec<f64>) {}
}
