//! Where everything stands: a plan laid out as network namespaces, veth pairs, addresses, routes and queue disciplines.
//!
//! ```text
//! flow's host ── node ══╗                     ╔══ node ── flow's host
//!                       ╚═ box of the link ═══╝
//! ```
//! Every node is a namespace that forwards, and never an end of a flow: each flow has a host at both of its ends, one
//! wire from the node. A link a-b is a box between a and b. In the direction a->b, a's interface holds the queue,
//! emptied at the link's rate, and the box's interface towards b netem_has_rate at that rate, waits for the delay, loses.
//! A packet starts its way through the box when the transmitter takes it, so the two together are one link:
//!
//! ```text
//! queue (limit counts what waits) -> transmitter (bytes x 8 / rate) -> wire (delay, jitter, loss)
//! ```
//! Everything is decided here, before anything is created; what can't be honoured is refused here, by name.

use crate::error::KernelError;
use crate::plan::congestion_control::kernel_variant;
use crate::plan::link::stages;
use crate::plan::qdisc::Qdisc;
use crate::plan::sndbuf::send_buffer;
use crate::plan::sysctl::{KernelStack, kernel_stack};
use crate::plan::target::{Kernel, Target};
use dumbbell_plan::{AppPlan, HERE, LinkPlan, Plan, Routes, TransportPlan};
use std::collections::BTreeMap;
use std::net::Ipv4Addr;

/// Largest packet where no flow sends larger ones, bytes.
const MTU: u32 = 1500;
/// Flows that a machine of moderate memory carries.
pub(crate) const MAX_FLOWS: usize = 500;

/// A network namespace.
#[derive(Clone, Debug, PartialEq)]
pub struct Namespace {
    /// Its name, unique.
    pub name: String,
    /// Its own address (hosts).
    pub address: Option<Ipv4Addr>,
    /// Settings under `/proc/sys/net/ipv4`.
    pub settings: Vec<(&'static str, String)>,
    /// Where packets go.
    pub routes: Vec<Route>,
}

/// Packets to `to` (None: to everybody) leave by the interface `over`.
#[derive(Clone, Debug, PartialEq)]
pub struct Route {
    /// One address, or all.
    pub to: Option<Ipv4Addr>,
    /// Number of the interface.
    pub over: u32,
    /// Initial window of connections, segments (None: the kernel's own).
    pub initcwnd: Option<u32>,
    /// Segment size that peers are offered, bytes (None: what the MTU allows).
    pub mss: Option<u32>,
    /// The kernel's name of the congestion control of connections that choose none (None: the namespace's default).
    pub variant: Option<&'static str>,
}

impl Route {
    /// A route with nothing special.
    pub(crate) fn plain(to: Option<Ipv4Addr>, over: u32) -> Route {
        Route { to, over, initcwnd: None, mss: None, variant: None }
    }
}

/// One end of a veth pair.
#[derive(Clone, Debug, PartialEq)]
pub struct Interface {
    /// The namespace it is in.
    pub namespace: usize,
    /// Its number, unique among all.
    pub index: u32,
    /// What packets go through on their way out.
    pub qdisc: Option<Qdisc>,
}

/// A veth pair.
#[derive(Clone, Debug, PartialEq)]
pub struct VethPair {
    /// Both ends.
    pub ends: [Interface; 2],
}

impl Interface {
    /// The name of the interface.
    #[must_use]
    pub fn name(&self) -> String {
        format!("v{}", self.index)
    }

    /// Its Ethernet address.
    #[must_use]
    pub fn mac(&self) -> [u8; 6] {
        let n = self.index.to_be_bytes();
        [0x02, 0xdb, n[0], n[1], n[2], n[3]]
    }
}

/// Where a flow stands.
#[derive(Clone, Debug, PartialEq)]
pub struct FlowPlacement {
    /// The host that sends data, and the host that receives it.
    pub hosts: [usize; 2],
    /// Their addresses.
    pub addresses: [Ipv4Addr; 2],
    /// The interfaces of the nodes by which they hang there.
    pub node_interfaces: [u32; 2],
    /// The kernel's name of its congestion control, where it has one.
    pub variant: Option<&'static str>,
}

/// Where a direction of a link stands.
#[derive(Clone, Debug, PartialEq)]
pub struct LinkPlacement {
    /// The namespace of the node that it leaves.
    pub from: usize,
    /// The interface there, which holds the queue.
    pub out: u32,
    /// The namespace of its box.
    pub middle: usize,
    /// The interface there by which packets leave, transmitter and wire.
    pub onward: u32,
    /// The namespace of the node that it enters.
    pub to: usize,
    /// The interface there.
    pub enter: u32,
}

/// A plan laid out.
#[derive(Clone, Debug, PartialEq)]
pub struct VethTopology {
    /// Namespaces: nodes first, then boxes, then hosts.
    pub namespaces: Vec<Namespace>,
    /// veth pairs.
    pub pairs: Vec<VethPair>,
    /// The plan's flows.
    pub flows: Vec<FlowPlacement>,
    /// The plan's links.
    pub links: Vec<LinkPlacement>,
    /// Largest IP packet of every interface, bytes.
    pub mtu: u32,
    /// What it is laid out on.
    pub target: Target,
    /// Disciplines that the kernel must have, each with the first place in the scenario that asks for it.
    pub disciplines: BTreeMap<&'static str, String>,
    /// Options of the kernel's command line: parameters of its congestion control.
    pub boot: Vec<String>,
    /// What the senders' socket buffers may come to hold, all together, bytes.
    pub send_buffers: u64,
    pub(crate) ways: Routes,
}

/// The address that stands for whoever is at the other end of a wire: neighbours are set, never asked for.
pub const PEER: Ipv4Addr = Ipv4Addr::new(192, 0, 2, 1);

impl VethTopology {
    /// Lays a plan out.
    ///
    /// # Errors
    /// What the kernel can't honour, with its place in the scenario.
    pub fn new(plan: &Plan, target: Target) -> Result<VethTopology, KernelError> {
        if plan.flows.len() > MAX_FLOWS {
            let message =
                format!("{} given: the kernel back ends carry at most {MAX_FLOWS}", plan.flows.len());
            return Err(KernelError::refused("flows", message));
        }
        let ways = Routes::new(plan).map_err(|e| KernelError::refused("", e.to_string()))?;
        let mut layout = VethTopology {
            namespaces: plan.nodes.iter().map(|n| forwarding(n, target)).collect(),
            pairs: Vec::new(),
            flows: Vec::new(),
            links: Vec::new(),
            mtu: mtu(plan),
            target,
            disciplines: BTreeMap::new(),
            boot: Vec::new(),
            send_buffers: (0..plan.flows.len()).map(|n| send_buffer(plan, &ways, n)).sum(),
            ways,
        };
        layout.place_links(plan)?;
        match target.kernel {
            Kernel::Guest => layout.boot = boot(plan)?,
            Kernel::Host => refuse_module_parameters(plan)?,
        }
        for (number, flow) in plan.flows.iter().enumerate() {
            if let (AppPlan::Program { .. }, Kernel::Guest) = (&flow.application, target.kernel) {
                let message = format!(
                    "'{}' is a program of the host, which the virtual machine doesn't have: --backend kernel -o emulation=link \
                     (or tc) runs it",
                    flow.application.kind()
                );
                return Err(KernelError::refused(&format!("flows.{}.application", flow.name), message));
            }
            layout.place_flow(plan, number)?;
        }
        layout.place_routes(plan)?;
        Ok(layout)
    }

    fn wire(&mut self, a: (usize, Option<Qdisc>), b: (usize, Option<Qdisc>)) -> [u32; 2] {
        let first = 10 + 2 * self.pairs.len() as u32; // the loopback has number 1
        let end = |(namespace, qdisc), index| Interface { namespace, index, qdisc };
        self.pairs.push(VethPair { ends: [end(a, first), end(b, first + 1)] });
        [first, first + 1]
    }

    fn place_links(&mut self, plan: &Plan) -> Result<(), KernelError> {
        let mut placed = vec![None; plan.links.len()];
        for (n, link) in plan.links.iter().enumerate() {
            if placed[n].is_some() {
                continue;
            }
            let back = plan.links.iter().position(|l| l.from == link.to && l.to == link.from);
            let (queue_there, wire_there) = self.stages(plan, link)?;
            let (queue_back, wire_back) = match back {
                Some(b) => self.stages(plan, &plan.links[b]).map(|(q, w)| (Some(q), w))?,
                None => (None, None),
            };
            let middle = self.namespaces.len();
            let name = format!("{}~{}", plan.nodes[link.from], plan.nodes[link.to]);
            self.namespaces.push(forwarding(&name, self.target));
            let [out, inward] = self.wire((link.from, Some(queue_there)), (middle, wire_back));
            let [onward, enter] = self.wire((middle, wire_there), (link.to, queue_back));
            placed[n] = Some(LinkPlacement { from: link.from, out, middle, onward, to: link.to, enter });
            if let Some(b) = back {
                let (from, to) = (link.to, link.from);
                placed[b] = Some(LinkPlacement { from, out: enter, middle, onward: inward, to, enter: out });
            }
        }
        self.links = placed.into_iter().flatten().collect();
        Ok(())
    }

    /// The queue at a link's entrance and what is behind it, noting what the kernel needs for them.
    fn stages(&mut self, plan: &Plan, link: &LinkPlan) -> Result<(Qdisc, Option<Qdisc>), KernelError> {
        let (shaper, wire) = stages(plan, link, self.mtu, self.target)?;
        let place = |key: &str| format!("links.{}.{key}", link.name);
        self.disciplines.entry(shaper.kind()).or_insert_with(|| place("rate"));
        if let Qdisc::Tbf { inner, .. } = &shaper {
            self.disciplines.entry(inner.kind()).or_insert_with(|| place("queue"));
        }
        if let Some(wire) = &wire {
            let asks = [("delay", link.delay_ns > 0), ("jitter", link.jitter.is_some()), ("loss", true)];
            let key = asks.iter().find(|(_, given)| *given).map_or("loss", |(key, _)| key);
            self.disciplines.entry(wire.kind()).or_insert_with(|| place(key));
        }
        Ok((shaper, wire))
    }

    /// Names of the congestion control that the kernel must have.
    #[must_use]
    pub fn variants(&self) -> Vec<&'static str> {
        let mut names: Vec<_> = self.flows.iter().filter_map(|f| f.variant).collect();
        names.sort_unstable();
        names.dedup();
        names
    }

    fn place_flow(&mut self, plan: &Plan, number: usize) -> Result<(), KernelError> {
        let flow = &plan.flows[number];
        let HostPair { mut namespaces, addresses, variant } = flow_hosts(plan, number)?;
        namespaces.iter_mut().for_each(|namespace| namespace.settings.extend(self.target.settings()));
        let (mut hosts, mut node_interfaces) = ([0; 2], [0; 2]);
        for (side, (namespace, node)) in namespaces.into_iter().zip([flow.from, flow.to]).enumerate() {
            hosts[side] = self.namespaces.len();
            self.namespaces.push(namespace);
            let [at_host, at_node] = self.wire((hosts[side], None), (node, None));
            self.namespaces[hosts[side]].routes.iter_mut().for_each(|route| route.over = at_host);
            let to = Some(addresses[side]);
            self.namespaces[node].routes.push(Route::plain(to, at_node));
            node_interfaces[side] = at_node;
        }
        self.flows.push(FlowPlacement { hosts, addresses, node_interfaces, variant });
        Ok(())
    }

    /// The ways through nodes and boxes.
    fn place_routes(&mut self, plan: &Plan) -> Result<(), KernelError> {
        let ways = &self.ways;
        for (number, flow) in plan.flows.iter().enumerate() {
            for (direction, mut node, target) in [(0, flow.from, 1), (1, flow.to, 0)] {
                let to = Some(self.flows[number].addresses[target]);
                loop {
                    let link = ways.next(node, (2 * number + direction) as u32);
                    if link == HERE {
                        break;
                    }
                    let ends = &self.links[link as usize];
                    for (namespace, over) in [(ends.from, ends.out), (ends.middle, ends.onward)] {
                        self.namespaces[namespace].routes.push(Route::plain(to, over));
                    }
                    node = plan.links[link as usize].to;
                }
            }
        }
        Ok(())
    }
}

/// The hosts of a flow.
pub(crate) struct HostPair {
    /// Their interface isn't known yet: a route over number 0 stands for it.
    pub(crate) namespaces: [Namespace; 2],
    pub(crate) addresses: [Ipv4Addr; 2],
    /// The kernel's name of the congestion control.
    pub(crate) variant: Option<&'static str>,
}

/// The hosts of the flow of that number.
pub(crate) fn flow_hosts(plan: &Plan, number: usize) -> Result<HostPair, KernelError> {
    let flow = &plan.flows[number];
    let (variant, stack) = match &flow.transport {
        TransportPlan::Udp => (None, KernelStack::default()),
        TransportPlan::Tcp { variant, stack } => {
            let name = kernel_variant(&flow.name, variant)?.name;
            (Some(name), kernel_stack(&flow.name, &variant.name, stack)?)
        }
    };
    let [high, low] = (number as u16).to_be_bytes();
    let addresses = [Ipv4Addr::new(10, 1, high, low), Ipv4Addr::new(10, 2, high, low)];
    let KernelStack { initcwnd, mss, settings } = stack;
    // Of programs only: our own endpoints choose socket by socket. Unlike a namespace's default, a route's may be any.
    let by_route = variant.filter(|_| matches!(flow.application, AppPlan::Program { .. }));
    let namespace = |side: usize| Namespace {
        name: format!("{}.{}", flow.name, ["from", "to"][side]),
        address: Some(addresses[side]),
        settings: host_settings(&settings),
        routes: vec![Route { initcwnd, mss, variant: by_route, ..Route::plain(None, 0) }],
    };
    Ok(HostPair { namespaces: [namespace(0), namespace(1)], addresses, variant })
}

/// Parameters of the kernel's congestion control: it has one set for all flows of a variant.
fn boot(plan: &Plan) -> Result<Vec<String>, KernelError> {
    let mut sets: BTreeMap<&str, (Vec<String>, &str)> = BTreeMap::new();
    for flow in &plan.flows {
        let TransportPlan::Tcp { variant, .. } = &flow.transport else { continue };
        let ours = kernel_variant(&flow.name, variant)?;
        let (first, who) = sets.entry(ours.name).or_insert_with(|| (ours.boot.clone(), flow.name.as_str()));
        if *first != ours.boot {
            let message =
                format!("other parameters than flow '{who}': the kernel has one set for all of a variant");
            return Err(KernelError::refused(&format!("flows.{}.variant", flow.name), message));
        }
    }
    Ok(sets.into_values().flat_map(|(options, _)| options).collect())
}

/// A host's kernel has one set of parameters of a variant, for everybody on it.
pub(crate) fn refuse_module_parameters(plan: &Plan) -> Result<(), KernelError> {
    for flow in &plan.flows {
        let TransportPlan::Tcp { variant, .. } = &flow.transport else { continue };
        if let Some((key, _)) = variant.params.iter().next() {
            kernel_variant(&flow.name, variant)?;
            let message =
                "a host's kernel has one set of parameters for everybody: back end 'uml' can set them";
            return Err(KernelError::refused(&format!("flows.{}.variant.{key}", flow.name), message));
        }
    }
    Ok(())
}

fn forwarding(name: &str, target: Target) -> Namespace {
    let mut settings = target.settings();
    settings.push(("ip_forward", "1".into()));
    Namespace { name: name.to_owned(), address: None, settings, routes: Vec::new() }
}

/// What every host has; `own` comes last and wins.
fn host_settings(own: &[(&'static str, String)]) -> Vec<(&'static str, String)> {
    let common = [
        // A connection starts from nothing that an earlier one has found out.
        ("tcp_no_metrics_save", "1"),
        // A receiver's buffer never limits.
        ("tcp_rmem", "4096 33554432 268435456"),
        // A sender's begins as that of the simulator's stack `linux` does, and follows the window.
        ("tcp_wmem", "4096 1048576 268435456"),
    ];
    common.into_iter().map(|(k, v)| (k, v.to_owned())).chain(own.iter().cloned()).collect()
}

/// The largest packet that a flow sends, or the usual one.
pub(crate) fn mtu(plan: &Plan) -> u32 {
    plan.flows
        .iter()
        .map(|flow| match (&flow.application, &flow.transport) {
            (
                AppPlan::Cbr { packet_bytes, .. }
                | AppPlan::Onoff { packet_bytes, .. }
                | AppPlan::Ping { packet_bytes, .. },
                TransportPlan::Udp,
            ) => *packet_bytes,
            _ => 0,
        })
        .fold(MTU, u32::max)
}
