//! A workload over real sockets [tcp(7)]: transfers that arrive by a process, each over a TCP connection; many are open
//! at a time. Times and sizes are the simulator's ([`Schedule`]); both ends of all connections are served by this
//! thread.
//!
//! ```text
//! Schedule -> arrival -> a new connection, or an idle one (connections = "reuse") -> last byte read by the receiver
//! ```
//! A transfer begins at the time that was drawn for it: where the clock is the host's and this thread is late, its
//! completion time includes the delay. An open connection has a slot; its number gives its ports, so that an accepted
//! connection is known by its peer's port.

use super::tcp::{CHUNK, FIRST_PORT, drained, lingers, prepare};
use super::{Cx, Host, Traffic};
use crate::error::{KernelError, Step};
use crate::plan::memory::MOST_CONNECTIONS;
use crate::sys;
use dumbbell_plan::{Arrival, ConnectionsPlan, FlowResult, Schedule, Transfer, WorkloadPlan};
use dumbbell_sim::meter::DurationStats;
use dumbbell_units::{Dur, Time};
use std::os::fd::OwnedFd;

/// Connections with one port of the server: each has the next port at the client. After them the server has its next
/// port, so that no pair of ports is used again while the kernel still holds it (TIME-WAIT [RFC 9293 §3.6.1]).
const PORTS: u32 = 40_000;
/// The first role that is no listener's. Results have rows for 2,000,000 transfers, which are 50 listeners.
const FIRST_ROLE: u32 = 64;
/// Connections that may wait at a listener: the default of `net.core.somaxconn`, which is the kernel's bound.
const BACKLOG: i32 = 4096;
/// In place of a slot: the connection is over.
const OVER: u32 = u32::MAX;

/// A connection, from its beginning until both ends have closed it.
#[derive(Debug)]
struct Open {
    /// Number within the flow, from 0.
    number: u32,
    sender: Option<OwnedFd>,
    receiver: Option<OwnedFd>,
    /// Payload not yet written to the sender's socket, bytes.
    to_send: u64,
    /// True if the sender closes after that.
    then_closes: bool,
    /// Payload of all transfers so far, and the part that the receiver has read, bytes.
    written: u64,
    read: u64,
    /// Index of the running transfer in [`Cx::transfers`].
    running: Option<usize>,
}

/// What a workload over sockets needs to know of its flow.
#[derive(Debug)]
pub(crate) struct WorkloadConfig {
    /// Name of the flow.
    pub(crate) name: String,
    /// The kernel's name of the congestion control.
    pub(crate) variant: String,
    /// Largest receive window, bytes.
    pub(crate) window: Option<u32>,
    /// True if the sockets have TCP_NODELAY.
    pub(crate) nodelay: bool,
    pub(crate) seed: u64,
    /// Times at which the flow starts and stops, ns of the run.
    pub(crate) start: u64,
    pub(crate) stop: u64,
}

/// See the top of this file.
pub(crate) struct WorkloadTraffic {
    hosts: [Host; 2],
    config: WorkloadConfig,
    reuses: bool,
    /// Number of transfers; 0: no limit.
    count: u64,
    schedule: Schedule,
    next: Option<Arrival>,
    listeners: Vec<OwnedFd>,
    open: Vec<Option<Box<Open>>>,
    /// Slots without a connection.
    free: Vec<usize>,
    /// Slots of connections without a transfer; the last one was used last.
    idle: Vec<usize>,
    /// Slot of each connection, by its number.
    slots: Vec<u32>,
    begun: u64,
    completed: u64,
    first_begun_at: u64,
    completed_at: u64,
    /// Time from the arrival of each transfer to its beginning.
    late: DurationStats,
    stopped: bool,
    chunk: Vec<u8>,
}

impl WorkloadTraffic {
    pub(crate) fn new(hosts: [Host; 2], plan: &WorkloadPlan, config: WorkloadConfig) -> WorkloadTraffic {
        let mut schedule = Schedule::new(plan, &config.name, config.seed, Time(config.start));
        WorkloadTraffic {
            hosts,
            reuses: plan.connections == ConnectionsPlan::Reuse,
            count: plan.count,
            next: schedule.next().filter(|next| next.at.0 < config.stop),
            config,
            schedule,
            listeners: Vec::new(),
            open: Vec::new(),
            free: Vec::new(),
            idle: Vec::new(),
            slots: Vec::new(),
            begun: 0,
            completed: 0,
            first_begun_at: 0,
            completed_at: 0,
            late: DurationStats::new(),
            stopped: false,
            chunk: vec![0; CHUNK],
        }
    }

    /// Returns the lateness of the transfers' beginnings: 99th percentile and maximum, ms.
    pub(crate) fn late_ms(&self) -> [f64; 2] {
        [self.late.percentile_ms(0.99), self.late.max_ms()].map(|ms| ms.unwrap_or(0.0))
    }

    /// Begins the transfers that are due, and schedules the next one.
    fn arrive(&mut self, cx: &mut Cx<'_>) -> Result<(), KernelError> {
        while let Some(arrival) = self.next.filter(|next| next.at.0 <= cx.now) {
            self.begin(arrival, cx)?;
            self.next = self.schedule.next().filter(|next| next.at.0 < self.config.stop);
        }
        if let Some(next) = self.next {
            cx.alarm(next.at.0);
        }
        Ok(())
    }

    fn begin(&mut self, Arrival { at, bytes }: Arrival, cx: &mut Cx<'_>) -> Result<(), KernelError> {
        if self.begun == 0 {
            self.first_begun_at = at.0;
        }
        self.late.record(Dur(cx.clock.saturating_sub(at.0)));
        let slot = match self.idle.pop() {
            Some(slot) => slot,
            None => self.connect(cx)?,
        };
        let Some(open) = self.open[slot].as_deref_mut() else { return Ok(()) };
        open.running = Some(cx.transfers.len());
        open.to_send += bytes;
        open.written += bytes;
        open.then_closes = !self.reuses;
        cx.transfers.push(Transfer {
            flow: String::new(), // set by the event loop
            number: self.begun,
            start_s: at.as_secs(),
            end_s: None,
            bytes,
            connection: Some(u64::from(open.number) + 1),
            ..Transfer::default()
        });
        self.begun += 1;
        self.push(slot)
    }

    /// Opens a connection; returns its slot.
    fn connect(&mut self, cx: &Cx<'_>) -> Result<usize, KernelError> {
        if self.open.len() - self.free.len() == MOST_CONNECTIONS {
            let message = format!(
                "more than {MOST_CONNECTIONS} connections at a time: the load exceeds the capacity, or back end 'sim' runs it"
            );
            let place = format!("flows.{}.application", self.config.name);
            return Err(KernelError::refused(&place, message));
        }
        let number = self.slots.len() as u32;
        let block = number / PORTS;
        self.listen(block, cx)?;
        let port = FIRST_PORT + (number % PORTS) as u16;
        let fd = self.hosts[0].bound(libc::SOCK_STREAM, port, true)?;
        prepare(&fd, &self.config.variant, self.config.nodelay)?;
        sys::connect(&fd, self.hosts[1].at(self.port(block))).step(|| "connect".into())?;
        let slot = self.free.pop().unwrap_or_else(|| {
            self.open.push(None);
            self.open.len() - 1
        });
        cx.watch(&fd, role(slot, 0))?;
        self.open[slot] = Some(Box::new(Open {
            number,
            sender: Some(fd),
            receiver: None,
            to_send: 0,
            then_closes: false,
            written: 0,
            read: 0,
            running: None,
        }));
        self.slots.push(slot as u32);
        Ok(slot)
    }

    /// Returns the server's port for a block of connections.
    fn port(&self, block: u32) -> u16 {
        self.hosts[1].port + block as u16
    }

    /// Makes the listener of a block of connections, if it is the first of them.
    fn listen(&mut self, block: u32, cx: &Cx<'_>) -> Result<(), KernelError> {
        if (block as usize) < self.listeners.len() {
            return Ok(());
        }
        let listener = self.hosts[1].socket(libc::SOCK_STREAM, self.port(block))?;
        prepare(&listener, &self.config.variant, self.config.nodelay)?;
        sys::listen(&listener, BACKLOG).step(|| "listen".into())?;
        cx.watch(&listener, block)?;
        self.listeners.push(listener);
        Ok(())
    }

    /// Accepts connections at a listener.
    fn accept(&mut self, block: u32, cx: &mut Cx<'_>) -> Result<(), KernelError> {
        while let Some((fd, peer)) = sys::accept(&self.listeners[block as usize]).step(|| "accept".into())? {
            let number = block * PORTS + u32::from(peer.port().saturating_sub(FIRST_PORT));
            let slot = self.slots.get(number as usize).copied().unwrap_or(OVER) as usize;
            if let Some(open) = self.open.get_mut(slot).and_then(Option::as_deref_mut) {
                cx.watch(&fd, role(slot, 1))?;
                open.receiver = Some(fd);
                self.receive(slot, true, cx)?;
            }
        }
        Ok(())
    }

    /// Writes as much as the sender's socket accepts.
    fn push(&mut self, slot: usize) -> Result<(), KernelError> {
        let Some(open) = self.open[slot].as_deref_mut() else { return Ok(()) };
        let Some(fd) = &open.sender else { return Ok(()) };
        while open.to_send > 0 {
            let n = open.to_send.min(CHUNK as u64) as usize;
            let whole = n as u64 == open.to_send;
            let send = if whole { sys::send } else { sys::send_part };
            match send(fd, &self.chunk[..n]).step(|| "send".into())? {
                Some(n) => open.to_send -= n as u64,
                None => return Ok(()),
            }
        }
        if open.then_closes {
            open.then_closes = false;
            sys::shutdown(fd).step(|| "shutdown".into())?;
        }
        Ok(())
    }

    /// Handles an event of a sender's socket.
    fn send(&mut self, slot: usize, over: bool, cx: &Cx<'_>) -> Result<(), KernelError> {
        self.push(slot)?;
        let Some(open) = self.open[slot].as_deref_mut() else { return Ok(()) };
        let Some(fd) = &open.sender else { return Ok(()) };
        let read = drained(fd, over, false).step(|| format!("connection of flow {}", cx.flow))?;
        if let Some(fd) = open.sender.take_if(|_| read.closed) {
            lingers(&fd, true).step(|| "SO_LINGER".into())?;
        }
        self.release(slot);
        Ok(())
    }

    /// Handles an event of a receiver's socket: completes the connection's transfer once all of it was read.
    fn receive(&mut self, slot: usize, over: bool, cx: &mut Cx<'_>) -> Result<(), KernelError> {
        let Some(open) = self.open[slot].as_deref_mut() else { return Ok(()) };
        let Some(fd) = &open.receiver else { return Ok(()) };
        if let Some(window) = self.config.window {
            // Each time, because the kernel resets the bound [Linux tcp_input.c tcp_measure_rcv_mss].
            sys::set_option(fd, libc::IPPROTO_TCP, libc::TCP_WINDOW_CLAMP, window as i32)
                .step(|| "TCP_WINDOW_CLAMP".into())?;
        }
        let read = drained(fd, over, false).step(|| format!("connection of flow {}", cx.flow))?;
        open.read += read.bytes;
        if let Some(fd) = open.receiver.take_if(|_| read.closed) {
            lingers(&fd, true).step(|| "SO_LINGER".into())?;
        }
        // After the run, the last packets are only observed.
        let is_whole = open.read >= open.written && cx.now < self.config.stop;
        if let Some(running) = open.running.take_if(|_| is_whole) {
            cx.transfers[running].end_s = Some(Time(cx.now).as_secs());
            self.completed += 1;
            self.completed_at = cx.now;
            if self.reuses {
                self.idle.push(slot);
            }
            if self.ended().is_some() {
                self.close_idle()?;
            }
        }
        self.release(slot);
        Ok(())
    }

    /// No transfer follows: closes the connections.
    fn close_idle(&mut self) -> Result<(), KernelError> {
        for slot in std::mem::take(&mut self.idle) {
            if let Some(open) = self.open[slot].as_deref_mut() {
                open.then_closes = true;
            }
            self.push(slot)?;
        }
        Ok(())
    }

    /// Frees the slot of a connection that both ends have closed.
    fn release(&mut self, slot: usize) {
        let is_over = |open: &&Open| open.sender.is_none() && open.receiver.is_none() && open.running.is_none();
        if let Some(open) = self.open[slot].as_deref().filter(is_over) {
            self.slots[open.number as usize] = OVER;
            self.open[slot] = None;
            self.free.push(slot);
        }
    }
}

/// Returns the role of an end: side 0 is the data sender.
fn role(slot: usize, side: u32) -> u32 {
    FIRST_ROLE + 2 * slot as u32 + side
}

impl Traffic for WorkloadTraffic {
    fn start(&mut self, cx: &mut Cx<'_>) -> Result<(), KernelError> {
        self.listen(0, cx)?;
        self.arrive(cx)
    }

    fn on_alarm(&mut self, cx: &mut Cx<'_>) -> Result<(), KernelError> {
        if self.stopped { Ok(()) } else { self.arrive(cx) }
    }

    fn on_event(&mut self, role: u32, over: bool, cx: &mut Cx<'_>) -> Result<(), KernelError> {
        if self.stopped {
            return Ok(());
        }
        let Some(end) = role.checked_sub(FIRST_ROLE) else { return self.accept(role, cx) };
        let slot = end as usize / 2;
        if end.is_multiple_of(2) { self.send(slot, over, cx) } else { self.receive(slot, over, cx) }
    }

    fn stop(&mut self, _now: u64) {
        self.stopped = true;
        self.open.clear();
        self.listeners.clear();
    }

    fn ended(&self) -> Option<u64> {
        (self.count > 0 && self.completed == self.count).then_some(self.completed_at)
    }

    fn finish(&self, r: &mut FlowResult) {
        (r.transfers_started, r.transfers_completed) = (self.begun, self.completed);
        r.completion_time_s = self.ended().map(|end| (end - self.first_begun_at) as f64 * 1e-9).into();
    }
}
