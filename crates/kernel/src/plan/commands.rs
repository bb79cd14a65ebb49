//! A layout in words: the commands that would do the same.

use crate::plan::describe;
use crate::plan::qdisc::Qdisc;
use crate::plan::target::Kernel;
use crate::plan::veth::{Interface, PEER, VethTopology};
use dumbbell_plan::Plan;
use std::fmt::Write as _;

impl VethTopology {
    /// The disciplines of all interfaces, outer ones first, as `tc` would show them.
    pub(crate) fn disciplines_in_words(&self) -> impl Iterator<Item = String> {
        let ends = self.wires.iter().flat_map(|wire| &wire.ends);
        ends.filter_map(|end| end.qdisc.as_ref().map(|qdisc| (end, qdisc))).map(|(end, qdisc)| {
            let place = format!("{}, {}", self.spaces[end.space].name, end.name());
            match qdisc {
                Qdisc::Tbf { inner, .. } => format!("{place}: {qdisc}, {inner}"),
                _ => format!("{place}: {qdisc}"),
            }
        })
    }

    /// The name of the only interface of a host.
    pub(crate) fn interface_at(&self, host: usize) -> String {
        let mut ends = self.wires.iter().flat_map(|wire| &wire.ends);
        ends.find(|end| end.space == host).map_or(String::new(), |end| end.name())
    }

    /// Each flow, in words.
    #[must_use]
    pub fn flows(&self, plan: &Plan) -> Vec<String> {
        let each = self.flows.iter().enumerate();
        each.map(|(n, ends)| describe::flow(plan, n, ends.addresses, ends.variant, &self.ways)).collect()
    }

    /// Each step, in order, as a command of `ip`, `tc`, `sysctl` or `ethtool`.
    #[must_use]
    pub fn steps(&self) -> Vec<String> {
        let mut steps: Vec<String> = self.boot.iter().map(|o| format!("boot the kernel with {o}")).collect();
        let unnamed = match self.target.kernel {
            Kernel::Guest => "",
            Kernel::Host => "  # without a name, so it is gone with the process",
        };
        let offloads = ["off", "on"][usize::from(self.target.offloads)];
        for space in &self.spaces {
            steps.push(format!("ip netns add '{}'{}", space.name, unnamed));
            if self.target.kernel == Kernel::Host {
                let name = &space.name;
                steps
                    .push(format!("ip netns exec '{name}' sysctl -w net.ipv6.conf.default.disable_ipv6='1'"));
                steps.push(format!("ip -n '{name}' link set lo up"));
            }
            for (name, value) in &space.settings {
                steps.push(format!(
                    "ip netns exec '{}' sysctl -w net.ipv4.{}='{value}'",
                    space.name,
                    name.replace('/', ".")
                ));
            }
        }
        for wire in &self.wires {
            let [a, b] = &wire.ends;
            let name = |space: usize| &self.spaces[space].name;
            steps.push(format!(
                "ip link add {} address {} mtu {mtu} netns '{}' type veth peer name {} address {} mtu {mtu} netns '{}'",
                a.name(),
                mac(a),
                name(a.space),
                b.name(),
                mac(b),
                name(b.space),
                mtu = self.mtu,
            ));
            for (end, peer) in [(a, b), (b, a)] {
                let (space, device) = (name(end.space), end.name());
                steps.push(format!(
                    "ip netns exec '{space}' ethtool -K {device} tso {offloads} gso {offloads} gro {offloads}"
                ));
                steps.push(format!("ip -n '{space}' link set {device} up"));
                steps.push(format!(
                    "ip -n '{space}' neigh add {PEER} lladdr {} dev {device} nud permanent",
                    mac(peer)
                ));
                if let Some(qdisc) = &end.qdisc {
                    steps.extend(commands(
                        qdisc,
                        &format!("tc -n '{space}' qdisc add dev {device}"),
                        "root",
                        1,
                    ));
                }
                if let Some(address) = self.spaces[end.space].address {
                    steps.push(format!("ip -n '{space}' addr add {address}/32 dev {device}"));
                }
            }
        }
        for space in &self.spaces {
            for route in &space.routes {
                let to = route.to.map_or("default".into(), |a| a.to_string());
                let mut step =
                    format!("ip -n '{}' route add {to} via {PEER} dev v{} onlink", space.name, route.over);
                if let Some(address) = space.address {
                    let _ = write!(step, " src {address}");
                }
                if let Some(mss) = route.mss {
                    let _ = write!(step, " advmss {mss}");
                }
                if let Some(window) = route.initial_window {
                    let _ = write!(step, " initcwnd {window}");
                }
                if let Some(variant) = route.variant {
                    let _ = write!(step, " congctl {variant}");
                }
                steps.push(step);
            }
        }
        steps
    }
}

fn mac(end: &Interface) -> String {
    end.mac().map(|b| format!("{b:02x}")).join(":")
}

fn commands(qdisc: &Qdisc, start: &str, parent: &str, handle: u32) -> Vec<String> {
    let mut first = format!("{start} {parent} handle {handle}:");
    if let Qdisc::Tbf { overhead, .. } = qdisc {
        let _ = write!(first, " stab overhead {overhead} linklayer ethernet");
    }
    let mut all = vec![format!("{first} {qdisc}")];
    if let Qdisc::Tbf { inner, .. } = qdisc {
        all.extend(commands(inner, start, &format!("parent {handle}:1"), handle + 1));
    }
    all
}
