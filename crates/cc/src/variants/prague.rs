//! TCP Prague: DCTCP made fit for the Internet, by falling back to Reno on loss, pacing, and an increase that doesn't favour
//! short round trips [draft-briscoe-iccrg-prague-congestion-control-00; requirements: RFC 9331].
//!
//! ```text
//! round        alpha += g * (marked / delivered - alpha), from the first mark on; alpha = 1 before         [§2.3.2]
//! mark         cwnd *= 1 - alpha / 2, at least 2 segments; once a round trip                             [§2.4.2]
//! avoidance    cwnd += 1 for each window of bytes that came without a mark, in the round after an answer too  [§2.4.3]
//! short RTT    below rtt_ref, once rtt_transition round trips have passed since slow start: M = rtt_ref / srtt
//!              increase 1 / M^2, alpha and answers each rtt_ref instead of each round trip               [§2.4.4]
//! slow start   as Reno, up to the first mark                                                             [§2.4.5]
//! loss         as Reno: window halved;  timeout: cwnd = 1 segment                                        [§2.4.1]
//! pacing       cwnd / srtt, twice that below ssthresh / 2; bursts of max_burst at most                    [§2.5.1, §2.5.2]
//! ```
//! It needs accurate feedback; where marks are only echoed as RFC 3168 says it answers as Reno does. The pacing rate counts
//! payload, as cwnd does.
//! Left out: finding out that the bottleneck treats ECT(1) as classic ECN (§3.3, off by default in the reference code too).

use crate::common::{EcnResponse, LossDriven, Marks, Srtt, Window};
use crate::variant::{EcnUse, Variant};
use crate::{AckEvent, Congestion, CongestionEvent, Control, Cx, Setup};
use dumbbell_units::param::{Kind, Params, Spec};
use dumbbell_units::{Bytes, Dur, Rate, Time};

pub(crate) const ROW: Variant = Variant {
    name: "prague",
    title: "TCP Prague: a scalable law for L4S, shrinks in proportion to the share of marked segments",
    year: 2021,
    source: "draft-briscoe-iccrg-prague-congestion-control-00; RFC 9331",
    ecn: EcnUse::Scalable,
    on_loss: "window halved; timeout: cwnd = 1 segment",
    on_delay: "none",
    on_ecn: "once a round trip: window down by half the smoothed share of marked bytes; marked bytes don't let it grow",
    params: &[
        Spec {
            name: "g",
            kind: Kind::Float { min: 0.001, max: 0.999 },
            default: "0.0625",
            doc: "weight of a round trip in alpha [draft-briscoe-iccrg-prague-congestion-control-00 §2.3.2]",
        },
        Spec {
            name: "rtt_ref",
            kind: Kind::Duration,
            default: "25 ms",
            doc: "round-trip time that shorter ones are treated as; 0 s: none \
                  [draft-briscoe-iccrg-prague-congestion-control-00 §2.4.4]",
        },
        Spec {
            name: "rtt_transition",
            kind: Kind::Int { min: 0, max: 1_000_000 },
            default: "500",
            doc: "round trips after slow start before it does so [draft-briscoe-iccrg-prague-congestion-control-00 §2.4.4]",
        },
        Spec {
            name: "max_burst",
            kind: Kind::Duration,
            default: "250 us",
            doc: "time that a burst may take at the pacing rate; at least a segment leaves at once \
                  [draft-briscoe-iccrg-prague-congestion-control-00 §2.5.2]",
        },
    ],
    columns: &["alpha", "marked_share", "rounds"],
    build: |params, setup| Ok(Box::new(Prague::new(params, setup))),
    ..Variant::EMPTY
};

/// See the top of this file.
#[derive(Clone, Debug)]
struct Prague {
    window: Window,
    g: f64,
    rtt_ref: Dur,
    rtt_transition: u64,
    max_burst: Dur,
    mss: f64,
    marks: Marks,
    srtt: Srtt,
    alpha: f64,
    /// Bytes marked and delivered since alpha last changed, and what share they were then, for the trace.
    counted: (f64, f64),
    share: f64,
    /// Whether a mark has come: only then there is something to average.
    marked: bool,
    /// Round trips since slow start.
    rounds: u64,
    /// When alpha was last changed, and the last answer to a mark.
    averaged_at: Time,
    answered_at: Option<Time>,
}

impl Prague {
    fn new(params: &Params, setup: &Setup) -> Prague {
        Prague {
            window: Window::new(setup),
            g: params.float("g"),
            rtt_ref: params.duration("rtt_ref"),
            rtt_transition: params.int("rtt_transition"),
            max_burst: params.duration("max_burst"),
            mss: setup.mss,
            marks: Marks::default(),
            srtt: Srtt::default(),
            alpha: 1.0,
            counted: (0.0, 0.0),
            share: f64::NAN,
            marked: false,
            rounds: 0,
            averaged_at: Time::ZERO,
            answered_at: None,
        }
    }

    /// How many times shorter the round trip is than the one it is treated as [§2.4.4].
    fn shorter(&self) -> f64 {
        let (srtt, reference) = (self.srtt.secs(), self.rtt_ref.as_secs());
        let long_lived = self.rounds >= self.rtt_transition && !self.window.in_slow_start();
        if long_lived && srtt > 0.0 && srtt < reference { reference / srtt } else { 1.0 }
    }

    /// A round trip has ended in which so many bytes were marked and delivered [§2.3.2].
    fn average(&mut self, (marked, delivered): (f64, f64), now: Time) {
        if !self.window.in_slow_start() {
            self.rounds += 1;
        }
        if !self.marked {
            return;
        }
        self.counted = (self.counted.0 + marked, self.counted.1 + delivered);
        if self.shorter() > 1.0 && now.since(self.averaged_at) < self.rtt_ref {
            return;
        }
        self.share = self.counted.0 / self.counted.1;
        self.alpha += self.g * (self.share - self.alpha);
        (self.counted, self.averaged_at) = ((0.0, 0.0), now);
    }

    /// The answer to a mark [§2.4.2].
    fn cut(&mut self, left: f64, cx: &Cx) {
        let again = self.answered_at.is_some_and(|at| cx.now.since(at) < self.rtt_ref);
        if self.shorter() > 1.0 && again {
            return;
        }
        self.answered_at = Some(cx.now);
        self.window.begin_episode(Congestion::Ecn);
        self.window.reduce_to(left.max(2.0 * cx.mss), cx);
    }
}

impl LossDriven for Prague {
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
        if let Some(rtt) = ev.rtt {
            self.srtt.sample(rtt);
        }
        self.marked |= ev.marked > 0;
        let (round, echo) = self.marks.on_ack(ev);
        if let Some(counted) = round {
            self.average(counted, cx.now);
        }
        if ev.in_recovery || ev.in_loss {
            return; // the window was cut for a loss of the same round trip [§2.4.1]
        }
        match echo {
            EcnResponse::None => {}
            EcnResponse::Scalable => self.cut((1.0 - self.alpha / 2.0) * self.window.cwnd, cx),
            EcnResponse::Classic(window) => self.cut(0.5 * window.min(self.window.cwnd), cx), // [RFC 3168 §6.1.2]
        }
    }

    fn on_ack_slow_start(&mut self, ev: &AckEvent, cx: &Cx) -> u64 {
        self.window.slow_start(ev.acked.saturating_sub(ev.marked), cx)
    }

    fn on_ack_avoidance(&mut self, ev: &AckEvent, cx: &Cx) {
        let m = self.shorter();
        let unmarked = ev.acked.saturating_sub(ev.marked) as f64;
        self.window.cwnd += cx.mss * unmarked / self.window.cwnd / (m * m); // [§2.4.3, §2.4.4]
    }

    fn on_congestion_ssthresh(&mut self, ev: &CongestionEvent, _cx: &Cx) -> f64 {
        0.5 * ev.window
    }

    fn on_congestion_done(&mut self, ev: &CongestionEvent, _cx: &Cx) {
        if ev.kind == Congestion::Timeout {
            self.rounds = 0;
        }
    }

    fn control(&self) -> Control {
        let control = self.window.control();
        let srtt = self.srtt.secs();
        if srtt <= 0.0 {
            return control;
        }
        let start = if self.window.cwnd < self.window.ssthresh / 2.0 { 2.0 } else { 1.0 };
        let bits = (start * self.window.cwnd / srtt * 8.0).clamp(1.0, 1e15);
        let rate = Rate(bits as u64);
        let Bytes(burst) = rate.bytes_in(self.max_burst);
        Control { pacing: Some(rate), quantum: Some(burst.max(self.mss as u64)), ..control }
    }

    fn observe(&self, row: &mut Vec<f64>) {
        row.extend([self.alpha, self.share, self.rounds as f64]);
    }
}
