//! Namespaces of a plan, and the hosts of its flows with their addresses, sysctls and routes: shared by the veth and the TUN
//! topology. Sysctls [Linux sysctl_net_ipv4.c ipv4_net_table]; route metrics [ip-route(8), Linux rtnetlink.h RTAX_INITCWND].

use crate::error::KernelError;
use crate::plan::congestion_control::kernel_variant;
use crate::plan::sysctl::{KernelStack, kernel_stack};
use dumbbell_plan::{AppPlan, Plan, TransportPlan};
use std::net::Ipv4Addr;

/// MTU where no flow sends larger packets, bytes.
const MTU: u32 = 1500;
/// Largest number of flows: a machine of moderate memory runs as many.
pub(crate) const MAX_FLOWS: usize = 500;

/// A network namespace.
#[derive(Clone, Debug, PartialEq)]
pub struct Namespace {
    /// Its name, unique.
    pub name: String,
    /// The address of a host; None for nodes and links.
    pub address: Option<Ipv4Addr>,
    /// Sysctls under `net.ipv4`, with `/` between their parts.
    pub sysctls: Vec<(&'static str, String)>,
    /// Its routing table.
    pub routes: Vec<Route>,
}

/// A route.
#[derive(Clone, Debug, PartialEq)]
pub struct Route {
    /// The destination; None: the default route.
    pub to: Option<Ipv4Addr>,
    /// Index of the outgoing interface.
    pub oif: u32,
    /// Metric `initcwnd`: initial window of connections, segments (None: the kernel's default) [Linux tcp_input.c
    /// tcp_init_cwnd].
    pub initcwnd: Option<u32>,
    /// Metric `advmss`: MSS that peers are offered, bytes (None: from the MTU) [Linux tcp_output.c tcp_advertise_mss].
    pub advmss: Option<u32>,
    /// Metric `congctl`: congestion control of connections that choose none (None: the namespace's default) [Linux
    /// tcp_output.c tcp_ca_dst_init].
    pub congctl: Option<&'static str>,
}

impl Route {
    /// A route without metrics.
    pub(crate) fn without_metrics(to: Option<Ipv4Addr>, oif: u32) -> Route {
        Route { to, oif, initcwnd: None, advmss: None, congctl: None }
    }
}

/// The hosts of a flow.
pub(crate) struct HostPair {
    /// Their interface has no index yet: their routes have oif 0.
    pub(crate) namespaces: [Namespace; 2],
    pub(crate) addresses: [Ipv4Addr; 2],
    /// The kernel's name of the congestion control.
    pub(crate) variant: Option<&'static str>,
}

/// Returns the hosts of a flow: sender 10.1.N, receiver 10.2.N with the flow's number N in the last two bytes.
pub(crate) fn flow_hosts(plan: &Plan, number: usize) -> Result<HostPair, KernelError> {
    let flow = &plan.flows[number];
    let (variant, stack) = match &flow.transport {
        TransportPlan::Udp {} => (None, KernelStack::default()),
        TransportPlan::Tcp { variant, stack } => {
            let name = kernel_variant(&flow.name, variant)?.name;
            (Some(name), kernel_stack(&flow.name, &variant.name, stack)?)
        }
    };
    let [high, low] = (number as u16).to_be_bytes();
    let addresses = [Ipv4Addr::new(10, 1, high, low), Ipv4Addr::new(10, 2, high, low)];
    let KernelStack { initcwnd, advmss, sysctls } = stack;
    // Only for programs: our endpoints set TCP_CONGESTION. A route may have any congestion control, a namespace's
    // default only those that are not restricted [Linux tcp_cong.c tcp_set_default_congestion_control].
    let congctl = variant.filter(|_| matches!(flow.application, AppPlan::Program { .. }));
    let namespace = |side: usize| Namespace {
        name: format!("{}.{}", flow.name, ["from", "to"][side]),
        address: Some(addresses[side]),
        sysctls: host_sysctls(&sysctls),
        routes: vec![Route { initcwnd, advmss, congctl, ..Route::without_metrics(None, 0) }],
    };
    Ok(HostPair { namespaces: [namespace(0), namespace(1)], addresses, variant })
}

/// Refuses parameters of congestion control: a host's kernel has one set of them for all its users.
pub(crate) fn refuse_module_parameters(plan: &Plan) -> Result<(), KernelError> {
    for flow in &plan.flows {
        let TransportPlan::Tcp { variant, .. } = &flow.transport else { continue };
        if let Some((key, _)) = variant.params.iter().next() {
            kernel_variant(&flow.name, variant)?;
            let message =
                "a host's kernel has one set of parameters for all its users: back end 'uml' can set them";
            return Err(KernelError::refused(&format!("flows.{}.variant.{key}", flow.name), message));
        }
    }
    Ok(())
}

/// Returns the sysctls of every host, followed by the flow's `own`, which take precedence.
fn host_sysctls(own: &[(&'static str, String)]) -> Vec<(&'static str, String)> {
    let common = [
        // A connection starts without the metrics of an earlier one [Linux tcp_metrics.c tcp_update_metrics].
        ("tcp_no_metrics_save", "1"),
        // A receive buffer that never limits the sender.
        ("tcp_rmem", "4096 33554432 268435456"),
        // A send buffer that begins with the size of the simulator's stack `linux` and grows with the window.
        ("tcp_wmem", "4096 1048576 268435456"),
    ];
    common.into_iter().map(|(k, v)| (k, v.to_owned())).chain(own.iter().cloned()).collect()
}

/// Returns the MTU: the largest datagram that a flow sends, 1500 at least.
pub(crate) fn mtu(plan: &Plan) -> u32 {
    plan.flows
        .iter()
        .map(|flow| match (&flow.application, &flow.transport) {
            (
                AppPlan::Cbr { packet_bytes, .. }
                | AppPlan::Onoff { packet_bytes, .. }
                | AppPlan::Ping { packet_bytes, .. },
                TransportPlan::Udp {},
            ) => *packet_bytes,
            _ => 0,
        })
        .fold(MTU, u32::max)
}
