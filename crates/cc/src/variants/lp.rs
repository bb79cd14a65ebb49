//! TCP-LP, low priority: Reno that reduces its window as soon as a queue builds up, to use only the bandwidth that
//! other flows leave.
//!
//! Source: Kuzmanovic and Knightly, TCP-LP: Low-Priority Service via End-Point Congestion Control, IEEE/ACM
//! Transactions on Networking 14(4), 2006 ("KK"). Names in the code as in [Linux tcp_lp.c lp]: owd_min, owd_max, sowd,
//! inference.
//!
//! ```text
//! delay        one-way delay of each ACK's newest segment: minimum, maximum, and smoothed with gain 1/8    [KK]
//! early congestion indication   smoothed > minimum + delta * (maximum - minimum), delta = 0.15             [KK]
//! avoidance    cwnd += 1 for each window of ACKs, but not during the inference phase                       [KK]
//!   indication                          cwnd / 2, and an inference phase of 3 round trips                  [KK]
//!   indication in the inference phase   cwnd = 1; at most one response per round trip                      [KK]
//! loss         ssthresh = cwnd = half of the window, timeout: cwnd = 1, both as Reno
//! ```
//! Both responses set ssthresh = cwnd (at least 2 segments), so that the window then grows in congestion avoidance.
//! One-way delays need timestamps; the offset of the clocks cancels out. Without timestamps (stack `ns2`) the RTT is
//! used, and a queue on the return path counts as well. [Linux tcp_lp.c tcp_lp_rtt_sample] measures no delay in seven
//! of eight connections: timestamps begin at a random value, and sowd, which is eight times the delay, overflows its 32
//! bits. LP is then Reno (`delay` = "none"). Left out: estimating the receiver's clock frequency [Linux tcp_lp.c
//! tcp_lp_remote_hz_estimator], as timestamps are microseconds here; clock drift; the exclusion of the largest delay
//! [Linux tcp_lp.c tcp_lp_rtt_sample] and the new bounds after each response [Linux tcp_lp.c tcp_lp_pkts_acked].

use crate::common::{LossDriven, Round, Srtt, Window, window_is};
use crate::{AckEvent, CongestionEvent, Cx, Requirement, Setup, StackFeature, Variant};
use dumbbell_units::param::{Kind, Params, specs};
use dumbbell_units::{Dur, Time};

pub(crate) const ROW: Variant = Variant {
    name: "lp",
    title: "TCP-LP, low priority: reduces its window when a queue builds up",
    year: 2003,
    source: "Kuzmanovic and Knightly, TCP-LP, IEEE/ACM Transactions on Networking 14(4), 2006 (INFOCOM 2003)",
    requires: &[Requirement {
        feature: StackFeature::Timestamps,
        source: "Kuzmanovic and Knightly 2006",
        why: "it measures the one-way delay with timestamps",
    }],
    on_loss: "window halved; timeout: cwnd = 1 segment",
    on_delay: "window halved when the one-way delay exceeds 15 % of its range; 1 segment if that happens again within three \
               round trips",
    on_ecn: "as to a loss, without a retransmission",
    params: specs! {
        /// threshold of early congestion, as a part of the range of delays [Kuzmanovic and Knightly 2006]
        delta = "0.15", Kind::Float { min: 0.01, max: 0.99 };
        /// round trips of the inference phase: no growth after a response [Kuzmanovic and Knightly 2006]
        inference = "3", Kind::Float { min: 0.0, max: 1000.0 };
        /// the delay that is measured; one-way becomes round-trip on a connection without timestamps
        delay = "one-way", Kind::Choice(&["one-way", "round-trip", "none"]);
    },
    stack_defaults: &[("linux", "delay", "none")],
    columns: &["delay", "delay_min", "delay_max", "inference_until"],
    build: |params, setup| Ok(Box::new(Lp::new(params, setup))),
    ..Variant::EMPTY
};

/// The gain of the smoothed delay [KK; Linux tcp_lp.c tcp_lp_rtt_sample].
const GAIN: f64 = 1.0 / 8.0;

/// The state of TCP-LP.
#[derive(Clone, Debug)]
struct Lp {
    window: Window,
    delta: f64,
    inference: f64,
    one_way: bool,
    no_delay: bool,
    srtt: Srtt,
    /// The smoothed one-way delay, s; None after each response until its first effect is measured.
    sowd: Option<f64>,
    /// owd_min and owd_max, s.
    owd_range: Option<(f64, f64)>,
    /// The round trip after a response, in which no delay is used: these segments were sent before the response.
    response_round: Option<Round>,
    /// True after a response until the next ACK, which begins that round trip.
    responded: bool,
    /// The end of the inference phase.
    inference_until: Option<Time>,
    /// True after a loss: the maximum delay is that of a full queue.
    buffer_was_full: bool,
}

impl Lp {
    fn new(params: &Params, setup: &Setup) -> Lp {
        Lp {
            window: Window::new(setup),
            delta: params.float("delta"),
            inference: params.float("inference"),
            one_way: params.choice("delay") == "one-way",
            no_delay: params.choice("delay") == "none",
            srtt: Srtt::default(),
            sowd: None,
            owd_range: None,
            response_round: None,
            responded: false,
            inference_until: None,
            buffer_was_full: false,
        }
    }

    /// Takes a delay sample. Returns true if it indicates early congestion [KK].
    fn early_congestion(&mut self, sample: f64) -> bool {
        let (min, max) = self.owd_range.map_or((sample, sample), |(min, max)| (min.min(sample), max.max(sample)));
        self.owd_range = Some((min, max));
        if self.response_round.is_some() {
            return false;
        }
        let sowd = self.sowd.map_or(sample, |sowd| sowd + GAIN * (sample - sowd));
        self.sowd = Some(sowd);
        // DIVERGES [KK]: not before the first loss. Until the queue was full once, the maximum delay is that of slow
        // start's bursts, and each delay exceeds 15 % of it: LP in ns-3 uses a hundredth of an idle link for this
        // reason.
        self.buffer_was_full && sowd > min + self.delta * (max - min)
    }

    fn in_inference(&self, now: Time) -> bool {
        self.inference_until.is_some_and(|until| now < until)
    }

    /// Responds to early congestion [KK; Linux tcp_lp.c tcp_lp_pkts_acked].
    fn respond(&mut self, cx: &Cx) {
        if self.in_inference(cx.now) {
            self.window.set_loss_window(cx);
        } else {
            self.window.cwnd = (0.5 * self.window.cwnd).max(cx.mss);
            self.inference_until = Some(cx.now + Dur::from_secs_f64(self.inference * self.srtt.secs()));
        }
        self.window.ssthresh = self.window.cwnd.max(2.0 * cx.mss);
        self.responded = true;
    }
}

impl LossDriven for Lp {
    window_is!(window);

    fn wants_one_way(&self) -> bool {
        self.one_way
    }

    fn on_ack_sample(&mut self, ev: &AckEvent, cx: &Cx) {
        if std::mem::take(&mut self.responded) {
            // DIVERGES [KK]: no delay counts until a segment that was sent after the response is acknowledged, instead
            // of for one RTT, and the smoothed delay restarts there. Otherwise its memory of the same queue would be a
            // second indication.
            (self.response_round, self.sowd) = (Some(Round::from(ev.snd_nxt)), None);
        }
        if self.response_round.is_some_and(|round| round.ended(ev.snd_una)) {
            self.response_round = None;
        }
        let Some(rtt) = ev.rtt else { return };
        self.srtt.sample(rtt);
        // DIVERGES [KK]: a delay needs at least three segments in flight. A receiver with delayed ACKs delays the ACK
        // of a single segment, or of the first of two if the other is lost, and these 200 ms would remain the maximum
        // delay.
        if self.no_delay || ev.in_recovery || (ev.flight as f64) < 3.0 * cx.mss {
            return;
        }
        let one_way = ev.one_way.filter(|_| self.one_way);
        if self.early_congestion(one_way.unwrap_or(rtt.as_secs())) {
            self.respond(cx);
        }
    }

    fn on_ack_slow_start(&mut self, ev: &AckEvent, cx: &Cx) -> u64 {
        if self.in_inference(cx.now) { 0 } else { self.window.slow_start(ev.acked, cx) }
    }

    fn on_ack_avoidance(&mut self, ev: &AckEvent, cx: &Cx) {
        if !self.in_inference(cx.now) {
            self.window.additive_increase(1.0, ev.acked, cx);
        }
    }

    fn on_congestion_ssthresh(&mut self, ev: &CongestionEvent, _cx: &Cx) -> f64 {
        0.5 * ev.window
    }

    fn on_congestion_done(&mut self, _ev: &CongestionEvent, _cx: &Cx) {
        self.buffer_was_full = true;
        self.responded = true; // the reduction after a loss is a response too [KK]
    }

    fn observe(&self, row: &mut Vec<f64>) {
        let (min, max) = self.owd_range.unwrap_or((f64::NAN, f64::NAN));
        let inference = self.inference_until.map_or(f64::NAN, |until| until.since(Time::ZERO).as_secs());
        row.extend([self.sowd.unwrap_or(f64::NAN), min, max, inference]);
    }
}
