//! The objects that a discipline in Python works with: the link and its packets. Times in seconds, sizes in wire bytes.

use dumbbell_qdisc::external::{Handle, Held};
use dumbbell_qdisc::{Backlog, DropReason, Ecn, LinkInfo, Packet, QdiscContext};
use dumbbell_units::param::unknown_name;
use dumbbell_units::random::Stream;
use pyo3::exceptions::{PyRuntimeError, PyValueError};
use pyo3::prelude::*;
use std::sync::atomic::{AtomicU8, AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// The reasons with which a discipline may drop a packet.
const REASONS: [DropReason; 3] = [DropReason::Full, DropReason::Early, DropReason::Forced];

/// A packet that waits in a queue.
#[pyclass(frozen, module = "dumbbell._core")]
pub(crate) struct QueuePacket {
    handle: Handle,
    /// The link whose queue it is in.
    link: u64,
    /// Its number in the order of arrival at this queue, from 0.
    #[pyo3(get)]
    number: u64,
    /// Bytes on the wire, with the framing of the link.
    #[pyo3(get)]
    bytes: u32,
    /// Index of its flow in the scenario, from 0.
    #[pyo3(get)]
    flow: u32,
    /// True if it travels from the data receiver to the data sender, as ACKs do.
    #[pyo3(get)]
    backward: bool,
    /// The class of the flow in the scenario.
    #[pyo3(get)]
    class_: u16,
    /// Time of its arrival at this queue, s of simulated time.
    #[pyo3(get)]
    arrived: f64,
    ecn: AtomicU8,
}

#[pymethods]
impl QueuePacket {
    /// The ECN field: "not-ect", "ect(1)", "ect(0)" or "ce" (congestion experienced) [RFC 3168 §5].
    #[getter]
    fn ecn(&self) -> &'static str {
        ["not-ect", "ect(1)", "ect(0)", "ce"][usize::from(self.ecn.load(Ordering::Relaxed) & 3)]
    }

    /// True if it can be marked instead of dropped.
    #[getter]
    fn ecn_capable(&self) -> bool {
        Ecn::from_bits(self.ecn.load(Ordering::Relaxed)).is_capable()
    }

    fn __repr__(&self) -> String {
        let back = if self.backward { " back" } else { "" };
        format!("<packet {} of flow {}{back}, {} bytes, {}>", self.number, self.flow, self.bytes, self.ecn())
    }
}

/// The state of a link's queue outside the user's code.
struct State {
    /// The packets, while the code is called.
    open: Option<(Held, QdiscContext)>,
    backlog: Backlog,
    busy: bool,
    stream: Stream,
}

/// The link whose queue a discipline manages.
#[pyclass(frozen, module = "dumbbell._core")]
pub(crate) struct QueueLink {
    number: u64,
    /// The rate at the beginning, bit/s.
    #[pyo3(get)]
    rate: u64,
    /// The largest base round-trip time of the flows that cross the link, s.
    #[pyo3(get)]
    base_rtt: f64,
    /// The seed for random numbers: random.Random(link.seed). Different for each queue and repetition.
    #[pyo3(get)]
    seed: u64,
    state: Mutex<State>,
}

impl QueueLink {
    pub(super) fn new(link: &LinkInfo) -> QueueLink {
        /// Links of this process, so that a packet of another queue is not taken for one of this.
        static LINKS: AtomicU64 = AtomicU64::new(0);
        QueueLink {
            number: LINKS.fetch_add(1, Ordering::Relaxed),
            rate: link.rate.0,
            base_rtt: link.base_rtt.as_secs(),
            seed: Stream::new(link.seed, &format!("{}/python", link.path)).next_u64(),
            state: Mutex::new(State { open: None, backlog: Backlog::default(), busy: false, stream: link.stream() }),
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Makes packets and context available to the code's calls of this object.
    pub(super) fn open(&self, held: &mut Held, cx: &mut QdiscContext) {
        let mut state = self.state();
        state.busy = cx.link_busy;
        state.open = Some((std::mem::take(held), std::mem::take(cx)));
    }

    /// The call has ended: returns packets and context.
    pub(super) fn close(&self, held: &mut Held, cx: &mut QdiscContext) {
        let mut state = self.state();
        if let Some((packets, context)) = state.open.take() {
            state.backlog = packets.backlog();
            (*held, *cx) = (packets, context);
        }
    }

    /// Makes the object of a packet that arrives.
    pub(super) fn packet(&self, handle: Handle, packet: &Packet, number: u64) -> QueuePacket {
        QueuePacket {
            handle,
            link: self.number,
            number,
            bytes: packet.bytes,
            flow: packet.flow / 2,
            backward: packet.flow % 2 == 1,
            class_: packet.class,
            arrived: packet.enqueued.as_secs(),
            ecn: AtomicU8::new(packet.ecn.bits()),
        }
    }

    /// Returns the handle of a packet of this link's queue, also if it has left.
    pub(super) fn handle(&self, packet: &QueuePacket) -> Option<Handle> {
        (packet.link == self.number).then_some(packet.handle)
    }

    /// Calls `work` with the packets; an error outside enqueue and dequeue.
    fn with<T>(
        &self,
        method: &str,
        packet: &QueuePacket,
        work: impl FnOnce(&mut Held, &mut QdiscContext, Handle) -> Option<T>,
    ) -> PyResult<T> {
        let mut state = self.state();
        let Some((held, cx)) = &mut state.open else {
            let message = format!("link.{method} is called outside enqueue and dequeue");
            return Err(PyRuntimeError::new_err(message));
        };
        self.handle(packet).and_then(|handle| work(held, cx, handle)).ok_or_else(|| {
            PyValueError::new_err(format!(
                "link.{method}: {} isn't in the queue: it has left, or is in another one",
                packet.__repr__()
            ))
        })
    }
}

#[pymethods]
impl QueueLink {
    /// Drops a packet that waits, or the one that arrives. `reason`: "full" (the queue is full), "early" (before it is
    /// full) or "forced" (every packet at this load). Raises ValueError for a packet that isn't in the queue.
    fn drop(&self, packet: &QueuePacket, reason: &str) -> PyResult<()> {
        let Some(reason) = REASONS.iter().find(|r| r.name() == reason) else {
            let known = REASONS.iter().map(|r| r.name());
            return Err(PyValueError::new_err(unknown_name("reason", reason, known)));
        };
        self.with("drop", packet, |held, cx, handle| held.drop_packet(handle, *reason, cx).then_some(()))
    }

    /// Marks a packet "congestion experienced" and returns True, if it is ECN-capable; otherwise returns False, and the
    /// packet is unchanged. Raises ValueError for a packet that isn't in the queue.
    fn mark(&self, packet: &QueuePacket) -> PyResult<bool> {
        let marked = self.with("mark", packet, |held, cx, handle| held.mark(handle, cx))?;
        if marked {
            packet.ecn.store(Ecn::CE.bits(), Ordering::Relaxed);
        }
        Ok(marked)
    }

    /// Returns a random number, uniform in 0..1. Each queue has its own sequence, which follows from the seed of the
    /// run.
    fn random(&self) -> f64 {
        self.state().stream.uniform()
    }

    /// True while the link transmits a packet: it then asks for the next one later.
    #[getter]
    fn busy(&self) -> bool {
        self.state().busy
    }

    /// Packets that wait, the one that arrives included, without the one in transmission.
    #[getter]
    fn backlog_packets(&self) -> u64 {
        self.backlog().packets
    }

    /// Wire bytes of these packets.
    #[getter]
    fn backlog_bytes(&self) -> u64 {
        self.backlog().bytes
    }

    fn __repr__(&self) -> String {
        format!("<link of {} bit/s, base RTT {} s>", self.rate, self.base_rtt)
    }
}

impl QueueLink {
    fn backlog(&self) -> Backlog {
        let state = self.state();
        state.open.as_ref().map_or(state.backlog, |(held, _)| held.backlog())
    }
}
