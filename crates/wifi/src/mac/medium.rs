//! The medium: devices, contention, frames on the air.
//!
//! ```text
//! idle -- access: the device, or all devices, whose backoff ends first --> busy -- end of the exchange --> idle
//!
//! exchange   frame, SIFS, ACK or block ACK; without an ACK after the frame if nothing was received
//! collision  several devices at one instant: all frames are lost; the medium is busy for the longest of them
//! ```
//! Device 0 is the access point; device 1 + s is station s. A packet is delivered at the end of its frame.

use crate::mac::contention::Backoff;
use crate::mac::event::{DeviceResult, Event, Marks};
use crate::mac::feed::Feed;
use crate::mac::setup::{ACK, BLOCK_ACK, LLC_FCS};
use crate::mac::window::{SPAN, Window};
use crate::phy::channel::Channel;
use crate::phy::mode::Modes;
use crate::phy::standard::Timing;
use crate::rate_control::RateControl;
use dumbbell_qdisc::{Backlog, DropReason, Ecn, Packet, Qdisc, QdiscContext};
use dumbbell_units::flow_number::direction_of;
use dumbbell_units::{Dur, Time};

/// Packets of each background station that wait at an access point with one queue.
const BACKGROUND_BACKLOG: u32 = 64;
/// Flow number of the first background station.
const BACKGROUND: u32 = 1 << 31;

#[derive(Debug)]
pub(super) struct Device {
    pub(super) feed: Feed,
    /// By receiver: the access point has many.
    pub(super) windows: Vec<Window>,
    pub(super) rates: Vec<RateControl>,
    /// The receiver of the next frame.
    pub(super) current: Option<usize>,
    pub(super) backoff: Backoff,
}

/// A transmission.
#[derive(Debug)]
pub(super) struct OnAir {
    pub(super) device: usize,
    pub(super) receiver: usize,
    pub(super) mode: usize,
    pub(super) frames: u32,
    /// True if an ACK arrives.
    pub(super) acked: bool,
    /// Duration of the frame, and until the end of the ACK.
    pub(super) frame: Dur,
    pub(super) exchange: Dur,
}

/// See the top of this file.
#[derive(Debug)]
pub struct Medium {
    pub(super) modes: Modes,
    pub(super) timing: Timing,
    pub(super) aifs: Dur,
    pub(super) eifs: Dur,
    pub(super) header: u32,
    /// By rate: the most bytes of an A-MPDU; empty without aggregation.
    pub(super) longest: Vec<u64>,
    pub(super) retry_limit: u32,
    pub(super) channels: Vec<Channel>,
    pub(super) devices: Vec<Device>,
    /// By flow and direction.
    pub(super) station_of: Vec<usize>,
    /// Background stations that receive over one queue: station, size of their packets, packets that wait.
    pub(super) background: Vec<(usize, u32, u32)>,
    pub(super) on_air: Vec<OnAir>,
    /// End of the exchange on the air; None while the medium is idle.
    pub(super) busy_until: Option<Time>,
    pub(super) idle_since: Time,
    /// Interframe space after the last exchange.
    pub(super) space: Dur,
    pub(super) next: Time,
    pub(super) cx: QdiscContext,
    pub(super) marks: Marks,
    pub(super) events: Vec<Event>,
    pub(super) window: (Time, Time),
    pub(super) results: Vec<DeviceResult>,
    pub(super) collided: Dur,
}

impl Medium {
    /// Time of the next event; NEVER without one.
    #[must_use]
    pub fn next_event(&self) -> Time {
        self.next
    }

    /// Takes the events of packets since the last call.
    pub fn take_events(&mut self) -> Vec<Event> {
        std::mem::take(&mut self.events)
    }

    /// Numbers of packets marked since the last call.
    pub fn take_marked(&mut self) -> Marks {
        std::mem::take(&mut self.marks)
    }

    /// Signal of the access point at a station, dBm.
    #[must_use]
    pub fn signal(&self, station: usize) -> f64 {
        self.channels[station].signal(0)
    }

    /// A packet of a flow arrives at the access point, or at its station if `up`.
    pub fn enqueue(&mut self, up: bool, mut packet: Packet, now: Time) {
        let station = self.station_of[direction_of(packet.flow) as usize];
        let device = if up { 1 + station } else { 0 };
        packet.enqueued = now;
        self.cx.now = now;
        self.cx.link_busy = self.devices[device].current.is_some();
        self.devices[device].feed.enqueue(station, packet, &mut self.cx);
        self.collect_drops(up);
        if self.devices[device].current.is_none() {
            self.prepare(device, now);
            self.schedule();
        }
    }

    /// Processes the event that is due at `now`.
    pub fn process(&mut self, now: Time) {
        self.cx.now = now;
        match self.busy_until {
            Some(_) => self.finish(now),
            None => self.start(now),
        }
        self.schedule();
    }

    pub(super) fn schedule(&mut self) {
        if let Some(end) = self.busy_until {
            self.next = end;
            return;
        }
        let from = self.idle_since + self.space;
        let access = self.devices.iter().map(|d| d.backoff.access(from, self.timing.slot)).min();
        self.next = access.unwrap_or(Time::NEVER);
        // A shaper may hold packets of a device that has nothing else to send.
        let held = self.devices.iter().filter(|d| d.current.is_none()).filter_map(|d| d.feed.next_ready()).min();
        if let Some(at) = held {
            self.next = self.next.min(at.max(Time(self.cx.now.0 + 1)));
        }
    }

    /// Selects the next frame of a device, if it has one.
    pub(super) fn prepare(&mut self, device: usize, now: Time) {
        let busy = self.busy_until.is_some();
        let d = &mut self.devices[device];
        let mut blocked = Vec::new();
        loop {
            let again = match (&d.feed, d.current) {
                (_, Some(current)) if d.windows[current].open > 0 => Some(current),
                (Feed::PerStation { .. }, _) => None,
                _ => d.windows.iter().position(|w| w.open > 0),
            };
            let station_of = |p: &Packet| receiver(device, p, &self.station_of, &self.background);
            let mut taken = take(device > 0, now, &mut self.events);
            self.cx.link_busy = again.is_some();
            let next = again.or_else(|| {
                let open = |s: usize| d.windows[s].open > 0;
                d.feed.next(now, &station_of, &open, &blocked, &mut self.cx, &mut taken)
            });
            let Some(next) = next else {
                d.current = None;
                d.backoff.rest();
                break;
            };
            if d.windows[next].open == 0 {
                let Some((packet, bytes)) = d.feed.take(next, &station_of, &mut self.cx, &mut taken) else {
                    if matches!(d.feed, Feed::PerStation { .. }) {
                        blocked.push(next); // its discipline dropped all, or is a shaper
                        continue;
                    }
                    d.current = None;
                    d.backoff.rest();
                    break;
                };
                d.windows[next].push(packet, bytes + self.header + LLC_FCS);
            }
            d.current = Some(next);
            d.backoff.wait(now, busy);
            break;
        }
        self.collect_drops(device > 0);
    }

    /// The devices whose backoff ends now begin to send.
    fn start(&mut self, now: Time) {
        let (from, slot) = (self.idle_since + self.space, self.timing.slot);
        let sends = |d: &Device| d.backoff.access(from, slot) <= now;
        let senders: Vec<usize> = (0..self.devices.len()).filter(|&n| sends(&self.devices[n])).collect();
        if senders.is_empty() {
            // A shaper has a packet again.
            for device in 0..self.devices.len() {
                if self.devices[device].current.is_none() {
                    self.prepare(device, now);
                }
            }
            return;
        }
        for (n, device) in self.devices.iter_mut().enumerate() {
            if !senders.contains(&n) {
                device.backoff.freeze(now, from, slot);
            }
        }
        for device in senders {
            let on_air = self.build(device, now);
            self.on_air.push(on_air);
        }
        if self.on_air.len() == 1 {
            self.receive(now);
        }
        let longest = self.on_air.iter().map(|a| a.exchange).max().unwrap_or(Dur::ZERO);
        self.busy_until = Some(now + longest);
    }

    /// Puts the frames of a transmission together.
    fn build(&mut self, device: usize, now: Time) -> OnAir {
        let receiver_number = self.devices[device].current.unwrap_or(0);
        let station = if device == 0 { receiver_number } else { device - 1 };
        let direction = usize::from(device > 0);
        self.channels[station].advance(now);
        let d = &mut self.devices[device];
        let window = &mut d.windows[receiver_number];
        let failures = window.first_open().map_or(0, |f| f.failures);
        let channel = (&mut self.channels[station], direction);
        let (mode, probe) = d.rates[receiver_number].choose(now, failures, channel, &self.modes);
        let limit = self.longest.get(mode).copied();
        let places = if limit.is_some() && !probe { SPAN } else { 1 };
        let station_of = |p: &Packet| receiver(device, p, &self.station_of, &self.background);
        let mut taken = take(device > 0, now, &mut self.events);
        self.cx.link_busy = true;
        let (mut frames, mut bytes, mut single) = (0, 0u64, 0u64);
        let mut place = 0;
        while frames < places && place < SPAN {
            if place == window.frames.len() {
                let Some((packet, ip)) = d.feed.take(receiver_number, &station_of, &mut self.cx, &mut taken) else {
                    break;
                };
                window.push(packet, ip + self.header + LLC_FCS);
            }
            let frame = &mut window.frames[place];
            place += 1;
            if frame.acked {
                continue;
            }
            // Delimiter and padding of a subframe [IEEE 802.11-2016 §9.7.1].
            let subframe = 4 + u64::from(frame.bytes).next_multiple_of(4);
            if frames > 0 && limit.is_some_and(|limit| bytes + subframe > limit) {
                break;
            }
            frame.on_air = true;
            frames += 1;
            bytes += subframe;
            single = u64::from(frame.bytes);
        }
        drop(taken);
        self.collect_drops(device > 0);
        let mode_of = &self.modes.all[mode];
        let frame = mode_of.duration(if frames > 1 { bytes } else { single });
        OnAir { device, receiver: receiver_number, mode, frames: frames as u32, acked: false, frame, exchange: frame }
    }

    /// The only frame on the air is received, or not.
    fn receive(&mut self, now: Time) {
        let Medium { on_air, devices, channels, modes, events, timing, .. } = self;
        let Some(air) = on_air.first_mut() else { return };
        let station = if air.device == 0 { air.receiver } else { air.device - 1 };
        let direction = usize::from(air.device > 0);
        let Device { windows, backoff, .. } = &mut devices[air.device];
        let window = &mut windows[air.receiver];
        let mut heard = false;
        for frame in window.frames.iter_mut().filter(|f| f.on_air) {
            let p = channels[station].success(direction, modes, air.mode, u64::from(frame.bytes));
            let received = p >= 1.0 || backoff.random().uniform() < p;
            heard |= received;
            frame.received |= received;
        }
        if !heard {
            return;
        }
        let at = now + air.frame;
        let up = air.device > 0;
        window.release(|packet| deliver(events, up, packet, at));
        let ack = modes.ack_of(air.mode);
        let bytes = if air.frames > 1 { BLOCK_ACK } else { ACK };
        air.exchange = air.frame + timing.sifs + modes.all[ack].duration(bytes);
        let p = channels[station].success(1 - direction, modes, ack, bytes);
        air.acked = p >= 1.0 || backoff.random().uniform() < p;
    }

    /// The exchange on the air has ended.
    fn finish(&mut self, now: Time) {
        let exchanges = std::mem::take(&mut self.on_air);
        let collision = exchanges.len() > 1;
        let failed = exchanges.iter().any(|air| !air.acked);
        let longest = exchanges.iter().map(|a| a.exchange).max().unwrap_or(Dur::ZERO);
        self.busy_until = None;
        self.idle_since = now;
        self.space = if failed { self.eifs } else { self.aifs };
        if collision {
            self.collided += self.measured(now, longest);
        }
        for air in &exchanges {
            self.settle(air, collision, now);
        }
        self.refill(now);
        for air in exchanges {
            self.prepare(air.device, now);
        }
        if !self.background.is_empty() && self.devices[0].current.is_none() {
            self.prepare(0, now);
        }
    }

    /// Acknowledges and gives up the frames of a transmission.
    fn settle(&mut self, air: &OnAir, collision: bool, now: Time) {
        let up = air.device > 0;
        let station = if up { air.device - 1 } else { air.receiver };
        let counts = now.0 - air.exchange.0 >= self.window.0.0 && now <= self.window.1;
        let airtime = if collision { Dur::ZERO } else { self.measured(now, air.exchange) };
        let bps = self.modes.all[air.mode].bps as f64;
        let (header, limit) = (self.header + LLC_FCS, self.retry_limit);
        let Medium { devices, events, results, .. } = self;
        let device = &mut devices[air.device];
        let window = &mut device.windows[air.receiver];
        let (mut acked, mut acked_bytes, mut lost) = (0u32, 0, 0);
        for frame in window.frames.iter_mut().filter(|f| f.on_air) {
            frame.on_air = false;
            if air.acked && frame.received {
                frame.acked = true;
                acked += 1;
                acked_bytes += u64::from(frame.bytes - header);
            } else {
                frame.failures += 1;
            }
        }
        window.open -= acked as usize;
        let first_failures = window.first_open().map_or(0, |f| f.failures);
        window.give_up(limit, |packet| {
            lost += 1;
            if let Some(packet) = packet.filter(|p| p.flow < BACKGROUND) {
                events.push(Event::Dropped { up, packet, reason: DropReason::Retries });
            }
        });
        window.release(|packet| deliver(events, up, packet, now));
        device.rates[air.receiver].report(now, air.mode, air.frames, acked);
        device.backoff.again(!air.acked && first_failures < limit);
        device.backoff.rest();
        if air.acked || window.open == 0 {
            device.current = None;
        }
        let result = &mut results[station];
        let tally = if up { &mut result.up } else { &mut result.down };
        tally.airtime += airtime;
        if counts {
            tally.transmissions += 1;
            tally.collisions += u64::from(collision);
            tally.frames += u64::from(air.frames);
            tally.failed += u64::from(air.frames - acked);
            tally.delivered += u64::from(acked);
            tally.delivered_bytes += acked_bytes;
            tally.lost += lost;
            tally.rate_sum += bps * f64::from(air.frames);
        }
        self.devices[0].feed.charge(station, air.exchange, up, now);
    }

    /// The part of the time until `now` that belongs to the measurement.
    fn measured(&self, now: Time, span: Dur) -> Dur {
        let begin = Time(now.0 - span.0).max(self.window.0);
        now.min(self.window.1).since(begin)
    }

    /// Background stations that receive over one queue have packets in it again.
    pub(super) fn refill(&mut self, now: Time) {
        for n in 0..self.background.len() {
            let (station, bytes, waiting) = self.background[n];
            for _ in waiting..BACKGROUND_BACKLOG {
                let flow = BACKGROUND + n as u32;
                let packet = Packet { bytes, flow, body: u32::MAX, class: 0, ecn: Ecn::NOT_ECT, enqueued: now };
                self.cx.link_busy = true;
                self.background[n].2 += 1;
                self.devices[0].feed.enqueue(station, packet, &mut self.cx);
                if self.cx.has_dropped() {
                    self.collect_drops(false);
                    break;
                }
            }
        }
    }

    /// Passes on the packets that disciplines have dropped, and counts those that they have marked.
    fn collect_drops(&mut self, up: bool) {
        let marked = self.cx.take_marked();
        *(if up { &mut self.marks.up } else { &mut self.marks.down }) += marked;
        while let Some((packet, reason)) = self.cx.take_dropped() {
            if packet.flow >= BACKGROUND {
                self.background[(packet.flow - BACKGROUND) as usize].2 -= 1;
            } else {
                self.events.push(Event::Dropped { up, packet, reason });
            }
        }
        // The MAC has taken packets of the background.
        let background = &mut self.background;
        self.events.retain(|event| match event {
            Event::Taken { flow, .. } if *flow >= BACKGROUND => {
                background[(flow - BACKGROUND) as usize].2 -= 1;
                false
            }
            _ => true,
        });
    }

    /// Packets of flows that wait in the disciplines of a direction.
    #[must_use]
    pub fn backlog(&self, up: bool) -> Backlog {
        if up {
            let feeds = self.devices[1..].iter().map(|d| d.feed.backlog());
            return feeds
                .fold(Backlog::default(), |a, b| Backlog { packets: a.packets + b.packets, bytes: a.bytes + b.bytes });
        }
        let mut backlog = self.devices[0].feed.backlog();
        for &(_, bytes, waiting) in &self.background {
            backlog.packets -= u64::from(waiting);
            backlog.bytes -= u64::from(waiting) * u64::from(bytes);
        }
        backlog
    }

    /// Times at which the MAC took the packets of flows that it has.
    pub fn in_mac(&self, up: bool) -> impl Iterator<Item = Time> + '_ {
        let devices = if up { &self.devices[1..] } else { &self.devices[..1] };
        let frames = devices.iter().flat_map(|d| d.windows.iter().flat_map(|w| &w.frames));
        let packets = frames.filter_map(|f| f.packet.as_ref());
        let rings = devices.iter().flat_map(|d| d.feed.ring());
        packets.chain(rings).filter(|p| p.flow < BACKGROUND).map(|p| p.enqueued)
    }

    /// The discipline of the access point, if it has one for all stations.
    #[must_use]
    pub fn discipline(&self) -> Option<&dyn Qdisc> {
        self.devices[0].feed.discipline()
    }

    /// The run has ended, see [`Qdisc::close`].
    pub fn close(&mut self, end: Time) {
        self.devices.iter_mut().for_each(|device| device.feed.close(end));
    }

    /// Results by station, and the time of collisions.
    #[must_use]
    pub fn results(&self) -> (&[DeviceResult], Dur) {
        (&self.results, self.collided)
    }

    /// Airtime of a direction, without collisions.
    #[must_use]
    pub fn airtime(&self, up: bool) -> Dur {
        let of = |r: &DeviceResult| if up { r.up.airtime } else { r.down.airtime };
        self.results.iter().map(of).fold(Dur::ZERO, |a, b| a + b)
    }
}

/// The number of the receiver of a packet: a station, or the access point, the only receiver of a station.
fn receiver(device: usize, packet: &Packet, stations: &[usize], background: &[(usize, u32, u32)]) -> usize {
    match (device, packet.flow.checked_sub(BACKGROUND)) {
        (0, Some(n)) => background[n as usize].0,
        (0, None) => stations[direction_of(packet.flow) as usize],
        _ => 0,
    }
}

/// Records that the MAC takes a packet at `now`.
fn take(up: bool, now: Time, events: &mut Vec<Event>) -> impl FnMut(&mut Packet) {
    move |packet| {
        let sojourn = now.since(packet.enqueued);
        events.push(Event::Taken { up, flow: packet.flow, bytes: packet.bytes, sojourn });
        packet.enqueued = now;
    }
}

fn deliver(events: &mut Vec<Event>, up: bool, packet: Packet, at: Time) {
    if packet.flow < BACKGROUND {
        events.push(Event::Delivered { up, packet, at });
    }
}
