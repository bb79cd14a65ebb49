//! The hosts of a plan whose links are our own: each flow has one at both of its ends, with one interface, and
//! everything between them, routers included, is a program.
//!
//! ```text
//! flow's host -- tun -- [entrance of the first link .. the simulator's links, queues, routes .. ] -- tun -- flow's host
//! ```

use crate::error::KernelError;
use crate::plan::describe;
use crate::plan::veth::{HostPair, MAX_FLOWS, flow_hosts, mtu, refuse_module_parameters};
use dumbbell_plan::{Plan, Routes};
use dumbbell_sim::Live;

/// The name of every host's interface.
pub(crate) const INTERFACE: &str = "tun0";

/// See the top of this file.
pub struct TunTopology {
    pub(crate) flows: Vec<HostPair>,
    pub(crate) mtu: u32,
    routes: Routes,
}

impl TunTopology {
    /// Lays the hosts of a plan out.
    ///
    /// # Errors
    /// What the kernel, or the link, can't honour, with its place in the scenario.
    pub fn new(plan: &Plan) -> Result<TunTopology, KernelError> {
        if plan.flows.len() > MAX_FLOWS {
            let message =
                format!("{} given: the kernel back ends carry at most {MAX_FLOWS}", plan.flows.len());
            return Err(KernelError::refused("flows", message));
        }
        Live::new(plan).map_err(|e| KernelError::refused("network", e.to_string()))?;
        refuse_module_parameters(plan)?;
        let routes = Routes::new(plan).map_err(|e| KernelError::refused("", e.to_string()))?;
        let flows = (0..plan.flows.len()).map(|n| flow_hosts(plan, n));
        Ok(TunTopology { flows: flows.collect::<Result<_, _>>()?, mtu: mtu(plan), routes })
    }

    /// Names of the congestion control that the kernel must have.
    #[must_use]
    pub fn variants(&self) -> Vec<&'static str> {
        let mut names: Vec<_> = self.flows.iter().filter_map(|f| f.variant).collect();
        names.sort_unstable();
        names.dedup();
        names
    }

    /// Each step, in order, as a command that would do the same; the links in words.
    #[must_use]
    pub fn steps(&self, plan: &Plan) -> Vec<String> {
        let mut steps = Vec::new();
        for namespace in self.flows.iter().flat_map(|f| &f.namespaces) {
            let name = &namespace.name;
            steps.push(format!("ip netns add '{name}'  # without a name, so it is gone with the process"));
            for (setting, value) in &namespace.settings {
                steps.push(format!("ip netns exec '{name}' sysctl -w net.ipv4.{setting}='{value}'"));
            }
            steps.push(format!("ip -n '{name}' tuntap add {INTERFACE} mode tun"));
            steps.push(format!("ip netns exec '{name}' ethtool -K {INTERFACE} tso off gso off gro off"));
            steps.push(format!("ip -n '{name}' link set lo up"));
            let mtu = self.mtu;
            steps.push(format!("ip -n '{name}' link set {INTERFACE} up mtu {mtu} txqueuelen {QUEUE}"));
            if let Some(address) = namespace.address {
                steps.push(format!("ip -n '{name}' addr add {address}/32 dev {INTERFACE}"));
                let mut step = format!("ip -n '{name}' route add default dev {INTERFACE} src {address}");
                for route in &namespace.routes {
                    step += &route.mss.map_or(String::new(), |mss| format!(" advmss {mss}"));
                    step += &route.initcwnd.map_or(String::new(), |n| format!(" initcwnd {n}"));
                    step += &route.variant.map_or(String::new(), |name| format!(" congctl {name}"));
                }
                steps.push(step);
            }
        }
        steps.extend(plan.links.iter().map(|link| describe::link(plan, link)));
        steps
    }

    /// Each flow, in words.
    #[must_use]
    pub fn flows(&self, plan: &Plan) -> Vec<String> {
        let each = self.flows.iter().enumerate();
        each.map(|(n, hosts)| describe::flow(plan, n, hosts.addresses, hosts.variant, &self.routes)).collect()
    }
}

/// Packets that wait for our program at most: it is never that late.
pub(crate) const QUEUE: u32 = 10_000;
