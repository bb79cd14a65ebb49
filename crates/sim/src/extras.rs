//! What a link does besides queueing packets and sending them at a constant rate over a constant delay. Most links have
//! none of it.
//!
//! ```text
//! entrance: scripted drops, policer        transmitter: rate over time or trace, outages
//! wire: outages that drop, loss, corruption; then delay over time, jitter; then reordering, duplication
//! ```

use crate::disorder::Disorder;
use dumbbell_link::{
    Corruption, Course, Duplication, Jitter, Loss, Opportunities, Outages, Policer, Reordering, Service,
};
use dumbbell_plan::{DropPlan, LinkPlan};
use dumbbell_qdisc::{DropReason, Packet, QdiscContext};
use dumbbell_units::random::Stream;
use dumbbell_units::{Dur, Time};

/// See the top of this file.
#[derive(Debug)]
pub(crate) struct Extras {
    scripts: Vec<Script>,
    policer: Option<Policer>,
    /// In place of the constant rate.
    service: Option<Service>,
    /// Those that drop packets.
    outages: Outages,
    loss: Option<Loss>,
    corruption: Option<Corruption>,
    /// In place of the constant delay.
    delay: Option<Course>,
    delay_keeps_order: bool,
    jitter: Option<Jitter>,
    jitter_keeps_order: bool,
    /// What the latest packet is clear of: a later one does not arrive before it, where order is kept.
    last_arrival: Time,
    reordering: Option<Reordering>,
    duplication: Option<Duplication>,
    /// Of a wire that packets may leave in another order than they came.
    pub(crate) disorder: Option<Disorder>,
}

/// One scripted drop with its count so far.
#[derive(Debug)]
struct Script {
    plan: DropPlan,
    seen: u64,
    next: usize,
}

/// How a packet crosses the wire.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Passage {
    /// When it arrives (at the latest, where it is held until others have passed).
    pub(crate) at: Time,
    /// Whether it is one of those that others pass.
    pub(crate) picked: bool,
    /// After how many that pass it is let go.
    pub(crate) extent: Option<u64>,
    /// When it would have arrived otherwise.
    pub(crate) regular: Time,
    /// When its copy arrives, if there is one.
    pub(crate) copy: Option<Time>,
}

impl Extras {
    /// What the plan asks for; None if that is nothing. `window` is the time of the measurement.
    pub(crate) fn new(plan: &LinkPlan, seed: u64, window: (Time, Time)) -> Option<Box<Extras>> {
        let stream = |part: &str| Stream::new(seed, &format!("link/{}/{part}", plan.name));
        let held = Outages::holding(&plan.outages);
        let course = plan.rate_course.clone().map(Course::new);
        // An outage that holds packets stops a constant rate too.
        let course = course.or_else(|| (!held.is_empty()).then(|| Course::constant(plan.rate_bps)));
        let service = match &plan.opportunities {
            Some(trace) => Some(Service::trace(Opportunities::new(trace), held, window)),
            None => course.map(|c| Service::rate(c, held, window)),
        };
        let extras = Extras {
            scripts: plan.drops.iter().map(|d| Script { plan: d.clone(), seen: 0, next: 0 }).collect(),
            policer: plan.policer.map(Policer::new),
            service,
            outages: Outages::dropping(&plan.outages),
            loss: (!plan.loss.is_none()).then(|| Loss::new(plan.loss, stream("loss"))),
            corruption: plan.corruption.map(|c| Corruption::new(c, stream("corruption"))),
            delay: plan.delay_course.clone().map(Course::new),
            delay_keeps_order: !plan.delay_reorders,
            jitter: plan.jitter.map(|j| Jitter::new(j, stream("jitter"))),
            jitter_keeps_order: !plan.jitter_reorders,
            last_arrival: Time::ZERO,
            reordering: plan.reordering.map(|r| Reordering::new(r, stream("reordering"))),
            duplication: plan.duplication.map(|d| Duplication::new(d, stream("duplication"))),
            disorder: plan.wire_is_disorderly().then(Disorder::default),
        };
        let none = extras.scripts.is_empty()
            && extras.policer.is_none()
            && extras.service.is_none()
            && extras.outages.is_empty()
            && extras.loss.is_none()
            && extras.corruption.is_none()
            && extras.delay.is_none()
            && extras.jitter.is_none()
            && extras.disorder.is_none();
        (!none).then(|| Box::new(extras))
    }

    /// Whether a packet is refused at the entrance, and why. Every script counts every packet that concerns it; what a
    /// script drops takes no tokens.
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

    /// From when on the idle transmitter could send a packet that comes now.
    pub(crate) fn opens(&self, now: Time) -> Time {
        self.service.as_ref().map_or(now, |s| s.opens(now))
    }

    /// From when on the transmitter can send a packet that has waited.
    pub(crate) fn next(&mut self, now: Time) -> Time {
        self.service.as_mut().map_or(now, |s| s.next(now))
    }

    /// When a packet is out whose transmission begins now, where the rate is not constant.
    pub(crate) fn finish(&mut self, now: Time, bytes: u32) -> Option<Time> {
        self.service.as_mut().map(|s| s.finish(now, bytes))
    }

    /// The wire bits that were sent and could have been, where the rate is not constant.
    pub(crate) fn use_of_capacity(&self) -> Option<(f64, f64)> {
        self.service.as_ref().map(Service::use_of_capacity)
    }

    /// Whether a packet in transmission from `begin` to `out` is lost, and why.
    pub(crate) fn loses(&mut self, begin: Time, out: Time, bytes: u32) -> Option<DropReason> {
        if self.outages.touch(begin, out) {
            return Some(DropReason::Outage);
        }
        if self.loss.as_mut().is_some_and(Loss::loses) {
            return Some(DropReason::Loss);
        }
        self.corruption.as_mut().is_some_and(|c| c.damages(bytes)).then_some(DropReason::Corrupted)
    }

    /// How a packet crosses the wire that is out at `out`; `delay` is the link's where it is constant.
    pub(crate) fn passage(&mut self, out: Time, delay: Dur) -> Passage {
        let mut regular = out + self.delay.as_ref().map_or(delay, |course| Dur(course.at(out)));
        if let Some(jitter) = &mut self.jitter {
            regular += jitter.draw();
        }
        let in_order = if self.jitter.is_some() { self.jitter_keeps_order } else { self.delay_keeps_order };
        if in_order {
            regular = regular.max(self.last_arrival);
        }
        self.last_arrival = regular;
        let mut passage = Passage { at: regular, picked: false, extent: None, regular, copy: None };
        if let Some(reordering) = &mut self.reordering
            && reordering.picks()
        {
            passage.picked = true;
            passage.at = regular + reordering.delay();
            passage.extent = reordering.extent();
        }
        if let Some(duplication) = &mut self.duplication {
            passage.copy = duplication.copies().map(|later| passage.at + later);
        }
        passage
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
