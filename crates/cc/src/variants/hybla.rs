//! Hybla: a flow with a long round trip grows as fast, in time, as one with a short round trip would [Caini and
//! Firrincieli, TCP Hybla: a TCP Enhancement for Heterogeneous Networks, Int. J. Satellite Communications and Networking
//! 22(5), 2004, "CF"].
//!
//! ```text
//! rho          base_rtt / rtt0, at least 1                                                             [CF]
//! slow start   cwnd += 2^rho - 1 for each ACK, up to ssthresh                                          [CF]
//! avoidance    cwnd += rho^2 for each window of ACKs                                                   [CF]
//! loss         ssthresh = 1/2 of the window, cwnd = ssthresh, as Reno                                  [CF]
//! timeout      ssthresh likewise, cwnd = 1
//! ```
//! rtt0 is 25 ms. rho follows the smallest RTT, so that the flow's own queue does not spur it on. A window of rho times
//! Reno's at rho times its RTT is the same rate, and it is reached in the same time.
//!
//! Linux's rules (`rules`): rho in eighths, rounded down, of the smallest srtt; steps for each ACK, whatever it covers, in
//! 128ths of a segment, rounded down (with none left, one segment for a window of ACKs); a first window of rho segments, here of
//! one until the first ACK; Reno after a timeout until what was outstanding is acknowledged.
//! Left out: the other parts of the proposal, which are the stack's or nobody's: SACK, timestamps, pacing, a first window of
//! rho segments, and the first ssthresh from an estimate of the bandwidth. Without the last the first overshoot is large on
//! long paths.

use crate::Variant;
use crate::common::{LossDriven, Srtt, Window};
use crate::{AckEvent, CongestionEvent, Cx, Setup};
use dumbbell_units::Dur;
use dumbbell_units::param::{Kind, Params, Spec};

pub(crate) const ROW: Variant = Variant {
    name: "hybla",
    title: "Reno made independent of the round-trip time, for satellite links",
    year: 2004,
    source: "Caini and Firrincieli, TCP Hybla, Int. J. Satellite Communications and Networking 22(5), 2004",
    on_loss: "window halved; timeout: cwnd = 1 segment",
    on_delay: "none",
    on_ecn: "as to a loss, without a retransmission",
    params: &[
        Spec {
            name: "rtt0",
            kind: Kind::Duration,
            default: "25 ms",
            doc: "round-trip time of the flow that it means to be like [Caini and Firrincieli 2004]",
        },
        Spec {
            name: "rules",
            kind: Kind::Choice(&["published", "linux"]),
            default: "published",
            doc: "how rho and the steps are computed: see the model",
        },
    ],
    stack_defaults: &[("linux", "rules", "linux")],
    columns: &["rho", "base_rtt"],
    build: |params, setup| Ok(Box::new(Hybla::new(params, setup))),
    ..Variant::EMPTY
};

/// rho in slow start at most: 2^16 segments for an ACK is more than any path here holds, and finite.
const RHO_MAX: f64 = 16.0;

/// See the top of this file.
#[derive(Clone, Debug)]
struct Hybla {
    window: Window,
    rtt0: f64,
    linux: bool,
    /// Linux: what is left over of steps, in 128ths of a segment, and ACKs since the window last grew. Losses leave both.
    cents: u64,
    acks: u64,
    srtt: Srtt,
    base_rtt: Option<f64>,
}

impl Hybla {
    fn new(params: &Params, setup: &Setup) -> Hybla {
        let linux = params.choice("rules") == "linux";
        let mut window = Window::new(setup);
        if linux {
            window.cwnd = setup.mss;
        }
        Hybla {
            window,
            linux,
            cents: 0,
            acks: 0,
            srtt: Srtt::default(),
            rtt0: params.duration("rtt0").max(Dur(1)).as_secs(),
            base_rtt: None,
        }
    }

    fn rho(&self) -> f64 {
        let rho = self.base_rtt.map_or(1.0, |base| base / self.rtt0);
        if self.linux { ((8.0 * rho).floor() / 8.0).max(1.0) } else { rho.max(1.0) }
    }
}

impl Hybla {
    /// Linux grows by whole segments: so many 128ths of one with an ACK.
    fn grow(&mut self, step: u64, cx: &Cx) {
        self.cents += step;
        let mut segments = self.cents / 128;
        self.cents %= 128;
        if step == 0 && self.acks as f64 >= self.window.segments(cx) {
            segments = 1;
        }
        if segments > 0 {
            self.acks = 0;
        }
        self.window.cwnd += segments as f64 * cx.mss;
    }
}

impl LossDriven for Hybla {
    fn window(&self) -> &Window {
        &self.window
    }

    fn window_mut(&mut self) -> &mut Window {
        &mut self.window
    }

    fn on_established(&mut self, rtt: Option<Dur>, cx: &Cx) {
        let Some(rtt) = rtt.filter(|_| self.linux) else { return };
        self.srtt.sample(rtt);
        self.base_rtt = Some(rtt.as_secs());
        self.window.cwnd = self.rho().floor() * cx.mss; // Linux's first window
    }

    fn on_ack_sample(&mut self, ev: &AckEvent, cx: &Cx) {
        let Some(rtt) = ev.rtt else { return };
        self.srtt.sample(rtt);
        let rtt = if self.linux { self.srtt.secs() } else { rtt.as_secs() };
        if self.base_rtt.is_none() && self.linux && self.window.in_slow_start() {
            self.base_rtt = Some(rtt);
            self.window.cwnd = self.window.cwnd.max(self.rho().floor() * cx.mss); // Linux's first window
        }
        self.base_rtt = Some(self.base_rtt.map_or(rtt, |base| base.min(rtt)));
    }

    fn on_ack_slow_start(&mut self, ev: &AckEvent, cx: &Cx) -> u64 {
        if self.linux && (ev.in_loss || ev.disordered) {
            return self.window.slow_start(ev.acked, cx);
        }
        if self.linux {
            // 2^rho, its fraction's part rounded down by itself.
            let (int, fraction) = (self.rho().floor(), self.rho().fract());
            let power = libm::exp2(int.min(RHO_MAX)) * (128.0 * libm::exp2(fraction)).floor();
            self.grow(power as u64 - 128, cx);
            self.window.cwnd = self.window.cwnd.min(self.window.ssthresh);
            return 0;
        }
        // An ACK of less than a segment counts for as much of one [RFC 5681 §3.1 (2)].
        let acked = (ev.acked as f64).min(cx.mss);
        let step = libm::exp2(self.rho().min(RHO_MAX)) - 1.0;
        let grown = self.window.cwnd + step * acked;
        self.window.cwnd = grown.min(self.window.ssthresh);
        0
    }

    fn on_ack_avoidance(&mut self, ev: &AckEvent, cx: &Cx) {
        let rho = self.rho();
        let plain = self.linux && (ev.in_loss || ev.disordered);
        if self.linux && !plain {
            let step = (128.0 * rho * rho / self.window.segments(cx).floor().max(1.0)) as u64;
            self.acks += 1;
            self.grow(step, cx);
        } else {
            self.window.additive_increase(if plain { 1.0 } else { rho * rho }, ev.acked, cx);
        }
    }

    fn on_congestion_ssthresh(&mut self, ev: &CongestionEvent, _cx: &Cx) -> f64 {
        0.5 * ev.window
    }

    fn observe(&self, row: &mut Vec<f64>) {
        row.extend([self.rho(), self.base_rtt.unwrap_or(f64::NAN)]);
    }
}
