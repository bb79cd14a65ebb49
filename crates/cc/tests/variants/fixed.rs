//! The constant window: no event changes it.

use dumbbell_cc::Phase;
use dumbbell_testkit::CcFixture;
use dumbbell_testkit::near;

#[test]
fn the_window_is_constant() {
    let mut cc = CcFixture::new("fixed", &[("window", "7 packets")], 2.0, 64.0);
    cc.round().lose().recover().round().echo_mark().time_out().time_out().collapse().idle(10_000).ack(1);
    near(cc.cwnd(), 7.0);
    assert_eq!(cc.phase(), Phase::Avoidance);
}

#[test]
fn the_window_is_at_least_one_segment() {
    near(CcFixture::new("fixed", &[("window", "2500 bytes")], 2.0, 64.0).cwnd(), 2.5);
    near(CcFixture::new("fixed", &[("window", "10 bytes")], 2.0, 64.0).cwnd(), 1.0);
}
