//! DCTCP: the window is reduced in proportion to the fraction of marked bytes, so that a queue of a few segments above
//! the switch's marking threshold is enough [RFC 8257; Alizadeh et al., Data Center TCP (DCTCP), SIGCOMM 2010].
//!
//! ```text
//! per window of data   M = DCTCP.BytesMarked / DCTCP.BytesAcked
//!             DCTCP.Alpha = DCTCP.Alpha * (1 - g) + g * M;  DCTCP.Alpha = 1 at first           [§3.3, §4.2]
//! mark        cwnd *= 1 - DCTCP.Alpha / 2, at least 2 segments;  ssthresh = cwnd;  once per window of data     [§3.3]
//! growth      slow start and avoidance as Reno, but not with an ACK that reports a mark        [§3.4; RFC 3168 §6.1.2]
//! loss        as Reno: ssthresh = half of the window, cwnd = ssthresh;  timeout: cwnd = 1 segment      [§3.5]
//! ```
//! DCTCP needs a receiver that echoes each mark [§3.2]; otherwise it responds as in RFC 3168. In [Linux tcp_input.c
//! tcp_enter_cwr] each response is a TCP_CA_CWR episode without growth for a round trip; `hold` selects this, and
//! Linux's integers: DCTCP.Alpha in 1024ths, which becomes 0 once a sixteenth of it is less than one [Linux tcp_dctcp.c
//! dctcp_update_alpha]. Left out: resetting DCTCP.Alpha after a loss, which §4.1 allows; falling back to Reno without
//! ECN, which is the stack's decision here [Linux tcp_dctcp.c dctcp_init].

use crate::common::{EcnResponse, LossDriven, Marks, Window, window_is};
use crate::variant::{EcnUse, Variant};
use crate::{AckEvent, Congestion, CongestionEvent, Cx, Setup};
use dumbbell_units::param::{Kind, Params, specs};

pub(crate) const ROW: Variant = Variant {
    name: "dctcp",
    title: "data center TCP: reduces its window in proportion to the fraction of marked bytes",
    year: 2010,
    source: "RFC 8257; Alizadeh et al., Data Center TCP, SIGCOMM 2010",
    ecn: EcnUse::Dctcp,
    on_loss: "window halved; timeout: cwnd = 1 segment",
    on_delay: "none",
    on_ecn: "once per window of data: window reduced by half of the smoothed fraction of marked bytes",
    params: specs! {
        /// g, the weight of a window of data in DCTCP.Alpha [RFC 8257 §4.2]
        g = "0.0625", Kind::Float { min: 0.001, max: 0.999 };
        /// initial DCTCP.Alpha [RFC 8257 §3.3]
        alpha = "1", Kind::Float { min: 0.0, max: 1.0 };
        /// whether the window doesn't grow after a response to marks until the data in flight are acknowledged, as in
        /// [Linux tcp_input.c tcp_enter_cwr], and DCTCP.Alpha is in 1024ths [Linux tcp_dctcp.c dctcp_update_alpha]
        hold = "false", Kind::Bool;
    },
    stack_defaults: &[("linux", "hold", "true")],
    columns: &["alpha", "marked_share"],
    build: |params, setup| Ok(Box::new(Dctcp::new(params, setup))),
    ..Variant::EMPTY
};

/// Linux's unit of DCTCP.Alpha [Linux tcp_dctcp.c DCTCP_MAX_ALPHA].
const ONE: f64 = 1024.0;

/// The state of DCTCP.
#[derive(Clone, Debug)]
struct Dctcp {
    window: Window,
    g: f64,
    hold: bool,
    marks: Marks,
    alpha: f64,
    /// M, the fraction of marked bytes in the last window of data, for the trace.
    marked_fraction: f64,
}

impl Dctcp {
    fn new(params: &Params, setup: &Setup) -> Dctcp {
        Dctcp {
            window: Window::new(setup),
            g: params.float("g"),
            hold: params.bool("hold"),
            marks: Marks::new(params.bool("hold")),
            alpha: params.float("alpha"),
            marked_fraction: f64::NAN,
        }
    }

    /// Returns the next DCTCP.Alpha by Linux's arithmetic [Linux tcp_dctcp.c dctcp_update_alpha].
    fn alpha_in_1024ths(&self) -> f64 {
        let alpha = self.alpha * ONE;
        let decrease = (alpha * self.g).floor();
        let kept = if decrease == 0.0 { 0.0 } else { alpha - decrease };
        (kept + (self.marked_fraction * ONE * self.g).floor()).min(ONE) / ONE
    }

    /// Reduces the window to `cwnd`, as a response to marks.
    fn reduce(&mut self, cwnd: f64, cx: &Cx) {
        self.window.begin_episode(Congestion::Ecn);
        self.window.reduce_to(cwnd.max(2.0 * cx.mss), cx);
    }
}

impl LossDriven for Dctcp {
    window_is!(window);

    fn on_congestion_ecn(&mut self, ev: &CongestionEvent) -> bool {
        self.marks.on_ecn_echo(ev.window);
        true
    }

    fn on_ack_sample(&mut self, ev: &AckEvent, cx: &Cx) {
        let (round, echo) = self.marks.on_ack(ev);
        if let Some((marked, delivered)) = round {
            self.marked_fraction = marked / delivered;
            self.alpha = if self.hold {
                self.alpha_in_1024ths()
            } else {
                self.alpha + self.g * (self.marked_fraction - self.alpha) // [RFC 8257 §3.3 step 6]
            };
        }
        if ev.in_recovery || ev.in_loss {
            return; // the window was reduced for a loss in the same window of data [RFC 8257 §3.5]
        }
        match echo {
            EcnResponse::None => {}
            EcnResponse::Scalable => self.reduce(Window::decreased(self.window.cwnd, self.alpha / 2.0, cx), cx), // [RFC 8257 §3.3 step 9]
            EcnResponse::Classic(window) => self.reduce(0.5 * window.min(self.window.cwnd), cx), // [RFC 3168 §6.1.2]
        }
    }

    fn on_ack_slow_start(&mut self, ev: &AckEvent, cx: &Cx) -> u64 {
        if ev.marked > 0 { 0 } else { self.window.slow_start(ev.acked, cx) }
    }

    fn on_ack_avoidance(&mut self, ev: &AckEvent, cx: &Cx) {
        if ev.marked == 0 && !(self.hold && self.marks.in_cwr()) {
            self.window.additive_increase(1.0, ev.acked, cx);
        }
    }

    fn on_congestion_ssthresh(&mut self, ev: &CongestionEvent, _cx: &Cx) -> f64 {
        0.5 * ev.window
    }

    fn observe(&self, row: &mut Vec<f64>) {
        row.extend([self.alpha, self.marked_fraction]);
    }
}
