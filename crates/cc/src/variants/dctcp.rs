//! DCTCP: the window shrinks in proportion to the share of marked segments, so that a queue a few segments above the
//! switch's threshold is enough [RFC 8257; Alizadeh et al., Data Center TCP (DCTCP), SIGCOMM 2010].
//!
//! ```text
//! round       alpha += g * (marked / delivered - alpha), bytes of a window of data; alpha = 1 at first     [§3.3, §4.2]
//! mark        cwnd *= 1 - alpha / 2, at least 2 segments;  ssthresh = cwnd;  once a window of data      [§3.3]
//! growth      slow start and avoidance as Reno, not with an ACK that brings a mark                      [§3.4; RFC 3168 §6.1.2]
//! loss        as Reno: ssthresh = half the window, cwnd = ssthresh;  timeout: cwnd = 1 segment         [§3.5]
//! ```
//! It needs a receiver that echoes each mark as it comes [§3.2]; one that doesn't is answered as RFC 3168 says. Linux
//! enters its CWR state with each answer: no growth for a round trip (`hold`).
//! Left out: resetting alpha after a loss, which §4.1 allows.

use crate::common::{EcnResponse, LossDriven, Marks, Window};
use crate::variant::{EcnUse, Variant};
use crate::{AckEvent, Congestion, CongestionEvent, Cx, Setup};
use dumbbell_units::param::{Kind, Params, Spec};

pub(crate) const ROW: Variant = Variant {
    name: "dctcp",
    title: "data center TCP: shrinks in proportion to the share of marked segments",
    year: 2010,
    source: "RFC 8257; Alizadeh et al., Data Center TCP, SIGCOMM 2010",
    ecn: EcnUse::Dctcp,
    on_loss: "window halved; timeout: cwnd = 1 segment",
    on_delay: "none",
    on_ecn: "once a window of data: window down by half the smoothed share of marked bytes",
    params: &[
        Spec {
            name: "g",
            kind: Kind::Float { min: 0.001, max: 0.999 },
            default: "0.0625",
            doc: "weight of a round trip in alpha [RFC 8257 §4.2]",
        },
        Spec {
            name: "alpha",
            kind: Kind::Float { min: 0.0, max: 1.0 },
            default: "1",
            doc: "alpha at the start [RFC 8257 §3.3]",
        },
        Spec {
            name: "hold",
            kind: Kind::Bool,
            default: "false",
            doc: "whether an answer to marks also stops growth until what was outstanding is acknowledged, as CWR does",
        },
    ],
    stack_defaults: &[("linux", "hold", "true")],
    columns: &["alpha", "marked_share"],
    build: |params, setup| Ok(Box::new(Dctcp::new(params, setup))),
    ..Variant::EMPTY
};

/// See the top of this file.
#[derive(Clone, Debug)]
struct Dctcp {
    window: Window,
    g: f64,
    hold: bool,
    marks: Marks,
    alpha: f64,
    /// The share of marked bytes in the last round, for the trace.
    share: f64,
}

impl Dctcp {
    fn new(params: &Params, setup: &Setup) -> Dctcp {
        Dctcp {
            window: Window::new(setup),
            g: params.float("g"),
            hold: params.bool("hold"),
            marks: Marks::default(),
            alpha: params.float("alpha"),
            share: f64::NAN,
        }
    }

    fn cut(&mut self, left: f64, cx: &Cx) {
        self.window.begin_episode(Congestion::Ecn);
        self.window.reduce_to(left.max(2.0 * cx.mss), cx);
    }
}

impl LossDriven for Dctcp {
    fn window(&self) -> &Window {
        &self.window
    }

    fn window_mut(&mut self) -> &mut Window {
        &mut self.window
    }

    fn on_congestion_ecn(&mut self, ev: &CongestionEvent) -> bool {
        self.marks.on_ecn_echo(ev.window);
        true
    }

    fn on_ack_sample(&mut self, ev: &AckEvent, cx: &Cx) {
        let (round, echo) = self.marks.on_ack(ev);
        if let Some((marked, delivered)) = round {
            self.share = marked / delivered;
            self.alpha += self.g * (self.share - self.alpha); // [RFC 8257 §3.3 step 6]
        }
        if ev.in_recovery || ev.in_loss {
            return; // the window was cut for a loss of the same window of data [RFC 8257 §3.5]
        }
        match echo {
            EcnResponse::None => {}
            EcnResponse::Scalable => self.cut(Window::decreased(self.window.cwnd, self.alpha / 2.0, cx), cx), // [RFC 8257 §3.3 step 9]
            EcnResponse::Classic(window) => self.cut(0.5 * window.min(self.window.cwnd), cx), // [RFC 3168 §6.1.2]
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
        row.extend([self.alpha, self.share]);
    }
}
