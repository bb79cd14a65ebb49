//! A plan for link emulation: each flow has a host (a namespace with one TUN device) at both ends; a program emulates
//! everything between them, routers included [Linux Documentation/networking/tuntap.rst].
//!
//! ```text
//! flow's host -- tun0 -- [ the simulator's links, queues, routes ] -- tun0 -- flow's host
//! ```
//!
//! In virtual time (back end `uml`) the guest's process is this program, and a veth pair takes the place of each TUN
//! device: its other end is in one namespace for all, where packet sockets read and write [packet(7)].

use crate::error::KernelError;
use crate::plan::commands::{ipv6_steps, whole};
use crate::plan::describe;
use crate::plan::hosts::{HostPair, MAX_FLOWS, flow_hosts, mtu, refuse_module_parameters};
use crate::plan::ipv6;
use crate::plan::sndbuf::send_buffer;
use crate::plan::target::Kernel;
use crate::plan::veth::{Interface, VethPair, boot};
use dumbbell_plan::{Plan, Routes};
use dumbbell_sim::Live;

/// Name of every host's TUN device.
pub(crate) const INTERFACE: &str = "tun0";
/// Rate, bit/s, above which single packets of one flow take more than the time of a processor.
const OFFLOAD_RATE: u64 = 200_000_000;

/// The hosts of a plan and their routes; see the top of this file.
pub struct TunTopology {
    pub(crate) flows: Vec<HostPair>,
    pub(crate) mtu: u32,
    /// True if hosts send and receive super-packets.
    pub(crate) offloads: bool,
    /// The kernel that it is for.
    pub(crate) kernel: Kernel,
    /// Options of the guest's command line: parameters of its congestion control.
    pub boot: Vec<String>,
    routes: Routes,
}

impl TunTopology {
    /// Translates a plan. `offloads`: hosts send and receive super-packets; None: if all links are faster than
    /// `OFFLOAD_RATE`.
    ///
    /// # Errors
    /// `Refused`: kernel or links can't run the plan, with the place in the scenario.
    pub fn new(plan: &Plan, offloads: Option<bool>) -> Result<TunTopology, KernelError> {
        let fast = || plan.links.iter().all(|link| link.rate_bps > OFFLOAD_RATE);
        TunTopology::translate(plan, Kernel::Host, offloads.unwrap_or_else(fast))
    }

    /// Translates a plan for the virtual-time kernel.
    ///
    /// # Errors
    /// See [`TunTopology::new`].
    pub fn in_guest(plan: &Plan) -> Result<TunTopology, KernelError> {
        TunTopology::translate(plan, Kernel::Guest, false)
    }

    fn translate(plan: &Plan, kernel: Kernel, offloads: bool) -> Result<TunTopology, KernelError> {
        if plan.flows.len() > MAX_FLOWS {
            let message = format!("{} given: the kernel back ends carry at most {MAX_FLOWS}", plan.flows.len());
            return Err(KernelError::refused("flows", message));
        }
        Live::new(plan).map_err(|e| KernelError::refused("network", e.to_string()))?;
        let boot = match kernel {
            Kernel::Guest => {
                ipv6::refuse_in_guest(plan)?;
                boot(plan)?
            }
            Kernel::Host => {
                refuse_module_parameters(plan)?;
                Vec::new()
            }
        };
        let routes = Routes::new(plan).map_err(|e| KernelError::refused("", e.to_string()))?;
        let flows = (0..plan.flows.len()).map(|n| flow_hosts(plan, n));
        Ok(TunTopology { flows: flows.collect::<Result<_, _>>()?, mtu: mtu(plan), offloads, kernel, boot, routes })
    }

    /// Returns the veth pair of a flow's host on a side in virtual time: the host's end, then the program's.
    pub(crate) fn pair(flow: usize, side: usize) -> VethPair {
        let first = 10 + 2 * (2 * flow + side) as u32; // the loopback has index 1
        let end = |index| Interface { namespace: 0, index, qdisc: None };
        VethPair { ends: [end(first), end(first + 1)] }
    }

    /// Returns the bound of all send buffers together, bytes.
    pub(crate) fn send_buffers(&self, plan: &Plan) -> u64 {
        (0..plan.flows.len()).map(|n| send_buffer(plan, &self.routes, n)).sum()
    }

    /// Returns the congestion control that the kernel must have, by the kernel's names.
    #[must_use]
    pub fn variants(&self) -> Vec<&'static str> {
        let mut names: Vec<_> = self.flows.iter().filter_map(|f| f.variant).collect();
        names.sort_unstable();
        names.dedup();
        names
    }

    /// Returns all steps, in order: commands that would make the same hosts, and descriptions of the links.
    #[must_use]
    pub fn steps(&self, plan: &Plan) -> Vec<String> {
        let mut steps = Vec::new();
        let hosts = self.flows.iter().enumerate();
        let hosts = hosts.flat_map(|(flow, f)| f.namespaces.iter().enumerate().map(move |h| (flow, h)));
        for (flow, (side, namespace)) in hosts {
            let name = &namespace.name;
            steps.push(format!("ip netns add '{name}'  # without a name: removed when the process ends"));
            for (setting, value) in &namespace.sysctls {
                steps.push(format!("ip netns exec '{name}' sysctl -w net.ipv4.{setting}='{value}'"));
            }
            if namespace.address.is_some_and(|address| address.is_ipv6()) {
                steps.extend(ipv6_steps(name, ipv6::SETTINGS.iter().copied()));
            }
            let (on, mtu) = (["off", "on"][usize::from(self.offloads)], self.mtu);
            let interface = match self.kernel {
                Kernel::Host => {
                    steps.push(format!("ip -n '{name}' tuntap add {INTERFACE} mode tun"));
                    steps.push(format!("ip -n '{name}' link set lo up"));
                    steps.push(format!("ip -n '{name}' link set {INTERFACE} up mtu {mtu} txqueuelen {QUEUE}"));
                    INTERFACE.to_owned()
                }
                Kernel::Guest => {
                    let [host, ours] = TunTopology::pair(flow, side).ends.map(|end| end.name());
                    steps.push(format!("ip -n '{name}' link add {host} mtu {mtu} type veth peer {ours} netns links"));
                    steps.push(format!("ip netns exec '{name}' ethtool -K {host} tx off"));
                    steps.push(format!("ip -n '{name}' link set {host} up"));
                    host
                }
            };
            steps.push(format!("ip netns exec '{name}' ethtool -K {interface} tso {on} gso {on} gro {on}"));
            if let Some(address) = namespace.address {
                steps.push(format!("ip -n '{name}' addr add {} dev {interface}", whole(address)));
                let option = if address.is_ipv6() { " -6" } else { "" };
                let mut step = format!("ip{option} -n '{name}' route add default dev {interface} src {address}");
                for route in &namespace.routes {
                    step += &route.window.map_or(String::new(), |bytes| format!(" window {bytes}"));
                    step += &route.advmss.map_or(String::new(), |mss| format!(" advmss {mss}"));
                    step += &route.initcwnd.map_or(String::new(), |n| format!(" initcwnd {n}"));
                    step += &route.congctl.map_or(String::new(), |name| format!(" congctl {name}"));
                }
                steps.push(step);
            }
        }
        steps.extend(plan.links.iter().map(|link| describe::link(plan, link)));
        steps
    }

    /// Returns a description of each flow.
    #[must_use]
    pub fn flows(&self, plan: &Plan) -> Vec<String> {
        let each = self.flows.iter().enumerate();
        each.map(|(n, hosts)| describe::flow(plan, n, hosts.addresses, hosts.variant, &self.routes)).collect()
    }
}

/// Transmit queue of a TUN device, packets: more than can wait before the program reads them.
pub(crate) const QUEUE: u32 = 10_000;
