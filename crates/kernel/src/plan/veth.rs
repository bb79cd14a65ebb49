//! A plan as network namespaces, veth pairs, addresses, routes and queue disciplines (emulation `tc` and back end
//! `uml`) [network_namespaces(7), veth(4), tc-tbf(8), tc-netem(8)].
//!
//! ```text
//! flow's host -- node ==[queue]== link's namespace ==[netem]== node -- flow's host
//! ```
//! Every node is a namespace that forwards. Each flow has a host at both ends, one veth pair from the node. A link a-b
//! is a namespace between a and b. In the direction a->b the interface of a has the queue, shaped to the link's rate
//! (`qdisc/shaper.rs`), and the interface of the link's namespace towards b has a netem with transmission time, delay,
//! jitter and loss. A packet leaves the queue when its transmission begins, so the limit counts waiting packets only:
//!
//! ```text
//! queue inside a shaper -> netem rate (bytes x 8 / rate) -> netem delay, jitter, loss
//! ```
//!
//! A link with jitter has two netems there, one for the rate and one inside it for the rest.

use crate::error::KernelError;
use crate::plan::congestion_control::kernel_variant;
use crate::plan::hosts::{
    HostPair, MAX_FLOWS, Namespace, Route, address_of, flow_hosts, mtu, refuse_module_parameters,
};
use crate::plan::ipv6;
use crate::plan::link::{SUPPORTED_BY, qdiscs};
use crate::plan::policer::{Policer, policers};
use crate::plan::qdisc::{Crossing, Qdisc};
use crate::plan::sndbuf::send_buffer;
use crate::plan::target::{Kernel, Target};
use dumbbell_plan::{AppPlan, LOCAL, Plan, Routes, TransportPlan};
use dumbbell_wire::IpVersion;
use std::collections::BTreeMap;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// One end of a veth pair.
#[derive(Clone, Debug, PartialEq)]
pub struct Interface {
    /// Index of its namespace in `VethTopology::namespaces`.
    pub namespace: usize,
    /// Its interface index, unique in the topology.
    pub index: u32,
    /// Its root queue disc.
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

/// The hosts and interfaces of a flow.
#[derive(Clone, Debug, PartialEq)]
pub struct FlowPlacement {
    /// Namespaces of the data sender and of the data receiver.
    pub hosts: [usize; 2],
    /// Their addresses.
    pub addresses: [IpAddr; 2],
    /// The nodes' interfaces towards them.
    pub node_interfaces: [u32; 2],
    /// The kernel's name of its congestion control; None for datagrams.
    pub variant: Option<&'static str>,
    /// Largest receive window, bytes.
    pub window: Option<u32>,
}

/// The namespaces and interfaces of one direction of a link.
#[derive(Clone, Debug, PartialEq)]
pub struct LinkPlacement {
    /// The namespace of the node that it leaves.
    pub from: usize,
    /// The interface in `from`, with the queue.
    pub egress: u32,
    /// The namespace of the link.
    pub namespace: usize,
    /// The interface in `namespace` on which packets leave, with the netem.
    pub netem: u32,
    /// The namespace of the node that it enters.
    pub to: usize,
    /// The interface in `to`.
    pub ingress: u32,
}

/// A plan translated; see the top of this file.
#[derive(Clone, Debug, PartialEq)]
pub struct VethTopology {
    /// Namespaces: nodes first, then links, then hosts.
    pub namespaces: Vec<Namespace>,
    /// veth pairs.
    pub pairs: Vec<VethPair>,
    /// The plan's flows.
    pub flows: Vec<FlowPlacement>,
    /// The plan's links.
    pub links: Vec<LinkPlacement>,
    /// The policers of links that have one.
    pub policers: Vec<Policer>,
    /// Largest IP packet of every interface, bytes.
    pub mtu: u32,
    /// True if a flow runs over IPv6.
    pub ipv6: bool,
    /// The kernel that it is for.
    pub target: Target,
    /// Queue disciplines that the kernel must have, each with the first place in the scenario that needs it.
    pub disciplines: BTreeMap<&'static str, String>,
    /// Options of the kernel's command line: parameters of its congestion control.
    pub boot: Vec<String>,
    /// Bound of all send buffers together, bytes.
    pub send_buffers: u64,
    pub(crate) routes: Routes,
}

/// The gateway of every route: a documentation address [RFC 5737 §3] whose neighbor entry is the other end of the veth
/// pair, so that no ARP packet is sent.
const PEER: Ipv4Addr = Ipv4Addr::new(192, 0, 2, 1);
/// The same for IPv6, whose gateways are link-local addresses [RFC 4291 §2.5.6].
const PEER_IPV6: Ipv6Addr = Ipv6Addr::new(0xfe80, 0, 0, 0, 0, 0, 0, 1);

/// Returns the gateway of every route of a version of IP.
#[must_use]
pub fn peer(ip: IpVersion) -> IpAddr {
    match ip {
        IpVersion::V4 => IpAddr::V4(PEER),
        IpVersion::V6 => IpAddr::V6(PEER_IPV6),
    }
}

impl VethTopology {
    /// Translates a plan.
    ///
    /// # Errors
    /// `Refused`: the kernel can't run the plan, with the place in the scenario.
    pub fn new(plan: &Plan, target: Target) -> Result<VethTopology, KernelError> {
        if plan.flows.len() > MAX_FLOWS {
            let message = format!("{} given: the kernel back ends carry at most {MAX_FLOWS}", plan.flows.len());
            return Err(KernelError::refused("flows", message));
        }
        if let Some(medium) = plan.media.first() {
            let place = format!("links.{}.wifi", plan.links[medium.down].name);
            return Err(KernelError::refused(
                &place,
                format!("the kernel's own links don't have Wi-Fi: {SUPPORTED_BY}"),
            ));
        }
        let routes = Routes::new(plan).map_err(|e| KernelError::refused("", e.to_string()))?;
        let mut topology = VethTopology {
            namespaces: plan.nodes.iter().map(|n| forwarding(n, target)).collect(),
            pairs: Vec::new(),
            flows: Vec::new(),
            links: Vec::new(),
            policers: Vec::new(),
            mtu: mtu(plan),
            ipv6: ipv6::is_used(plan),
            target,
            disciplines: BTreeMap::new(),
            boot: Vec::new(),
            send_buffers: (0..plan.flows.len()).map(|n| send_buffer(plan, &routes, n)).sum(),
            routes,
        };
        topology.place_links(plan)?;
        match target.kernel {
            Kernel::Guest => {
                topology.boot = boot(plan)?;
                ipv6::refuse_in_guest(plan)?;
            }
            Kernel::Host => refuse_module_parameters(plan)?,
        }
        for number in 0..plan.flows.len() {
            topology.place_flow(plan, number)?;
        }
        topology.place_routes(plan)?;
        topology.policers = policers(plan, target, |direction, link| topology.input(plan, direction, link))?;
        Ok(topology)
    }

    fn add_pair(&mut self, a: (usize, Option<Qdisc>), b: (usize, Option<Qdisc>)) -> [u32; 2] {
        let first = 10 + 2 * self.pairs.len() as u32; // the loopback has index 1
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
            let (queue_there, netem_there) = self.link_qdiscs(plan, n)?;
            let (queue_back, netem_back) = match back {
                Some(b) => self.link_qdiscs(plan, b).map(|(q, w)| (Some(q), w))?,
                None => (None, None),
            };
            let between = self.namespaces.len();
            let name = format!("{}~{}", plan.nodes[link.from], plan.nodes[link.to]);
            self.namespaces.push(forwarding(&name, self.target));
            let [egress, netem_in] = self.add_pair((link.from, Some(queue_there)), (between, netem_back));
            let [netem_out, ingress] = self.add_pair((between, netem_there), (link.to, queue_back));
            placed[n] = Some(LinkPlacement {
                from: link.from,
                egress,
                namespace: between,
                netem: netem_out,
                to: link.to,
                ingress,
            });
            if let Some(b) = back {
                let (from, to) = (link.to, link.from);
                placed[b] = Some(LinkPlacement {
                    from,
                    egress: ingress,
                    namespace: between,
                    netem: netem_in,
                    to,
                    ingress: egress,
                });
            }
        }
        self.links = placed.into_iter().flatten().collect();
        Ok(())
    }

    /// Returns the queue disciplines of a link, and adds them to `disciplines`.
    fn link_qdiscs(&mut self, plan: &Plan, number: usize) -> Result<(Qdisc, Option<Qdisc>), KernelError> {
        let link = &plan.links[number];
        let crossings = crossings(plan, &self.routes, number);
        let (shaper, netem) = qdiscs(plan, link, self.mtu, self.target, &crossings)?;
        let place = |key: &str| format!("links.{}.{key}", link.name);
        self.disciplines.entry(shaper.kind()).or_insert_with(|| place("rate"));
        for inner in &shaper.nested()[1..] {
            self.disciplines.entry(inner.kind()).or_insert_with(|| place("queue"));
        }
        if let Some(netem) = &netem {
            let keys = [("delay", link.delay_ns > 0), ("jitter", link.jitter.is_some()), ("loss", true)];
            let key = keys.iter().find(|(_, given)| *given).map_or("loss", |(key, _)| key);
            self.disciplines.entry(netem.kind()).or_insert_with(|| place(key));
        }
        Ok((shaper, netem))
    }

    /// Returns the versions of IP of its flows; IPv4 always.
    pub(crate) fn versions(&self) -> impl Iterator<Item = IpVersion> {
        [IpVersion::V4].into_iter().chain(self.ipv6.then_some(IpVersion::V6))
    }

    /// Returns the settings under `net.ipv6` of a namespace: without flows over IPv6 it is off, because it would send
    /// its own packets (neighbor discovery).
    pub(crate) fn ipv6_settings(
        &self,
        namespace: &Namespace,
    ) -> impl Iterator<Item = (&'static str, &'static str)> + use<> {
        const OFF: &[(&str, &str)] = &[("conf/default/disable_ipv6", "1")];
        let forwards = self.ipv6 && namespace.address.is_none();
        let settings = if self.ipv6 { ipv6::SETTINGS } else { OFF };
        settings.iter().chain(if forwards { ipv6::FORWARDING } else { &[] }).copied()
    }

    /// Returns the congestion control that the kernel must have, by the kernel's names.
    #[must_use]
    pub fn variants(&self) -> Vec<&'static str> {
        let mut names: Vec<_> = self.flows.iter().filter_map(|f| f.variant).collect();
        names.sort_unstable();
        names.dedup();
        names
    }

    fn place_flow(&mut self, plan: &Plan, number: usize) -> Result<(), KernelError> {
        let flow = &plan.flows[number];
        let HostPair { mut namespaces, addresses, variant, window } = flow_hosts(plan, number)?;
        namespaces.iter_mut().for_each(|namespace| namespace.sysctls.extend(self.target.sysctls()));
        let (mut hosts, mut node_interfaces) = ([0; 2], [0; 2]);
        for (side, (namespace, node)) in namespaces.into_iter().zip([flow.from, flow.to]).enumerate() {
            hosts[side] = self.namespaces.len();
            self.namespaces.push(namespace);
            let [at_host, at_node] = self.add_pair((hosts[side], None), (node, None));
            self.namespaces[hosts[side]].routes.iter_mut().for_each(|route| route.oif = at_host);
            let to = Some(addresses[side]);
            self.namespaces[node].routes.push(Route::without_metrics(to, at_node));
            node_interfaces[side] = at_node;
        }
        self.flows.push(FlowPlacement { hosts, addresses, node_interfaces, variant, window });
        Ok(())
    }

    /// Adds the routes of nodes and links.
    fn place_routes(&mut self, plan: &Plan) -> Result<(), KernelError> {
        let routes = &self.routes;
        for (number, flow) in plan.flows.iter().enumerate() {
            for (direction, mut node, target) in [(0, flow.from, 1), (1, flow.to, 0)] {
                let to = Some(self.flows[number].addresses[target]);
                loop {
                    let link = routes.next(node, (2 * number + direction) as u32);
                    if link == LOCAL {
                        break;
                    }
                    let ends = &self.links[link as usize];
                    for (namespace, oif) in [(ends.from, ends.egress), (ends.namespace, ends.netem)] {
                        self.namespaces[namespace].routes.push(Route::without_metrics(to, oif));
                    }
                    node = plan.links[link as usize].to;
                }
            }
        }
        Ok(())
    }

    /// Returns the interface over which a direction's packets reach the node at the start of a link; None if they don't
    /// cross it.
    fn input(&self, plan: &Plan, direction: u32, wanted: usize) -> Option<u32> {
        let (flow, side) = (direction as usize / 2, direction as usize % 2);
        let mut node = [plan.flows[flow].from, plan.flows[flow].to][side];
        let mut interface = self.flows[flow].node_interfaces[side];
        loop {
            match self.routes.next(node, direction) {
                LOCAL => return None,
                link if link as usize == wanted => return Some(interface),
                link => {
                    interface = self.links[link as usize].ingress;
                    node = plan.links[link as usize].to;
                }
            }
        }
    }
}

/// Returns the options of the kernel's command line that set parameters of congestion control: one set for all flows of
/// a variant.
pub(crate) fn boot(plan: &Plan) -> Result<Vec<String>, KernelError> {
    let mut sets: BTreeMap<&str, (Vec<String>, &str)> = BTreeMap::new();
    for flow in &plan.flows {
        let TransportPlan::Tcp { variant, .. } = &flow.transport else { continue };
        let ours = kernel_variant(&flow.name, variant)?;
        let (first, who) = sets.entry(ours.name).or_insert_with(|| (ours.boot.clone(), flow.name.as_str()));
        if *first != ours.boot {
            let message = format!("other parameters than flow '{who}': the kernel has one set for all of a variant");
            return Err(KernelError::refused(&format!("flows.{}.variant", flow.name), message));
        }
    }
    Ok(sets.into_values().flat_map(|(options, _)| options).collect())
}

/// Returns the directions of flows that cross a link.
fn crossings(plan: &Plan, routes: &Routes, link: usize) -> Vec<Crossing> {
    let directions = 0..2 * plan.flows.len() as u32;
    let crosses = |d: &u32| routes.next(plan.links[link].from, *d) == link as u32;
    let of = |d: u32| &plan.flows[d as usize / 2];
    let crossing = |d| Crossing {
        direction: d,
        source: address_of(of(d).ip, d),
        class: of(d).class,
        connections: matches!(of(d).application, AppPlan::Workload(_)),
    };
    directions.filter(crosses).map(crossing).collect()
}

fn forwarding(name: &str, target: Target) -> Namespace {
    let mut sysctls = target.sysctls();
    sysctls.push(("ip_forward", "1".into()));
    Namespace { name: name.to_owned(), address: None, sysctls, routes: Vec::new() }
}
