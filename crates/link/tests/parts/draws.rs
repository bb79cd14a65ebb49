//! The distributions of jitter and duplication against their formulas (the rules: src/jitter.rs,
//! src/duplication.rs).

use crate::{binomial, stream};
use dumbbell_link::{Duplication, DuplicationPlan, Jitter, JitterPlan};
use dumbbell_units::Dur;
use dumbbell_units::random::Stream;

const MS: u64 = 1_000_000;
const N: usize = 200_000;

fn draws(plan: JitterPlan) -> Vec<f64> {
    let mut jitter = Jitter::new(plan, stream("jitter"));
    (0..N).map(|_| jitter.draw().0 as f64 / MS as f64).collect()
}

/// Asserts the mean (given its standard deviation for one draw) and the share of draws above a value.
fn check(plan: JitterPlan, mean: f64, sd: f64, above: &[(f64, f64)]) {
    let drawn = draws(plan);
    let found = drawn.iter().sum::<f64>() / N as f64;
    assert!((found - mean).abs() < 5.0 * sd / (N as f64).sqrt(), "{plan:?}: mean {found}");
    for &(value, share) in above {
        let count = drawn.iter().filter(|x| **x > value).count();
        binomial(count, N, share, &format!("{plan:?} above {value} ms"));
    }
}

#[test]
fn uniform_draws_have_their_mean_and_shares() {
    // sd = 4 / sqrt(12) = 1.155
    check(JitterPlan::Uniform { max_ns: 4 * MS }, 2.0, 1.155, &[(1.0, 0.75), (3.9, 0.025)]);
    assert!(draws(JitterPlan::Uniform { max_ns: 4 * MS }).iter().all(|x| (0.0..=4.0).contains(x)));
}

#[test]
fn negative_draws_of_normal_give_zero() {
    // Mean and sd 1 ms: P(x <= 0) = Phi(-1) = 0.1586553 becomes 0; the mean is Phi(1) + phi(1) = 0.8413447 + 0.2419707
    // = 1.0833155; E x^2 = 2 Phi(1) + phi(1) = 1.9246601, so the sd is sqrt(1.9246601 - 1.1735725) = 0.8666.
    let plan = JitterPlan::Normal { mean_ns: MS, sd_ns: MS };
    check(plan, 1.083_315_5, 0.8666, &[(0.0, 0.841_344_7), (2.0, 0.158_655_3), (3.0, 0.022_750_1)]);
}

#[test]
fn exponential_draws_have_their_mean_and_shares() {
    // P(x > t) = exp(-t / mean): exp(-1) = 0.3678794, exp(-3) = 0.0497871.
    check(JitterPlan::Exponential { mean_ns: 2 * MS }, 2.0, 2.0, &[(2.0, 0.367_879_4), (6.0, 0.049_787_1)]);
}

#[test]
fn pareto_has_a_power_law_tail() {
    // Mean 1 ms, shape 3: scale 2 ms, P(x > t) = (1 + t / 2)^-3: 0.2962963 at 1 ms, 0.0046296 at 10 ms.
    // Variance scale^2 shape / ((shape - 1)^2 (shape - 2)) = 4 x 3 / 4 = 3.
    let plan = JitterPlan::Pareto { mean_ns: MS, shape: 3.0 };
    check(plan, 1.0, 3f64.sqrt(), &[(1.0, 8.0 / 27.0), (10.0, 1.0 / 216.0)]);
}

#[test]
fn huge_draws_do_not_overflow() {
    let mut jitter = Jitter::new(JitterPlan::Pareto { mean_ns: u64::MAX, shape: 1.001 }, stream("jitter"));
    assert!((0..1000).map(|_| jitter.draw()).max().is_some_and(|d| d > Dur::secs(1)));
}

#[test]
fn copies_have_their_share_and_delay() {
    let mut d = Duplication::new(DuplicationPlan { share: 0.1, delay_ns: 7 }, stream("duplication"));
    let copies: Vec<Dur> = (0..N).filter_map(|_| d.copies()).collect();
    binomial(copies.len(), N, 0.1, "copies");
    assert!(copies.iter().all(|c| *c == Dur(7)));
}

#[test]
fn models_repeat_with_their_stream() {
    let draw = |seed| {
        let mut jitter = Jitter::new(JitterPlan::Normal { mean_ns: MS, sd_ns: MS }, Stream::new(seed, "a"));
        (0..20).map(|_| jitter.draw()).collect::<Vec<_>>()
    };
    assert_eq!(draw(1), draw(1));
    assert_ne!(draw(1), draw(2));
}
