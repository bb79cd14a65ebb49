//! HighSpeed TCP with the table of RFC 3649, appendix B: `rules = "linux"` [Linux net/ipv4/tcp_highspeed.c
//! hstcp_aimd_vals].
//!
//! ```text
//! avoidance   find the row with cwnd of the row before < cwnd <= cwnd of the row;  cwnd += a / cwnd per ACK,
//!             however many segments the ACK covers: half as fast with delayed ACKs                 [hstcp_cong_avoid]
//! loss        ssthresh = cwnd (1 - md / 256), with the row of the last ACK in avoidance; 1/2 before the first
//!                                                                                              [hstcp_ssthresh]
//! ```
//! A row has a whole a, the smallest window at which a(w) is at least that, and md = 256 b(w) at this window. The rows
//! of `hstcp_aimd_vals` are computed here from p(w) = 0.078 / w^1.2, as in the RFC, so that the parameters still apply.

use super::Response;
use crate::common::{LossDriven, Window, window_is};
use crate::{AckEvent, CongestionEvent, Cx, Setup};

/// A row of the table [Linux tcp_highspeed.c hstcp_aimd_vals].
#[derive(Clone, Copy, Debug)]
struct Row {
    /// Segments per window of ACKs.
    a: f64,
    /// md / 256.
    b: f64,
    /// The row holds for windows above `above` and up to `cwnd`, segments.
    above: f64,
    cwnd: f64,
}

/// HighSpeed TCP by the rules at the top of this file [Linux tcp_highspeed.c hstcp].
#[derive(Clone, Debug)]
pub(super) struct LinuxHighSpeed {
    window: Window,
    response: Response,
    /// The row of the last ACK in avoidance [Linux tcp_highspeed.c hstcp_cong_avoid, ca->ai].
    row: Option<Row>,
}

impl LinuxHighSpeed {
    pub(super) fn new(response: &Response, setup: &Setup) -> LinuxHighSpeed {
        // The table is computed with two digits of the factor and one of the power: 0.078 / w^1.2 [RFC 3649 appendix
        // B].
        let two_digits = libm::pow(10.0, libm::log10(response.factor).floor() - 1.0);
        let response = Response {
            factor: (response.factor / two_digits).round() * two_digits,
            power: (10.0 * response.power).round() / 10.0,
            ..*response
        };
        LinuxHighSpeed { window: Window::new(setup), response, row: None }
    }

    /// Returns the row for a window of `w` whole segments.
    fn row(&self, w: f64) -> Row {
        let low_window = self.response.low_window;
        if w <= low_window {
            return Row { a: 1.0, b: 0.5, above: 0.0, cwnd: low_window };
        }
        let below = self.response.at(w).0.floor().max(2.0);
        let a = if self.first_window(below, w) >= w { below } else { below + 1.0 };
        let above = if a > 2.0 { self.first_window(a - 1.0, w) } else { low_window };
        let cwnd = self.first_window(a, w);
        Row { a, b: (256.0 * self.response.at(cwnd).1).floor() / 256.0, above, cwnd }
    }

    /// Returns the smallest whole window at which a(w) is at least `a`; the search begins around `w`.
    fn first_window(&self, a: f64, w: f64) -> f64 {
        let (mut low, mut high) = (self.response.low_window, 2.0 * w);
        while self.response.at(high).0 < a {
            high *= 2.0;
        }
        while high - low > 1.0 {
            let middle = ((low + high) / 2.0).floor();
            if self.response.at(middle).0 >= a { high = middle } else { low = middle }
        }
        high
    }
}

impl LossDriven for LinuxHighSpeed {
    window_is!(window);

    /// Nothing is left for avoidance [Linux tcp_highspeed.c hstcp_cong_avoid].
    fn on_ack_slow_start(&mut self, ev: &AckEvent, cx: &Cx) -> u64 {
        let _beyond_ssthresh = self.window.slow_start(ev.acked, cx);
        0
    }

    /// [Linux tcp_highspeed.c hstcp_cong_avoid].
    fn on_ack_avoidance(&mut self, _ev: &AckEvent, cx: &Cx) {
        let cwnd = self.window.segments(cx).floor();
        let row = self.row.filter(|row| cwnd > row.above && cwnd <= row.cwnd).unwrap_or_else(|| self.row(cwnd));
        self.row = Some(row);
        self.window.additive_increase_per_ack(row.a, cx);
    }

    /// [Linux tcp_highspeed.c hstcp_ssthresh].
    fn on_congestion_ssthresh(&mut self, ev: &CongestionEvent, cx: &Cx) -> f64 {
        Window::decreased(ev.window, self.row.map_or(0.5, |row| row.b), cx)
    }

    fn observe(&self, row: &mut Vec<f64>) {
        row.extend(self.row.map_or([f64::NAN; 2], |r| [r.a, r.b]));
    }
}
