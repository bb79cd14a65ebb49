//! LP, low priority: Reno that gives way as soon as a queue begins, to use what others leave [Kuzmanovic and Knightly,
//! TCP-LP: Low-Priority Service via End-Point Congestion Control, IEEE/ACM Transactions on Networking 14(4), 2006, "KK"].
//!
//! ```text
//! delay        the one-way delay of each ACK's newest segment: smallest, largest, and smoothed by 1/8  [KK]
//! early        smoothed > smallest + delta * (largest - smallest), delta = 0.15: congestion begins     [KK]
//! avoidance    cwnd += 1 for each window of ACKs, but not during inference                             [KK]
//!   early                    cwnd / 2, and inference for 3 round trips                                 [KK]
//!   early during inference   cwnd = 1: others are there; at most one answer a round trip               [KK]
//! loss         ssthresh = cwnd = half the window, timeout: cwnd = 1, both as Reno
//! ```
//! Both answers set ssthresh = cwnd (2 at least), so that growth goes on segment by segment.
//! A one-way delay needs timestamps; the offset of the clocks cancels out. Without them (stack `ns2`) it is the RTT, and
//! then a queue on the way back counts as well. Linux's LP hears of no delay in seven of eight connections: its timestamps
//! begin at random, and the smoothed delay, eight times as large, overflows 32 bits. It is Reno then (`delay` = "none").
//! Left out: estimating the resolution of the receiver's clock, as its timestamps are microseconds here; a drift of the
//! clocks; Linux's leaving out of the largest delay, and its new bounds after each answer.

use crate::Variant;
use crate::common::{LossDriven, Round, Srtt, Window};
use crate::{AckEvent, CongestionEvent, Cx, Setup};
use dumbbell_units::param::{Kind, Params, Spec};
use dumbbell_units::{Dur, Time};

pub(crate) const ROW: Variant = Variant {
    name: "lp",
    title: "TCP-LP, low priority: gives way when a queue begins",
    year: 2003,
    source: "Kuzmanovic and Knightly, TCP-LP, IEEE/ACM Transactions on Networking 14(4), 2006 (INFOCOM 2003)",
    on_loss: "window halved; timeout: cwnd = 1 segment",
    on_delay: "window halved when the one-way delay passes 15 % of its range, 1 segment if it does so again within three \
               round trips",
    on_ecn: "as to a loss, without a retransmission",
    params: &[
        Spec {
            name: "delta",
            kind: Kind::Float { min: 0.01, max: 0.99 },
            default: "0.15",
            doc: "part of the range of delays from which on congestion begins [Kuzmanovic and Knightly 2006]",
        },
        Spec {
            name: "inference",
            kind: Kind::Float { min: 0.0, max: 1000.0 },
            default: "3",
            doc: "round trips without growth after the first answer [Kuzmanovic and Knightly 2006]",
        },
        Spec {
            name: "delay",
            kind: Kind::Choice(&["one-way", "round-trip", "none"]),
            default: "one-way",
            doc: "which delay; one-way becomes round-trip on a connection without timestamps",
        },
    ],
    stack_defaults: &[("linux", "delay", "none")],
    columns: &["delay", "delay_min", "delay_max", "inference_until"],
    build: |params, setup| Ok(Box::new(Lp::new(params, setup))),
    ..Variant::EMPTY
};

/// Weight of a new sample in the smoothed delay [KK].
const GAIN: f64 = 1.0 / 8.0;

/// See the top of this file.
#[derive(Clone, Debug)]
struct Lp {
    window: Window,
    delta: f64,
    inference: f64,
    one_way: bool,
    deaf: bool,
    srtt: Srtt,
    /// Smoothed delay, s; None after each answer, until one of its effects is seen.
    delay: Option<f64>,
    /// Smallest and largest delay, s.
    range: Option<(f64, f64)>,
    /// What was sent before the last answer tells nothing of it: the round that has to end first.
    blind: Option<Round>,
    /// An answer was given, and the next ACK begins that round.
    answered: bool,
    /// Until when it doesn't grow.
    inference_until: Option<Time>,
    /// A loss has been seen, hence a full queue: the largest delay means something.
    knows_full: bool,
}

impl Lp {
    fn new(params: &Params, setup: &Setup) -> Lp {
        Lp {
            window: Window::new(setup),
            delta: params.float("delta"),
            inference: params.float("inference"),
            one_way: params.choice("delay") == "one-way",
            deaf: params.choice("delay") == "none",
            srtt: Srtt::default(),
            delay: None,
            range: None,
            blind: None,
            answered: false,
            inference_until: None,
            knows_full: false,
        }
    }

    /// Takes in a delay; gives whether congestion begins [KK].
    fn early(&mut self, sample: f64) -> bool {
        let (min, max) = self.range.map_or((sample, sample), |(min, max)| (min.min(sample), max.max(sample)));
        self.range = Some((min, max));
        if self.blind.is_some() {
            return false;
        }
        let delay = self.delay.map_or(sample, |delay| delay + GAIN * (sample - delay));
        self.delay = Some(delay);
        // DIVERGES [KK]: not before the first loss. Until a queue was full the largest delay is that of a slow
        // start's bursts, and 15 % of it nothing: ns-3's LP stays at a hundredth of an empty link for such a reason.
        self.knows_full && delay > min + self.delta * (max - min)
    }

    fn inferring(&self, now: Time) -> bool {
        self.inference_until.is_some_and(|until| now < until)
    }

    /// Early congestion [KK].
    fn answer(&mut self, cx: &Cx) {
        if self.inferring(cx.now) {
            self.window.set_loss_window(cx);
        } else {
            self.window.cwnd = (0.5 * self.window.cwnd).max(cx.mss);
            self.inference_until = Some(cx.now + Dur::from_secs_f64(self.inference * self.srtt.secs()));
        }
        self.window.ssthresh = self.window.cwnd.max(2.0 * cx.mss);
        self.answered = true;
    }
}

impl LossDriven for Lp {
    fn window(&self) -> &Window {
        &self.window
    }

    fn window_mut(&mut self) -> &mut Window {
        &mut self.window
    }

    fn on_ack_sample(&mut self, ev: &AckEvent, cx: &Cx) {
        if std::mem::take(&mut self.answered) {
            // DIVERGES [KK]: not "in the last RTT" but until what was sent after the answer is acknowledged, and
            // the smoothed delay starts from there: its memory would take the same queue for a second indication.
            (self.blind, self.delay) = (Some(Round::from(ev.snd_nxt)), None);
        }
        if self.blind.is_some_and(|round| round.ended(ev.snd_una)) {
            self.blind = None;
        }
        let Some(rtt) = ev.rtt else { return };
        self.srtt.sample(rtt);
        // DIVERGES [KK]: no delay is taken with less than three segments outstanding. A receiver that delays its
        // ACKs holds back that of a lone one, or of the first of two when the other is lost, and 200 ms of that would
        // pass for the largest delay ever after.
        if self.deaf || ev.in_recovery || (ev.flight as f64) < 3.0 * cx.mss {
            return;
        }
        let one_way = ev.one_way.filter(|_| self.one_way);
        if self.early(one_way.unwrap_or(rtt.as_secs())) {
            self.answer(cx);
        }
    }

    fn on_ack_slow_start(&mut self, ev: &AckEvent, cx: &Cx) -> u64 {
        if self.inferring(cx.now) { 0 } else { self.window.slow_start(ev.acked, cx) }
    }

    fn on_ack_avoidance(&mut self, ev: &AckEvent, cx: &Cx) {
        if !self.inferring(cx.now) {
            self.window.additive_increase(1.0, ev.acked, cx);
        }
    }

    fn on_congestion_ssthresh(&mut self, ev: &CongestionEvent, _cx: &Cx) -> f64 {
        0.5 * ev.window
    }

    fn on_congestion_done(&mut self, _ev: &CongestionEvent, _cx: &Cx) {
        self.knows_full = true;
        self.answered = true; // a loss is an answer too [KK]
    }

    fn observe(&self, row: &mut Vec<f64>) {
        let (min, max) = self.range.unwrap_or((f64::NAN, f64::NAN));
        let inference = self.inference_until.map_or(f64::NAN, |until| until.since(Time::ZERO).as_secs());
        row.extend([self.delay.unwrap_or(f64::NAN), min, max, inference]);
    }
}
