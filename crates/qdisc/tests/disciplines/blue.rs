//! BLUE against numbers worked by hand [Feng et al. 2002].

use dumbbell_qdisc::DropReason::{Early, Full};
use dumbbell_qdisc::Ecn;
use dumbbell_testkit::{Fate, QdiscFixture, near};
use dumbbell_units::Dur;

const STEPS: &[(&str, &str)] =
    &[("limit", "2 packets"), ("increment", "25 %"), ("decrement", "10 %"), ("freeze_time", "100 ms")];

/// Returns a queue that has lost one packet per 100 ms, `losses` times.
fn after(losses: u32, params: &[(&str, &str)]) -> QdiscFixture {
    let mut q = QdiscFixture::new("blue", &[STEPS, params].concat());
    while q.column("probability") < 0.25 * f64::from(losses) {
        while q.arrive(0, 1000) != Fate::Dropped(Full) {}
        q.advance(Dur::millis(100));
    }
    q
}

#[test]
fn losses_raise_the_probability_and_idle_time_lowers_it() {
    let mut q = after(2, &[]);
    near(q.column("probability"), 0.5);
    // The last packet takes 1000 x 8 / 10 Mbit/s = 0.8 ms; the link is idle from then on. At an arrival 250 ms later
    // the probability has decreased at 0.8, 100.8 and 200.8 ms.
    q.drain();
    q.advance(Dur::millis(250)).busy(false);
    assert_eq!(q.arrive(0, 1000), Fate::Queued);
    near(q.column("probability"), 0.2);
    // An arrival at a busy link lowers nothing.
    q.drain();
    q.advance(Dur::millis(250)).busy(true);
    q.arrive(0, 1000);
    near(q.column("probability"), 0.2);
}

#[test]
fn arrivals_are_dropped_or_marked_with_the_probability() {
    // 4000 arrivals at 25 %: standard deviation 27; the tolerance is five of them.
    let count = |ecn: Ecn, params: &[(&str, &str)], fate: Fate| {
        let mut q = after(1, params);
        q.drain();
        q.ecn(ecn).arrive(0, 1000);
        let fates = (0..4000).map(|_| {
            let fate = q.arrive(0, 1000);
            while q.backlog().packets > 1 {
                q.send();
            }
            fate
        });
        fates.filter(|f| *f == fate).count()
    };
    let with = [("ecn", "true")];
    for (ecn, params, fate) in [
        (Ecn::NOT_ECT, &with[..], Fate::Dropped(Early)),
        (Ecn::ECT0, &[], Fate::Dropped(Early)),
        (Ecn::ECT0, &with, Fate::Marked),
        (Ecn::ECT1, &with, Fate::Marked),
    ] {
        let found = count(ecn, params, fate);
        assert!((1000 - 137..=1000 + 137).contains(&found), "{ecn:?}: {found}");
    }
    // At probability 1 packets are accepted only by an idle link.
    let mut q = after(4, &[]);
    q.drain();
    assert_eq!(q.arrive(0, 1000), Fate::Dropped(Early));
}
