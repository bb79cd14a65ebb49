//! Requests to an agent: one JSON object in each line of its standard input.

use dumbbell_plan::{AppPlan, Plan};
use serde::Deserialize;
use std::net::Ipv4Addr;

/// A request.
#[derive(Debug, Deserialize)]
#[serde(tag = "do", rename_all = "lowercase", deny_unknown_fields)]
pub(super) enum Request {
    /// The machine's features.
    About {},
    /// The time of the steady clock.
    Clock {},
    /// Prepares a run: sockets that listen, links of a router.
    Prepare(Box<Order>),
    /// Makes the prepared run; it begins at this time of the steady clock, ns.
    Go { zero: u64 },
    /// Ends the run that goes on.
    Stop {},
}

/// A run as far as this machine takes part in it.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Order {
    #[serde(deserialize_with = "Plan::nested")]
    pub(super) plan: Plan,
    /// Interval between two samples of the sockets, ns.
    pub(super) sample_ns: u64,
    /// Congestion control to load as BPF, by the kernel's names.
    pub(super) bpf: Vec<String>,
    /// The flows, in the plan's order.
    pub(super) flows: Vec<FlowOrder>,
}

/// A flow between two machines.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct FlowOrder {
    /// Addresses of the data sender and of the data receiver.
    pub(super) addresses: [Ipv4Addr; 2],
    /// Port of the server.
    pub(super) port: u16,
    /// The ends that this machine serves.
    pub(super) local: [bool; 2],
}

/// Returns the side that listens: the data sender of a page, else the data receiver.
pub(super) fn server_of(app: &AppPlan) -> usize {
    usize::from(!matches!(app, AppPlan::Page { .. }))
}
