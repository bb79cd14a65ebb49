//! Checks of the plans of links, for plans that were not made from a checked scenario.

use crate::{JitterPlan, LossPlan, OpportunitiesPlan, OutagePlan, PolicerPlan, ProfilePlan, ReorderingPlan};

/// Checks a probability.
///
/// # Errors
/// The reason for a refusal, here and in the other checks.
pub fn probability(p: f64) -> Result<(), &'static str> {
    if (0.0..=1.0).contains(&p) { Ok(()) } else { Err("must be a probability") }
}

/// Checks a loss model.
///
/// # Errors
/// The errors of [`probability`].
pub fn loss(plan: &LossPlan) -> Result<(), &'static str> {
    match *plan {
        LossPlan::Independent(p) => probability(p),
        LossPlan::GilbertElliott { p, r, loss_bad, loss_good } => {
            [p, r, loss_bad, loss_good].into_iter().try_for_each(probability)
        }
    }
}

/// Checks a jitter.
///
/// # Errors
/// The errors of [`probability`].
pub fn jitter(plan: &JitterPlan) -> Result<(), &'static str> {
    match *plan {
        JitterPlan::Pareto { shape, .. } if !shape.is_finite() || shape <= 1.0 => Err("the shape must be above 1"),
        _ => Ok(()),
    }
}

/// Checks a reordering.
///
/// # Errors
/// The errors of [`probability`].
pub fn reordering(plan: &ReorderingPlan) -> Result<(), &'static str> {
    probability(plan.share)?;
    probability(plan.correlation)?;
    if plan.gap == 0 || plan.extent == Some(0) {
        return Err("gap and extent must be at least 1");
    }
    Ok(())
}

/// Checks a policer.
///
/// # Errors
/// The errors of [`probability`].
pub fn policer(plan: &PolicerPlan) -> Result<(), &'static str> {
    if plan.rate_bps == 0 || plan.burst_bytes == 0 { Err("rate and burst must be above zero") } else { Ok(()) }
}

/// Checks a profile.
///
/// # Errors
/// The errors of [`probability`].
pub fn profile(plan: &ProfilePlan) -> Result<(), &'static str> {
    let steps = &plan.steps;
    if steps.first().is_none_or(|s| s.at_ns != 0 || s.ramp) {
        return Err("the first step must be at 0, without a ramp");
    }
    if steps.windows(2).any(|w| w[0].at_ns >= w[1].at_ns) {
        return Err("the steps must be in ascending order");
    }
    let last = steps.last().map_or(0, |s| s.at_ns);
    if plan.period_ns.is_some_and(|p| p == 0 || last > p) {
        return Err("the steps must be within the period");
    }
    Ok(())
}

/// Checks a profile of rates.
///
/// # Errors
/// The errors of [`probability`].
pub fn rates(plan: &ProfilePlan) -> Result<(), &'static str> {
    profile(plan)?;
    if plan.steps.iter().any(|s| s.value == 0) { Err("rates must be above zero") } else { Ok(()) }
}

/// Checks a packet-delivery trace.
///
/// # Errors
/// The errors of [`probability`].
pub fn opportunities(plan: &OpportunitiesPlan) -> Result<(), &'static str> {
    let counts = &plan.counts;
    if plan.period_ms == 0 {
        return Err("the duration of the trace must be above zero");
    }
    if counts.windows(2).any(|w| w[0].0 >= w[1].0) || counts.iter().any(|&(ms, n)| ms > plan.period_ms || n == 0) {
        return Err("times must be ascending and within the period, each with a count above zero");
    }
    Ok(())
}

/// Checks an outage.
///
/// # Errors
/// The errors of [`probability`].
pub fn outage(plan: &OutagePlan) -> Result<(), &'static str> {
    if plan.for_ns == 0 || plan.every_ns.is_some_and(|every| every <= plan.for_ns) {
        return Err("the duration of an outage must be above zero and below the repetition interval");
    }
    Ok(())
}
