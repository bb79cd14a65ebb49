//! Vegas by Linux's rules: the variant `vegas` with `rules` = "linux".
//!
//! ```text
//! once a round trip   rtt the smallest of its samples;  diff = cwnd * (rtt - base_rtt) / base_rtt, in whole segments
//!   fewer than three samples    as Reno
//!   slow start                  diff > gamma: cwnd = cwnd * base_rtt / rtt in whole segments, plus one; avoidance
//!   avoidance                   diff > beta: cwnd - 1;  diff < alpha: cwnd + 1;  at least 2 segments
//! else                slow start grows with each ACK, avoidance stands still
//! loss, timeout       as Reno; Reno also while a timeout's losses are repaired, or something is out of order
//! nothing in flight   when a segment leaves: base_rtt is forgotten, which a window of two segments does that one ACK empties
//! ```
//! The smallest sample leaves out what delayed ACKs add, each round trip of slow start is measured, and there is no cut of its
//! own for losses. ssthresh is 3/4 of the window at least after each decision.

use crate::common::{LossDriven, Round, Window};
use crate::{AckEvent, CongestionEvent, Cx, Setup, TxStart};
use dumbbell_units::Dur;

/// See the top of this file.
#[derive(Clone, Debug)]
pub(crate) struct LinuxVegas {
    window: Window,
    alpha: f64,
    beta: f64,
    gamma: f64,
    base_rtt: Option<f64>,
    /// The round's smallest sample, s, and how many there were.
    least: f64,
    samples: u32,
    round: Option<Round>,
    /// Started since the last loss: it goes by the queue also while a timeout's losses are repaired.
    started: bool,
    /// rtt and diff of the last decision, for the trace.
    seen: (f64, f64),
}

impl LinuxVegas {
    pub(crate) fn new((alpha, beta, gamma): (f64, f64, f64), setup: &Setup) -> LinuxVegas {
        LinuxVegas {
            window: Window::new(setup),
            alpha,
            beta,
            gamma,
            base_rtt: None,
            least: f64::INFINITY,
            samples: 0,
            round: None,
            started: false,
            seen: (f64::NAN, f64::NAN),
        }
    }

    fn reno(&mut self, ev: &AckEvent, cx: &Cx) {
        if !ev.cwnd_limited {
            return;
        }
        let rest = if self.window.in_slow_start() { self.window.slow_start(ev.acked, cx) } else { ev.acked };
        if rest > 0 {
            self.window.additive_increase(1.0, rest, cx);
        }
    }

    fn new_round(&mut self, round: Option<Round>) {
        (self.round, self.samples, self.least) = (round, 0, f64::INFINITY);
    }

    fn decide(&mut self, base: f64, ev: &AckEvent, cx: &Cx) {
        let (cwnd, rtt) = (self.window.segments(cx).floor(), self.least);
        let diff = (cwnd * (rtt - base) / base).floor();
        self.seen = (rtt, diff);
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
    fn window(&self) -> &Window {
        &self.window
    }

    fn window_mut(&mut self) -> &mut Window {
        &mut self.window
    }

    fn on_ack_sample(&mut self, ev: &AckEvent, cx: &Cx) {
        if let Some(rtt) = ev.rtt.filter(|rtt| *rtt > Dur::ZERO).map(Dur::as_secs) {
            self.base_rtt = Some(self.base_rtt.map_or(rtt, |base| base.min(rtt)));
            self.least = self.least.min(rtt);
            self.samples += 1;
        }
        if ev.in_recovery || ev.acked == 0 {
            return;
        }
        if (ev.in_loss || ev.disordered) && !self.started {
            self.new_round(None);
            return self.reno(ev, cx);
        }
        match self.round {
            Some(round) if round.ended(ev.snd_una) => {
                match self.base_rtt.filter(|_| self.samples > 2) {
                    Some(base) => self.decide(base, ev, cx),
                    None => self.reno(ev, cx),
                }
                self.new_round(Some(Round::from(ev.snd_nxt)));
            }
            None => {
                self.new_round(Some(Round::from(ev.snd_nxt)));
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
        self.new_round(None);
        self.started = false;
    }

    fn on_tx_start(&mut self, ev: &TxStart, _cx: &Cx) {
        self.new_round(Some(Round::from(ev.snd_nxt)));
        (self.base_rtt, self.started) = (None, true);
    }

    fn on_recovery_exit(&mut self, _cx: &Cx) {
        self.new_round(None);
    }

    fn on_restart(&mut self, _cx: &Cx) {
        self.new_round(None);
        self.base_rtt = None;
    }

    fn observe(&self, row: &mut Vec<f64>) {
        row.extend([self.base_rtt.unwrap_or(f64::NAN), self.seen.0, self.seen.1]);
    }
}
