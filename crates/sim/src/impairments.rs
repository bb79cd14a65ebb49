//! Link features beyond a constant rate and a constant delay. Most links have none.
//!
//! ```text
//! before the queue   scripted drops, policer
//! transmitter        rate over time or delivery trace, outages that hold packets
//! wire               outages that drop, loss, corruption; then delay over time, jitter; then reordering, duplication
//! ```

use crate::reorder::ReorderTracker;
use dumbbell_link::{
    Corruption, Duplication, Jitter, Loss, Opportunities, Outages, Policer, Profile, Reordering, Transmitter,
};
use dumbbell_plan::{DropPlan, LinkPlan};
use dumbbell_qdisc::{DropReason, Packet, QdiscContext};
use dumbbell_units::flow_number::direction_of;
use dumbbell_units::random::Stream;
use dumbbell_units::{Dur, Time};

/// See the top of this file.
#[derive(Debug)]
pub(crate) struct Impairments {
    scripts: Vec<Script>,
    policer: Option<Policer>,
    /// Replaces the constant rate.
    transmitter: Option<Transmitter>,
    /// Outages that drop packets.
    outages: Outages,
    loss: Option<Loss>,
    corruption: Option<Corruption>,
    /// Replaces the constant delay.
    delay: Option<Profile>,
    delay_keeps_order: bool,
    jitter: Option<Jitter>,
    jitter_keeps_order: bool,
    /// Arrival time of the previous packet: where order is kept, no later packet arrives earlier.
    last_arrival: Time,
    reordering: Option<Reordering>,
    duplication: Option<Duplication>,
    /// Present on a wire that may reorder packets.
    pub(crate) reorder: Option<ReorderTracker>,
}

/// A scripted drop and its packet count so far.
#[derive(Debug)]
struct Script {
    plan: DropPlan,
    seen: u64,
    next: usize,
}

/// A packet's path over the wire: arrival times.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Transit {
    /// Arrival time; the latest one, for a packet that is held until others have overtaken it.
    pub(crate) at: Time,
    /// True if the reordering model selected this packet to be overtaken.
    pub(crate) selected: bool,
    /// Number of packets that overtake it before it is released.
    pub(crate) extent: Option<u64>,
    /// Arrival time without reordering.
    pub(crate) regular: Time,
    /// Arrival time of its duplicate, if any.
    pub(crate) copy: Option<Time>,
}

impl Impairments {
    /// The impairments of a plan's link; None if it has none. `window`: begin and end of the measurement.
    pub(crate) fn new(plan: &LinkPlan, seed: u64, window: (Time, Time)) -> Option<Box<Impairments>> {
        let stream = |part: &str| Stream::new(seed, &format!("link/{}/{part}", plan.name));
        let held = Outages::holding(&plan.outages);
        let profile = plan.rate_course.as_deref().cloned().map(Profile::new);
        // An outage that holds packets interrupts a constant rate too.
        let profile = profile.or_else(|| (!held.is_empty()).then(|| Profile::constant(plan.rate_bps)));
        let transmitter = match &plan.opportunities {
            Some(trace) => Some(Transmitter::trace(Opportunities::new(trace), held, window)),
            None => profile.map(|c| Transmitter::rate(c, held, window)),
        };
        let impairments = Impairments {
            scripts: plan.drops.iter().map(|d| Script { plan: d.clone(), seen: 0, next: 0 }).collect(),
            policer: plan.policer.map(Policer::new),
            transmitter,
            outages: Outages::dropping(&plan.outages),
            loss: (!plan.loss.is_none()).then(|| Loss::new(plan.loss, stream("loss"))),
            corruption: plan.corruption.map(|c| Corruption::new(c, stream("corruption"))),
            delay: plan.delay_course.as_deref().cloned().map(Profile::new),
            delay_keeps_order: !plan.delay_reorders,
            jitter: plan.jitter.map(|j| Jitter::new(j, stream("jitter"))),
            jitter_keeps_order: !plan.jitter_reorders,
            last_arrival: Time::ZERO,
            reordering: plan.reordering.as_deref().map(|r| Reordering::new(*r, stream("reordering"))),
            duplication: plan.duplication.map(|d| Duplication::new(d, stream("duplication"))),
            reorder: plan.wire_may_reorder().then(ReorderTracker::default),
        };
        let none = impairments.scripts.is_empty()
            && impairments.policer.is_none()
            && impairments.transmitter.is_none()
            && impairments.outages.is_empty()
            && impairments.loss.is_none()
            && impairments.corruption.is_none()
            && impairments.delay.is_none()
            && impairments.jitter.is_none()
            && impairments.reorder.is_none();
        (!none).then(|| Box::new(impairments))
    }

    /// Returns why a packet is dropped before the queue, if it is. Every script counts every packet that it applies
    /// to. A packet dropped by a script takes no tokens from the policer.
    pub(crate) fn refuses(
        &mut self,
        packet: &mut Packet,
        cx: &mut QdiscContext,
        has_data: impl FnOnce(&Packet) -> bool,
    ) -> Option<DropReason> {
        if !self.scripts.is_empty() {
            let data = has_data(packet);
            if self.scripts.iter_mut().fold(false, |hit, s| s.hits(packet.flow, data, cx.now) | hit) {
                return Some(DropReason::Scripted);
            }
        }
        let policer = self.policer.as_mut()?;
        let passes = policer.conforms(packet.bytes, cx.now) || (policer.marks() && cx.mark(packet));
        (!passes).then_some(DropReason::Policed)
    }

    /// Earliest time at which the idle transmitter can send a packet that arrives now.
    pub(crate) fn opens(&self, now: Time) -> Time {
        self.transmitter.as_ref().map_or(now, |s| s.earliest_start_idle(now))
    }

    /// Earliest time at which the transmitter can send a packet from the queue.
    pub(crate) fn next(&mut self, now: Time) -> Time {
        self.transmitter.as_mut().map_or(now, |s| s.earliest_start(now))
    }

    /// End of a transmission that begins now, where the rate is not constant.
    pub(crate) fn finish(&mut self, now: Time, bytes: u32) -> Option<Time> {
        self.transmitter.as_mut().map(|s| s.finish(now, bytes))
    }

    /// Wire bits sent and wire bits of capacity, where the rate is not constant.
    pub(crate) fn use_of_capacity(&self) -> Option<(f64, f64)> {
        self.transmitter.as_ref().map(Transmitter::sent_and_capacity)
    }

    /// Returns why a packet in transmission from `begin` to `out` is lost, if it is.
    pub(crate) fn loses(&mut self, begin: Time, out: Time, bytes: u32) -> Option<DropReason> {
        if self.outages.overlap(begin, out) {
            return Some(DropReason::Outage);
        }
        if self.loss.as_mut().is_some_and(Loss::loses) {
            return Some(DropReason::Loss);
        }
        self.corruption.as_mut().is_some_and(|c| c.corrupts(bytes)).then_some(DropReason::Corrupted)
    }

    /// Computes the arrival times of a packet whose transmission ends at `out`; `delay`: the link's constant delay.
    pub(crate) fn transit(&mut self, out: Time, delay: Dur) -> Transit {
        let mut regular = out + self.delay.as_ref().map_or(delay, |profile| Dur(profile.at(out)));
        if let Some(jitter) = &mut self.jitter {
            regular += jitter.draw();
        }
        let in_order = if self.jitter.is_some() { self.jitter_keeps_order } else { self.delay_keeps_order };
        if in_order {
            regular = regular.max(self.last_arrival);
        }
        self.last_arrival = regular;
        let mut transit = Transit { at: regular, selected: false, extent: None, regular, copy: None };
        if let Some(reordering) = &mut self.reordering
            && reordering.selects()
        {
            transit.selected = true;
            transit.at = regular + reordering.delay();
            transit.extent = reordering.extent();
        }
        if let Some(duplication) = &mut self.duplication {
            transit.copy = duplication.copies().map(|later| transit.at + later);
        }
        transit
    }
}

impl Script {
    fn hits(&mut self, flow: u32, data: bool, now: Time) -> bool {
        let applies =
            self.plan.flow.is_none_or(|f| direction_of(flow) as usize == 2 * f) && (data || !self.plan.data_only);
        if !applies {
            return false;
        }
        self.seen += 1;
        let by_number = self.plan.packets.get(self.next) == Some(&self.seen);
        self.next += usize::from(by_number);
        by_number || self.plan.spans_ns.iter().any(|[from, to]| (*from..*to).contains(&now.0))
    }
}
