//! Vegas as in Linux: `rules = "linux"` [Linux net/ipv4/tcp_vegas.c].
//!
//! ```text
//! once a round trip   rtt: the minimum of its samples;  diff = cwnd (rtt - baseRTT) / baseRTT, whole segments
//!   fewer than three samples: as Reno                                                     [tcp_vegas_cong_avoid]
//!   slow start        diff > gamma: cwnd = cwnd * baseRTT / rtt + 1, whole segments, at most cwnd; then avoidance
//!   avoidance         diff > beta: cwnd - 1;  diff < alpha: cwnd + 1;  at least 2 segments
//!   afterwards        ssthresh is at least 3/4 of cwnd                                    [tcp_vegas_cong_avoid]
//! else                slow start grows with each ACK; avoidance keeps the window
//! loss, timeout       as Reno; also Reno while the state is not Open                      [tcp_vegas_state]
//! nothing in flight   baseRTT is reset, also when one ACK empties a window of two segments    [tcp_vegas_cwnd_event]
//! ```
//! Differences from the published algorithm: the minimum sample excludes the delay of delayed ACKs, each round trip of
//! slow start is measured, and losses have no rule of their own.

use crate::common::{LossDriven, Round, Window, window_is};
use crate::{AckEvent, CongestionEvent, Cx, Setup, TxStart};
use dumbbell_units::Dur;

/// Vegas as in Linux; names of `struct vegas` [Linux tcp_vegas.h].
#[derive(Clone, Debug)]
pub(crate) struct LinuxVegas {
    window: Window,
    alpha: f64,
    beta: f64,
    gamma: f64,
    base_rtt: Option<f64>,
    /// The minimum sample of the round, s, and the number of its samples.
    min_rtt: f64,
    cnt_rtt: u32,
    round: Option<Round>,
    /// True if a segment was sent with nothing in flight since the last loss: Vegas then runs also in the state Loss.
    tx_started: bool,
    /// rtt and diff of the last decision, for the trace.
    trace: (f64, f64),
}

impl LinuxVegas {
    pub(crate) fn new((alpha, beta, gamma): (f64, f64, f64), setup: &Setup) -> LinuxVegas {
        LinuxVegas {
            window: Window::new(setup),
            alpha,
            beta,
            gamma,
            base_rtt: None,
            min_rtt: f64::INFINITY,
            cnt_rtt: 0,
            round: None,
            tx_started: false,
            trace: (f64::NAN, f64::NAN),
        }
    }

    /// [Linux tcp_cong.c tcp_reno_cong_avoid].
    fn reno_cong_avoid(&mut self, ev: &AckEvent, cx: &Cx) {
        if !ev.cwnd_limited {
            return;
        }
        let rest = if self.window.in_slow_start() { self.window.slow_start(ev.acked, cx) } else { ev.acked };
        if rest > 0 {
            self.window.additive_increase(1.0, rest, cx);
        }
    }

    /// Starts a round [Linux tcp_vegas.c vegas_enable], or none (vegas_disable).
    fn set_round(&mut self, round: Option<Round>) {
        (self.round, self.cnt_rtt, self.min_rtt) = (round, 0, f64::INFINITY);
    }

    /// [Linux tcp_vegas.c tcp_vegas_cong_avoid].
    fn vegas_cong_avoid(&mut self, base: f64, ev: &AckEvent, cx: &Cx) {
        let (cwnd, rtt) = (self.window.segments(cx).floor(), self.min_rtt);
        let diff = (cwnd * (rtt - base) / base).floor();
        self.trace = (rtt, diff);
        let segments = if self.window.in_slow_start() {
            if diff <= self.gamma {
                self.window.slow_start(ev.acked, cx);
                return;
            }
            cwnd.min((cwnd * base / rtt).floor() + 1.0)
        } else if diff > self.beta {
            cwnd - 1.0
        } else if diff < self.alpha {
            cwnd + 1.0
        } else {
            cwnd
        };
        let segments = segments.max(2.0);
        if segments <= cwnd {
            self.window.ssthresh = self.window.ssthresh.min(segments * cx.mss);
        }
        self.window.cwnd = segments * cx.mss;
        self.window.ssthresh = self.window.ssthresh.max(0.75 * self.window.cwnd).max(2.0 * cx.mss);
    }
}

impl LossDriven for LinuxVegas {
    window_is!(window);

    fn on_ack_sample(&mut self, ev: &AckEvent, cx: &Cx) {
        if let Some(rtt) = ev.rtt.filter(|rtt| *rtt > Dur::ZERO).map(Dur::as_secs) {
            self.base_rtt = Some(self.base_rtt.map_or(rtt, |base| base.min(rtt)));
            self.min_rtt = self.min_rtt.min(rtt);
            self.cnt_rtt += 1;
        }
        if ev.in_recovery || ev.acked == 0 {
            return;
        }
        if (ev.in_loss || ev.disordered) && !self.tx_started {
            self.set_round(None);
            return self.reno_cong_avoid(ev, cx);
        }
        match self.round {
            Some(round) if round.ended(ev.snd_una) => {
                match self.base_rtt.filter(|_| self.cnt_rtt > 2) {
                    Some(base) => self.vegas_cong_avoid(base, ev, cx),
                    None => self.reno_cong_avoid(ev, cx),
                }
                self.set_round(Some(Round::from(ev.snd_nxt)));
            }
            None => {
                self.set_round(Some(Round::from(ev.snd_nxt)));
                if self.window.in_slow_start() {
                    self.window.slow_start(ev.acked, cx);
                }
            }
            _ if self.window.in_slow_start() => {
                self.window.slow_start(ev.acked, cx);
            }
            _ => {}
        }
    }

    fn on_ack_slow_start(&mut self, _ev: &AckEvent, _cx: &Cx) -> u64 {
        0
    }

    fn on_ack_avoidance(&mut self, _ev: &AckEvent, _cx: &Cx) {}

    fn on_congestion_ssthresh(&mut self, ev: &CongestionEvent, _cx: &Cx) -> f64 {
        0.5 * ev.window
    }

    fn on_congestion_done(&mut self, _ev: &CongestionEvent, _cx: &Cx) {
        self.set_round(None);
        self.tx_started = false;
    }

    fn on_tx_start(&mut self, ev: &TxStart, _cx: &Cx) {
        self.set_round(Some(Round::from(ev.snd_nxt)));
        (self.base_rtt, self.tx_started) = (None, true);
    }

    fn on_recovery_exit(&mut self, _cx: &Cx) {
        self.set_round(None);
    }

    fn on_restart(&mut self, _cx: &Cx) {
        self.set_round(None);
        self.base_rtt = None;
    }

    fn observe(&self, row: &mut Vec<f64>) {
        row.extend([self.base_rtt.unwrap_or(f64::NAN), self.trace.0, self.trace.1]);
    }
}
