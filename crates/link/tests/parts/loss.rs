//! Loss and corruption against the formulas of their models (the rules: src/loss.rs, src/corruption.rs).

use crate::{binomial, stream};
use dumbbell_link::{Corruption, CorruptionPlan, Loss, LossPlan};

fn ge(p: f64, r: f64, loss_bad: f64, loss_good: f64) -> LossPlan {
    LossPlan::GilbertElliott { p, r, loss_bad, loss_good }
}

fn losses(plan: LossPlan, n: usize) -> Vec<bool> {
    let mut loss = Loss::new(plan, stream("loss"));
    (0..n).map(|_| loss.loses()).collect()
}

fn count(lost: &[bool]) -> usize {
    lost.iter().filter(|l| **l).count()
}

/// Returns the lengths of the loss bursts, without those at both ends.
fn bursts(lost: &[bool]) -> Vec<usize> {
    let inner = lost.split(|l| !l).map(<[bool]>::len).filter(|n| *n > 0);
    inner.collect()
}

#[test]
fn independent_losses_have_their_probability() {
    binomial(count(&losses(LossPlan::Independent(0.02), 200_000)), 200_000, 0.02, "losses");
    assert_eq!(count(&losses(LossPlan::Independent(0.0), 1000)), 0);
    assert_eq!(count(&losses(LossPlan::Independent(1.0), 1000)), 1000);
}

#[test]
fn gilbert_elliott_has_the_loss_rate_of_its_formula() {
    // (p, r, loss_bad, loss_good): p / (p + r) in the bad state.
    // 0.01 / 0.21 = 1 / 21. 0.02 / 0.12 = 1 / 6: 0.5 / 6 + 0.001 x 5 / 6 = 0.0841667.
    // 0.3 / 1.2 = 1 / 4: 0.9 / 4 + 0.1 x 3 / 4 = 0.3 (consecutive packets are correlated negatively here).
    for (plan, expected) in
        [(ge(0.01, 0.2, 1.0, 0.0), 1.0 / 21.0), (ge(0.02, 0.1, 0.5, 0.001), 0.505 / 6.0), (ge(0.3, 0.9, 0.9, 0.1), 0.3)]
    {
        assert!((plan.rate() - expected).abs() < 1e-12, "{plan:?}");
        let n = 1_000_000;
        let found = count(&losses(plan, n)) as f64 / n as f64;
        // The binomial variance times (1 + c) / (1 - c), where c = 1 - p - r is the correlation of consecutive
        // states: an upper bound if a state determines the loss only in part.
        let LossPlan::GilbertElliott { p, r, .. } = plan else { unreachable!() };
        let c = (1.0 - p - r).max(0.0);
        let sd = (expected * (1.0 - expected) / n as f64 * (1.0 + c) / (1.0 - c)).sqrt();
        assert!((found - expected).abs() < 5.0 * sd, "{plan:?}: {found}, sd {sd}");
    }
}

#[test]
fn burst_lengths_of_the_simple_model_are_geometric() {
    // Mean 1 / r = 5 packets; P(length = k) = r (1 - r)^(k - 1): 0.2, 0.16, 0.128 ...
    let bursts = bursts(&losses(ge(0.01, 0.2, 1.0, 0.0), 2_000_000));
    let n = bursts.len();
    let mean = bursts.iter().sum::<usize>() as f64 / n as f64;
    // The variance of a geometric length is (1 - r) / r^2 = 20.
    assert!((mean - 5.0).abs() < 5.0 * (20.0 / n as f64).sqrt(), "{mean} of {n}");
    for k in 1..=8 {
        let p = 0.2 * 0.8f64.powi(k - 1);
        binomial(bursts.iter().filter(|b| **b == k as usize).count(), n, p, &format!("bursts of {k}"));
    }
    // The gaps between them are geometric too: P(a packet after a good one is lost) = p = 0.01.
    let lost = losses(ge(0.01, 0.2, 1.0, 0.0), 2_000_000);
    let good = lost.windows(2).filter(|w| !w[0]).count();
    binomial(lost.windows(2).filter(|w| !w[0] && w[1]).count(), good, 0.01, "turns to bad");
}

#[test]
fn certain_transitions_are_deterministic() {
    // p = r = 1: the states alternate, whatever the initial state.
    let lost = losses(ge(1.0, 1.0, 1.0, 0.0), 100);
    assert!(lost.windows(2).all(|w| w[0] != w[1]));
    // r = 0: in the long term the state is always bad. p = 0: always good.
    assert_eq!(count(&losses(ge(0.1, 0.0, 1.0, 0.0), 100)), 100);
    assert_eq!(count(&losses(ge(0.0, 0.5, 1.0, 0.0), 100)), 0);
    assert_eq!(count(&losses(ge(0.0, 0.0, 1.0, 0.0), 100)), 0);
    // r = 1: every burst is a single packet.
    assert!(bursts(&losses(ge(0.2, 1.0, 1.0, 0.0), 10_000)).iter().all(|b| *b == 1));
}

#[test]
fn the_first_packet_has_the_long_term_loss_rate() {
    let first = |i: u64| Loss::new(ge(0.05, 0.2, 1.0, 0.0), dumbbell_units::random::Stream::new(i, "x")).loses();
    binomial((0..10_000).filter(|i| first(*i)).count(), 10_000, 0.2, "first packets lost");
}

#[test]
fn bit_errors_count_bits() {
    // 1 - (1 - 1e-5)^12000 = 0.11308010 for 1500 bytes, 1 - (1 - 1e-5)^320 = 0.0031949014 for 40.
    let by_bit = CorruptionPlan::Bits(1e-5);
    assert!((by_bit.probability(1500) - 0.113_080_095_438_492_54).abs() < 1e-15);
    assert!((by_bit.probability(40) - 0.003_194_901_405_955_093).abs() < 1e-16);
    // So small that 1 - b is 1 in floating point: 12000 x 1e-18.
    assert!((CorruptionPlan::Bits(1e-18).probability(1500) - 1.2e-14).abs() < 1e-28);
    assert_eq!(CorruptionPlan::Bits(1.0).probability(1), 1.0);
    let mut corruption = Corruption::new(by_bit, stream("corruption"));
    let damaged = (0..100_000).filter(|_| corruption.corrupts(1500)).count();
    binomial(damaged, 100_000, 0.113_080_095, "damaged");
    let mut corruption = Corruption::new(CorruptionPlan::Packets(0.3), stream("corruption"));
    binomial((0..100_000).filter(|_| corruption.corrupts(40)).count(), 100_000, 0.3, "damaged");
}
