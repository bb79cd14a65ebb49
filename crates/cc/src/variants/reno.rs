//! Reno: additive increase, multiplicative decrease [RFC 5681 §3.1]. Tahoe, Reno, NewReno and SACK are this algorithm
//! with four kinds of loss recovery.
//!
//! ```text
//! slow start   (cwnd < ssthresh)   cwnd += min(acked, SMSS) for each ACK of new data             [RFC 5681 §3.1 (2)]
//! avoidance    (cwnd >= ssthresh)  cwnd += increase * SMSS per window of ACKs                    [RFC 5681 §3.1 (3)]
//! loss                             ssthresh = max(decrease * window, 2 SMSS), cwnd = ssthresh    [RFC 5681 §3.1 (4)]
//! timeout                          ssthresh likewise, cwnd = 1 SMSS                              [RFC 5681 §3.1]
//! ```
//! `window` is FlightSize or cwnd, by the setting of the stack. On a stack that counts cwnd in segments
//! (`common/window.rs`) these are the rules of [Linux tcp_cong.c tcp_reno_cong_avoid, tcp_reno_ssthresh]. The endpoint
//! reports ACKs that were not cwnd-limited, and these don't increase the window (`common/loss_driven.rs`).

use crate::common::{LossDriven, Window, window_is};
use crate::variant::{LossRecovery, Variant};
use crate::{AckEvent, CongestionEvent, Cx, Setup};
use dumbbell_units::param::{Kind, Params, Spec, specs};

/// The parameters of all four.
const PARAMS: &[Spec] = specs! {
    /// increase per round trip of congestion avoidance, segments [RFC 5681 §3.1]
    increase = "1", Kind::Float { min: 0.0, max: 100.0 };
    /// factor by which a loss reduces the window [RFC 5681 §3.1 (4)]
    decrease = "0.5", Kind::Float { min: 0.01, max: 0.99 };
};

/// Returns the row of one kind of loss recovery.
const fn row(
    name: &'static str,
    title: &'static str,
    year: u16,
    source: &'static str,
    loss_recovery: LossRecovery,
    on_loss: &'static str,
) -> Variant {
    Variant {
        name,
        title,
        year,
        source,
        loss_recovery: Some(loss_recovery),
        on_loss,
        on_ecn: "as to a loss, without a retransmission",
        params: PARAMS,
        build: |params, setup| Ok(Box::new(Reno::new(params, setup))),
        ..Variant::EMPTY
    }
}

pub(crate) const TAHOE: Variant = row(
    "tahoe",
    "slow start, congestion avoidance, fast retransmit; no fast recovery",
    1988,
    "Jacobson, Congestion Avoidance and Control, SIGCOMM 1988; RFC 5681 §3.1",
    LossRecovery::Tahoe,
    "third duplicate ACK or timeout: ssthresh = half the window, cwnd = 1 segment, go-back-N retransmission",
);
pub(crate) const RENO: Variant = row(
    "reno",
    "Tahoe plus fast recovery",
    1990,
    "RFC 5681 §3.2",
    LossRecovery::Reno,
    "third duplicate ACK: window halved, inflated by one segment for each further duplicate ACK; recovery ends with the first new ACK; timeout: cwnd = 1 segment",
);
pub(crate) const NEWRENO: Variant = row(
    "newreno",
    "Reno plus partial acknowledgments",
    1999,
    "RFC 6582",
    LossRecovery::NewReno,
    "as Reno, but recovery continues until all data outstanding at its start is acknowledged; each partial ACK retransmits the next hole",
);
pub(crate) const SACK: Variant = row(
    "sack",
    "Reno with selective acknowledgments",
    1996,
    "RFC 2018, RFC 6675",
    LossRecovery::Sack,
    "window halved once per episode; the scoreboard determines the lost segments, pipe limits the data in flight",
);

/// Additive increase, multiplicative decrease.
#[derive(Clone, Debug)]
struct Reno {
    window: Window,
    increase: f64,
    decrease: f64,
}

impl Reno {
    fn new(params: &Params, setup: &Setup) -> Reno {
        Reno { window: Window::new(setup), increase: params.float("increase"), decrease: params.float("decrease") }
    }
}

impl LossDriven for Reno {
    window_is!(window);

    fn on_ack_avoidance(&mut self, ev: &AckEvent, cx: &Cx) {
        self.window.additive_increase(self.increase, ev.acked, cx);
    }

    fn on_congestion_ssthresh(&mut self, ev: &CongestionEvent, _cx: &Cx) -> f64 {
        self.decrease * ev.window
    }
}
