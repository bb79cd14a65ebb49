//! Vegas: the window follows the number of segments that the flow itself keeps in queues [Brakmo and Peterson, TCP
//! Vegas: End to End Congestion Avoidance on a Global Internet, IEEE JSAC 13(8), 1995, "BP"].
//!
//! ```text
//! once a round trip   diff = sent * (1 - base_rtt / rtt)        (expected - actual rate) * base_rtt, segments [BP §III.B]
//! slow start          one round growing as Reno does, one holding still and measuring, in turn               [BP §III.C]
//!                     diff > gamma: cwnd -= 1/8, avoidance
//! avoidance           diff < alpha: one segment more during the next round; diff > beta: one less            [BP §III.B]
//! loss                1/4 less, 1/2 if the segment was lost before; nothing if it was sent before the last cut [BP §III.A]
//! timeout             as Reno: ssthresh = window / 2, cwnd = 1
//! ```
//! `sent` is what was sent during the round, `rtt` the mean of its samples. What is sent in a round trip is the window,
//! so it stands for BP's WindowSize as well: what is outstanding when an ACK comes is larger by what that ACK covers,
//! and with delayed ACKs that alone would make a diff of one and hold the window for ever. Recognising losses by
//! fine-grained timeouts is the endpoint's part (`fine_timeouts`); it needs exact RTTs here in any case.
//!
//! Where BP is silent, the code of the authors as it came to ns-2 decides: the 1/8, the sizes of the cuts in whole
//! segments, two segments as the least window, ssthresh = 2 in avoidance (so that only a timeout leads back to slow
//! start), growth only while the window is used to within two segments. BP names (1, 3) and (2, 4) for (alpha, beta);
//! ns-2 takes the first, Linux the second. `rounded` rounds diff to whole segments before it is compared, as their code
//! does: (1, 3, 1) then means thresholds of 0.5, 3.5 and 1.5. With CBR taking nine tenths of a link that is worth a
//! tenth of Vegas' throughput. Linux's rules (`rules`) are in `linux.rs`.

use crate::Variant;
use crate::common::{Round, Window};
mod linux;

use crate::{
    AckEvent, Congestion, CongestionControl, CongestionEvent, Control, CwndValidation, Cx, Phase,
    RecoveryExit, Setup,
};
use dumbbell_units::param::{Kind, ParamError, Params, Spec};
use dumbbell_units::{Dur, Time};
use linux::LinuxVegas;

const SEGMENTS: Kind = Kind::Float { min: 0.0, max: 1e6 };

pub(crate) const ROW: Variant = Variant {
    name: "vegas",
    title: "keeps a few segments of its own in the queue, by comparing expected and actual rate",
    year: 1995,
    source: "Brakmo and Peterson, TCP Vegas, IEEE JSAC 13(8), 1995",
    fine_timeouts: true,
    on_loss: "window down by 1/4, by 1/2 if the segment was lost before, not at all if it was sent before the last \
              cut; timeout: ssthresh = half the window, cwnd = 1 segment",
    on_delay: "one segment less each round trip with more than beta segments queued, one more with fewer than alpha",
    on_ecn: "as to a loss, without a retransmission",
    params: &[
        Spec {
            name: "alpha",
            kind: SEGMENTS,
            default: "1",
            doc: "segments in the queue below which the window grows [Brakmo and Peterson 1995 §III.B]; ns-2, which rounds: 0.5",
        },
        Spec {
            name: "beta",
            kind: SEGMENTS,
            default: "3",
            doc: "segments in the queue above which the window shrinks [Brakmo and Peterson 1995 §III.B]; ns-2, which rounds: 3.5",
        },
        Spec {
            name: "gamma",
            kind: SEGMENTS,
            default: "1",
            doc: "segments in the queue above which slow start ends [Brakmo and Peterson 1995 §III.C]; ns-2, which rounds: 1.5",
        },
        Spec {
            name: "rounded",
            kind: Kind::Bool,
            default: "true",
            doc: "whether diff is rounded to whole segments before it is compared, as the authors' code does",
        },
        Spec {
            name: "rules",
            kind: Kind::Choice(&["published", "linux"]),
            default: "published",
            doc: "whether it measures, grows and shrinks as published or as Linux does: see the model; Linux's don't round",
        },
    ],
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

/// alpha, beta and gamma.
fn thresholds(params: &Params) -> Result<(f64, f64, f64), ParamError> {
    let (alpha, beta) = (params.float("alpha"), params.float("beta"));
    if alpha > beta {
        let message = format!("{alpha} given, at most beta, which is {beta}, is needed");
        return Err(ParamError { name: "alpha".into(), message });
    }
    Ok((alpha, beta, params.float("gamma")))
}

/// What the window does during a round.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Step {
    /// Slow start's growth.
    Double,
    /// One segment more.
    Add,
    /// Nothing.
    Hold,
}

/// See the top of this file.
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
    /// The round that runs; None: one starts with the next ACK.
    round: Option<Round>,
    step: Step,
    last_cut: Option<Time>,
    /// rtt and diff of the last decision, for the trace.
    seen: (f64, f64),
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
            last_cut: None,
            seen: (f64::NAN, f64::NAN),
        }
    }

    /// The mean RTT of the round and what it says of the queue, in segments. The ACK that ends the round counts for
    /// the next one, unless there is no other.
    fn measure(&self, round: &Round, ev: &AckEvent, cx: &Cx) -> Option<(f64, f64)> {
        let rtt = match self.samples {
            (_, 0) => ev.rtt?.as_secs(),
            (sum, n) => sum / f64::from(n),
        };
        let sent = round.sent(ev.snd_nxt) as f64;
        let diff = sent * (1.0 - self.base_rtt? / rtt) / cx.mss;
        Some((rtt, if self.rounded { (diff + 0.5).floor() } else { diff }))
    }

    /// What comes after a round, once a round trip.
    fn decide(&mut self, diff: f64, cx: &Cx) -> Step {
        let least = 2.0 * cx.mss;
        if self.window.in_slow_start() {
            if self.step == Step::Double {
                return Step::Hold;
            }
            if diff <= self.gamma {
                return Step::Double;
            }
            self.window.ssthresh = least;
            self.window.cwnd = (self.window.cwnd * 7.0 / 8.0).max(least);
        } else if diff > self.beta {
            self.window.cwnd = (self.window.cwnd - cx.mss).max(least);
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
        let used = self.window.cwnd - ev.flight as f64 <= 2.0 * cx.mss;
        if !ev.cwnd_limited || !used {
            return;
        }
        match (self.step, self.window.in_slow_start()) {
            (Step::Double, true) => {
                self.window.slow_start(ev.acked, cx);
            }
            (Step::Add, false) => self.window.additive_increase(1.0, ev.acked, cx),
            _ => {} // also when slow start has come to ssthresh within the round
        }
    }

    fn cut(&mut self, ev: &CongestionEvent, cx: &Cx) {
        // A segment sent before the last cut says nothing about the window since then [BP §III.A].
        if self.last_cut.is_some_and(|cut| ev.lost_sent_at <= cut) {
            return;
        }
        let segments = (ev.window / cx.mss).floor();
        let left = if ev.lost_transmissions > 1 {
            (segments / 2.0).floor()
        } else {
            segments - (segments / 4.0).floor()
        };
        // Three segments less a quarter, cut to whole ones, would stay three.
        let left = if segments <= 3.0 { 2.0 } else { left };
        (self.window.cwnd, self.window.ssthresh) = (left.max(2.0) * cx.mss, 2.0 * cx.mss);
        self.last_cut = Some(cx.now);
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
                // Without a sample nothing is known: the next round stands still.
                let mut step = Step::Hold;
                if let Some(seen) = self.measure(&round, ev, cx) {
                    self.seen = seen;
                    step = self.decide(seen.1, cx);
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
            Congestion::Loss | Congestion::Ecn => self.cut(ev, cx),
            Congestion::Collapse => {
                self.cut(ev, cx);
                self.window.ssthresh = self.window.cwnd.max(2.0 * cx.mss);
                self.window.set_loss_window(cx);
            }
            Congestion::Timeout => {
                // A further timeout of the same segment leaves ssthresh as it is [RFC 5681 §3.1].
                if ev.backoffs == 0 {
                    self.window.reduce_to(0.5 * ev.window, cx);
                }
                self.window.set_loss_window(cx);
                self.last_cut = Some(cx.now);
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

    fn control(&self) -> Control {
        self.window.control()
    }

    fn phase(&self) -> Phase {
        self.window.phase()
    }

    fn observe(&self, row: &mut Vec<f64>) {
        row.extend([self.base_rtt.unwrap_or(f64::NAN), self.seen.0, self.seen.1]);
    }
}
