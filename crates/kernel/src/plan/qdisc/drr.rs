//! The kernel's DRR: a class for each queue, and filters that choose a packet's class by its source address, which only
//! one direction of one flow has [Linux sch_drr.c drr_classify, drr_enqueue; cls_flower.c].

use super::Qdisc;
use crate::error::KernelError;
use dumbbell_qdisc::Limit;
use std::collections::BTreeMap;
use std::net::IpAddr;

/// A class: a queue, and the directions of flows that it serves.
#[derive(Clone, Debug, PartialEq)]
pub struct DrrClass {
    /// Source addresses of its packets.
    pub sources: Vec<IpAddr>,
    /// Its queue.
    pub queue: Qdisc,
}

/// A direction of a flow that crosses a link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Crossing {
    /// Number of the flow x 2, and 1 more for its reverse direction.
    pub(crate) direction: u32,
    /// The source address of its packets.
    pub(crate) source: IpAddr,
    /// The class of the flow's packets.
    pub(crate) class: u16,
    /// True if the flow has several connections at a time.
    pub(crate) connections: bool,
}

/// Returns the classes of a link's queue: one for each class of packets, or one for each direction of a flow. The
/// kernel has no limit over all classes, so `limit` must hold all queues at their own.
pub(crate) fn classes(
    crossings: &[Crossing],
    by_class: bool,
    limit: Limit,
    queue_limit: Option<Limit>,
    refuse: impl Fn(&str, &str) -> KernelError,
) -> Result<Vec<DrrClass>, KernelError> {
    if !by_class && crossings.iter().any(|crossing| crossing.connections) {
        let message = "'flow' given (or the default): the kernel's drr has a queue for a flow, not for each connection of a \
                       workload: set 'class', or use fq_codel or sfq";
        return Err(refuse("by", message));
    }
    let mut sources: BTreeMap<u32, Vec<IpAddr>> = BTreeMap::new();
    for crossing in crossings {
        let key = if by_class { u32::from(crossing.class) } else { crossing.direction };
        sources.entry(key).or_default().push(crossing.source);
    }
    let queues = sources.len().max(1) as u64;
    let each = match queue_limit {
        Some(each) => each,
        None if queues == 1 => limit,
        None => {
            let message = "'none' given (or the default): the kernel's drr limits each queue, and not all together";
            return Err(refuse("queue_limit", message));
        }
    };
    let holds = match (limit, each) {
        (Limit::Packets(all), Limit::Packets(one)) => all.0 >= one.0.saturating_mul(queues),
        (Limit::Bytes(all), Limit::Bytes(one)) => all.0 >= one.0.saturating_mul(queues),
        _ => false,
    };
    if !holds {
        let message = format!(
            "the kernel's drr has no limit over all queues: give at least {queues} times queue_limit, in its unit"
        );
        return Err(refuse("limit", &message));
    }
    let key = if queue_limit.is_some() { "queue_limit" } else { "limit" };
    let word = |n: u64, unit: &str| {
        let message = format!("{n} {unit} given: the kernel counts up to {} {unit}", u32::MAX);
        u32::try_from(n).map_err(|_| refuse(key, &message))
    };
    let queue = match each {
        Limit::Packets(n) => Qdisc::Pfifo { limit: word(n.0, "packets")? },
        Limit::Bytes(n) => Qdisc::Bfifo { limit: word(n.0, "bytes")? },
    };
    Ok(sources.into_values().map(|sources| DrrClass { sources, queue: queue.clone() }).collect())
}
