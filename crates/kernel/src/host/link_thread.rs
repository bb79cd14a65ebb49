//! The link's thread: the simulator's network on the real clock.
//!
//! Everything that the network does is due at a time that follows from when packets entered, so being late once delays
//! one packet and nothing after it. The thread sleeps until shortly before the next such time and spins for the rest.
//! How late packets were handed over is measured.

use crate::error::{KernelError, Step};
use crate::meter::packet::Packet;
use crate::run::network::Observation;
use crate::sys::{self, Clock};
use dumbbell_plan::Plan;
use dumbbell_sim::meter::DurationStats;
use dumbbell_sim::{Event, ExternalPacket, Live, LiveOutput, set_ecn};
use dumbbell_units::{Dur, Time};
use dumbbell_wire::{Ecn, SeqUnwrapper};
use std::os::fd::{AsRawFd, OwnedFd};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::Sender;

/// Real-time priority of the link; traffic has one less.
pub(super) const PRIORITY: i32 = 20;
/// It is awake so long before something is due, ns: what waking up takes on a machine that isn't loaded.
const SPIN: u64 = 60_000;
/// Where that takes more of its time than this, it is awake for a shorter time: the kernel stops real-time threads that
/// leave less than a twentieth of the time to others, for 50 ms.
const MOST_BUSY: f64 = 0.8;
/// Its share is looked at so often, ns.
const SHARE: u64 = 10_000_000;
/// It looks up so often at least, ns.
const LOOK: u64 = 10_000_000;
const TIMER: u64 = u64::MAX;

/// What the thread has seen of itself.
pub(super) struct Report {
    pub(super) output: LiveOutput,
    /// How late packets were handed over.
    pub(super) late: DurationStats,
    /// Packets handed over.
    pub(super) handed: u64,
    /// Packets that a host didn't take.
    pub(super) refused: u64,
    /// Packets read that belong to no flow.
    pub(super) foreign: u64,
    /// Whether the thread had real-time priority.
    pub(super) real_time: bool,
    /// CPU time it used, ns.
    pub(super) cpu_ns: u64,
}

/// Which connection a packet belongs to, and where in it its payload lies.
#[derive(Clone, Copy, Debug, Default)]
struct Numbering {
    port: u16,
    connections: u32,
    place: SeqUnwrapper,
    highest: u64,
    datagrams: u64,
}

impl Numbering {
    /// Connection, offset (number of a datagram), whether it was sent before.
    fn of(&mut self, packet: &Packet) -> (u32, u64, bool) {
        let Some(tcp) = packet.tcp else {
            self.datagrams += 1;
            return (0, self.datagrams - 1, false);
        };
        if tcp.connection != self.port {
            *self = Numbering {
                port: tcp.connection,
                connections: self.connections + 1,
                datagrams: self.datagrams,
                ..Numbering::default()
            };
        }
        let start = self.place.unwrap(tcp.seq.at(u64::from(tcp.syn)));
        let again = packet.payload > 0 && start < self.highest;
        self.highest = self.highest.max(start + u64::from(packet.payload));
        (self.connections - 1, start, again)
    }
}

/// How the thread and whoever started it speak to each other.
#[derive(Debug, Default)]
pub(super) struct Signals {
    /// From now on what hosts send is taken.
    pub(super) ready: AtomicBool,
    /// It is to end.
    pub(super) stop: AtomicBool,
}

/// How long before something is due the thread is awake.
struct Spin {
    ns: u64,
    /// When its share was last looked at, and the CPU time that it had used: ns.
    looked: (u64, u64),
}

impl Spin {
    fn adapt(&mut self, now: u64, used: u64) {
        let share =
            used.saturating_sub(self.looked.1) as f64 / now.saturating_sub(self.looked.0).max(1) as f64;
        self.ns = if share > MOST_BUSY { self.ns / 2 } else { (self.ns + SPIN / 16).min(SPIN) };
        self.looked = (now, used);
    }
}

struct Link<'a> {
    live: Live,
    tunnels: &'a [[OwnedFd; 2]],
    zero: u64,
    /// What packets hold, by handle.
    frames: Vec<Vec<u8>>,
    events: Vec<Event>,
    numbering: Vec<Numbering>,
    told: Option<Sender<Observation>>,
    late: DurationStats,
    handed: u64,
    refused: u64,
    foreign: u64,
}

/// Runs the plan's network from `zero` (steady clock) to the run's time `end`, or until it is told to stop; `told` hears of all that
/// leaves and reaches hosts.
pub(super) fn run(
    plan: &Plan,
    tunnels: &[[OwnedFd; 2]],
    (zero, end): (u64, u64),
    signals: &Signals,
    told: Option<Sender<Observation>>,
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
        told,
        late: DurationStats::new(),
        handed: 0,
        refused: 0,
        foreign: 0,
    };
    link.go(end, signals)?;
    Ok(Report {
        output: link.live.finish(Time(end)),
        late: link.late,
        handed: link.handed,
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

    fn go(&mut self, end: u64, signals: &Signals) -> Result<(), KernelError> {
        let epoll = sys::epoll().step(|| "epoll".into())?;
        let timer = sys::timer(Clock::Steady).step(|| "timer".into())?;
        sys::epoll_add(&epoll, timer.as_raw_fd(), libc::EPOLLIN, TIMER).step(|| "epoll".into())?;
        let mut buffer = vec![0; 1 << 16];
        for (n, pair) in self.tunnels.iter().enumerate() {
            for (side, tunnel) in pair.iter().enumerate() {
                // What is left from before the run belongs to nobody.
                while sys::read(tunnel, &mut buffer).step(|| "tun".into())?.is_some() {}
                let token = (2 * n + side) as u64;
                sys::epoll_add(&epoll, tunnel.as_raw_fd(), libc::EPOLLIN, token).step(|| "epoll".into())?;
            }
        }
        signals.ready.store(true, Ordering::Release);
        let mut ready = Vec::new();
        let mut set_for = 0;
        let mut spin = Spin { ns: SPIN, looked: (self.now(), sys::thread_time()) };
        loop {
            let now = self.now();
            self.happen(now.min(end));
            if now >= end || signals.stop.load(Ordering::Relaxed) {
                return Ok(());
            }
            let due = self.live.next_time().map_or(u64::MAX, |t| t.0).min(end).min(now + LOOK);
            if now > spin.looked.0 + SHARE {
                spin.adapt(now, sys::thread_time());
            }
            sys::epoll_poll(&epoll, &mut ready).step(|| "epoll".into())?;
            if ready.is_empty() && due > now + spin.ns {
                let at = due - spin.ns;
                // Setting it takes as long as a packet: where it is still to wake us, and not too late, it is left alone.
                if set_for <= now || at < set_for {
                    sys::set_timer(&timer, self.zero + at).step(|| "timer".into())?;
                    set_for = at;
                }
                sys::epoll_wait(&epoll, &mut ready).step(|| "epoll".into())?;
            }
            for (token, _) in ready.drain(..).filter(|(token, _)| *token != TIMER) {
                let (flow, side) = (token as usize / 2, token as usize % 2);
                while let Some(n) = sys::read(&self.tunnels[flow][side], &mut buffer).step(|| "tun".into())? {
                    self.take(2 * flow + side, &buffer[..n], end);
                }
            }
        }
    }

    /// A host has sent a packet: forward from the side that sends data, else back.
    fn take(&mut self, direction: usize, bytes: &[u8], end: u64) {
        let other_end = Packet::direction_to(bytes) == Some(direction as u32);
        let Some(packet) = Packet::read(bytes).filter(|p| other_end && p.direction as usize == direction)
        else {
            self.foreign += 1;
            return;
        };
        let now = self.now();
        if now > end {
            return;
        }
        let (connection, number, retransmission) = self.numbering[direction].of(&packet);
        let (direction, payload) = (packet.direction, packet.payload);
        let entering =
            ExternalPacket { direction, payload, connection, number, retransmission, packet: bytes };
        let events = &mut self.events;
        let handle = self.live.enter(&entering, Time(now), |e| events.push(e)) as usize;
        // What was due before is about packets that have their frames; this one's comes now.
        self.settle();
        if self.frames.len() <= handle {
            self.frames.resize(handle + 1, Vec::new());
        }
        self.frames[handle].clear();
        self.frames[handle].extend_from_slice(bytes);
        self.tell(Observation::AtHost { side: (direction % 2) as u8, out: true, packet, at: now });
        let events = &mut self.events;
        self.live.drain_events(|e| events.push(e));
        self.settle();
    }

    fn tell(&self, seen: Observation) {
        if let Some(told) = &self.told {
            let _ = told.send(seen); // nobody hears of what comes after the end
        }
    }

    fn happen(&mut self, until: u64) {
        let events = &mut self.events;
        self.live.advance(Time(until), |e| events.push(e));
        self.settle();
    }

    /// Does what the network has decided.
    fn settle(&mut self) {
        let mut events = std::mem::take(&mut self.events);
        for event in events.drain(..) {
            match event {
                Event::Arrived { handle, direction, at, ecn } => self.hand_over(handle, direction, at, ecn),
                Event::Copied { of, to } => {
                    let frame = self.frames[of as usize].clone();
                    if self.frames.len() <= to as usize {
                        self.frames.resize(to as usize + 1, Vec::new());
                    }
                    self.frames[to as usize] = frame;
                }
                Event::Dropped(_) => {}
            }
        }
        self.events = events;
    }

    fn hand_over(&mut self, handle: u32, direction: u32, at: Time, ecn: Ecn) {
        let frame = &mut self.frames[handle as usize];
        set_ecn(frame, ecn);
        let (flow, side) = ((direction / 2) as usize, 1 - (direction % 2) as usize);
        let now = sys::now(Clock::Steady).saturating_sub(self.zero);
        let packet = Packet::read(frame);
        // Told before it is written: what it makes its host send comes later.
        if let (Some(packet), Some(told)) = (packet, &self.told) {
            let _ = told.send(Observation::AtHost { side: side as u8, out: false, packet, at: now });
        }
        self.refused += u64::from(sys::write(&self.tunnels[flow][side], frame).is_err());
        self.handed += 1;
        self.late.record(Dur(now.saturating_sub(at.0)));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::meter::packet::Tcp;
    use dumbbell_wire::Seq;

    #[test]
    fn a_busy_thread_spins_less() {
        let mut spin = Spin { ns: SPIN, looked: (0, 0) };
        spin.adapt(10_000_000, 9_000_000); // 90 %
        assert_eq!(spin.ns, SPIN / 2);
        spin.adapt(20_000_000, 14_000_000); // 50 %
        assert_eq!(spin.ns, SPIN / 2 + SPIN / 16);
        (0..100).for_each(|_| spin.adapt(30_000_000, 14_000_000));
        assert_eq!(spin.ns, SPIN);
    }

    #[test]
    fn connections_and_retransmissions_are_told_apart() {
        let segment = |connection, seq, payload, syn| Packet {
            direction: 0,
            bytes: 40 + payload,
            payload,
            ce: false,
            key: 0,
            tcp: Some(Tcp { seq: Seq(seq), ack: Seq(0), syn, acks: false, connection }),
        };
        let mut n = Numbering::default();
        // The SYN has number 999, so the first byte has 1000.
        assert_eq!(n.of(&segment(7, 999, 0, true)), (0, 0, false));
        assert_eq!(n.of(&segment(7, 1000, 100, false)), (0, 0, false));
        assert_eq!(n.of(&segment(7, 1100, 100, false)), (0, 100, false));
        assert_eq!(n.of(&segment(7, 1000, 100, false)), (0, 0, true));
        assert_eq!(n.of(&segment(8, 5, 0, true)), (1, 0, false));
    }
}
