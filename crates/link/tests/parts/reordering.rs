//! Reordering against numbers worked by hand and probabilities (the rules: src/reordering.rs).

use crate::{binomial, stream};
use dumbbell_link::{Reordering, ReorderingPlan};

const PLAN: ReorderingPlan = ReorderingPlan { share: 0.1, gap: 1, correlation: 0.0, delay_ns: 0, extent: None };

fn selected(plan: ReorderingPlan, n: usize) -> Vec<bool> {
    let mut reordering = Reordering::new(plan, stream("reordering"));
    (0..n).map(|_| reordering.selects()).collect()
}

fn numbers(picked: &[bool]) -> Vec<usize> {
    picked.iter().enumerate().filter(|(_, p)| **p).map(|(i, _)| i + 1).collect()
}

#[test]
fn a_gap_selects_every_nth_packet() {
    assert_eq!(numbers(&selected(ReorderingPlan { share: 1.0, gap: 5, ..PLAN }, 17)), [5, 10, 15]);
    assert_eq!(numbers(&selected(ReorderingPlan { share: 1.0, ..PLAN }, 3)), [1, 2, 3]);
}

#[test]
fn selected_packets_are_at_least_a_gap_apart() {
    let picked = numbers(&selected(ReorderingPlan { share: 0.5, gap: 3, ..PLAN }, 100_000));
    assert!(picked.windows(2).all(|w| w[1] - w[0] >= 3));
    // Two packets are excluded, then each is selected with 1 / 2: one of 2 + 2 packets. The distance has variance
    // (1 - 0.5) / 0.25 = 2, so their number in n packets n x 2 / 4^3.
    let (found, sd) = (picked.len() as f64, (100_000.0f64 * 2.0 / 64.0).sqrt());
    assert!((found - 25_000.0).abs() < 5.0 * sd, "{found}");
}

#[test]
fn correlation_keeps_the_share() {
    for correlation in [0.0, 0.6, 0.9] {
        let n = 1_000_000;
        let picked = selected(ReorderingPlan { correlation, ..PLAN }, n);
        let share = picked.iter().filter(|p| **p).count() as f64 / n as f64;
        let sd = (0.1 * 0.9 / n as f64 * (1.0 + correlation) / (1.0 - correlation)).sqrt();
        assert!((share - 0.1).abs() < 5.0 * sd, "{correlation}: {share}");
        // After a selected packet: 0.1 + c 0.9.
        let after = picked.windows(2).filter(|w| w[0]).count();
        let both = picked.windows(2).filter(|w| w[0] && w[1]).count();
        binomial(both, after, 0.1 + correlation * 0.9, "pairs");
    }
}
