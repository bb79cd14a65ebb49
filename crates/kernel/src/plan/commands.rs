//! A veth topology as commands of `ip`, `tc`, `sysctl` and `ethtool` that make the same network, for `kernel plan`
//! [ip(8), tc(8), tc-stab(8), ip-route(8), sysctl(8), ethtool(8)].

use crate::plan::describe;
use crate::plan::policer::Policer;
use crate::plan::qdisc::Qdisc;
use crate::plan::target::Kernel;
use crate::plan::veth::{Interface, VethTopology, peer};
use dumbbell_plan::Plan;
use dumbbell_wire::IpVersion;
use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::net::IpAddr;

impl VethTopology {
    /// The queue disciplines of all interfaces in `tc`'s syntax, outer ones first.
    pub(crate) fn qdisc_descriptions(&self) -> impl Iterator<Item = String> {
        let ends = self.pairs.iter().flat_map(|wire| &wire.ends);
        ends.filter_map(|end| end.qdisc.as_ref().map(|qdisc| (end, qdisc))).map(|(end, qdisc)| {
            let place = format!("{}, {}", self.namespaces[end.namespace].name, end.name());
            let all: Vec<String> = qdisc.nested().iter().map(ToString::to_string).collect();
            format!("{place}: {}", all.join(", "))
        })
    }

    /// Returns the name of the only interface of a host.
    pub(crate) fn host_interface(&self, host: usize) -> String {
        let mut ends = self.pairs.iter().flat_map(|wire| &wire.ends);
        ends.find(|end| end.namespace == host).map_or(String::new(), |end| end.name())
    }

    /// Returns a description of each flow.
    #[must_use]
    pub fn flows(&self, plan: &Plan) -> Vec<String> {
        let each = self.flows.iter().enumerate();
        each.map(|(n, ends)| describe::flow(plan, n, ends.addresses, ends.variant, &self.routes)).collect()
    }

    /// Returns all steps, in order.
    #[must_use]
    pub fn steps(&self) -> Vec<String> {
        let mut steps: Vec<String> = self.boot.iter().map(|o| format!("boot the kernel with {o}")).collect();
        let unnamed = match self.target.kernel {
            Kernel::Guest => "",
            Kernel::Host => "  # without a name: removed when the process ends",
        };
        let offloads = ["off", "on"][usize::from(self.target.offloads)];
        for namespace in &self.namespaces {
            steps.push(format!("ip netns add '{}'{}", namespace.name, unnamed));
            if self.target.kernel == Kernel::Host {
                let name = &namespace.name;
                steps.extend(ipv6_steps(name, self.ipv6_settings(namespace)));
                steps.push(format!("ip -n '{name}' link set lo up"));
            }
            for (name, value) in &namespace.sysctls {
                steps.push(format!(
                    "ip netns exec '{}' sysctl -w net.ipv4.{}='{value}'",
                    namespace.name,
                    name.replace('/', ".")
                ));
            }
        }
        for wire in &self.pairs {
            let [a, b] = &wire.ends;
            let name = |namespace: usize| &self.namespaces[namespace].name;
            steps.push(format!(
                "ip link add {} address {} mtu {mtu} netns '{}' type veth peer name {} address {} mtu {mtu} netns '{}'",
                a.name(),
                mac(a),
                name(a.namespace),
                b.name(),
                mac(b),
                name(b.namespace),
                mtu = self.mtu,
            ));
            for (end, other) in [(a, b), (b, a)] {
                let (namespace, device) = (name(end.namespace), end.name());
                steps.push(format!(
                    "ip netns exec '{namespace}' ethtool -K {device} tso {offloads} gso {offloads} gro {offloads}"
                ));
                steps.push(format!("ip -n '{namespace}' link set {device} up"));
                for ip in self.versions() {
                    steps.push(format!(
                        "ip -n '{namespace}' neigh add {} lladdr {} dev {device} nud permanent",
                        peer(ip),
                        mac(other)
                    ));
                }
                if let Some(qdisc) = &end.qdisc {
                    steps.extend(commands(qdisc, &format!("tc -n '{namespace}' qdisc add dev {device}"), "root", 1));
                }
                if let Some(address) = self.namespaces[end.namespace].address {
                    steps.push(format!("ip -n '{namespace}' addr add {} dev {device}", whole(address)));
                }
            }
        }
        for policer in &self.policers {
            steps.extend(police_commands(policer, &self.namespaces[policer.namespace].name));
        }
        for namespace in &self.namespaces {
            for route in &namespace.routes {
                let to = route.to.map_or("default".into(), |a| a.to_string());
                let six = route.to.or(namespace.address).is_some_and(|address| address.is_ipv6());
                let (option, ip) = if six { (" -6", IpVersion::V6) } else { ("", IpVersion::V4) };
                let mut step = format!(
                    "ip{option} -n '{}' route add {to} via {} dev v{} onlink",
                    namespace.name,
                    peer(ip),
                    route.oif
                );
                if let Some(address) = namespace.address {
                    let _ = write!(step, " src {address}");
                }
                if let Some(bytes) = route.window {
                    let _ = write!(step, " window {bytes}");
                }
                if let Some(mss) = route.advmss {
                    let _ = write!(step, " advmss {mss}");
                }
                if let Some(window) = route.initcwnd {
                    let _ = write!(step, " initcwnd {window}");
                }
                if let Some(variant) = route.congctl {
                    let _ = write!(step, " congctl {variant}");
                }
                steps.push(step);
            }
        }
        steps
    }
}

/// Returns commands that set settings under `net.ipv6`.
pub(crate) fn ipv6_steps(
    namespace: &str,
    settings: impl Iterator<Item = (&'static str, &'static str)>,
) -> impl Iterator<Item = String> {
    settings.map(move |(name, value)| {
        format!("ip netns exec '{namespace}' sysctl -w net.ipv6.{}='{value}'", name.replace('/', "."))
    })
}

/// Returns an address with the length of its prefix: all of it.
pub(crate) fn whole(address: IpAddr) -> String {
    if address.is_ipv6() { format!("{address}/128 nodad") } else { format!("{address}/32") }
}

fn mac(end: &Interface) -> String {
    end.mac().map(|b| format!("{b:02x}")).join(":")
}

fn commands(qdisc: &Qdisc, start: &str, parent: &str, handle: u32) -> Vec<String> {
    let mut first = format!("{start} {parent} handle {handle}:");
    if let Some(overhead) = qdisc.overhead() {
        let _ = write!(first, " stab overhead {overhead} linklayer ethernet");
    }
    let mut all = vec![format!("{first} {qdisc}")];
    if let Qdisc::Htb { rate_bps, burst, .. } = qdisc {
        let named = start.replacen(" qdisc ", " class ", 1);
        all.push(format!(
            "{named} parent {handle}: classid {handle}:1 htb rate {rate_bps}bit burst {burst}b cburst {burst}b"
        ));
    }
    if let Some(inner) = qdisc.inner() {
        all.extend(commands(inner, start, &format!("parent {handle}:1"), handle + 1));
    }
    if let Qdisc::Drr { quantum, classes } = qdisc {
        for (n, class) in (1..).zip(classes) {
            let named = start.replacen(" qdisc ", " class ", 1);
            all.push(format!("{named} parent {handle}: classid {handle}:{n:x} drr quantum {quantum}"));
            all.extend(commands(&class.queue, start, &format!("parent {handle}:{n:x}"), handle + n));
            let filter = start.replacen(" qdisc ", " filter ", 1);
            all.extend(
                class
                    .sources
                    .iter()
                    .map(|source| format!("{filter} parent {handle}: {} classid {handle}:{n:x}", flower(*source))),
            );
        }
    }
    all
}

/// Returns a filter for packets of a source.
fn flower(source: IpAddr) -> String {
    let (protocol, priority) = if source.is_ipv6() { ("ipv6", 2) } else { ("ip", 1) };
    format!("protocol {protocol} prio {priority} flower src_ip {source}")
}

fn police_commands(policer: &Policer, namespace: &str) -> Vec<String> {
    let mut steps = Vec::new();
    let mut known = BTreeSet::new();
    let Policer { rate_bps, burst_bytes, overhead, inputs, .. } = policer;
    for (interface, source) in inputs {
        if known.insert(interface) {
            steps.push(format!("tc -n '{namespace}' qdisc add dev v{interface} ingress"));
        }
        steps.push(format!(
            "tc -n '{namespace}' filter add dev v{interface} ingress {} \
             action police index {action} rate {rate_bps}bit burst {burst_bytes}b overhead {overhead} conform-exceed drop/ok",
            flower(*source),
            action = policer.action(),
        ));
    }
    steps
}
