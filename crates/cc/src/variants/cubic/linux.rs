//! CUBIC with the integer arithmetic of Linux: `rules = "linux"` [Linux net/ipv4/tcp_cubic.c].
//!
//! ```text
//! once per jiffy   t since epoch_start + delay_min;  target = bic_origin_point + C (t - bic_K)^3, whole segments
//!                  cnt = cwnd / (target - cwnd) segments per segment of growth, 100 cwnd at the target; at most 20
//!                  while last_max_cwnd is unknown                                                [bictcp_update]
//! each ACK         tcp_cwnd (Reno) += 1 per 15/8 cwnd segments;  cnt at most cwnd / (tcp_cwnd - cwnd);  at least 2
//!                  unless cwnd is unchanged for less than 32 ms: then cnt is kept                [bictcp_update]
//!                  cwnd += 1 per cnt segments                                                    [tcp_cong_avoid_ai]
//! loss             last_max_cwnd = cwnd, or cwnd (1 + beta) / 2 (fast convergence);  beta * window
//!                                                                                       [cubictcp_recalc_ssthresh]
//! timeout          last_max_cwnd is unknown again                                                [cubictcp_state]
//! nothing in flight  epoch_start moves by the time since the last transmission                   [cubictcp_cwnd_event]
//! ```
//! Differences from the RFC that follow: the minimum RTT instead of the smoothed one, a Reno window that grows at its
//! first rate beyond cwnd_prior, no correction of t while the application limits sending, and an undo that restores
//! only the window, after which an epoch begins. An idle time that reduces the window doesn't end the epoch
//! (cubictcp_cwnd_event has no case for CA_EVENT_CWND_RESTART).

use super::{ecn_cwnd, w_max};
use crate::common::{LossDriven, Window, ceil_to_jiffies, floor_to_jiffy, window_is};
use crate::{AckEvent, Congestion, CongestionEvent, Cx, Setup, TxStart};
use dumbbell_units::param::Params;
use dumbbell_units::{Dur, Time};

/// cnt is kept for less than this while cwnd is unchanged: up to HZ / 32 = 7 jiffies [Linux tcp_cubic.c bictcp_update].
const CNT_LIFETIME: Dur = Dur::millis(32);
/// delay_min before the first RTT sample: no path is slower.
const DELAY_UNKNOWN: Dur = Dur::secs(1000);

/// An epoch; names of `struct bictcp` [Linux tcp_cubic.c].
#[derive(Clone, Copy, Debug)]
struct Epoch {
    epoch_start: Time,
    /// Time from the start of the epoch until the curve reaches its origin, s.
    bic_k: f64,
    bic_origin_point: f64,
    /// The window that Reno would have, segments.
    tcp_cwnd: f64,
    /// Segments acknowledged for which tcp_cwnd has not grown yet.
    ack_cnt: f64,
    /// last_time and last_cwnd: when cnt was computed from the curve, and for which cwnd.
    last: Option<(Time, f64)>,
    /// cwnd grows by one segment for this many segments acknowledged.
    cnt: f64,
}

/// CUBIC by the rules at the top of this file [Linux tcp_cubic.c bictcp].
#[derive(Clone, Debug)]
pub(super) struct LinuxCubic {
    window: Window,
    c: f64,
    beta: f64,
    fast_convergence: bool,
    tcp_friendliness: bool,
    delay_min: Dur,
    /// Segments; 0: unknown.
    last_max_cwnd: f64,
    epoch: Option<Epoch>,
}

impl LinuxCubic {
    pub(super) fn new(params: &Params, setup: &Setup) -> LinuxCubic {
        LinuxCubic {
            window: Window::new(setup),
            c: params.float("c"),
            beta: params.float("beta"),
            fast_convergence: params.bool("fast_convergence"),
            tcp_friendliness: params.bool("reno_friendly"),
            delay_min: DELAY_UNKNOWN,
            last_max_cwnd: 0.0,
            epoch: None,
        }
    }

    fn begin_epoch(&self, cwnd: f64, now: Time) -> Epoch {
        let bic_origin_point = self.last_max_cwnd.max(cwnd);
        Epoch {
            epoch_start: now,
            bic_k: libm::cbrt((bic_origin_point - cwnd) / self.c),
            bic_origin_point,
            tcp_cwnd: cwnd,
            ack_cnt: 0.0,
            last: None,
            cnt: 2.0,
        }
    }

    /// Updates cnt for `acked` more segments. `now` is a whole jiffy, `cwnd` whole segments [Linux tcp_cubic.c
    /// bictcp_update].
    fn bictcp_update(&self, epoch: &mut Epoch, cwnd: f64, acked: f64, now: Time) {
        epoch.ack_cnt += acked;
        if epoch.last.is_some_and(|(time, w)| w == cwnd && now.since(time) < CNT_LIFETIME) {
            return;
        }
        if epoch.last.is_none_or(|(time, _)| time != now) {
            epoch.last = Some((now, cwnd));
            epoch.cnt = self.cnt_of_curve(epoch, now, cwnd);
        }
        // beta_scale = 8 (1 + beta) / (3 (1 - beta)) = 15 for beta = 717/1024 [Linux tcp_cubic.c cubictcp_register]
        let delta = (cwnd * 15.0 / 8.0).floor().max(1.0);
        let growth = ((epoch.ack_cnt / delta).ceil() - 1.0).max(0.0);
        (epoch.tcp_cwnd, epoch.ack_cnt) = (epoch.tcp_cwnd + growth, epoch.ack_cnt - growth * delta);
        let behind = epoch.tcp_cwnd - cwnd;
        if self.tcp_friendliness && behind > 0.0 {
            epoch.cnt = epoch.cnt.min((cwnd / behind).floor());
        }
        epoch.cnt = epoch.cnt.max(2.0); // cwnd grows by at most half per RTT
    }

    fn cnt_of_curve(&self, epoch: &Epoch, now: Time, cwnd: f64) -> f64 {
        let t = now.since(epoch.epoch_start) + ceil_to_jiffies(self.delay_min);
        let offs = t.as_secs() - epoch.bic_k;
        let bic_target = epoch.bic_origin_point + (self.c * offs * offs * offs).trunc();
        let cnt = if bic_target > cwnd { (cwnd / (bic_target - cwnd)).floor() } else { 100.0 * cwnd };
        if self.last_max_cwnd == 0.0 { cnt.min(20.0) } else { cnt }
    }
}

impl LossDriven for LinuxCubic {
    window_is!(window);

    // DIVERGES [Linux tcp_cubic.c cubictcp_acked]: Linux ignores the samples of the first second of an epoch.
    fn on_ack_sample(&mut self, ev: &AckEvent, _cx: &Cx) {
        if let Some(rtt) = ev.rtt {
            self.delay_min = self.delay_min.min(rtt);
        }
    }

    /// [Linux tcp_cubic.c cubictcp_cong_avoid].
    fn on_ack_avoidance(&mut self, ev: &AckEvent, cx: &Cx) {
        let cwnd = self.window.segments(cx).floor();
        let now = floor_to_jiffy(cx.now);
        let mut epoch = self.epoch.unwrap_or_else(|| self.begin_epoch(cwnd, now));
        self.bictcp_update(&mut epoch, cwnd, ev.acked as f64 / cx.mss, now);
        self.window.cong_avoid_ai(epoch.cnt, ev.acked, cx);
        self.epoch = Some(epoch);
    }

    /// [Linux tcp_cubic.c cubictcp_recalc_ssthresh].
    fn on_congestion_ssthresh(&mut self, ev: &CongestionEvent, cx: &Cx) -> f64 {
        let cwnd = self.window.segments(cx);
        self.last_max_cwnd = w_max(cwnd, self.last_max_cwnd, self.beta, self.fast_convergence).floor();
        self.beta * ev.window
    }

    fn on_congestion_done(&mut self, ev: &CongestionEvent, cx: &Cx) {
        self.epoch = None;
        match ev.kind {
            Congestion::Ecn => self.window.cwnd = ecn_cwnd(self.beta, ev, cx),
            Congestion::Timeout => self.last_max_cwnd = 0.0, // [Linux tcp_cubic.c cubictcp_state]
            Congestion::Loss | Congestion::Collapse => {}
        }
    }

    /// [Linux tcp_cubic.c cubictcp_cwnd_event].
    fn on_tx_start(&mut self, ev: &TxStart, cx: &Cx) {
        if let Some(epoch) = &mut self.epoch {
            let now = floor_to_jiffy(cx.now);
            let delta = now.since(floor_to_jiffy(ev.last_sent_at));
            epoch.epoch_start = (epoch.epoch_start + delta).min(now);
        }
    }

    fn observe(&self, row: &mut Vec<f64>) {
        let epoch = |field: fn(&Epoch) -> f64| self.epoch.as_ref().map_or(f64::NAN, field);
        let w_max = if self.last_max_cwnd == 0.0 { f64::NAN } else { self.last_max_cwnd };
        row.extend([w_max, epoch(|e| e.bic_k), epoch(|e| e.tcp_cwnd)]);
    }
}
