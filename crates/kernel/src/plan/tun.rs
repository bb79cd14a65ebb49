//! A plan for link emulation: each flow has a host (a namespace with one TUN device) at both ends; a program emulates
//! everything between them, routers included [Linux Documentation/networking/tuntap.rst].
//!
//! ```text
//! flow's host -- tun0 -- [ the simulator's links, queues, routes ] -- tun0 -- flow's host
//! ```

use crate::error::KernelError;
use crate::plan::commands::{ipv6_steps, whole};
use crate::plan::describe;
use crate::plan::hosts::{HostPair, MAX_FLOWS, flow_hosts, mtu, refuse_module_parameters};
use crate::plan::ipv6;
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
    routes: Routes,
}

impl TunTopology {
    /// Translates a plan. `offloads`: hosts send and receive super-packets; None: if all links are faster than
    /// [`OFFLOAD_RATE`].
    ///
    /// # Errors
    /// `Refused`: kernel or links can't run the plan, with the place in the scenario.
    pub fn new(plan: &Plan, offloads: Option<bool>) -> Result<TunTopology, KernelError> {
        if plan.flows.len() > MAX_FLOWS {
            let message =
                format!("{} given: the kernel back ends carry at most {MAX_FLOWS}", plan.flows.len());
            return Err(KernelError::refused("flows", message));
        }
        Live::new(plan).map_err(|e| KernelError::refused("network", e.to_string()))?;
        refuse_module_parameters(plan)?;
        let routes = Routes::new(plan).map_err(|e| KernelError::refused("", e.to_string()))?;
        let flows = (0..plan.flows.len()).map(|n| flow_hosts(plan, n));
        let fast = || plan.links.iter().all(|link| link.rate_bps > OFFLOAD_RATE);
        Ok(TunTopology {
            flows: flows.collect::<Result<_, _>>()?,
            mtu: mtu(plan),
            offloads: offloads.unwrap_or_else(fast),
            routes,
        })
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
        for namespace in self.flows.iter().flat_map(|f| &f.namespaces) {
            let name = &namespace.name;
            steps.push(format!("ip netns add '{name}'  # without a name: removed when the process ends"));
            for (setting, value) in &namespace.sysctls {
                steps.push(format!("ip netns exec '{name}' sysctl -w net.ipv4.{setting}='{value}'"));
            }
            if namespace.address.is_some_and(|address| address.is_ipv6()) {
                steps.extend(ipv6_steps(name, ipv6::SETTINGS.iter().copied()));
            }
            steps.push(format!("ip -n '{name}' tuntap add {INTERFACE} mode tun"));
            let on = ["off", "on"][usize::from(self.offloads)];
            steps.push(format!("ip netns exec '{name}' ethtool -K {INTERFACE} tso {on} gso {on} gro {on}"));
            steps.push(format!("ip -n '{name}' link set lo up"));
            let mtu = self.mtu;
            steps.push(format!("ip -n '{name}' link set {INTERFACE} up mtu {mtu} txqueuelen {QUEUE}"));
            if let Some(address) = namespace.address {
                steps.push(format!("ip -n '{name}' addr add {} dev {INTERFACE}", whole(address)));
                let option = if address.is_ipv6() { " -6" } else { "" };
                let mut step =
                    format!("ip{option} -n '{name}' route add default dev {INTERFACE} src {address}");
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
