//! What a link does to packets besides queueing them: scripted drops at its entrance, random loss and jitter on its wire.

use crate::plan::{DropPlan, LinkPlan};
use dumbbell_units::random::Stream;
use dumbbell_units::{Dur, Time};

#[derive(Debug)]
pub(crate) struct Impairments {
    loss: f64,
    loss_random: Stream,
    jitter: Dur,
    jitter_random: Stream,
    pub(crate) jitter_reorders: bool,
    scripts: Vec<Script>,
}

/// One scripted drop with its count so far.
#[derive(Debug)]
struct Script {
    plan: DropPlan,
    seen: u64,
    next: usize,
}

impl Impairments {
    pub(crate) fn new(plan: &LinkPlan, seed: u64) -> Impairments {
        let script = |d: &DropPlan| Script { plan: d.clone(), seen: 0, next: 0 };
        Impairments {
            loss: plan.loss,
            loss_random: Stream::new(seed, &format!("link/{}/loss", plan.name)),
            jitter: Dur(plan.jitter_ns),
            jitter_random: Stream::new(seed, &format!("link/{}/jitter", plan.name)),
            jitter_reorders: plan.jitter_reorders,
            scripts: plan.drops.iter().map(script).collect(),
        }
    }

    /// Whether packets are left alone here.
    pub(crate) fn none(&self) -> bool {
        self.scripts.is_empty() && self.loss == 0.0 && self.jitter == Dur::ZERO
    }

    pub(crate) fn has_scripts(&self) -> bool {
        !self.scripts.is_empty()
    }

    /// Whether the scenario drops this packet here. Every script counts every packet that concerns it.
    pub(crate) fn scripted_drop(&mut self, flow: u32, data: bool, now: Time) -> bool {
        self.scripts.iter_mut().fold(false, |hit, s| s.hits(flow, data, now) | hit)
    }

    /// Whether the wire loses this packet.
    pub(crate) fn loses(&mut self) -> bool {
        self.loss > 0.0 && self.loss_random.uniform() < self.loss
    }

    /// What the wire takes longer for this packet.
    pub(crate) fn jitter(&mut self) -> Dur {
        if self.jitter == Dur::ZERO { Dur::ZERO } else { self.jitter.scale(self.jitter_random.uniform()) }
    }
}

impl Script {
    fn hits(&mut self, flow: u32, data: bool, now: Time) -> bool {
        let concerned =
            self.plan.flow.is_none_or(|f| flow as usize == 2 * f) && (data || !self.plan.data_only);
        if !concerned {
            return false;
        }
        self.seen += 1;
        let by_number = self.plan.packets.get(self.next) == Some(&self.seen);
        self.next += usize::from(by_number);
        by_number || self.plan.spans_ns.iter().any(|[from, to]| (*from..*to).contains(&now.0))
    }
}
