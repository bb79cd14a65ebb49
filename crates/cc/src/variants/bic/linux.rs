//! BIC with the integer arithmetic of Linux: `rules = "linux"` [Linux net/ipv4/tcp_bic.c].
//!
//! ```text
//! avoidance   cwnd += 1 per cnt / delayed_ack segments acknowledged; cnt = cwnd / inc                 [bictcp_update]
//!   cwnd <= low_window             cnt = cwnd, as Reno
//!   below last_max_cwnd            inc = (last_max_cwnd - cwnd) / B, at most s_max; s_min if that is 1 or less
//!   up to last_max_cwnd + B        inc = s_min
//!   above                          inc = (cwnd - last_max_cwnd) / (B - 1), at most s_max
//!   last_max_cwnd unknown          inc at least cwnd / 20
//! each ACK    delayed_ack: mean segments per ACK, gain 1/16                                           [bictcp_acked]
//! loss        last_max_cwnd and ssthresh as published                                       [bictcp_recalc_ssthresh]
//! timeout     last_max_cwnd is unknown again                                                          [bictcp_state]
//! ```
//! B = 4, s_max = 16, s_min = B / 20, beta = 819/1024. cnt counts segments and is still divided by delayed_ack, so that
//! the window grows twice as fast with delayed ACKs.

use super::Settings;
use crate::common::{LossDriven, Window, floor_to_jiffy, window_is};
use crate::{AckArrival, AckEvent, CaState, Congestion, CongestionEvent, Cx, Setup};
use dumbbell_units::param::Params;
use dumbbell_units::{Dur, Time};

/// Growth per RTT while last_max_cwnd is unknown: 5 %, "cnt > 20" [Linux tcp_bic.c bictcp_update].
const UNKNOWN_MAX_GROWTH: f64 = 1.0 / 20.0;
/// Gain of delayed_ack: ACK_RATIO_SHIFT = 4 [Linux tcp_bic.c bictcp_acked].
const ACK_RATIO_GAIN: f64 = 1.0 / 16.0;
/// delayed_ack at the start [Linux tcp_bic.c bictcp_reset].
const INITIAL_DELAYED_ACK: f64 = 2.0;
/// cnt is kept for this long while cwnd is unchanged: HZ / 32 = 7 jiffies [Linux tcp_bic.c bictcp_update].
const CNT_LIFETIME: Dur = Dur::millis(28);

/// BIC as in Linux; names of `struct bictcp` [Linux tcp_bic.c].
#[derive(Clone, Debug)]
pub(super) struct LinuxBic {
    window: Window,
    set: Settings,
    /// Segments; None: unknown.
    last_max_cwnd: Option<f64>,
    /// Mean segments per ACK.
    delayed_ack: f64,
    /// last_cwnd, last_time and cnt.
    last: Option<(f64, Time, f64)>,
    /// cwnd / cnt, for the trace.
    inc: f64,
}

impl LinuxBic {
    pub(super) fn new(params: &Params, setup: &Setup) -> LinuxBic {
        LinuxBic {
            window: Window::new(setup),
            set: Settings::read(params),
            last_max_cwnd: None,
            delayed_ack: INITIAL_DELAYED_ACK,
            last: None,
            inc: f64::NAN,
        }
    }

    /// Returns the segments acknowledged for one segment of growth [Linux tcp_bic.c bictcp_update].
    fn cnt(&self, cwnd: f64) -> f64 {
        let Settings { b, s_max, s_min, low_window, .. } = self.set;
        if cwnd <= low_window {
            return cwnd;
        }
        let last_max_cwnd = self.last_max_cwnd.unwrap_or(0.0);
        let inc = if cwnd < last_max_cwnd {
            let dist = ((last_max_cwnd - cwnd) / b).floor();
            if dist <= 1.0 { s_min } else { dist.min(s_max) }
        } else if cwnd < last_max_cwnd + b {
            s_min
        } else {
            ((cwnd - last_max_cwnd) / (b - 1.0)).min(s_max)
        };
        let least = if self.last_max_cwnd.is_none() { UNKNOWN_MAX_GROWTH * cwnd } else { 0.0 };
        let cnt = (cwnd / inc.max(least) + 1e-9).floor();
        (cnt / self.delayed_ack).floor().max(1.0)
    }
}

impl LossDriven for LinuxBic {
    window_is!(window);

    fn wants_arrivals(&self) -> bool {
        true
    }

    /// [Linux tcp_bic.c bictcp_acked].
    fn on_arrival(&mut self, ev: &AckArrival, cx: &Cx) {
        if ev.state == CaState::Open {
            let mean = if cx.counts_segments() { self.delayed_ack.floor() } else { self.delayed_ack };
            self.delayed_ack += ACK_RATIO_GAIN * (ev.acked as f64 / cx.mss - mean);
        }
    }

    /// [Linux tcp_bic.c bictcp_cong_avoid].
    fn on_ack_avoidance(&mut self, ev: &AckEvent, cx: &Cx) {
        let cwnd = self.window.segments(cx);
        let now = floor_to_jiffy(cx.now);
        let is_current = |&(w, time, _): &(f64, Time, f64)| w == cwnd && now.since(time) <= CNT_LIFETIME;
        let last = self.last.filter(is_current).unwrap_or_else(|| (cwnd, now, self.cnt(cwnd.floor())));
        let (.., cnt) = last;
        self.last = Some(last);
        self.inc = cwnd / cnt;
        self.window.cong_avoid_ai(cnt, ev.acked, cx);
    }

    /// [Linux tcp_bic.c bictcp_recalc_ssthresh].
    fn on_congestion_ssthresh(&mut self, ev: &CongestionEvent, cx: &Cx) -> f64 {
        let cwnd = self.window.segments(cx);
        self.last_max_cwnd = Some(self.set.w_max(cwnd, self.last_max_cwnd).floor());
        self.set.decrease(cwnd) * ev.window
    }

    /// [Linux tcp_bic.c bictcp_state].
    fn on_congestion_done(&mut self, ev: &CongestionEvent, _cx: &Cx) {
        if ev.kind == Congestion::Timeout {
            (self.last_max_cwnd, self.last) = (None, None);
        }
    }

    fn observe(&self, row: &mut Vec<f64>) {
        row.extend([self.last_max_cwnd.unwrap_or(f64::NAN), self.inc]);
    }
}
