//! Hybla: a flow with a long RTT grows as fast, in time, as a flow with a short RTT [Caini and Firrincieli, TCP Hybla:
//! a TCP Enhancement for Heterogeneous Networks, Int. J. Satellite Communications and Networking 22(5), 2004, "CF"].
//!
//! ```text
//! rho          RTT / RTT0, at least 1; RTT: the minimum of the connection                              [CF]
//! slow start   cwnd += 2^rho - 1 for each ACK, up to ssthresh                                          [CF]
//! avoidance    cwnd += rho^2 / cwnd for each segment acknowledged                                      [CF]
//! loss         ssthresh = 1/2 of the window, cwnd = ssthresh, as Reno                                  [CF]
//! timeout      ssthresh likewise, cwnd = 1
//! ```
//! RTT0 is 25 ms. The minimum RTT keeps the flow's own queue out of rho. A window of rho times Reno's at rho times its
//! RTT is the same rate, and it is reached in the same time. `rules = "linux"` selects `linux.rs`.
//!
//! Left out: the parts of the proposal that belong to the stack (SACK, timestamps, pacing), a first window of rho
//! segments, and the first ssthresh from an estimate of the bandwidth. Without that estimate the first overshoot is
//! large on long paths.

mod linux;

use crate::common::{LossDriven, Window, window_is};
use crate::{AckEvent, CongestionEvent, Cx, Setup, Variant};
use dumbbell_units::Dur;
use dumbbell_units::param::{Kind, Params, specs};
use linux::LinuxHybla;

pub(crate) const ROW: Variant = Variant {
    name: "hybla",
    title: "Reno whose growth doesn't depend on the round-trip time, for satellite links",
    year: 2004,
    source: "Caini and Firrincieli, TCP Hybla, Int. J. Satellite Communications and Networking 22(5), 2004",
    on_loss: "window halved; timeout: cwnd = 1 segment",
    on_delay: "none",
    on_ecn: "as to a loss, without a retransmission",
    params: specs! {
        /// RTT0: RTT of the reference flow whose growth it copies [Caini and Firrincieli 2004]
        rtt0 = "25 ms", Kind::Duration;
        /// the published formulas, or the integer arithmetic of Linux's tcp_hybla.c
        rules = "published", Kind::Choice(&["published", "linux"]);
    },
    stack_defaults: &[("linux", "rules", "linux")],
    columns: &["rho", "base_rtt"],
    build: |params, setup| match params.choice("rules") {
        "linux" => Ok(Box::new(LinuxHybla::new(params, setup))),
        _ => Ok(Box::new(Hybla::new(params, setup))),
    },
    ..Variant::EMPTY
};

/// Upper bound of rho in slow start: 2^16 segments per ACK exceed every path here and are finite [Linux tcp_hybla.c
/// hybla_cong_avoid].
const RHO_MAX: f64 = 16.0;

/// Hybla as published.
#[derive(Clone, Debug)]
struct Hybla {
    window: Window,
    /// RTT0, s.
    rtt0: f64,
    /// The minimum RTT, s.
    min_rtt: Option<f64>,
}

/// Returns RTT0 in seconds.
fn rtt0(params: &Params) -> f64 {
    params.duration("rtt0").max(Dur(1)).as_secs()
}

impl Hybla {
    fn new(params: &Params, setup: &Setup) -> Hybla {
        Hybla { window: Window::new(setup), rtt0: rtt0(params), min_rtt: None }
    }

    fn rho(&self) -> f64 {
        self.min_rtt.map_or(1.0, |min_rtt| min_rtt / self.rtt0).max(1.0)
    }
}

impl LossDriven for Hybla {
    window_is!(window);

    fn on_ack_sample(&mut self, ev: &AckEvent, _cx: &Cx) {
        if let Some(rtt) = ev.rtt.map(Dur::as_secs) {
            self.min_rtt = Some(self.min_rtt.map_or(rtt, |min_rtt| min_rtt.min(rtt)));
        }
    }

    fn on_ack_slow_start(&mut self, ev: &AckEvent, cx: &Cx) -> u64 {
        // An ACK of less than a segment counts for that fraction of one [RFC 5681 §3.1 (2)].
        let acked = (ev.acked as f64).min(cx.mss);
        let increase = libm::exp2(self.rho().min(RHO_MAX)) - 1.0; // [CF]
        let cwnd = self.window.cwnd + increase * acked;
        self.window.cwnd = cwnd.min(self.window.ssthresh);
        0
    }

    fn on_ack_avoidance(&mut self, ev: &AckEvent, cx: &Cx) {
        let rho = self.rho();
        self.window.additive_increase(rho * rho, ev.acked, cx); // [CF]
    }

    fn on_congestion_ssthresh(&mut self, ev: &CongestionEvent, _cx: &Cx) -> f64 {
        0.5 * ev.window
    }

    fn observe(&self, row: &mut Vec<f64>) {
        row.extend([self.rho(), self.min_rtt.unwrap_or(f64::NAN)]);
    }
}
