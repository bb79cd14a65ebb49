//! The thread of the link emulation: the simulator's network in real time.
//!
//! The times of all events follow from the times at which packets entered, so one late event delays one packet and none
//! after it. The thread sleeps until shortly before the next event and spins for the rest. The lateness of delivered
//! packets is measured. TUN devices pass the packets [Linux Documentation/networking/tuntap.rst].
//!
//! With offloads, hosts send and receive super-packets; the network between has packets as on the wire. Packets that
//! reach hosts are then delivered at most once per [`MODERATION`], all of that time together, as an interface with
//! interrupt moderation does it. After a pause a packet is delivered at once.

use super::super_packet::{Joined, Unit, VIRTIO, split};
use crate::error::{KernelError, Step};
use crate::meter::packet::Packet;
use crate::run::network::Observation;
use crate::sys::{self, Clock};
use dumbbell_plan::Plan;
use dumbbell_sim::meter::DurationStats;
use dumbbell_sim::{Event, ExternalPacket, Live, LiveOutput, set_ecn};
use dumbbell_units::{Dur, Time};
use dumbbell_wire::{Ecn, IpVersion, SeqUnwrapper};
use std::collections::BTreeMap;
use std::io::IoSlice;
use std::os::fd::{AsRawFd, OwnedFd};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::Sender;

/// Real-time priority of this thread; the traffic thread has one less.
pub(crate) const PRIORITY: i32 = 20;
/// Time that the thread is awake before an event, ns: the time of waking up on an idle machine.
const SPIN: u64 = 60_000;
/// Share of a processor above which it spins for a shorter time: the kernel stops real-time threads that use more than
/// 95 % of a second [Linux kernel/sched/rt.c sysctl_sched_rt_runtime].
const MAX_SHARE: f64 = 0.8;
/// Interval of measuring that share, ns.
const SHARE_INTERVAL: u64 = 10_000_000;
/// Least time between two deliveries to hosts with offloads, ns: that between two interrupts of common interfaces
/// [Linux drivers/net/ethernet/intel/i40e/i40e_txrx.h I40E_ITR_20K].
pub(crate) const MODERATION: u64 = 50_000;
/// Longest sleep, ns: it reacts to `Signals::stop` within this time.
const LONGEST_SLEEP: u64 = 10_000_000;
const TIMER: u64 = u64::MAX;

/// The thread's results.
pub(crate) struct Report {
    pub(crate) output: LiveOutput,
    /// Lateness of delivered packets.
    pub(crate) late: DurationStats,
    /// Packets delivered to hosts.
    pub(crate) delivered: u64,
    /// Packets that a host did not accept.
    pub(crate) refused: u64,
    /// Packets that hosts sent and that belong to no flow.
    pub(crate) foreign: u64,
    /// True if the thread had real-time priority.
    pub(crate) real_time: bool,
    /// CPU time that it used, ns.
    pub(crate) cpu_ns: u64,
}

/// A connection: its number, and the offsets of its payload.
#[derive(Clone, Copy, Debug, Default)]
struct Numbered {
    number: u32,
    place: SeqUnwrapper,
    highest: u64,
}

/// Numbers connections, and the offset of each payload in its connection.
#[derive(Clone, Debug, Default)]
struct Numbering {
    by_port: BTreeMap<u16, Numbered>,
    connections: u32,
    datagrams: u64,
}

impl Numbering {
    /// Returns connection, offset (for datagrams their number), and true for a retransmission.
    fn of(&mut self, packet: &Packet) -> (u32, u64, bool) {
        let Some(tcp) = packet.tcp else {
            self.datagrams += 1;
            return (0, self.datagrams - 1, false);
        };
        let new = Numbered { number: self.connections, ..Numbered::default() };
        let known = self.by_port.entry(tcp.connection).or_insert(new);
        // A SYN with another number than the one before: the port is used again.
        if tcp.syn && known.place.first().is_some_and(|first| first != tcp.seq.at(1)) {
            *known = new;
        }
        self.connections = self.connections.max(known.number + 1);
        let start = known.place.unwrap(tcp.seq.at(u64::from(tcp.syn)));
        let again = packet.payload > 0 && start < known.highest;
        known.highest = known.highest.max(start + u64::from(packet.payload));
        (known.number, start, again)
    }
}

/// Signals between this thread and the one that started it.
#[derive(Debug, Default)]
pub(crate) struct Signals {
    /// Set by this thread: packets of hosts are read from now on.
    pub(crate) ready: AtomicBool,
    /// Set by the other: this thread ends.
    pub(crate) stop: AtomicBool,
}

/// The spinning time before an event.
struct Spin {
    ns: u64,
    /// Time of the last measurement of the share, and the CPU time until then, ns.
    measured: (u64, u64),
}

impl Spin {
    fn adapt(&mut self, now: u64, used: u64) {
        let share = used.saturating_sub(self.measured.1) as f64 / now.saturating_sub(self.measured.0).max(1) as f64;
        self.ns = if share > MAX_SHARE { self.ns / 2 } else { (self.ns + SPIN / 16).min(SPIN) };
        self.measured = (now, used);
    }
}

/// The devices that connect the link with the hosts.
pub(crate) trait Tunnels {
    /// Returns the descriptors that packets of hosts are read from, each with its token.
    fn all(&self) -> Vec<(u64, &OwnedFd)>;
    /// Returns the descriptor of a token.
    fn of(&self, token: u64) -> &OwnedFd;
    /// Reads a packet that was read from the descriptor of a token; None if it belongs to no flow.
    fn packet(&self, token: u64, bytes: &[u8]) -> Option<Packet>;
    /// Returns the descriptor that delivers the packets of a direction.
    fn delivers(&self, direction: u32) -> &OwnedFd;
    /// Reads a packet from the descriptor of a token, with the `virtio_net_hdr` before it; None: none is available.
    fn read(&self, token: u64, into: &mut [u8]) -> std::io::Result<Option<usize>> {
        sys::read(self.of(token), into)
    }
    /// Delivers a packet of a direction, given in parts: `virtio_net_hdr`, then the packet.
    fn write(&self, direction: u32, parts: &[IoSlice<'_>]) -> std::io::Result<()> {
        sys::write(self.delivers(direction), parts)
    }
}

/// A device for each host of each flow: token and direction are twice the flow's number, plus 1 for the data
/// receiver's.
impl Tunnels for Vec<[OwnedFd; 2]> {
    fn all(&self) -> Vec<(u64, &OwnedFd)> {
        self.iter().flatten().enumerate().map(|(n, tunnel)| (n as u64, tunnel)).collect()
    }

    fn of(&self, token: u64) -> &OwnedFd {
        &self[token as usize / 2][token as usize % 2]
    }

    fn packet(&self, token: u64, bytes: &[u8]) -> Option<Packet> {
        let other_end = Packet::direction_to(bytes) == Some(token as u32);
        Packet::read(bytes).filter(|p| other_end && u64::from(p.direction) == token)
    }

    fn delivers(&self, direction: u32) -> &OwnedFd {
        &self[direction as usize / 2][1 - direction as usize % 2]
    }
}

/// A packet in the network.
#[derive(Clone, Debug, Default)]
struct Frame {
    direction: u32,
    /// Identifies it among the packets of its direction.
    key: u64,
    unit: Unit,
}

impl Frame {
    fn packet(&self) -> Option<Packet> {
        Packet::read_as(self.direction, &self.unit.head).map(|packet| Packet { key: self.key, ..packet })
    }
}

/// A packet that has reached its host's interface.
struct Arrival {
    at: u64,
    frame: Frame,
}

struct Link<'a> {
    live: Live,
    /// True if hosts send and receive super-packets.
    offloads: bool,
    /// True if captures record the packets.
    captures: bool,
    /// Packets that the next delivery with offloads has, in the order of time, and its earliest time, ns.
    arrivals: Vec<Arrival>,
    next_delivery: u64,
    /// A whole packet, for captures.
    whole: Vec<u8>,
    tunnels: &'a dyn Tunnels,
    period: Period,
    /// Packets by handle.
    frames: Vec<Frame>,
    events: Vec<Event>,
    numbering: Vec<Numbering>,
    /// Packets of hosts so far.
    entered: u64,
    observer: Option<Sender<Observation>>,
    late: DurationStats,
    delivered: u64,
    refused: u64,
    foreign: u64,
}

/// The time of a link thread. With `Clock::Wall`, which is for the guest, time is virtual: it stops while the thread
/// works, so the thread needs no priority and doesn't spin.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Period {
    pub(crate) clock: Clock,
    /// Time of the run's beginning by the clock, ns.
    pub(crate) zero: u64,
    /// The run's end, ns after its beginning.
    pub(crate) end: u64,
}

impl Period {
    /// The period of a run on the host, in real time.
    pub(crate) fn real(zero: u64, end: u64) -> Period {
        Period { clock: Clock::Steady, zero, end }
    }

    fn is_virtual(self) -> bool {
        self.clock == Clock::Wall
    }
}

/// Runs the plan's network in its period, or until `Signals::stop`. Packets that leave and reach hosts are reported
/// through `observer`.
pub(crate) fn run(
    plan: &Plan,
    tunnels: &dyn Tunnels,
    offloads: bool,
    period: Period,
    signals: &Signals,
    observer: Option<Sender<Observation>>,
) -> Result<Report, KernelError> {
    let real_time = !period.is_virtual() && sys::real_time(PRIORITY).is_ok();
    let began = sys::thread_time();
    let live = Live::new(plan).map_err(|e| KernelError::Invalid(e.to_string()))?;
    let mut link = Link {
        live,
        offloads,
        captures: !plan.capture.points.is_empty(),
        arrivals: Vec::new(),
        next_delivery: 0,
        whole: Vec::new(),
        tunnels,
        period,
        frames: Vec::new(),
        events: Vec::new(),
        numbering: vec![Numbering::default(); 2 * plan.flows.len()],
        entered: 0,
        observer,
        late: DurationStats::new(),
        delivered: 0,
        refused: 0,
        foreign: 0,
    };
    link.event_loop(signals)?;
    Ok(Report {
        output: link.live.finish(Time(period.end)),
        late: link.late,
        delivered: link.delivered,
        refused: link.refused,
        foreign: link.foreign,
        real_time,
        cpu_ns: sys::thread_time().saturating_sub(began),
    })
}

impl Link<'_> {
    fn now(&self) -> u64 {
        sys::now(self.period.clock).saturating_sub(self.period.zero)
    }

    fn event_loop(&mut self, signals: &Signals) -> Result<(), KernelError> {
        let end = self.period.end;
        let epoll = sys::epoll().step(|| "epoll".into())?;
        let timer = sys::timer(self.period.clock).step(|| "timer".into())?;
        sys::epoll_add(&epoll, timer.as_raw_fd(), libc::EPOLLIN, TIMER).step(|| "epoll".into())?;
        let mut buffer = vec![0; VIRTIO + (1 << 16)];
        let mut units = Vec::new();
        for (token, tunnel) in self.tunnels.all() {
            // Packets from before the run are discarded.
            while self.tunnels.read(token, &mut buffer).step(|| "tun".into())?.is_some() {}
            sys::epoll_add(&epoll, tunnel.as_raw_fd(), libc::EPOLLIN, token).step(|| "epoll".into())?;
        }
        signals.ready.store(true, Ordering::Release);
        let mut ready = Vec::new();
        let mut set_for = 0;
        let spin = if self.period.is_virtual() { 0 } else { SPIN };
        let mut spin = Spin { ns: spin, measured: (self.now(), sys::thread_time()) };
        loop {
            let now = self.now();
            self.advance(now.min(end));
            if now >= end || signals.stop.load(Ordering::Relaxed) {
                return Ok(());
            }
            let due = self.next_action().min(end).min(now + LONGEST_SLEEP);
            if !self.period.is_virtual() && now > spin.measured.0 + SHARE_INTERVAL {
                spin.adapt(now, sys::thread_time());
            }
            sys::epoll_poll(&epoll, &mut ready).step(|| "epoll".into())?;
            if ready.is_empty() && due > now + spin.ns {
                let at = due - spin.ns;
                // Setting the timer costs as much as a packet: if it is already set to an earlier time, it is kept.
                if set_for <= now || at < set_for {
                    sys::set_timer(&timer, self.period.zero + at).step(|| "timer".into())?;
                    set_for = at;
                }
                sys::epoll_wait(&epoll, &mut ready).step(|| "epoll".into())?;
            }
            for (token, _) in ready.drain(..).filter(|(token, _)| *token != TIMER) {
                while let Some(n) = self.tunnels.read(token, &mut buffer).step(|| "tun".into())? {
                    split(&buffer[..n], self.offloads, &mut units);
                    let now = self.now();
                    for unit in units.drain(..) {
                        self.enter(token, unit, now, end);
                    }
                }
            }
        }
    }

    /// Returns the time of the next action, ns.
    fn next_action(&mut self) -> u64 {
        let first = self.arrivals.first().map(|arrival| arrival.at);
        let next = first.or_else(|| self.live.next_time().map(|t| t.0)).unwrap_or(u64::MAX);
        // Nothing reaches a host before the next delivery, and the network's own events may be late.
        next.max(self.next_delivery)
    }

    /// Enters a packet that a host has sent, read from the descriptor of `token` at `now`.
    fn enter(&mut self, token: u64, unit: Unit, now: u64, end: u64) {
        let Some(mut packet) = self.tunnels.packet(token, &unit.head) else {
            self.foreign += 1;
            return;
        };
        if IpVersion::of_packet(&unit.head) == Some(IpVersion::V6) {
            packet.key = self.entered; // the headers of several packets may be the same
        }
        self.entered += 1;
        if now > end {
            return;
        }
        let (connection, number, retransmission) = self.numbering[packet.direction as usize].of(&packet);
        let (direction, payload, bytes) = (packet.direction, packet.payload, unit.len() as u32);
        if self.captures {
            unit.whole(&mut self.whole);
        }
        let content = if self.captures { &self.whole } else { &unit.head };
        let entering =
            ExternalPacket { direction, payload, connection, number, retransmission, bytes, packet: content };
        let events = &mut self.events;
        let handle = self.live.enter(&entering, Time(now), |e| events.push(e)) as usize;
        // Earlier events concern packets whose contents are stored already; this packet's content is stored now.
        self.carry_out();
        if self.frames.len() <= handle {
            self.frames.resize(handle + 1, Frame::default());
        }
        self.frames[handle] = Frame { direction, key: packet.key, unit };
        self.report(Observation::AtHost { side: (direction % 2) as u8, out: true, packet, at: now });
        let events = &mut self.events;
        self.live.drain_events(|e| events.push(e));
        self.carry_out();
    }

    fn report(&self, seen: Observation) {
        if let Some(observer) = &self.observer {
            let _ = observer.send(seen); // fails only after the end of the run
        }
    }

    fn advance(&mut self, until: u64) {
        let events = &mut self.events;
        self.live.advance(Time(until), |e| events.push(e));
        self.carry_out();
        self.deliver_arrivals();
    }

    /// Carries out the network's events.
    fn carry_out(&mut self) {
        let mut events = std::mem::take(&mut self.events);
        for event in events.drain(..) {
            match event {
                Event::Arrived { handle, direction, at, ecn } => self.deliver(handle, direction, at, ecn),
                Event::Copied { of, to } => {
                    let frame = self.frames[of as usize].clone();
                    if self.frames.len() <= to as usize {
                        self.frames.resize(to as usize + 1, Frame::default());
                    }
                    self.frames[to as usize] = frame;
                }
                Event::Dropped { handle, lost } => {
                    let frame = std::mem::take(&mut self.frames[handle as usize]);
                    let packet = frame.packet().filter(|p| lost && p.payload > 0);
                    if let Some(Packet { direction, key, .. }) = packet {
                        self.report(Observation::Lost { direction, key });
                    }
                }
            }
        }
        self.events = events;
    }

    /// Takes a packet that has reached its host.
    fn deliver(&mut self, handle: u32, direction: u32, at: Time, ecn: Ecn) {
        let mut frame = std::mem::take(&mut self.frames[handle as usize]);
        frame.direction = direction;
        set_ecn(&mut frame.unit.head, ecn);
        self.arrivals.push(Arrival { at: at.0, frame });
        if !self.offloads {
            self.write_arrivals();
        }
    }

    /// Delivers the packets that have arrived, if the interfaces of the hosts may report them now.
    fn deliver_arrivals(&mut self) {
        let Some(first) = self.arrivals.first() else { return };
        let due = first.at.max(self.next_delivery);
        if self.now() >= due {
            self.write_arrivals();
            self.next_delivery = due + MODERATION;
        }
    }

    /// Writes the packets that have arrived, joined where they continue each other.
    fn write_arrivals(&mut self) {
        let mut arrivals = std::mem::take(&mut self.arrivals);
        arrivals.sort_by_key(|arrival| arrival.frame.direction);
        let now = self.now();
        let mut joined: Option<(u32, Joined)> = None;
        for Arrival { at, frame } in arrivals.drain(..) {
            self.late.record(Dur(now.saturating_sub(at.max(self.next_delivery))));
            self.delivered += 1;
            let direction = frame.direction;
            // Reported before it is written, so that the packets that it triggers are reported later.
            if let (Some(packet), Some(observer)) = (frame.packet(), &self.observer) {
                let side = 1 - (direction % 2) as u8;
                let _ = observer.send(Observation::AtHost { side, out: false, packet, at: now });
            }
            let unit = match joined.take() {
                Some((of, mut before)) if of == direction => match before.join(frame.unit) {
                    Ok(()) => {
                        joined = Some((of, before));
                        continue;
                    }
                    Err(unit) => {
                        self.write(of, &before);
                        unit
                    }
                },
                Some((of, before)) => {
                    self.write(of, &before);
                    frame.unit
                }
                None => frame.unit,
            };
            joined = Some((direction, Joined::new(unit)));
        }
        if let Some((direction, last)) = joined {
            self.write(direction, &last);
        }
        self.arrivals = arrivals;
    }

    fn write(&mut self, direction: u32, packet: &Joined) {
        self.refused += u64::from(packet.write(|parts| self.tunnels.write(direction, parts)).is_err());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::meter::packet::Tcp;
    use dumbbell_wire::{SackBlocks, Seq};

    #[test]
    fn a_busy_thread_spins_less() {
        let mut spin = Spin { ns: SPIN, measured: (0, 0) };
        spin.adapt(10_000_000, 9_000_000); // 90 %
        assert_eq!(spin.ns, SPIN / 2);
        spin.adapt(20_000_000, 14_000_000); // 50 %
        assert_eq!(spin.ns, SPIN / 2 + SPIN / 16);
        (0..100).for_each(|_| spin.adapt(30_000_000, 14_000_000));
        assert_eq!(spin.ns, SPIN);
    }

    #[test]
    fn connections_and_retransmissions_are_distinguished() {
        let segment = |connection, seq, payload, syn| Packet {
            direction: 0,
            bytes: 40 + payload,
            payload,
            ce: false,
            key: 0,
            tcp: Some(Tcp { seq: Seq(seq), ack: Seq(0), syn, acks: false, sack: SackBlocks::default(), connection }),
        };
        let mut n = Numbering::default();
        // The SYN has number 999, so the first byte has 1000.
        assert_eq!(n.of(&segment(7, 999, 0, true)), (0, 0, false));
        assert_eq!(n.of(&segment(7, 1000, 100, false)), (0, 0, false));
        assert_eq!(n.of(&segment(7, 1100, 100, false)), (0, 100, false));
        assert_eq!(n.of(&segment(7, 1000, 100, false)), (0, 0, true));
        assert_eq!(n.of(&segment(8, 5, 0, true)), (1, 0, false));
        // Both are open.
        assert_eq!(n.of(&segment(7, 1200, 100, false)), (0, 200, false));
        assert_eq!(n.of(&segment(8, 5, 0, true)), (1, 0, false));
        // The port is used again.
        assert_eq!(n.of(&segment(7, 50, 0, true)), (2, 0, false));
        assert_eq!(n.of(&segment(8, 6, 10, false)), (1, 0, false));
    }
}
