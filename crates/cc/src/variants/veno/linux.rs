//! Veno with the integer arithmetic of Linux: `rtt = "smallest"` [Linux net/ipv4/tcp_veno.c].
//!
//! ```text
//! each RTT sample   basertt and minrtt are minima; minrtt starts again after each ACK that may increase the window
//!                                                                                            [tcp_veno_pkts_acked]
//! such an ACK       diff = cwnd (1 - basertt / minrtt) in half segments, rounded up; not before the third sample
//!                                                                                            [tcp_veno_cong_avoid]
//! avoidance         diff < beta: as Reno;  else cwnd += 1 for every other window of ACKs     [tcp_veno_cong_avoid]
//! loss, timeout     diff < beta: 4/5 of the window, else 1/2                                    [tcp_veno_ssthresh]
//! not Open          as Reno; afterwards minrtt is unknown, which makes diff = cwnd                 [tcp_veno_state]
//! nothing in flight basertt, minrtt and the turn start again                                  [tcp_veno_cwnd_event]
//! ```

use super::{Settings, min};
use crate::common::{LossDriven, Window, window_is};
use crate::{AckEvent, CongestionEvent, Cx, Setup, TxStart};
use dumbbell_units::Dur;
use dumbbell_units::param::Params;

/// No RTT sample yet.
const UNKNOWN: f64 = f64::INFINITY;

/// Veno as in Linux; names of `struct veno` [Linux tcp_veno.c]; RTTs in seconds.
#[derive(Clone, Debug)]
pub(super) struct LinuxVeno {
    window: Window,
    set: Settings,
    basertt: Option<f64>,
    /// basertt before the last episode of congestion.
    prior_basertt: Option<f64>,
    minrtt: f64,
    /// Samples of the connection.
    cntrtt: u32,
    /// Segments, a multiple of 1/2.
    diff: f64,
    /// True if the next full window of ACKs doesn't increase cwnd (the inverse of veno->inc).
    skips: bool,
    /// True from the end of a recovery or disorder until the next diff [Linux tcp_veno.c veno_enable].
    reenabled: bool,
    disordered: bool,
}

impl LinuxVeno {
    pub(super) fn new(params: &Params, setup: &Setup) -> LinuxVeno {
        LinuxVeno {
            window: Window::new(setup),
            set: Settings::read(params),
            basertt: None,
            prior_basertt: None,
            minrtt: UNKNOWN,
            cntrtt: 0,
            diff: 0.0,
            skips: false,
            reenabled: false,
            disordered: false,
        }
    }

    /// Updates diff [Linux tcp_veno.c tcp_veno_cong_avoid].
    fn update_diff(&mut self, ev: &AckEvent, cx: &Cx) {
        let Some(basertt) = self.basertt else { return };
        if ev.in_loss || ev.disordered {
            return;
        }
        let minrtt = std::mem::replace(&mut self.minrtt, UNKNOWN);
        let minrtt = if std::mem::take(&mut self.reenabled) { UNKNOWN } else { minrtt };
        if self.cntrtt > 2 {
            let diff = self.window.segments(cx) * (1.0 - basertt / minrtt);
            self.diff = (2.0 * diff - 1e-9).ceil() / 2.0; // V_PARAM_SHIFT = 1
        }
    }

    /// Grows in congestion avoidance; `as_reno`: the state isn't Open [Linux tcp_veno.c tcp_veno_cong_avoid].
    fn avoid(&mut self, acked: u64, as_reno: bool, cx: &Cx) {
        let is_congested = self.diff >= self.set.beta;
        if !cx.counts_segments() {
            self.skips = is_congested && !self.skips;
            if !self.skips {
                self.window.additive_increase(1.0, acked, cx);
            }
        } else if is_congested && !as_reno && self.cntrtt > 2 {
            self.every_other_window(acked, cx);
        } else {
            self.window.additive_increase(1.0, acked, cx); // `skips` keeps its value
        }
    }

    /// Grows by one segment for every other window of ACKs [Linux tcp_veno.c tcp_veno_cong_avoid].
    fn every_other_window(&mut self, acked: u64, cx: &Cx) {
        let cwnd = self.window.cwnd;
        let snd_cwnd_cnt = self.window.cwnd_cnt();
        if *snd_cwnd_cnt < cwnd {
            *snd_cwnd_cnt += acked as f64;
            return;
        }
        *snd_cwnd_cnt = 0.0;
        self.skips = !self.skips;
        if self.skips {
            self.window.cwnd += cx.mss;
        }
    }
}

impl LossDriven for LinuxVeno {
    window_is!(window);

    /// [Linux tcp_veno.c tcp_veno_pkts_acked].
    fn on_ack_sample(&mut self, ev: &AckEvent, _cx: &Cx) {
        self.reenabled |= self.disordered && !ev.disordered;
        self.disordered = ev.disordered;
        if let Some(rtt) = ev.rtt.map(Dur::as_secs) {
            self.basertt = Some(min(self.basertt, rtt));
            (self.minrtt, self.cntrtt) = (self.minrtt.min(rtt), self.cntrtt.saturating_add(1));
        }
    }

    fn on_ack_slow_start(&mut self, ev: &AckEvent, cx: &Cx) -> u64 {
        self.update_diff(ev, cx); // by the window before it grows
        let rest = self.window.slow_start(ev.acked, cx);
        if rest > 0 {
            self.avoid(rest, ev.disordered, cx);
        }
        0
    }

    fn on_ack_avoidance(&mut self, ev: &AckEvent, cx: &Cx) {
        self.update_diff(ev, cx);
        self.avoid(ev.acked, ev.disordered || ev.in_loss, cx);
    }

    fn on_congestion_begin(&mut self) {
        self.prior_basertt = self.basertt;
    }

    /// [Linux tcp_veno.c tcp_veno_ssthresh].
    fn on_congestion_ssthresh(&mut self, ev: &CongestionEvent, _cx: &Cx) -> f64 {
        if self.set.reset_base_rtt {
            self.basertt = None;
        }
        self.set.reduced(self.diff, ev)
    }

    fn on_undo(&mut self, _reduced_cwnd: f64, _cx: &Cx) {
        self.basertt = self.prior_basertt.into_iter().chain(self.basertt).reduce(f64::min);
    }

    /// [Linux tcp_veno.c tcp_veno_state, veno_enable].
    fn on_recovery_exit(&mut self, _cx: &Cx) {
        self.reenabled = true;
    }

    /// [Linux tcp_veno.c tcp_veno_cwnd_event].
    fn on_tx_start(&mut self, _ev: &TxStart, _cx: &Cx) {
        (self.basertt, self.minrtt, self.skips) = (None, UNKNOWN, false);
    }

    fn observe(&self, row: &mut Vec<f64>) {
        row.extend([self.basertt.unwrap_or(f64::NAN), self.diff]);
    }
}
