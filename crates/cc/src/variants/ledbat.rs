//! LEDBAT: keeps the queueing delay at a target, to use only the bandwidth that other flows leave [RFC 6817].
//!
//! ```text
//! delay        queueing_delay = min(current_delays: last 4 samples) - min(base_delays: last 10 minutes)   [§2.4.2]
//! each ACK     off_target = (TARGET - queueing_delay) / TARGET
//!              cwnd += GAIN * off_target * bytes_newly_acked * MSS / cwnd
//!              at most flightsize + ALLOWED_INCREASE * MSS, at least MIN_CWND = 2 segments               [§2.4.2]
//! loss         cwnd / 2, at least 2 segments, once per round trip;  ssthresh = cwnd
//! timeout      cwnd = 1 segment, slow start up to half of the window
//! ```
//! TARGET is at most 100 ms, GAIN at most 1: then LEDBAT never grows faster than Reno. The delay is one-way with
//! timestamps (the offset of the clocks cancels out), otherwise the RTT, which includes queues on the return path. Left
//! out: slow start at the beginning of the connection, unless `slow_start` is set (it ends with the first queueing
//! delay above the target); clock drift.

use crate::common::{BaseDelay, LossDriven, Window, window_is};
use crate::{AckEvent, CongestionEvent, Cx, Requirement, Setup, StackFeature, Variant};
use dumbbell_units::Dur;
use dumbbell_units::param::{Kind, ParamError, Params, specs};

pub(crate) const ROW: Variant = Variant {
    name: "ledbat",
    title: "low extra delay background transport: keeps the queueing delay at a target",
    year: 2012,
    source: "RFC 6817",
    requires: &[Requirement {
        feature: StackFeature::Timestamps,
        source: "RFC 6817 §2.3",
        why: "the receiver has to report the one-way delay",
    }],
    on_loss: "window halved; timeout: cwnd = 1 segment",
    on_delay: "grows below the target, by a segment per round trip without a queue, and shrinks above it",
    on_ecn: "as to a loss, without a retransmission",
    params: specs! {
        /// TARGET, the queueing delay to keep; at most 100 ms [RFC 6817]
        target = "100 ms", Kind::Duration;
        /// GAIN, the growth in segments per round trip without a queue [RFC 6817]
        gain = "1", Kind::Float { min: 0.001, max: 1.0 };
        /// BASE_HISTORY, the minutes over which the base delay is the minimum [RFC 6817]
        base_history = "10", Kind::Int { min: 1, max: 1000 };
        /// ALLOWED_INCREASE, the segments by which the window may exceed the data in flight [RFC 6817]
        allowed_increase = "1", Kind::Float { min: 0.001, max: 1000.0 };
        /// whether a connection begins with slow start, up to the first queueing delay above the target
        slow_start = "false", Kind::Bool;
        /// the delay that is measured; one-way becomes round-trip on a connection without timestamps
        delay = "one-way", Kind::Choice(&["one-way", "round-trip"]);
    },
    columns: &["queueing_delay", "base_delay"],
    build: |params, setup| Ok(Box::new(Ledbat::new(params, setup)?)),
    ..Variant::EMPTY
};

/// The smallest window, segments [RFC 6817 §2.5].
const MIN_CWND: f64 = 2.0;
/// The largest TARGET [RFC 6817 §2.5].
const MAX_TARGET: Dur = Dur::millis(100);

/// The state of LEDBAT.
#[derive(Clone, Debug)]
struct Ledbat {
    window: Window,
    target: f64,
    gain: f64,
    allowed_increase: f64,
    one_way: bool,
    delay: BaseDelay,
}

impl Ledbat {
    fn new(params: &Params, setup: &Setup) -> Result<Ledbat, ParamError> {
        let target = params.duration("target");
        if target == Dur::ZERO || target > MAX_TARGET {
            let message = format!("{target} given, more than 0 and at most {MAX_TARGET} is needed");
            return Err(ParamError { name: "target".into(), message });
        }
        let mut window = Window::new(setup);
        if !params.bool("slow_start") {
            window.ssthresh = window.cwnd;
        }
        Ok(Ledbat {
            window,
            target: target.as_secs(),
            gain: params.float("gain"),
            allowed_increase: params.float("allowed_increase"),
            one_way: params.choice("delay") == "one-way",
            delay: BaseDelay::new(usize::try_from(params.int("base_history")).unwrap_or(usize::MAX)),
        })
    }

    fn queueing_delay(&self) -> f64 {
        self.delay.queueing().unwrap_or(f64::NAN)
    }

    /// Updates the window after an ACK [RFC 6817 §2.4.2].
    fn update_cwnd(&mut self, ev: &AckEvent, cx: &Cx) {
        let off_target = 1.0 - self.queueing_delay() / self.target;
        // A stack that waits for a longer burst doesn't fill the window, although the window limits it.
        let whole = (self.window.cwnd / cx.mss).floor() * cx.mss;
        let flightsize = if ev.cwnd_limited { whole.max(ev.flight as f64) } else { ev.flight as f64 };
        let max_allowed_cwnd = flightsize + self.allowed_increase * cx.mss;
        let cwnd = self.window.cwnd + self.gain * off_target * ev.acked as f64 * cx.mss / self.window.cwnd;
        self.window.cwnd = cwnd.min(max_allowed_cwnd).max(MIN_CWND * cx.mss);
        // The window grows on from here: a queue doesn't cause slow start.
        self.window.ssthresh = self.window.ssthresh.min(self.window.cwnd);
    }
}

impl LossDriven for Ledbat {
    window_is!(window);

    fn wants_one_way(&self) -> bool {
        self.one_way
    }

    fn on_ack_sample(&mut self, ev: &AckEvent, cx: &Cx) {
        let Some(rtt) = ev.rtt else { return };
        let one_way = ev.one_way.filter(|_| self.one_way);
        self.delay.sample(one_way.unwrap_or(rtt.as_secs()), cx.now);
        if ev.in_recovery || ev.in_loss || ev.acked == 0 {
            return;
        }
        if self.window.in_slow_start() && self.queueing_delay() <= self.target {
            return;
        }
        self.update_cwnd(ev, cx);
    }

    fn on_ack_avoidance(&mut self, _ev: &AckEvent, _cx: &Cx) {}

    fn on_congestion_ssthresh(&mut self, ev: &CongestionEvent, _cx: &Cx) -> f64 {
        0.5 * ev.window
    }

    fn observe(&self, row: &mut Vec<f64>) {
        row.extend([self.queueing_delay(), self.delay.base().unwrap_or(f64::NAN)]);
    }
}
