//! The thread of the link emulation: the simulator's network in real time.
//!
//! The times of all events follow from the times at which packets entered, so one late event delays one packet and none
//! after it. The thread sleeps until shortly before the next event and spins for the rest. The lateness of delivered packets
//! is measured. TUN devices pass the packets [Linux Documentation/networking/tuntap.rst].

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
        let share =
            used.saturating_sub(self.measured.1) as f64 / now.saturating_sub(self.measured.0).max(1) as f64;
        self.ns = if share > MAX_SHARE { self.ns / 2 } else { (self.ns + SPIN / 16).min(SPIN) };
        self.measured = (now, used);
    }
}

/// The TUN devices that connect the link with the hosts.
pub(crate) trait Tunnels {
    /// Returns the descriptors that packets of hosts are read from, each with its token.
    fn all(&self) -> Vec<(u64, &OwnedFd)>;
    /// Returns the descriptor of a token.
    fn of(&self, token: u64) -> &OwnedFd;
    /// Reads a packet that was read from the descriptor of a token; None if it belongs to no flow.
    fn packet(&self, token: u64, bytes: &[u8]) -> Option<Packet>;
    /// Returns the descriptor that delivers the packets of a direction.
    fn delivers(&self, direction: u32) -> &OwnedFd;
}

/// A device for each host of each flow: token and direction are twice the flow's number, plus 1 for the data receiver's.
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
    bytes: Vec<u8>,
}

impl Frame {
    fn packet(&self) -> Option<Packet> {
        Packet::read_as(self.direction, &self.bytes).map(|packet| Packet { key: self.key, ..packet })
    }
}

struct Link<'a> {
    live: Live,
    tunnels: &'a dyn Tunnels,
    zero: u64,
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

/// Runs the plan's network from `zero` (steady clock) to the run's time `end`, or until `Signals::stop`. Packets that leave and
/// reach hosts are reported through `observer`.
pub(crate) fn run(
    plan: &Plan,
    tunnels: &dyn Tunnels,
    (zero, end): (u64, u64),
    signals: &Signals,
    observer: Option<Sender<Observation>>,
) -> Result<Report, KernelError> {
    let real_time = sys::real_time(PRIORITY).is_ok();
    let began = sys::thread_time();
    let live = Live::new(plan).map_err(|e| KernelError::Invalid(e.to_string()))?;
    let mut link = Link {
        live,
        tunnels,
        zero,
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
    link.event_loop(end, signals)?;
    Ok(Report {
        output: link.live.finish(Time(end)),
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
        sys::now(Clock::Steady).saturating_sub(self.zero)
    }

    fn event_loop(&mut self, end: u64, signals: &Signals) -> Result<(), KernelError> {
        let epoll = sys::epoll().step(|| "epoll".into())?;
        let timer = sys::timer(Clock::Steady).step(|| "timer".into())?;
        sys::epoll_add(&epoll, timer.as_raw_fd(), libc::EPOLLIN, TIMER).step(|| "epoll".into())?;
        let mut buffer = vec![0; 1 << 16];
        for (token, tunnel) in self.tunnels.all() {
            // Packets from before the run are discarded.
            while sys::read(tunnel, &mut buffer).step(|| "tun".into())?.is_some() {}
            sys::epoll_add(&epoll, tunnel.as_raw_fd(), libc::EPOLLIN, token).step(|| "epoll".into())?;
        }
        signals.ready.store(true, Ordering::Release);
        let mut ready = Vec::new();
        let mut set_for = 0;
        let mut spin = Spin { ns: SPIN, measured: (self.now(), sys::thread_time()) };
        loop {
            let now = self.now();
            self.advance(now.min(end));
            if now >= end || signals.stop.load(Ordering::Relaxed) {
                return Ok(());
            }
            let due = self.live.next_time().map_or(u64::MAX, |t| t.0).min(end).min(now + LONGEST_SLEEP);
            if now > spin.measured.0 + SHARE_INTERVAL {
                spin.adapt(now, sys::thread_time());
            }
            sys::epoll_poll(&epoll, &mut ready).step(|| "epoll".into())?;
            if ready.is_empty() && due > now + spin.ns {
                let at = due - spin.ns;
                // Setting the timer costs as much as a packet: if it is already set to an earlier time, it is kept.
                if set_for <= now || at < set_for {
                    sys::set_timer(&timer, self.zero + at).step(|| "timer".into())?;
                    set_for = at;
                }
                sys::epoll_wait(&epoll, &mut ready).step(|| "epoll".into())?;
            }
            for (token, _) in ready.drain(..).filter(|(token, _)| *token != TIMER) {
                while let Some(n) = sys::read(self.tunnels.of(token), &mut buffer).step(|| "tun".into())? {
                    self.enter(token, &buffer[..n], end);
                }
            }
        }
    }

    /// Enters a packet that a host has sent, read from the descriptor of `token`.
    fn enter(&mut self, token: u64, bytes: &[u8], end: u64) {
        let Some(mut packet) = self.tunnels.packet(token, bytes) else {
            self.foreign += 1;
            return;
        };
        if IpVersion::of_packet(bytes) == Some(IpVersion::V6) {
            packet.key = self.entered; // the headers of several packets may be the same
        }
        self.entered += 1;
        let now = self.now();
        if now > end {
            return;
        }
        let (connection, number, retransmission) = self.numbering[packet.direction as usize].of(&packet);
        let (direction, payload) = (packet.direction, packet.payload);
        let entering =
            ExternalPacket { direction, payload, connection, number, retransmission, packet: bytes };
        let events = &mut self.events;
        let handle = self.live.enter(&entering, Time(now), |e| events.push(e)) as usize;
        // Earlier events concern packets whose contents are stored already; this packet's content is stored now.
        self.carry_out();
        if self.frames.len() <= handle {
            self.frames.resize(handle + 1, Frame::default());
        }
        (self.frames[handle].direction, self.frames[handle].key) = (direction, packet.key);
        self.frames[handle].bytes.clear();
        self.frames[handle].bytes.extend_from_slice(bytes);
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
                    let packet = self.frames[handle as usize].packet().filter(|p| lost && p.payload > 0);
                    if let Some(Packet { direction, key, .. }) = packet {
                        self.report(Observation::Lost { direction, key });
                    }
                }
            }
        }
        self.events = events;
    }

    fn deliver(&mut self, handle: u32, direction: u32, at: Time, ecn: Ecn) {
        let frame = &mut self.frames[handle as usize];
        set_ecn(&mut frame.bytes, ecn);
        let side = 1 - (direction % 2) as u8;
        let now = sys::now(Clock::Steady).saturating_sub(self.zero);
        let packet = frame.packet();
        // Reported before it is written, so that the packets that it triggers are reported later.
        if let (Some(packet), Some(observer)) = (packet, &self.observer) {
            let _ = observer.send(Observation::AtHost { side, out: false, packet, at: now });
        }
        self.refused += u64::from(sys::write(self.tunnels.delivers(direction), &frame.bytes).is_err());
        self.delivered += 1;
        self.late.record(Dur(now.saturating_sub(at.0)));
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
            tcp: Some(Tcp {
                seq: Seq(seq),
                ack: Seq(0),
                syn,
                acks: false,
                sack: SackBlocks::default(),
                connection,
            }),
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
