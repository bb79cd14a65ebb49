//! Queue disciplines: the trait, the registry, one file per discipline in `disciplines/`, and their AQM algorithms in
//! [`aqm`].
//!
//! A discipline owns the packets that wait at a link. The link calls [`Qdisc::enqueue`] for each arrival and
//! [`Qdisc::dequeue`] whenever it can send. The packet in transmission has left the discipline, so a limit counts
//! waiting packets only [Linux sch_fifo.c pfifo_enqueue]. With `counting = "ns2"` DropTail and RED count like the ns-2
//! queues of the same name: DropTail includes the packet in service (a limit of L allows L - 1 waiting packets), RED in
//! bytes compares the limit with the queue before the arrival. An arrival at an idle link with an empty queue is always
//! accepted.
//!
//! To add the discipline `name`:
//! 1. `src/disciplines/name.rs`: a struct that implements [`Qdisc`], and its [`Discipline`] row as `ROW`. An AQM
//!    algorithm that can be tested without packets goes to `src/aqm/name.rs`.
//! 2. `name` in the list of `src/disciplines/mod.rs`: its macro declares the module, the registry row and the test.
//! 3. `tests/disciplines/name.rs`: numbers worked by hand.
//! 4. `docs/reference/disciplines/name.md`.
//!
//! The command line, Python, plots, the kernel's back ends and property tests read the registry. `tests/registry` fails
//! while a step is missing.

pub mod aqm;
mod decaying_queues;
mod discipline;
mod disciplines;
pub mod external;
mod fifo;
mod flow_queues;
mod kernel;
mod packet;
mod registry;
mod update_timer;

pub use discipline::{Build, Discipline, Limit, LinkInfo};
pub use dumbbell_wire::Ecn;
pub use fifo::Fifo;
pub use kernel::{AttributeForm, KernelAttribute, KernelOptions, KernelQdisc};
pub use packet::{DropReason, Packet};
pub use registry::{build, find, registry};

use aqm::Verdict;
use dumbbell_units::Time;

/// The packets that wait in a discipline.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Backlog {
    /// Waiting packets, without the one in transmission.
    pub packets: u64,
    /// Their wire bytes.
    pub bytes: u64,
}

impl Backlog {
    pub(crate) fn add(&mut self, packet: &Packet) {
        self.packets += 1;
        self.bytes += u64::from(packet.bytes);
    }

    pub(crate) fn remove(&mut self, packet: &Packet) {
        self.packets -= 1;
        self.bytes -= u64::from(packet.bytes);
    }
}

impl std::ops::Add for Backlog {
    type Output = Backlog;

    fn add(self, other: Backlog) -> Backlog {
        Backlog { packets: self.packets + other.packets, bytes: self.bytes + other.bytes }
    }
}

/// The context of a call to a discipline: the time, the state of the link, and the packets that are dropped or marked.
#[derive(Debug, Default)]
pub struct QdiscContext {
    /// The current time.
    pub now: Time,
    /// True while the link transmits a packet.
    pub link_busy: bool,
    /// The packet that a shaper around the discipline took out and holds: the discipline's limit counts it [Linux
    /// sch_generic.h qdisc_peek_dequeued].
    pub(crate) held: Backlog,
    dropped: Vec<(Packet, DropReason)>,
    marked: u64,
}

impl QdiscContext {
    /// Drops a packet. No packet is lost in any other place.
    pub fn drop_packet(&mut self, packet: Packet, reason: DropReason) {
        self.dropped.push((packet, reason));
    }

    /// Marks a packet "congestion experienced" and returns true if it is ECN-capable; otherwise returns false [RFC 3168
    /// §5]. A packet that was marked before is not counted again.
    #[must_use]
    pub fn mark(&mut self, packet: &mut Packet) -> bool {
        if !packet.ecn.is_capable() {
            return false;
        }
        self.marked += u64::from(packet.ecn != Ecn::CE);
        packet.ecn = Ecn::CE;
        true
    }

    /// Applies the verdict of an AQM algorithm: returns the packet, marked if necessary, unless it is dropped.
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

    /// Counts packets that were marked elsewhere: in a library.
    pub fn count_marks(&mut self, marks: u64) {
        self.marked += marks;
    }

    /// True if [`QdiscContext::take_dropped`] has packets to return.
    #[must_use]
    pub fn has_dropped(&self) -> bool {
        !self.dropped.is_empty()
    }

    /// Returns the next dropped packet that was not returned before, in the order of the drops.
    pub fn take_dropped(&mut self) -> Option<(Packet, DropReason)> {
        if self.dropped.is_empty() { None } else { Some(self.dropped.remove(0)) }
    }

    /// Returns the number of packets marked since the last call.
    pub fn take_marked(&mut self) -> u64 {
        std::mem::take(&mut self.marked)
    }
}

/// See [`Qdisc::plain_fifo`].
#[derive(Clone, Copy, Debug)]
pub struct PlainFifo {
    /// The largest backlog.
    pub limit: Limit,
    /// True if the packet in transmission counts as a waiting packet.
    pub counts_service: bool,
}

impl PlainFifo {
    /// True if a packet of `bytes` fits behind this backlog while the link is busy.
    #[inline]
    #[must_use]
    pub fn admits(&self, backlog: Backlog, bytes: u32) -> bool {
        match self.limit {
            Limit::Packets(limit) => backlog.packets + u64::from(self.counts_service) < limit.0,
            Limit::Bytes(limit) => backlog.bytes + u64::from(bytes) <= limit.0,
        }
    }
}

/// A queue discipline. At all times, arrived = departed + dropped + waiting.
pub trait Qdisc: Send + std::fmt::Debug {
    /// Enqueues a packet, or drops it or another one with `cx`. No packet is dropped if the link is idle and the queue
    /// empty.
    fn enqueue(&mut self, packet: Packet, cx: &mut QdiscContext);

    /// Returns the next packet to send; None if the queue is empty or a shaper delays the next packet.
    fn dequeue(&mut self, cx: &mut QdiscContext) -> Option<Packet>;

    /// Returns the packet that [`Qdisc::dequeue`] would return, for a discipline that neither drops nor marks there: a
    /// shaper around it leaves the packet in the queue until it is sent [Linux sch_generic.h qdisc_peek_head].
    fn first(&self) -> Option<&Packet> {
        None
    }

    /// True if a packet that finds the link idle and the queue empty never changes the state of the discipline. The
    /// link may then send it without a call [Linux sch_generic.h TCQ_F_CAN_BYPASS].
    fn can_bypass(&self) -> bool {
        false
    }

    /// Returns the limit of a discipline that is a first-in first-out queue and nothing else: the departure of a packet
    /// is then known when it arrives, and the link need not call the discipline.
    fn plain_fifo(&self) -> Option<PlainFifo> {
        None
    }

    /// Returns the backlog.
    fn backlog(&self) -> Backlog;

    /// Returns the number of classes, for a discipline that uses the class of packets. The class of each packet is
    /// below it.
    fn classes(&self) -> Option<u32> {
        None
    }

    /// Returns the time at which [`Qdisc::dequeue`] can return a packet again after it returned None with packets
    /// waiting (shapers).
    fn next_ready(&self) -> Option<Time> {
        None
    }

    /// Appends the private state: one value for each column of the registry row.
    fn observe(&self, _row: &mut Vec<f64>) {}

    /// The run has ended: an external discipline is checked for packets that can't leave.
    fn close(&mut self, _end: Time) {}
}
