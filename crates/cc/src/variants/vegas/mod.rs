//! Vegas: the window follows the number of segments that the flow itself has in queues [Brakmo and Peterson, TCP Vegas:
//! End to End Congestion Avoidance on a Global Internet, IEEE JSAC 13(8), 1995, "BP"].
//!
//! ```text
//! once a round trip   diff = sent * (1 - base_rtt / rtt)     (expected - actual rate) * base_rtt, segments [BP §III.B]
//! slow start          alternately one round of Reno's growth, and one at a constant window that is measured  [BP
//!                     §III.C] diff > gamma: cwnd -= 1/8, then avoidance
//! avoidance           diff < alpha: cwnd += 1 during the next round; diff > beta: cwnd -= 1                [BP §III.B]
//! loss                cwnd -= 1/4; 1/2 if the segment was lost before; 0 if it was sent before the last reduction
//!                                                                                                          [BP §III.A]
//! timeout             as Reno: ssthresh = window / 2, cwnd = 1
//! ```
//! `sent` is the data sent during the round, and `rtt` the mean of its RTT samples. The data sent in a round trip
//! equals BP's WindowSize. FlightSize at an ACK would be larger by the segments of that ACK: with delayed ACKs, diff
//! would never fall below one. Fine-grained timeouts belong to the endpoint (`fine_timeouts`); RTTs here are exact in
//! any case.
//!
//! Where BP leaves the rule open, the code of its authors decides, as ported to ns-2 (tcp-vegas.cc): the 1/8,
//! reductions in whole segments, a minimum window of two segments, ssthresh = 2 in avoidance (so that only a timeout
//! returns to slow start), growth only if the window is used except for two segments. BP has (1, 3) and (2, 4) for
//! (alpha, beta); ns-2 uses the first, [Linux tcp_vegas.c tcp_vegas_cong_avoid] the second. `rounded` rounds diff to
//! whole segments before the comparison, as that code does: (1, 3, 1) is then equivalent to 0.5, 3.5 and 1.5. If CBR
//! takes nine tenths of a link, this changes Vegas' throughput by a tenth. `rules = "linux"` selects `linux.rs`.

mod linux;

use crate::common::{Round, Window};
use crate::{
    AckEvent, Congestion, CongestionControl, CongestionEvent, Control, CwndValidation, Cx, Phase, RecoveryExit, Setup,
    Variant,
};
use dumbbell_units::param::{Kind, ParamError, Params, specs};
use dumbbell_units::{Dur, Time};
use linux::LinuxVegas;

/// The kind of alpha, beta and gamma.
const SEGMENTS: Kind = Kind::Float { min: 0.0, max: 1e6 };

pub(crate) const ROW: Variant = Variant {
    name: "vegas",
    title: "keeps a few of its segments in the queue, by comparing expected and actual rate",
    year: 1995,
    source: "Brakmo and Peterson, TCP Vegas, IEEE JSAC 13(8), 1995",
    fine_timeouts: true,
    on_loss: "window reduced by 1/4, by 1/2 if the segment was lost before, not if it was sent before the last \
              reduction; timeout: ssthresh = half the window, cwnd = 1 segment",
    on_delay: "one segment less each round trip with more than beta segments queued, one more with fewer than alpha",
    on_ecn: "as to a loss, without a retransmission",
    params: specs! {
        /// segments in the queue below which the window grows [Brakmo and Peterson 1995 §III.B]; ns-2, which rounds:
        /// 0.5
        alpha = "1", SEGMENTS;
        /// segments in the queue above which the window shrinks [Brakmo and Peterson 1995 §III.B]; ns-2, which rounds:
        /// 3.5
        beta = "3", SEGMENTS;
        /// segments in the queue above which slow start ends [Brakmo and Peterson 1995 §III.C]; ns-2, which rounds: 1.5
        gamma = "1", SEGMENTS;
        /// rounds diff to whole segments before the comparison, as the authors' code does
        rounded = "true", Kind::Bool;
        /// the published algorithm, or that of Linux's tcp_vegas.c, which doesn't use `rounded`
        rules = "published", Kind::Choice(&["published", "linux"]);
    },
    stack_defaults: &[("linux", "alpha", "2"), ("linux", "beta", "4"), ("linux", "rules", "linux")],
    columns: &["base_rtt", "rtt", "diff"],
    build: |params, setup| {
        let thresholds = thresholds(params)?;
        Ok(match params.choice("rules") {
            "linux" => Box::new(LinuxVegas::new(thresholds, setup)),
            _ => Box::new(Vegas::new(thresholds, params.bool("rounded"), setup)),
        })
    },
    ..Variant::EMPTY
};

/// Reads alpha, beta and gamma.
fn thresholds(params: &Params) -> Result<(f64, f64, f64), ParamError> {
    let (alpha, beta) = (params.float("alpha"), params.float("beta"));
    if alpha > beta {
        let message = format!("{alpha} given, at most beta, which is {beta}, is needed");
        return Err(ParamError { name: "alpha".into(), message });
    }
    Ok((alpha, beta, params.float("gamma")))
}

/// The change of the window during a round.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Step {
    /// Growth of slow start.
    Double,
    /// Growth by one segment.
    Add,
    /// No growth.
    Hold,
}

/// Vegas as published.
#[derive(Clone, Debug)]
struct Vegas {
    window: Window,
    alpha: f64,
    beta: f64,
    gamma: f64,
    rounded: bool,
    /// The smallest RTT of the connection; None before the first sample.
    base_rtt: Option<f64>,
    /// Sum and number of the round's samples, in seconds.
    samples: (f64, u32),
    /// The current round; None: the next ACK starts one.
    round: Option<Round>,
    step: Step,
    last_reduction: Option<Time>,
    /// rtt and diff of the last decision, for the trace.
    trace: (f64, f64),
}

impl Vegas {
    fn new((alpha, beta, gamma): (f64, f64, f64), rounded: bool, setup: &Setup) -> Vegas {
        Vegas {
            window: Window::new(setup),
            alpha,
            beta,
            gamma,
            rounded,
            base_rtt: None,
            samples: (0.0, 0),
            round: None,
            step: Step::Hold,
            last_reduction: None,
            trace: (f64::NAN, f64::NAN),
        }
    }

    /// Returns the mean RTT of the round and diff. The sample of the ACK that ends the round belongs to the next round,
    /// unless it is the only one.
    fn rtt_and_diff(&self, round: &Round, ev: &AckEvent, cx: &Cx) -> Option<(f64, f64)> {
        let rtt = match self.samples {
            (_, 0) => ev.rtt?.as_secs(),
            (sum, n) => sum / f64::from(n),
        };
        let sent = round.sent(ev.snd_nxt) as f64;
        let diff = sent * (1.0 - self.base_rtt? / rtt) / cx.mss;
        Some((rtt, if self.rounded { (diff + 0.5).floor() } else { diff }))
    }

    /// Changes the window at the end of a round, and returns the step of the next round [BP §III.B, §III.C].
    fn end_round(&mut self, diff: f64, cx: &Cx) -> Step {
        let min = 2.0 * cx.mss;
        if self.window.in_slow_start() {
            if self.step == Step::Double {
                return Step::Hold;
            }
            if diff <= self.gamma {
                return Step::Double;
            }
            self.window.ssthresh = min;
            self.window.cwnd = (self.window.cwnd * 7.0 / 8.0).max(min);
        } else if diff > self.beta {
            self.window.cwnd = (self.window.cwnd - cx.mss).max(min);
        } else if diff < self.alpha {
            return Step::Add;
        }
        Step::Hold
    }

    fn new_round(&mut self, ev: &AckEvent, step: Step) {
        self.round = Some(Round::from(ev.snd_nxt));
        self.samples = (0.0, 0);
        self.step = step;
    }

    fn grow(&mut self, ev: &AckEvent, cx: &Cx) {
        let is_used = self.window.cwnd - ev.flight as f64 <= 2.0 * cx.mss;
        if !ev.cwnd_limited || !is_used {
            return;
        }
        match (self.step, self.window.in_slow_start()) {
            (Step::Double, true) => {
                self.window.slow_start(ev.acked, cx);
            }
            (Step::Add, false) => self.window.additive_increase(1.0, ev.acked, cx),
            _ => {} // also if cwnd reached ssthresh during the round
        }
    }

    fn reduce(&mut self, ev: &CongestionEvent, cx: &Cx) {
        // A segment sent before the last reduction was not lost because of the present window [BP §III.A].
        if self.last_reduction.is_some_and(|at| ev.lost_sent_at <= at) {
            return;
        }
        let segments = (ev.window / cx.mss).floor();
        let reduced =
            if ev.lost_transmissions > 1 { (segments / 2.0).floor() } else { segments - (segments / 4.0).floor() };
        // A quarter of three segments, rounded down, would be none.
        let reduced = if segments <= 3.0 { 2.0 } else { reduced };
        (self.window.cwnd, self.window.ssthresh) = (reduced.max(2.0) * cx.mss, 2.0 * cx.mss);
        self.last_reduction = Some(cx.now);
    }
}

impl CongestionControl for Vegas {
    fn on_ack(&mut self, ev: &AckEvent, cx: &Cx) {
        if let Some(rtt) = ev.rtt.map(Dur::as_secs) {
            self.base_rtt = Some(self.base_rtt.map_or(rtt, |base| base.min(rtt)));
        }
        if ev.in_recovery {
            self.round = None;
            return;
        }
        if !ev.in_loss {
            self.window.end_episode();
        }
        if ev.acked == 0 {
            return;
        }
        match self.round {
            None => {
                let slow_start = self.window.in_slow_start();
                self.new_round(ev, if slow_start { Step::Double } else { Step::Hold });
            }
            Some(round) if round.ended(ev.snd_una) => {
                // Without a sample the next round has a constant window.
                let mut step = Step::Hold;
                if let Some((rtt, diff)) = self.rtt_and_diff(&round, ev, cx) {
                    self.trace = (rtt, diff);
                    step = self.end_round(diff, cx);
                }
                self.new_round(ev, step);
            }
            Some(_) => {}
        }
        if let Some(rtt) = ev.rtt.map(Dur::as_secs) {
            self.samples = (self.samples.0 + rtt, self.samples.1 + 1);
        }
        self.grow(ev, cx);
    }

    fn on_congestion(&mut self, ev: &CongestionEvent, cx: &Cx) {
        self.window.begin_episode(ev.kind);
        self.round = None;
        match ev.kind {
            Congestion::Loss | Congestion::Ecn => self.reduce(ev, cx),
            Congestion::Collapse => {
                self.reduce(ev, cx);
                self.window.ssthresh = self.window.cwnd.max(2.0 * cx.mss);
                self.window.set_loss_window(cx);
            }
            Congestion::Timeout => {
                // A repeated timeout of the same segment leaves ssthresh unchanged [RFC 5681 §3.1].
                if ev.backoffs == 0 {
                    self.window.reduce_to(0.5 * ev.window, cx);
                }
                self.window.set_loss_window(cx);
                self.last_reduction = Some(cx.now);
            }
        }
    }

    fn on_recovery_exit(&mut self, ev: &RecoveryExit, _cx: &Cx) {
        self.window.limit(ev.bound);
        self.window.end_episode();
    }

    fn on_undo(&mut self, _cx: &Cx) {
        if self.window.undo() {
            self.round = None;
        }
    }

    fn on_cwnd_validation(&mut self, ev: &CwndValidation, _cx: &Cx) {
        self.window.validate(ev);
    }

    fn on_restart(&mut self, _idle: Dur, cx: &Cx) {
        self.window.restart(cx);
        self.round = None;
    }

    fn wants_sent(&self) -> bool {
        false
    }

    fn wants_one_way(&self) -> bool {
        false
    }

    fn wants_rates(&self) -> bool {
        false
    }

    fn control(&self) -> Control {
        self.window.control()
    }

    fn phase(&self) -> Phase {
        self.window.phase()
    }

    fn observe(&self, row: &mut Vec<f64>) {
        row.extend([self.base_rtt.unwrap_or(f64::NAN), self.trace.0, self.trace.1]);
    }
}
