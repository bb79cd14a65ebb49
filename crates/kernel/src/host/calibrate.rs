//! Calibration: before a run, datagrams between the flows' hosts measure base RTT, bottleneck rate, queue depth and
//! losses, with the kernel's receive timestamps (`SO_TIMESTAMPNS`, [Linux Documentation/networking/timestamping.rst]);
//! the results are compared with the plan. The rate is that of a packet train: its bits over the time from the first to
//! the last arrival.

use super::link_thread::{self, Signals};
use super::tun_hosts::TunHosts;
use crate::error::{KernelError, Step};
use crate::netlink::head;
use crate::run::network::FlowHosts;
use crate::sys::{self, Clock};
use dumbbell_link::LossPlan;
use dumbbell_plan::{LOCAL, LinkPlan, MediumPlan, Plan, Routes};
use serde::Serialize;
use serde_json::Value;
use std::collections::BTreeSet;
use std::fs;
use std::net::{IpAddr, SocketAddr};
use std::os::fd::OwnedFd;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

const PORT: u16 = 5009;
/// File for the progress.
const PROGRESS: &str = "progress";
/// IP packet of an echo request or reply, bytes.
const ECHO: u32 = 100;
/// Bound of the time of all paths' echoes together, ns.
const ECHOES_NS: u64 = 1_500_000_000;
/// Duration of a packet train on the bottleneck, ns, and the bounds of its length in packets.
const TRAIN_NS: u64 = 150_000_000;
const TRAIN_PACKETS: [u64; 2] = [24, 1000];
/// Bound of the duration of a train, s: on slow links its packets are smaller.
const TRAIN_MAX_S: u64 = 3;
/// Rate of a train over the bottleneck's: above 1, so that a queue builds up.
const TRAIN_OVER_RATE: f64 = 1.5;
/// Tolerances: of the rate; of the RTT, as a fraction and in ms (the larger one counts).
const RATE_TOLERANCE: f64 = 0.02;
const RTT_TOLERANCE: f64 = 0.05;
const RTT_TOLERANCE_MS: f64 = 0.2;

/// An expected value, and the measured one.
#[derive(Clone, Copy, Debug, Serialize)]
struct Pair {
    expected: f64,
    measured: Option<f64>,
}

/// The measurements of a path in both directions.
#[derive(Clone, Debug, Serialize)]
struct Path {
    /// The first flow on it.
    flow: String,
    /// The slowest link of the forward direction.
    bottleneck: String,
    /// RTT of a small packet on the idle network, ms.
    rtt_ms: Pair,
    /// Rate of arriving IP bits while the bottleneck is busy, bit/s. Only for the first path over a bottleneck.
    rate_bps: Option<Pair>,
    /// Largest queue, packets of the train.
    depth_packets: Option<f64>,
    /// Packets of the train, and those that were lost, mostly in the full queue.
    train: Option<[u64; 2]>,
    /// Echoes sent, and those that were lost.
    echoes: [u64; 2],
    /// Features of the scenario that vary rate or RTT; with any of them they aren't compared.
    varies: Vec<&'static str>,
    /// Differences from the plan, as sentences.
    off: Vec<String>,
}

/// The network that is measured.
pub(super) struct CalibratedNetwork<'a> {
    /// The plan that it is compared with.
    pub(super) plan: &'a Plan,
    /// The hosts of each flow.
    pub(super) flow_hosts: &'a [FlowHosts],
    /// MTU, bytes.
    pub(super) mtu: u32,
    /// True if a packet that finds an empty queue takes its transmission time on a link.
    pub(super) netem_has_rate: &'a dyn Fn(&LinkPlan) -> bool,
    /// Fraction of a train, at its beginning, that may pass faster than the rate.
    pub(super) ahead: f64,
}

/// Runs the link emulation, measures every path and compares it with `expected`. With `refuse`, a difference is an
/// error.
pub(super) fn with_link_emulation(
    plan: &Plan,
    expected: &Plan,
    hosts: &TunHosts,
    refuse: bool,
) -> Result<Value, KernelError> {
    let (plan_there, tunnels, offloads) = (plan.clone(), hosts.tunnels.clone(), hosts.offloads);
    let signals = Arc::new(Signals::default());
    let theirs = signals.clone();
    let zero = sys::now(Clock::Steady);
    let thread = std::thread::Builder::new()
        .name("calibration".into())
        .spawn(move || {
            link_thread::run(
                &plan_there,
                &*tunnels,
                offloads,
                link_thread::Period::real(zero, u64::MAX >> 1),
                &theirs,
                None,
            )
        })
        .step(|| "thread".into())?;
    while !signals.ready.load(Ordering::Acquire) && !thread.is_finished() {
        std::thread::sleep(Duration::from_micros(100));
    }
    // The priority of the run's traffic thread.
    let _ = sys::real_time(link_thread::PRIORITY - 1);
    let network = CalibratedNetwork {
        plan: expected,
        flow_hosts: &hosts.flow_hosts,
        mtu: hosts.mtu,
        netem_has_rate: &|_| true,
        ahead: 0.0,
    };
    let measured = calibrate(&network, refuse);
    signals.stop.store(true, Ordering::Relaxed);
    thread.join().map_err(|_| KernelError::Invalid("the link thread has failed".into()))??;
    measured
}

/// Measures every path. With `refuse`, a difference is an error.
pub(super) fn calibrate(network: &CalibratedNetwork<'_>, refuse: bool) -> Result<Value, KernelError> {
    let measured = paths(network)?;
    let off: Vec<String> = measured.iter().flat_map(|p| p.off.clone()).collect();
    if refuse && !off.is_empty() {
        return Err(KernelError::Invalid(format!("the link differs from the scenario: {}", off.join("; "))));
    }
    serde_json::to_value(measured).map_err(|e| KernelError::Invalid(e.to_string()))
}

fn paths(network: &CalibratedNetwork<'_>) -> Result<Vec<Path>, KernelError> {
    let plan = network.plan;
    let routes = Routes::new(plan).map_err(|e| KernelError::Invalid(e.to_string()))?;
    let route = |mut node: usize, direction: usize| {
        let mut links = Vec::new();
        loop {
            match routes.next(node, direction as u32) {
                LOCAL => return links,
                link => {
                    links.push(link as usize);
                    node = plan.links[link as usize].to;
                }
            }
        }
    };
    let mut known = BTreeSet::new();
    let mut paths = Vec::new();
    for (n, flow) in plan.flows.iter().enumerate() {
        let both = (route(flow.from, 2 * n), route(flow.to, 2 * n + 1));
        if known.insert(both.clone()) {
            paths.push((n, both));
        }
    }
    let mut trained = BTreeSet::new();
    let all = paths.len() as u64;
    let mut measured = Vec::new();
    for (done, (n, (there, back))) in paths.into_iter().enumerate() {
        report(done as u64, all);
        let links = |route: &[usize]| route.iter().map(|l| &plan.links[*l]).collect::<Vec<_>>();
        let (there_links, back_links) = (links(&there), links(&back));
        let slowest = there.iter().copied().min_by_key(|l| plan.links[*l].rate_bps).unwrap_or(0);
        let probe = Probe {
            flow_hosts: &network.flow_hosts[n],
            bottleneck: &plan.links[slowest],
            packet: train_packet(plan.links[slowest].rate_bps, network.mtu.min(1500)),
            ahead: network.ahead,
            rtt_ns: network.time_over(&there_links, ECHO) + network.time_over(&back_links, ECHO),
        };
        let mut varies = varies(there_links.iter().chain(&back_links));
        let crosses = |m: &MediumPlan| there.iter().chain(&back).any(|l| *l == m.down || *l == m.up);
        if plan.media.iter().any(crosses) {
            varies.push("Wi-Fi");
        }
        measured.push(probe.path(&plan.flows[n].name, all, trained.insert(slowest), varies)?);
    }
    report(all, all);
    Ok(measured)
}

/// Writes the number of measured paths, and of all, for the process that waits: many paths take a while.
fn report(done: u64, all: u64) {
    let _ = fs::write(PROGRESS, format!("{done} {all}"));
}

impl CalibratedNetwork<'_> {
    /// Returns the time of a packet over idle links, ns.
    fn time_over(&self, links: &[&LinkPlan], bytes: u32) -> u64 {
        let bits = |l: &LinkPlan| if (self.netem_has_rate)(l) { u64::from(bytes + l.overhead_bytes) * 8 } else { 0 };
        links.iter().map(|l| l.delay_ns + bits(l) * 1_000_000_000 / l.rate_bps.max(1)).sum()
    }
}

/// Returns the features of these links that make measurements vary.
fn varies<'a>(links: impl Iterator<Item = &'a &'a LinkPlan>) -> Vec<&'static str> {
    let mut found = BTreeSet::new();
    for l in links {
        let has = [
            (l.rate_course.is_some(), "a rate that changes"),
            (l.opportunities.is_some(), "a packet-delivery trace"),
            (l.delay_course.is_some(), "a delay that changes"),
            (!l.outages.is_empty(), "outages"),
            (l.policer.is_some(), "a policer"),
            (l.loss != LossPlan::default(), "losses"),
            (l.corruption.is_some(), "damaged packets"),
            (l.jitter.is_some(), "jitter"),
            (l.reordering.is_some(), "reordering"),
            (l.duplication.is_some(), "copies"),
            (!l.drops.is_empty(), "scripted drops"),
        ];
        found.extend(has.iter().filter(|(there, _)| *there).map(|(_, what)| *what));
    }
    found.into_iter().collect()
}

/// Returns the size of a train's packets: full ones, smaller if the train would take too long, at least those of an
/// echo.
fn train_packet(rate_bps: u64, full: u32) -> u32 {
    let bytes = rate_bps * TRAIN_MAX_S / (8 * TRAIN_PACKETS[0]);
    u32::try_from(bytes).unwrap_or(full).clamp(ECHO.min(full), full)
}

/// Measures between the two hosts of a flow.
struct Probe<'a> {
    flow_hosts: &'a FlowHosts,
    bottleneck: &'a LinkPlan,
    /// Size of a train's packets, bytes.
    packet: u32,
    ahead: f64,
    rtt_ns: u64,
}

fn socket(network: &OwnedFd, at: IpAddr) -> Result<OwnedFd, KernelError> {
    let make = || {
        sys::enter_net_namespace(network)?;
        let fd = sys::socket(sys::family_of(at), libc::SOCK_DGRAM, 0)?;
        sys::bind(&fd, SocketAddr::new(at, PORT))?;
        sys::enable_timestamps(&fd)?;
        Ok(fd)
    };
    make().step(|| format!("calibration's socket at {at}"))
}

fn wall() -> u64 {
    sys::now(Clock::Wall)
}

/// The measurements of a train.
struct Train {
    sent: u64,
    arrived: u64,
    rate_bps: Option<f64>,
    depth_packets: Option<f64>,
}

impl Probe<'_> {
    fn path(&self, flow: &str, paths: u64, train: bool, varies: Vec<&'static str>) -> Result<Path, KernelError> {
        let ends = [0, 1].map(|side| socket(&self.flow_hosts.namespaces[side], self.flow_hosts.addresses[side]));
        let [a, b] = ends;
        let (a, b) = (a?, b?);
        let (rtt, echoes) = self.echoes(&a, &b, paths)?;
        let train = if train && self.has_time_for_train() { Some(self.train(&a, &b)?) } else { None };
        let rtt_ms = Pair { expected: self.rtt_ns as f64 * 1e-6, measured: rtt.map(|ns| ns as f64 * 1e-6) };
        let l = self.bottleneck;
        let ip = f64::from(self.packet) / f64::from(self.packet + l.overhead_bytes);
        let rate = train.as_ref().map(|t| Pair { expected: l.rate_bps as f64 * ip, measured: t.rate_bps });
        let mut path = Path {
            flow: flow.to_owned(),
            bottleneck: l.name.clone(),
            rtt_ms,
            rate_bps: rate,
            depth_packets: train.as_ref().and_then(|t| t.depth_packets),
            train: train.as_ref().map(|t| [t.sent, t.sent - t.arrived]),
            echoes,
            varies,
            off: Vec::new(),
        };
        if path.varies.is_empty() {
            path.compare();
        }
        Ok(path)
    }

    /// Returns the bytes of the IP and UDP headers [RFC 791 §3.1, RFC 8200 §3, RFC 768].
    fn headers(&self) -> u32 {
        if self.flow_hosts.addresses[0].is_ipv6() { 48 } else { 28 }
    }

    /// Returns the shortest RTT of some echoes, ns, without the time that the reply takes in this program; echoes sent
    /// and lost.
    fn echoes(&self, a: &OwnedFd, b: &OwnedFd, paths: u64) -> Result<(Option<u64>, [u64; 2]), KernelError> {
        let count = (ECHOES_NS / paths / self.rtt_ns.max(1)).clamp(2, 12);
        let limit = 2 * self.rtt_ns + 50_000_000;
        let (mut best, mut lost) = (None, 0);
        let to_b = SocketAddr::new(self.flow_hosts.addresses[1], PORT);
        let mut buffer = [0; 128];
        let mut payload = vec![0; (ECHO - self.headers()) as usize];
        for n in 0..count {
            payload[..8].copy_from_slice(&n.to_le_bytes());
            let began = wall();
            sys::send_to(a, &payload, to_b).step(|| "echo request".into())?;
            let (mut held, mut done) = (0, None);
            while done.is_none() && wall() < began + limit {
                if let Some((len, from, arrivals)) =
                    sys::receive_with_timestamp(b, &mut buffer).step(|| "echo request".into())?
                {
                    held = wall().saturating_sub(arrivals.unwrap_or_else(wall));
                    sys::send_to(b, &buffer[..len], from).step(|| "echo reply".into())?;
                }
                if let Some((_, _, arrivals)) =
                    sys::receive_with_timestamp(a, &mut buffer).step(|| "echo reply".into())?
                    && buffer[..8] == n.to_le_bytes()
                {
                    done = Some(arrivals.unwrap_or_else(wall).saturating_sub(began + held));
                }
                std::thread::sleep(Duration::from_micros(50));
            }
            lost += u64::from(done.is_none());
            best = best.into_iter().chain(done).min();
        }
        Ok((best, [count, lost]))
    }

    /// Returns the time of a train's packet on the bottleneck, ns.
    fn packet_ns(&self) -> u64 {
        let bits = u64::from(self.packet + self.bottleneck.overhead_bytes) * 8;
        (bits * 1_000_000_000 / self.bottleneck.rate_bps.max(1)).max(1)
    }

    /// Returns false on a link so slow that even a train of small packets would take twice the allowed time.
    fn has_time_for_train(&self) -> bool {
        self.packet_ns() * TRAIN_PACKETS[0] <= 2 * TRAIN_MAX_S * 1_000_000_000
    }

    /// Sends a train of full packets and measures it.
    fn train(&self, a: &OwnedFd, b: &OwnedFd) -> Result<Train, KernelError> {
        let each = self.packet_ns();
        let count = (TRAIN_NS / each).clamp(TRAIN_PACKETS[0], TRAIN_PACKETS[1]);
        let to_b = SocketAddr::new(self.flow_hosts.addresses[1], PORT);
        let mut payload = vec![0; (self.packet - self.headers()) as usize];
        let mut buffer = vec![0; self.packet as usize];
        // (one-way delay, receive time), ns.
        let mut arrivals: Vec<(u64, u64)> = Vec::new();
        let mut take = || -> Result<bool, KernelError> {
            match sys::receive_with_timestamp(b, &mut buffer).step(|| "train".into())? {
                Some((_, _, Some(at))) => {
                    arrivals.push((at.saturating_sub(u64::from_le_bytes(head(&buffer))), at));
                    Ok(true)
                }
                other => Ok(other.is_some()),
            }
        };
        let began = wall();
        for n in 0..count {
            let due = began + (n as f64 * each as f64 / TRAIN_OVER_RATE) as u64;
            while wall() < due {
                if !take()? && due.saturating_sub(wall()) > 200_000 {
                    std::thread::sleep(Duration::from_micros(100));
                }
            }
            payload[..8].copy_from_slice(&wall().to_le_bytes());
            // An error is a full send buffer: a lost packet of the train.
            let _ = sys::send_to(a, &payload, to_b);
        }
        // All packets may be in the queue.
        let mut until = wall() + self.rtt_ns + 50_000_000 + each * 4;
        while wall() < until {
            if take()? {
                until = wall() + self.rtt_ns + 20_000_000 + each * 4;
            } else {
                std::thread::sleep(Duration::from_micros(100));
            }
        }
        let arrived = arrivals.len() as u64;
        let steady = &arrivals[(arrivals.len() as f64 * self.ahead) as usize..];
        let span = match (steady.first(), steady.last()) {
            (Some(first), Some(last)) if last.1 > first.1 => Some((last.1 - first.1) as f64),
            _ => None,
        };
        let intervals = steady.len().saturating_sub(1) as f64;
        let waits = arrivals.iter().map(|(waited, _)| *waited);
        let deepest = waits.clone().max().zip(waits.min()).map(|(most, least)| most - least);
        let ip_bits = f64::from(self.packet) * 8.0;
        Ok(Train {
            sent: count,
            arrived,
            rate_bps: span.map(|ns| intervals * ip_bits * 1e9 / ns),
            depth_packets: deepest.map(|ns| ns as f64 / each as f64),
        })
    }
}

impl Path {
    fn compare(&mut self) {
        let name = |what: &str| format!("{what} of flow {}", self.flow);
        let rtt = self.rtt_ms;
        let allowed = (RTT_TOLERANCE * rtt.expected).max(RTT_TOLERANCE_MS);
        let mut off = Vec::new();
        match rtt.measured {
            Some(ms) if (ms - rtt.expected).abs() <= allowed => {}
            Some(ms) => off.push(format!(
                "{} is {ms:.3} ms, expected {:.3} ms within {allowed:.2} ms",
                name("the RTT"),
                rtt.expected
            )),
            None => off.push(format!("{}: no echo returned", name("the RTT"))),
        }
        if let Some(rate) = self.rate_bps {
            let share = rate.measured.map(|bps| bps / rate.expected - 1.0);
            match share {
                Some(share) if share.abs() <= RATE_TOLERANCE => {}
                Some(share) => off.push(format!(
                    "the rate of {} is {:+.1} % off: {:.0} bit/s, expected {:.0} within {:.0} %",
                    self.bottleneck,
                    share * 100.0,
                    rate.measured.unwrap_or_default(),
                    rate.expected,
                    RATE_TOLERANCE * 100.0
                )),
                None => off.push(format!("the rate of {}: nothing arrived", self.bottleneck)),
            }
        }
        self.off = off;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn path(rtt: f64, rate: f64) -> Path {
        Path {
            flow: "f".into(),
            bottleneck: "a->b".into(),
            rtt_ms: Pair { expected: 10.0, measured: Some(rtt) },
            rate_bps: Some(Pair { expected: 1e6, measured: Some(rate) }),
            depth_packets: None,
            train: None,
            echoes: [1, 0],
            varies: Vec::new(),
            off: Vec::new(),
        }
    }

    #[test]
    fn trains_are_full_packets_unless_they_take_too_long() {
        // 24 packets in 3 s: 64 kbit/s carry 24,000 bytes in that time; 1 kbit/s would carry 15 each.
        assert_eq!([1_000, 64_000, 96_000, 10_000_000].map(|bps| train_packet(bps, 1500)), [100, 1000, 1500, 1500]);
    }

    #[test]
    fn limits_are_5_percent_and_2_percent() {
        // 5 % of 10 ms are 0.5 ms; 2 % of 1 Mbit/s are 20 kbit/s.
        for (rtt, rate, wrong) in
            [(10.49, 1.019e6, 0), (10.51, 1e6, 1), (9.4, 1e6, 1), (10.0, 0.979e6, 1), (11.0, 1.03e6, 2)]
        {
            let mut p = path(rtt, rate);
            p.compare();
            assert_eq!(p.off.len(), wrong, "{rtt} {rate}");
        }
    }

    #[test]
    fn short_round_trips_may_be_off_by_a_fifth_of_a_millisecond() {
        let mut p = path(1.19, 1e6);
        p.rtt_ms.expected = 1.0;
        p.compare();
        assert!(p.off.is_empty());
        p.rtt_ms.measured = Some(1.21);
        p.compare();
        assert_eq!(p.off.len(), 1);
    }
}
