//! Scalable TCP against numbers worked by hand [Kelly 2003; Linux tcp_scalable.c tcp_scalable_cong_avoid].

use dumbbell_testkit::CcFixture;
use dumbbell_testkit::near;

#[test]
fn grows_by_a_hundredth_of_each_segment_acknowledged() {
    let mut cc = CcFixture::new("scalable", &[], 200.0, 200.0);
    near(cc.ack(1).cwnd(), 200.01);
    near(cc.ack(1).cwnd(), 200.02);
    // Also where Reno would be faster: 20 + 0.01 instead of 20 + 1/20.
    near(CcFixture::new("scalable", &[], 20.0, 20.0).ack(1).cwnd(), 20.01);
}

#[test]
fn recovering_takes_the_same_time_at_any_speed() {
    // ln(8/7) / ln(1.01) = 13.4 round trips.
    for window in [1000.0, 4000.0] {
        let mut cc = CcFixture::new("scalable", &[], window, window);
        near(cc.lose().cwnd(), 0.875 * window);
        cc.recover();
        for _ in 0..13 {
            cc.round();
        }
        assert!(cc.cwnd() < window, "{}", cc.cwnd());
        assert!(cc.round().cwnd() > window, "{}", cc.cwnd());
    }
}

#[test]
fn small_windows_follow_reno() {
    let mut cc = CcFixture::new("scalable", &[], 16.0, 16.0);
    near(cc.lose().cwnd(), 8.0);
    near(cc.recover().ack(1).cwnd(), 8.125);
}

#[test]
fn the_parameters_of_the_linux_stack_have_no_low_window() {
    // max(1, 0.01 * 20) / 20; an eighth at any window.
    let mut cc = CcFixture::new("scalable", &[("low_window", "0"), ("reno_growth", "true")], 20.0, 20.0);
    near(cc.ack(1).cwnd(), 20.05);
    let mut cc = CcFixture::new("scalable", &[("low_window", "0"), ("reno_growth", "true")], 8.0, 8.0);
    near(cc.lose().cwnd(), 7.0);
    let mut cc = CcFixture::new("scalable", &[("reno_growth", "true")], 200.0, 200.0);
    near(cc.ack(1).cwnd(), 200.01);
}

#[test]
fn timeouts_and_marks_reduce_as_losses() {
    let mut cc = CcFixture::new("scalable", &[], 80.0, 80.0);
    cc.time_out();
    near(cc.cwnd(), 1.0);
    near(cc.ssthresh(), 70.0);
    cc.time_out(); // a repeated timeout of the same segment
    near(cc.ssthresh(), 70.0);
    near(CcFixture::new("scalable", &[], 80.0, 80.0).echo_mark().cwnd(), 70.0);
}
