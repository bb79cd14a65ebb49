//! Whether plans can be: the last line for plans that no scenario has checked.

use crate::{CoursePlan, JitterPlan, LossPlan, OpportunitiesPlan, OutagePlan, PolicerPlan, ReorderingPlan};

/// A probability.
///
/// # Errors
/// Says what is wrong with it; so do the other checks.
pub fn probability(p: f64) -> Result<(), &'static str> {
    if (0.0..=1.0).contains(&p) { Ok(()) } else { Err("must be a probability") }
}

/// A loss model.
///
/// # Errors
/// As [`probability`].
pub fn loss(plan: &LossPlan) -> Result<(), &'static str> {
    match *plan {
        LossPlan::Independent(p) => probability(p),
        LossPlan::GilbertElliott { p, r, loss_bad, loss_good } => {
            [p, r, loss_bad, loss_good].into_iter().try_for_each(probability)
        }
    }
}

/// A jitter.
///
/// # Errors
/// As [`probability`].
pub fn jitter(plan: &JitterPlan) -> Result<(), &'static str> {
    match *plan {
        JitterPlan::Pareto { shape, .. } if !shape.is_finite() || shape <= 1.0 => {
            Err("the shape must be above 1")
        }
        _ => Ok(()),
    }
}

/// A reordering.
///
/// # Errors
/// As [`probability`].
pub fn reordering(plan: &ReorderingPlan) -> Result<(), &'static str> {
    probability(plan.share)?;
    probability(plan.correlation)?;
    if plan.gap == 0 || plan.extent == Some(0) {
        return Err("gap and extent must be at least 1");
    }
    Ok(())
}

/// A policer.
///
/// # Errors
/// As [`probability`].
pub fn policer(plan: &PolicerPlan) -> Result<(), &'static str> {
    if plan.rate_bps == 0 || plan.burst_bytes == 0 {
        Err("rate and burst must be above zero")
    } else {
        Ok(())
    }
}

/// A course.
///
/// # Errors
/// As [`probability`].
pub fn course(plan: &CoursePlan) -> Result<(), &'static str> {
    let steps = &plan.steps;
    if steps.first().is_none_or(|s| s.at_ns != 0 || s.ramp) {
        return Err("the first step must be at 0, without a ramp");
    }
    if steps.windows(2).any(|w| w[0].at_ns >= w[1].at_ns) {
        return Err("steps must ascend");
    }
    let last = steps.last().map_or(0, |s| s.at_ns);
    if plan.period_ns.is_some_and(|p| p == 0 || last > p) {
        return Err("the steps must lie within the period");
    }
    Ok(())
}

/// A course of rates.
///
/// # Errors
/// As [`probability`].
pub fn rates(plan: &CoursePlan) -> Result<(), &'static str> {
    course(plan)?;
    if plan.steps.iter().any(|s| s.value == 0) { Err("rates must be above zero") } else { Ok(()) }
}

/// A trace.
///
/// # Errors
/// As [`probability`].
pub fn opportunities(plan: &OpportunitiesPlan) -> Result<(), &'static str> {
    let counts = &plan.counts;
    if plan.period_ms == 0 {
        return Err("the trace must last longer than zero");
    }
    if counts.windows(2).any(|w| w[0].0 >= w[1].0)
        || counts.iter().any(|&(ms, n)| ms > plan.period_ms || n == 0)
    {
        return Err("times must ascend within the period, each with a count");
    }
    Ok(())
}

/// An outage.
///
/// # Errors
/// As [`probability`].
pub fn outage(plan: &OutagePlan) -> Result<(), &'static str> {
    if plan.for_ns == 0 || plan.every_ns.is_some_and(|every| every <= plan.for_ns) {
        return Err("an outage lasts longer than zero and shorter than from one to the next");
    }
    Ok(())
}
