//! PI2 against numbers worked by hand [De Schepper et al. 2016].

use dumbbell_qdisc::DropReason::{Early, Full};
use dumbbell_qdisc::Ecn;
use dumbbell_testkit::{Fate, QdiscFixture, near};
use dumbbell_units::Dur;

const MS: Dur = Dur::millis(1);

/// Returns the fates of 4000 arrivals at 65 ms, at a queue whose first packet has waited since 0.
fn fates(ecn: Ecn, params: &[(&str, &str)]) -> Vec<Fate> {
    let mut q = QdiscFixture::new("pi2", &[&[("limit", "5000 packets")], params].concat());
    (0..5).for_each(|_| _ = q.arrive(0, 1000));
    q.ecn(ecn).advance(MS * 65);
    let fates = (0..4000).map(|_| q.arrive(0, 1000)).collect();
    // 32 ms: 0.3125 x 0.012 + 3.125 x 0.032 = 0.10375; 64 ms: 0.3125 x 0.044 + 3.125 x 0.032 = 0.11375 more.
    near(q.column("p"), 0.2175);
    near(q.column("qdelay_ns"), 64e6);
    fates
}

/// True if the share with this fate is within five standard deviations of `p`.
fn share(fates: &[Fate], fate: Fate, p: f64) -> bool {
    let (n, found) = (fates.len() as f64, fates.iter().filter(|f| **f == fate).count() as f64);
    (found - n * p).abs() <= 5.0 * (n * p * (1.0 - p)).sqrt()
}

#[test]
fn classic_packets_have_the_square_and_scalable_packets_twice_the_probability() {
    // 0.2175^2 = 0.0473; 2 x 0.2175 = 0.435, k = 4: 0.87.
    let square = 0.2175f64 * 0.2175;
    assert!(share(&fates(Ecn::NOT_ECT, &[]), Fate::Dropped(Early), square));
    assert!(share(&fates(Ecn::ECT0, &[]), Fate::Marked, square));
    assert!(share(&fates(Ecn::ECT1, &[]), Fate::Marked, 0.435));
    assert!(share(&fates(Ecn::ECT1, &[("coupling_factor", "4")]), Fate::Marked, 0.87));
    // Scalable packets are never dropped here.
    assert!(!fates(Ecn::ECT1, &[]).iter().any(|f| matches!(f, Fate::Dropped(_))));
    // Without ECN all are classic and dropped.
    assert!(share(&fates(Ecn::ECT1, &[("ecn", "false")]), Fate::Dropped(Early), square));
}

#[test]
fn a_short_queue_accepts_and_a_full_queue_drops() {
    // Packets are accepted while fewer than two full packets wait, whatever the probability.
    let mut q = QdiscFixture::new("pi2", &[("limit", "3 packets")]);
    (0..3).for_each(|_| _ = q.arrive(0, 1000));
    assert_eq!(q.arrive(0, 1000), Fate::Dropped(Full));
    q.advance(MS * 2000);
    q.send();
    q.send();
    near(q.column("p"), 1.0);
    assert_eq!(q.arrive(0, 999), Fate::Queued);
    assert_eq!(q.arrive(0, 1000), Fate::Queued); // 1999 wait
    q.send();
    assert_eq!(q.arrive(0, 1000), Fate::Queued); // the same
    q.send();
    assert_eq!(q.arrive(0, 1000), Fate::Dropped(Early)); // 2000
}
