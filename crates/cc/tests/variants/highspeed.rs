//! HighSpeed TCP against numbers worked by hand and the table of RFC 3649, App. B [RFC 3649; Linux tcp_highspeed.c
//! hstcp_cong_avoid].

use dumbbell_cc::Setup;
use dumbbell_testkit::near;
use dumbbell_testkit::{CcFixture, given};

/// a and b at a window, from the growth by an ACK and the window after a loss.
fn response(window: f64) -> (f64, f64) {
    let mut cc = CcFixture::new("highspeed", &[], window, window);
    let a = (cc.ack(1).cwnd() - window) * window;
    assert!((cc.column("a") - a).abs() < 1e-5, "{a}"); // rounding error of a difference of large windows
    let mut cc = CcFixture::new("highspeed", &[], window, window);
    (a, 1.0 - cc.lose().cwnd() / window)
}

#[test]
fn up_to_38_segments_it_is_reno() {
    for window in [2.0, 10.0, 38.0] {
        let (a, b) = response(window);
        near(a, 1.0);
        near(b, if window == 2.0 { 0.0 } else { 0.5 }); // never below two segments
    }
}

#[test]
fn the_response_agrees_with_the_table_of_appendix_b() {
    // Some rows of RFC 3649 appendix B. Its a(w) is computed from p(w) rounded to 0.078 / w^1.2, ours from the exact
    // exponent, ln(1e-7 / 1e-3) / ln(83000 / 38) = -1.19786: w^0.00214 more. The rest, within 1 %, is because the table
    // has the first whole window at which a(w) reaches an integer. b is rounded to hundredths there.
    for (window, a, b) in [
        (118.0, 2.0, 0.44),
        (221.0, 3.0, 0.41),
        (347.0, 4.0, 0.38),
        (1058.0, 8.0, 0.33),
        (5036.0, 20.0, 0.25),
        (18955.0, 40.0, 0.18),
        (84035.0, 71.0, 0.10),
    ] {
        let (ours_a, ours_b) = response(window);
        let exact = a * window.powf(0.00214);
        assert!((ours_a / exact - 1.0).abs() <= 0.01, "a({window}) = {ours_a}, table {a}");
        assert!((ours_b - b).abs() <= 0.006, "b({window}) = {ours_b}, table {b}");
    }
}

#[test]
fn the_response_at_high_window_is_that_of_the_formulas() {
    // w = 83000: x = 1, b = 0.1, p = 1e-7: a = 83000^2 * 1e-7 * 0.2 / 1.9 = 688.9 * 0.105263 = 72.515789.
    let (a, b) = response(83000.0);
    assert!((a - 72.515_789).abs() < 1e-4, "{a}");
    near(b, 0.1);
}

#[test]
fn timeouts_have_the_same_decrease() {
    let mut cc = CcFixture::new("highspeed", &[], 83000.0, 83000.0);
    cc.time_out();
    near(cc.cwnd(), 1.0);
    near(cc.ssthresh(), 74700.0);
    cc.time_out(); // a repeated timeout of the same segment
    near(cc.ssthresh(), 74700.0);
    let mut cc = CcFixture::new("highspeed", &[], 38.0, 38.0);
    near(cc.echo_mark().cwnd(), 19.0);
}

#[test]
fn the_upper_end_is_above_the_lower() {
    let start = Setup::new(1000.0, 2000.0, 1e9);
    let refuse =
        |params: &[(&str, &str)]| dumbbell_cc::build("highspeed", &given(params), &start).unwrap_err().to_string();
    assert_eq!(refuse(&[("high_window", "30")]), "high_window: 30 given, more than low_window, which is 38, is needed");
    assert_eq!(refuse(&[("high_p", "0.002")]), "high_p: 0.002 given, less than low_p, which is 0.001, is needed");
}

#[test]
fn linux_uses_the_rows_of_the_table() {
    // RFC 3649 appendix B: a holds up to the row's window; b in 256ths, rounded down from 0.44, 0.41, 0.38, 0.37 ...
    for (window, a, b) in [
        (38.0, 1.0, 128.0),
        (39.0, 2.0, 112.0),
        (118.0, 2.0, 112.0),
        (119.0, 3.0, 104.0),
        (221.0, 3.0, 104.0),
        (222.0, 4.0, 98.0),
        (347.0, 4.0, 98.0),
        (348.0, 5.0, 93.0),
        (1050.0, 8.0, 83.0), // the row of 1058, here 1056: the table's last digits
    ] {
        let mut cc = CcFixture::new("highspeed", &[("rules", "linux")], window, window);
        near(cc.ack(1).cwnd(), window + a / window);
        near(cc.column("b"), b / 256.0);
        let cwnd = cc.cwnd();
        near(cc.lose().cwnd(), (1.0 - b / 256.0) * cwnd);
    }
    // A loss in slow start halves the window.
    near(CcFixture::new("highspeed", &[("rules", "linux")], 1000.0, f64::INFINITY).lose().cwnd(), 500.0);
}
