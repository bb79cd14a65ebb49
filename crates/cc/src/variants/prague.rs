//! TCP Prague: DCTCP for the Internet, with Reno's response to loss, pacing, and an increase that doesn't favor short
//! RTTs.
//!
//! Sources: draft-briscoe-iccrg-prague-congestion-control-00, whose section numbers are used; requirements: RFC 9331.
//!
//! ```text
//! round        alpha += g * (marked / delivered - alpha), from the first mark on; alpha = 1 before         [§2.3.2]
//! mark         cwnd *= 1 - alpha / 2, at least 2 segments; once per round trip                        [§2.4.2]
//! avoidance    cwnd += 1 for each window of unmarked bytes, also in the round trip after a response   [§2.4.3]
//! short RTT    below rtt_ref, after rtt_transition round trips since slow start: M = rtt_ref / srtt
//!              increase 1 / M^2, alpha and responses once per rtt_ref instead of once per round trip  [§2.4.4]
//! slow start   as Reno, up to the first mark                                                          [§2.4.5]
//! loss         as Reno: window halved;  timeout: cwnd = 1 segment                                     [§2.4.1]
//! pacing       cwnd / srtt, twice that below ssthresh / 2; bursts of at most max_burst                [§2.5.1, §2.5.2]
//! ```
//! Prague needs accurate ECN feedback; with the echo of RFC 3168 it responds as Reno. The pacing rate counts payload,
//! as cwnd does. Left out: detecting a bottleneck that treats ECT(1) as classic ECN (§3.3, off by default in the
//! reference code too).

use crate::common::{EcnResponse, LossDriven, Marks, Srtt, Window, window_is};
use crate::variant::{EcnUse, Requirement, StackFeature, Variant};
use crate::{AckEvent, Congestion, CongestionEvent, Control, Cx, Setup};
use dumbbell_units::param::{Kind, Params, specs};
use dumbbell_units::{Bytes, Dur, Rate, Time};

pub(crate) const ROW: Variant = Variant {
    name: "prague",
    title: "TCP Prague: scalable congestion control for L4S, reduces its window in proportion to the fraction of marked bytes",
    year: 2021,
    source: "draft-briscoe-iccrg-prague-congestion-control-00; RFC 9331",
    requires: &[Requirement {
        feature: StackFeature::Rack,
        source: "RFC 9331 §4.3",
        why: "it recommends loss detection in units of time",
    }],
    ecn: EcnUse::Scalable,
    on_loss: "window halved; timeout: cwnd = 1 segment",
    on_delay: "none",
    on_ecn: "once per round trip: window reduced by half of the smoothed fraction of marked bytes; marked bytes cause no growth",
    params: specs! {
        /// g, the weight of a round trip in alpha [draft-briscoe-iccrg-prague-congestion-control-00 §2.3.2]
        g = "0.0625", Kind::Float { min: 0.001, max: 0.999 };
        /// reference RTT: shorter RTTs are treated as this one; 0 s: none
        /// [draft-briscoe-iccrg-prague-congestion-control-00 §2.4.4]
        rtt_ref = "25 ms", Kind::Duration;
        /// round trips after slow start before rtt_ref applies [draft-briscoe-iccrg-prague-congestion-control-00
        /// §2.4.4]
        rtt_transition = "500", Kind::Int { min: 0, max: 1_000_000 };
        /// longest burst, as time at the pacing rate; at least a segment is sent at once
        /// [draft-briscoe-iccrg-prague-congestion-control-00 §2.5.2]
        max_burst = "250 us", Kind::Duration;
    },
    columns: &["alpha", "marked_share", "rounds"],
    build: |params, setup| Ok(Box::new(Prague::new(params, setup))),
    ..Variant::EMPTY
};

/// The state of Prague.
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
    /// Bytes marked and delivered since alpha last changed.
    counted: (f64, f64),
    /// The fraction of marked bytes at that time, for the trace.
    marked_fraction: f64,
    /// True after the first mark, with which the average begins.
    marked: bool,
    /// Round trips since slow start.
    rounds: u64,
    /// The time of the last change of alpha.
    alpha_updated_at: Time,
    /// The time of the last response to a mark.
    responded_at: Option<Time>,
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
            marked_fraction: f64::NAN,
            marked: false,
            rounds: 0,
            alpha_updated_at: Time::ZERO,
            responded_at: None,
        }
    }

    /// M, the ratio of rtt_ref and a shorter srtt; 1 if rtt_ref doesn't apply [§2.4.4].
    fn rtt_ratio(&self) -> f64 {
        let (srtt, reference) = (self.srtt.secs(), self.rtt_ref.as_secs());
        let long_lived = self.rounds >= self.rtt_transition && !self.window.in_slow_start();
        if long_lived && srtt > 0.0 && srtt < reference { reference / srtt } else { 1.0 }
    }

    /// Updates alpha after a round trip with this number of marked and delivered bytes [§2.3.2].
    fn update_alpha(&mut self, (marked, delivered): (f64, f64), now: Time) {
        if !self.window.in_slow_start() {
            self.rounds += 1;
        }
        if !self.marked {
            return;
        }
        self.counted = (self.counted.0 + marked, self.counted.1 + delivered);
        if self.rtt_ratio() > 1.0 && now.since(self.alpha_updated_at) < self.rtt_ref {
            return;
        }
        self.marked_fraction = self.counted.0 / self.counted.1;
        self.alpha += self.g * (self.marked_fraction - self.alpha);
        (self.counted, self.alpha_updated_at) = ((0.0, 0.0), now);
    }

    /// Responds to a mark: reduces the window to `cwnd` [§2.4.2].
    fn reduce(&mut self, cwnd: f64, cx: &Cx) {
        let too_early = self.responded_at.is_some_and(|at| cx.now.since(at) < self.rtt_ref);
        if self.rtt_ratio() > 1.0 && too_early {
            return;
        }
        self.responded_at = Some(cx.now);
        self.window.begin_episode(Congestion::Ecn);
        self.window.reduce_to(cwnd.max(2.0 * cx.mss), cx);
    }
}

impl LossDriven for Prague {
    window_is!(window);

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
            self.update_alpha(counted, cx.now);
        }
        if ev.in_recovery || ev.in_loss {
            return; // the window was reduced for a loss in the same round trip [§2.4.1]
        }
        match echo {
            EcnResponse::None => {}
            EcnResponse::Scalable => self.reduce((1.0 - self.alpha / 2.0) * self.window.cwnd, cx),
            EcnResponse::Classic(window) => self.reduce(0.5 * window.min(self.window.cwnd), cx), // [RFC 3168 §6.1.2]
        }
    }

    fn on_ack_slow_start(&mut self, ev: &AckEvent, cx: &Cx) -> u64 {
        self.window.slow_start(ev.acked.saturating_sub(ev.marked), cx)
    }

    fn on_ack_avoidance(&mut self, ev: &AckEvent, cx: &Cx) {
        let m = self.rtt_ratio();
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
        let factor = if self.window.cwnd < self.window.ssthresh / 2.0 { 2.0 } else { 1.0 };
        let bits = (factor * self.window.cwnd / srtt * 8.0).clamp(1.0, 1e15);
        let rate = Rate(bits as u64);
        let Bytes(burst) = rate.bytes_in(self.max_burst);
        Control { pacing: Some(rate), quantum: Some(burst.max(self.mss as u64)), ..control }
    }

    fn observe(&self, row: &mut Vec<f64>) {
        row.extend([self.alpha, self.marked_fraction, self.rounds as f64]);
    }
}
