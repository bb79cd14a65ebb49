//! The links of a scenario on a router between the machines: a TUN device that the flows' packets are routed to, the
//! link emulation of the back end `kernel`, and meters of the packets that enter and leave it. Needs root.
//!
//! ```text
//! client -- [ rule: ports of the flows -> dumbbell0 -> emulated links -> dumbbell0 -> main routing table ] -- server
//! ```
//! The device goes with this process. The rules go with the process that started it (`watch_over`).

use super::order::{FlowOrder, Order, server_of};
use super::reply::Reply;
use crate::error::{KernelError, Step};
use crate::host::link_thread::{self, Report, Signals, Tunnels};
use crate::meter::packet::Packet;
use crate::meter::{FlowMeter, Window};
use crate::netlink::{self, Netlink};
use crate::plan::hosts::mtu;
use crate::run::flow::schedule;
use crate::run::network::Observation;
use crate::sys::{self, Clock};
use dumbbell_plan::{FlowResult, Plan, TransportPlan};
use dumbbell_wire::{Ipv4Header, TcpHeader, UdpHeader, protocol};
use serde_json::json;
use std::fs;
use std::os::fd::OwnedFd;
use std::os::linux::net::SocketAddrExt;
use std::os::unix::net::{SocketAddr, UnixListener};
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};

/// Name of the device.
const INTERFACE: &str = "dumbbell0";
/// Transmit queue of the device, packets: more than can wait before the process reads them.
const QUEUE: u32 = 10_000;
/// Longest wait for the end of another run.
const HELD: Duration = Duration::from_secs(20);
/// Interval at which observations are passed to the meters.
const DRAIN: Duration = Duration::from_millis(5);

/// Starts the process that carries the links, waits until it ends, however that happens, and removes the rules. Never
/// returns.
pub(super) fn watch_over() -> ! {
    sys::ignore_signals();
    let Some(_alone) = alone() else {
        eprintln!("this router carries the links of another run");
        std::process::exit(1);
    };
    let remove = || Netlink::new().map(|net| netlink::remove_rules(&net));
    let _ = remove(); // those of a process that was killed
    let mut command = Command::new("/proc/self/exe");
    command.arg("links");
    let ended = sys::kill_with_parent(&mut command).and_then(|()| command.status());
    let _ = remove();
    std::process::exit(ended.ok().and_then(|status| status.code()).unwrap_or(1));
}

/// Returns a socket that only one process of this network namespace can have, so that device and rules belong to one
/// run [unix(7): abstract names]. The process of a run that was lost may have it a moment longer.
fn alone() -> Option<UnixListener> {
    let name = SocketAddr::from_abstract_name("dumbbell-router").ok()?;
    let began = Instant::now();
    loop {
        match UnixListener::bind_addr(&name) {
            Ok(socket) => return Some(socket),
            Err(_) if began.elapsed() < HELD => std::thread::sleep(Duration::from_millis(20)),
            Err(_) => return None,
        }
    }
}

/// The device, and the flows by their ports.
struct Device {
    tunnel: OwnedFd,
    /// Port of each flow's server, and the side that it is on.
    flows: Vec<(u16, usize)>,
}

impl Device {
    fn direction(&self, bytes: &[u8]) -> Option<u32> {
        let ip = Ipv4Header::new(bytes).filter(|ip| ip.version() == 4)?;
        let segment = bytes.get(ip.header_len()..)?;
        let (source, destination) = match ip.protocol() {
            protocol::TCP => TcpHeader::new(segment).map(|h| (h.src_port(), h.dst_port()))?,
            protocol::UDP => UdpHeader::new(segment).map(|h| (h.src_port(), h.dst_port()))?,
            _ => return None,
        };
        let flow = |port| self.flows.iter().position(|(theirs, _)| *theirs == port);
        // To the server is forward if the server receives the data, else the reverse direction.
        let (number, to_server) = flow(destination).map(|n| (n, true)).or(flow(source).map(|n| (n, false)))?;
        let forward = to_server == (self.flows[number].1 == 1);
        Some(2 * number as u32 + u32::from(!forward))
    }
}

impl Tunnels for Device {
    fn all(&self) -> Vec<(u64, &OwnedFd)> {
        vec![(0, &self.tunnel)]
    }

    fn of(&self, _token: u64) -> &OwnedFd {
        &self.tunnel
    }

    fn packet(&self, _token: u64, bytes: &[u8]) -> Option<Packet> {
        Packet::read_as(self.direction(bytes)?, bytes)
    }

    fn delivers(&self, _direction: u32) -> &OwnedFd {
        &self.tunnel
    }
}

/// A flow's meter, and the time that it measures.
struct Metered {
    meter: FlowMeter,
    window: Window,
}

/// See the top of this file.
pub(super) struct Router {
    plan: Plan,
    device: Arc<Device>,
    metered: Vec<Metered>,
    rules: Netlink,
}

impl Drop for Router {
    fn drop(&mut self) {
        netlink::remove_rules(&self.rules);
    }
}

impl Router {
    pub(super) fn new(order: Order) -> Result<Router, KernelError> {
        let Order { plan, flows, .. } = order;
        check_settings()?;
        let tunnel = sys::tunnel(INTERFACE, false).step(|| "/dev/net/tun (a router needs root)".into())?;
        set(&format!("conf/{INTERFACE}/rp_filter"), "0")?;
        set(&format!("conf/{INTERFACE}/forwarding"), "1")?;
        let index = sys::interface_number(INTERFACE).step(|| INTERFACE.into())?;
        let rules = Netlink::new()?;
        netlink::set_up_with_mtu(&rules, index, mtu(&plan), QUEUE)?;
        netlink::remove_rules(&rules);
        netlink::add_default_route(&rules, index)?;
        let ports: Vec<u16> = flows.iter().map(|FlowOrder { port, .. }| *port).collect();
        if let (Some(first), Some(last)) = (ports.iter().min(), ports.iter().max()) {
            netlink::add_rules(&rules, INTERFACE, (*first, *last))?;
        }
        let sides = plan.flows.iter().map(|flow| server_of(&flow.application));
        let device = Arc::new(Device { tunnel, flows: ports.into_iter().zip(sides).collect() });
        let metered = plan.flows.iter().map(|flow| {
            let (start, stop) = schedule(&plan, flow);
            let window = Window { from: plan.measure_from_ns.max(start), to: plan.duration_ns.min(stop) };
            Metered { meter: FlowMeter::new(window, None), window }
        });
        let metered = metered.collect();
        Ok(Router { plan, device, metered, rules })
    }

    /// Carries the packets of a run that begins at `zero` of the steady clock, until its end or until `stop`.
    pub(super) fn run(mut self, zero: u64, stop: &AtomicBool) -> Result<Reply, KernelError> {
        let (observer, observations) = channel();
        let (plan, device, signals) = (self.plan.clone(), self.device.clone(), Arc::new(Signals::default()));
        let theirs = signals.clone();
        let carries = move || {
            link_thread::run(
                &plan,
                &*device,
                false,
                link_thread::Period::real(zero, plan.duration_ns),
                &theirs,
                Some(observer),
            )
        };
        let thread = std::thread::Builder::new().name("link".into()).spawn(carries);
        let thread = thread.step(|| "thread".into())?;
        while !thread.is_finished() {
            std::thread::sleep(DRAIN);
            self.observe(&observations);
            if stop.load(Ordering::Relaxed) {
                signals.stop.store(true, Ordering::Relaxed);
            }
        }
        let failed = |_| KernelError::Invalid("the link thread has failed".into());
        let report = thread.join().map_err(failed)??;
        self.observe(&observations);
        let ended = sys::now(Clock::Steady).saturating_sub(zero).min(self.plan.duration_ns);
        self.results(report, ended)
    }

    fn observe(&mut self, observations: &Receiver<Observation>) {
        for observation in observations.try_iter() {
            match observation {
                Observation::AtHost { side, out, packet, at } => {
                    let Some(Metered { meter, .. }) = self.metered.get_mut(packet.direction as usize / 2) else {
                        continue;
                    };
                    match (side, out, packet.direction.is_multiple_of(2)) {
                        (0, true, true) => meter.sent(&packet, at),
                        (0, false, false) => meter.answered(&packet, at),
                        (1, false, true) => meter.arrived(&packet, at),
                        _ => {}
                    }
                }
                Observation::Lost { direction, key } if direction.is_multiple_of(2) => {
                    if let Some(Metered { meter, .. }) = self.metered.get_mut(direction as usize / 2) {
                        meter.lost(key);
                    }
                }
                Observation::Lost { .. } => {}
            }
        }
    }

    fn results(mut self, mut report: Report, ended: u64) -> Result<Reply, KernelError> {
        let mut rows = Vec::new();
        for (number, (flow, metered)) in self.plan.flows.iter().zip(&mut self.metered).enumerate() {
            metered.meter.stop(ended);
            let stop = metered.window.to.min(ended);
            let mut row = FlowResult {
                name: flow.name.clone(),
                stop_s: stop as f64 * 1e-9,
                duplicated_packets: report.output.duplicated.get(number).copied().unwrap_or(0),
                ..FlowResult::default()
            };
            metered.meter.finish(matches!(flow.transport, TransportPlan::Tcp { .. }), &mut row);
            rows.push(row);
        }
        let mut captures = Vec::new();
        for capture in &report.output.captures {
            let mut bytes = Vec::new();
            capture.write(&mut bytes).step(|| "capture".into())?;
            captures.push(bytes);
        }
        let late = |ms: Option<f64>| ms.unwrap_or(0.0);
        let document = json!({
            "flows": rows,
            "queues": report.output.queues,
            "link": {
                "late_p50_ms": late(report.late.percentile_ms(0.5)),
                "late_p99_ms": late(report.late.percentile_ms(0.99)),
                "late_max_ms": late(report.late.max_ms()),
                "packets": report.delivered,
                "refused": report.refused,
                "foreign_packets": report.foreign,
                "real_time": report.real_time,
            },
        });
        let tables = std::mem::take(&mut report.output.trace.tables);
        Reply::results(document, &tables, captures)
    }
}

/// Refuses a machine that doesn't forward packets, or drops those that come back from the device.
fn check_settings() -> Result<(), KernelError> {
    let read = |name: &str| fs::read_to_string(format!("/proc/sys/net/ipv4/{name}")).unwrap_or_default();
    if read("ip_forward").trim() != "1" {
        let message = "net.ipv4.ip_forward is 0: this machine is no router: `sysctl -w net.ipv4.ip_forward=1` as root";
        return Err(KernelError::Invalid(message.into()));
    }
    if read("conf/all/rp_filter").trim() == "1" {
        let message = "net.ipv4.conf.all.rp_filter is 1 (strict), which drops the packets that come back from the \
                       emulated link: `sysctl -w net.ipv4.conf.all.rp_filter=2` as root";
        return Err(KernelError::Invalid(message.into()));
    }
    Ok(())
}

fn set(name: &str, value: &str) -> Result<(), KernelError> {
    fs::write(format!("/proc/sys/net/ipv4/{name}"), value).step(|| format!("{name} = {value}"))
}
