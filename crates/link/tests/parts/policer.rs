//! The policer against numbers worked by hand [Linux act_police.c tcf_police_act].

use dumbbell_link::{Policer, PolicerPlan};
use dumbbell_units::Time;

const S: u64 = 1_000_000_000;

/// 1000 bytes per second, bursts of 1500.
fn policer() -> Policer {
    Policer::new(PolicerPlan { rate_bps: 8_000, burst_bytes: 1500, marks: false })
}

#[test]
fn packets_conform_while_the_tokens_cover_them() {
    let mut p = policer();
    let mut conforms = |bytes, ns| p.conforms(bytes, Time(ns));
    assert!(conforms(1000, 0)); // 1500 - 1000: 500 left
    assert!(!conforms(501, 0)); // consumes no tokens
    assert!(conforms(500, 0)); // 0 left
    assert!(!conforms(100, S / 10 - 1)); // 1 ns before 100 tokens
    assert!(conforms(100, S / 10)); // exactly 100
    assert!(!conforms(1, S / 10));
    assert!(conforms(1, S / 10 + S / 1000)); // a byte takes 1 ms
    // After a long time the bucket is full, not more.
    assert!(!conforms(1501, 100 * S));
    assert!(conforms(1500, 100 * S));
    assert!(!conforms(1, 100 * S));
}

#[test]
fn no_fraction_is_lost() {
    // 3 bit/s, a burst of 16 bits. One byte passes at 0. Tested every ms, the next pass once the bucket has 8 bits: at
    // 1 ms (8 + 0.003), and later at each multiple of 8 bits. In 8 s there are 16 + 24 = 40 bits, so 5 bytes pass, the
    // last at exactly 8 s.
    let mut p = Policer::new(PolicerPlan { rate_bps: 3, burst_bytes: 2, marks: false });
    assert!(p.conforms(1, Time(0)));
    let passed: Vec<u64> = (1..=8_000).filter(|i| p.conforms(1, Time(i * 1_000_000))).collect();
    // 16 + 0.003 i >= 8 k for the k-th byte: i = 1 (the second), 2667, 5334, 8000.
    assert_eq!(passed, [1, 2667, 5334, 8000]);
}

#[test]
fn in_the_long_term_the_rate_and_one_burst_pass() {
    // Packets of 100 bytes every ms offer 800 kbit/s; 8 kbit/s for 100 s are 100 000 bytes, plus the burst of 1500.
    let mut p = policer();
    let passed = (0..100_000u64).filter(|i| p.conforms(100, Time(i * 1_000_000))).count();
    assert_eq!(passed, (100_000 + 1500) / 100 - 1); // the last due at 100 s, after the last test
}
