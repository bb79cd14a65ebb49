//! Checks a plan: indices in range, valid amounts. The Python package checks scenarios with more detailed messages;
//! these checks protect the back ends from plans that another program has written.

use crate::error::PlanError;
use crate::link_plan::LinkPlan;
use crate::medium::MediumPlan;
use crate::plan::{AppPlan, Plan};
use dumbbell_link::{CorruptionPlan, check as part};
use dumbbell_units::flow_number::MOST_FLOWS;

/// Checks the indices and amounts of a plan.
///
/// # Errors
/// The first invalid place.
pub fn check(plan: &Plan) -> Result<(), PlanError> {
    let refuse = |place: String, message: &str| Err(PlanError::Invalid { place, message: message.into() });
    if plan.duration_ns == 0 || plan.measure_from_ns >= plan.duration_ns {
        return refuse("measure_from_ns".into(), "must lie before the end of the run");
    }
    if plan.flows.len() > MOST_FLOWS {
        return refuse("flows".into(), "must be at most 524288");
    }
    for l in &plan.links {
        let place = |field: &str| format!("links.{}.{field}", l.name);
        if l.from >= plan.nodes.len() || l.to >= plan.nodes.len() || l.from == l.to {
            return refuse(place("from"), "must join two nodes of the plan");
        }
        if l.rate_bps == 0 {
            return refuse(place("rate_bps"), "must be above zero");
        }
        if let Err((field, why)) = check_link(l) {
            return refuse(place(field), why);
        }
        if l.drops.iter().any(|d| d.packets.windows(2).any(|w| w[0] >= w[1])) {
            return refuse(place("drops"), "packet numbers must ascend");
        }
    }
    for (n, medium) in plan.media.iter().enumerate() {
        if let Err((field, why)) = check_medium(medium, plan) {
            return refuse(format!("media.{n}.{field}"), &why);
        }
    }
    for f in &plan.flows {
        let place = |field: &str| format!("flows.{}.{field}", f.name);
        if f.from >= plan.nodes.len() || f.to >= plan.nodes.len() || f.from == f.to {
            return refuse(place("from"), "must join two nodes of the plan");
        }
        let least = match f.application {
            AppPlan::Cbr { rate_bps, packet_bytes, .. } | AppPlan::Onoff { rate_bps, packet_bytes, .. } => {
                rate_bps.min(u64::from(packet_bytes))
            }
            AppPlan::Ping { interval_ns, packet_bytes, .. } => interval_ns.min(u64::from(packet_bytes)),
            AppPlan::Transfer { bytes, .. } | AppPlan::Page { bytes, .. } => bytes,
            AppPlan::Bulk {}
            | AppPlan::Program { .. }
            | AppPlan::Video(_)
            | AppPlan::Workload(_)
            | AppPlan::Objects(_)
            | AppPlan::Voice(_) => 1,
        };
        let checked = match &f.application {
            AppPlan::Video(video) => video.check(),
            AppPlan::Objects(page) => page.check(),
            AppPlan::Workload(workload) => workload.check(),
            AppPlan::Voice(voice) => voice.check(),
            AppPlan::Cbr { jitter, .. } if !(0.0..=1.0).contains(jitter) => Err("jitter must be from 0 to 1"),
            _ => Ok(()),
        };
        if let Err(why) = checked {
            return refuse(place("application"), why);
        }
        if least == 0 {
            return refuse(place("application"), "rate, interval and sizes must be above zero");
        }
    }
    for point in &plan.capture.points {
        let known =
            point.nodes.iter().all(|&n| n < plan.nodes.len()) && point.links.iter().all(|&l| l < plan.links.len());
        if !known || point.nodes.len() + point.links.len() == 0 {
            return refuse(format!("capture.{}", point.name), "must name nodes or links of the plan");
        }
    }
    Ok(())
}

/// Checks the impairments of a link. The error is the field and the reason.
fn check_link(l: &LinkPlan) -> Result<(), (&'static str, &'static str)> {
    let at = |field: &'static str| move |why: &'static str| (field, why);
    l.rate_course.as_deref().map_or(Ok(()), part::rates).map_err(at("rate_course"))?;
    l.delay_course.as_deref().map_or(Ok(()), part::profile).map_err(at("delay_course"))?;
    l.opportunities.as_deref().map_or(Ok(()), part::opportunities).map_err(at("opportunities"))?;
    if l.rate_course.is_some() && l.opportunities.is_some() {
        return Err(("opportunities", "a trace and a rate over time exclude each other"));
    }
    l.outages.iter().try_for_each(part::outage).map_err(at("outages"))?;
    l.policer.as_ref().map_or(Ok(()), part::policer).map_err(at("policer"))?;
    part::loss(&l.loss).map_err(at("loss"))?;
    let corrupted = l.corruption.map_or(0.0, |c| match c {
        CorruptionPlan::Packets(p) | CorruptionPlan::Bits(p) => p,
    });
    part::probability(corrupted).map_err(at("corruption"))?;
    l.jitter.as_ref().map_or(Ok(()), part::jitter).map_err(at("jitter"))?;
    l.reordering.as_deref().map_or(Ok(()), part::reordering).map_err(at("reordering"))?;
    l.duplication.map_or(Ok(()), |d| part::probability(d.share)).map_err(at("duplication"))
}

/// Checks a medium. The error is the field and the reason.
fn check_medium(medium: &MediumPlan, plan: &Plan) -> Result<(), (&'static str, String)> {
    let refuse = |field, why: &str| Err((field, why.to_owned()));
    let (Some(down), Some(up)) = (plan.links.get(medium.down), plan.links.get(medium.up)) else {
        return refuse("down", "must be links of the plan");
    };
    if (down.from, down.to) != (up.to, up.from) {
        return refuse("up", "must lead back from the end of 'down' to its start");
    }
    if medium.nodes.len() != medium.wifi.stations.len() || medium.nodes.iter().any(|n| *n >= plan.nodes.len()) {
        return refuse("nodes", "must have a node for each station");
    }
    for link in [down, up] {
        if let Some(field) = link.beyond_queue_and_delay() {
            return refuse(field, "a link with Wi-Fi has a queue, a constant delay and scripted drops only");
        }
    }
    medium.wifi.check()
}
