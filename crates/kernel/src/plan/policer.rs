//! A link's policer: filters at the interfaces over which its packets reach the node, before they are forwarded into
//! the queue. They share one action. A packet is chosen by its source address, and its length there is that of IP
//! [Linux act_police.c tcf_police_act, dev.c sch_handle_ingress, cls_flower.c].

use crate::error::KernelError;
use crate::plan::hosts::address_of;
use crate::plan::link::SUPPORTED_BY;
use crate::plan::target::{Kernel, Target};
use dumbbell_plan::Plan;
use dumbbell_units::Rate;
use std::net::IpAddr;

/// Unit of the time in which a bucket fills, ns [Linux pkt_sched.h PSCHED_SHIFT].
const TICK_NS: u128 = 64;
/// Least rate: the kernel counts whole bytes in a second [Linux act_police.c tcf_police_init].
const LEAST_BPS: u64 = 8;

/// See the top of this file.
#[derive(Clone, Debug, PartialEq)]
pub struct Policer {
    /// The link's number.
    pub link: usize,
    /// The namespace of its node.
    pub namespace: usize,
    /// Rate of the tokens, bit/s: at least a byte in a second.
    pub rate_bps: u64,
    /// Size of the bucket, bytes.
    pub burst_bytes: u64,
    /// The same as the time in which it fills, in units of `TICK_NS`.
    pub burst_ticks: u32,
    /// The link's framing, which counts, bytes.
    pub overhead: u16,
    /// Interfaces and source addresses of the link's packets.
    pub inputs: Vec<(u32, IpAddr)>,
}

impl Policer {
    /// Number of the action, which the policer's filters share; the kernel takes 0 for none.
    #[must_use]
    pub fn action(&self) -> u32 {
        self.link as u32 + 1
    }
}

/// Returns the policers of a plan. `input` returns the interface over which a direction's packets reach the node at the
/// start of a link; None if they don't cross it.
pub(crate) fn policers(
    plan: &Plan,
    target: Target,
    input: impl Fn(u32, usize) -> Option<u32>,
) -> Result<Vec<Policer>, KernelError> {
    let mut found = Vec::new();
    for (number, link) in plan.links.iter().enumerate() {
        let Some(policer) = link.policer else { continue };
        let refuse = |message: String| Err(KernelError::refused(&format!("links.{}.policer", link.name), message));
        if target.kernel == Kernel::Host {
            return refuse(format!(
                "links of the host's kernel don't have policers: {SUPPORTED_BY}, and --backend uml"
            ));
        }
        if policer.marks {
            return refuse(format!("the kernel's policer drops packets, and doesn't mark them: {SUPPORTED_BY}"));
        }
        let Ok(overhead) = u16::try_from(link.overhead_bytes) else {
            return refuse("the kernel counts a framing of at most 65535 bytes".into());
        };
        let (rate_bps, burst_bytes) = (policer.rate_bps, policer.burst_bytes);
        if rate_bps < LEAST_BPS {
            return refuse(format!("{} given: the kernel's rates begin at {LEAST_BPS} bit/s", Rate(rate_bps)));
        }
        let ticks = u128::from(burst_bytes) * 8_000_000_000 / u128::from(rate_bps) / TICK_NS;
        let Ok(burst_ticks) = u32::try_from(ticks) else {
            let most = u128::from(u32::MAX) * TICK_NS * u128::from(rate_bps) / 8_000_000_000;
            return refuse(format!(
                "burst of {burst_bytes} bytes given: the kernel allows up to {most} bytes at {}, which fill in 274 s",
                Rate(rate_bps)
            ));
        };
        let directions = 0..2 * plan.flows.len() as u32;
        let inputs = directions.filter_map(|d| Some((input(d, number)?, address_of(plan.flows[d as usize / 2].ip, d))));
        found.push(Policer {
            link: number,
            namespace: link.from,
            rate_bps,
            burst_bytes,
            burst_ticks,
            overhead,
            inputs: inputs.collect(),
        });
    }
    Ok(found)
}
