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
//! rtt0 is 25 ms. rho follows the smallest RTT (in Linux the smallest srtt), so that the flow's own queue does not spur it
//! on. A window of rho times Reno's at rho times its RTT is the same rate, and it is reached in the same time.
//! Left out: the other parts of the proposal, which are the stack's or nobody's: SACK, timestamps, pacing, and the first
//! ssthresh from an estimate of the bandwidth. Without the last the first overshoot is large on long paths.

use crate::common::{LossDriven, Window};
use crate::registry::{EcnUse, Variant};
use crate::{AckEvent, CongestionEvent, Cx, Start};
use dumbbell_units::Dur;
use dumbbell_units::param::{Kind, Params, Spec};

pub(crate) const ROW: Variant = Variant {
    name: "hybla",
    title: "Reno made independent of the round-trip time, for satellite links",
    year: 2004,
    source: "Caini and Firrincieli, TCP Hybla, Int. J. Satellite Communications and Networking 22(5), 2004",
    shell: None,
    fine_timeouts: false,
    own_recovery: false,
    ecn: EcnUse::Stack,
    on_loss: "window halved; timeout: cwnd = 1 segment",
    on_delay: "none",
    on_ecn: "as to a loss, without a retransmission",
    params: &[Spec {
        name: "rtt0",
        kind: Kind::Duration,
        default: "25 ms",
        doc: "round-trip time of the flow that it means to be like [Caini and Firrincieli 2004]",
    }],
    stacks: &[],
    columns: &["rho", "base_rtt"],
    build: |params, start| Ok(Box::new(Hybla::new(params, start))),
};

/// rho in slow start at most: 2^16 segments for an ACK is more than any path here holds, and finite.
const RHO_MAX: f64 = 16.0;

/// See the top of this file.
#[derive(Clone, Debug)]
struct Hybla {
    window: Window,
    rtt0: f64,
    base_rtt: Option<f64>,
}

impl Hybla {
    fn new(params: &Params, start: &Start) -> Hybla {
        Hybla {
            window: Window::new(start),
            rtt0: params.duration("rtt0").max(Dur(1)).as_secs(),
            base_rtt: None,
        }
    }

    fn rho(&self) -> f64 {
        self.base_rtt.map_or(1.0, |base| (base / self.rtt0).max(1.0))
    }
}

impl LossDriven for Hybla {
    fn window(&self) -> &Window {
        &self.window
    }

    fn window_mut(&mut self) -> &mut Window {
        &mut self.window
    }

    fn measure(&mut self, ev: &AckEvent, _cx: &Cx) {
        if let Some(rtt) = ev.rtt.map(Dur::as_secs) {
            self.base_rtt = Some(self.base_rtt.map_or(rtt, |base| base.min(rtt)));
        }
    }

    fn slow_start(&mut self, ev: &AckEvent, cx: &Cx) -> u64 {
        // An ACK of less than a segment counts for as much of one [RFC 5681 §3.1 (2)].
        let acked = (ev.acked as f64).min(cx.mss);
        let grown = self.window.cwnd + (libm::exp2(self.rho().min(RHO_MAX)) - 1.0) * acked;
        self.window.cwnd = grown.min(self.window.ssthresh);
        0
    }

    fn avoid(&mut self, ev: &AckEvent, cx: &Cx) {
        self.window.additive(self.rho() * self.rho(), ev.acked, cx);
    }

    fn reduce(&mut self, ev: &CongestionEvent, _cx: &Cx) -> f64 {
        0.5 * ev.window
    }

    fn columns(&self, row: &mut Vec<f64>) {
        row.extend([self.rho(), self.base_rtt.unwrap_or(f64::NAN)]);
    }
}
