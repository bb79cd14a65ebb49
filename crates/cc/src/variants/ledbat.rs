//! LEDBAT: keeps the queueing delay at a target, so that it uses what others leave and gives way to them [RFC 6817].
//!
//! ```text
//! delay        smallest of the last 4 samples less the smallest of the last 10 minutes
//! each ACK     cwnd += gain * (target - delay) / target * acked / cwnd segments
//!              at most what was outstanding plus 1 segment, at least 2 segments
//! loss         cwnd / 2, at least 2 segments, once a round trip;  ssthresh = cwnd
//! timeout      cwnd = 1 segment, slow start to half the window
//! ```
//! target is 100 ms at most, gain 1 at most: then it is never faster than Reno. A delay is one-way where there are
//! timestamps (the offset of the clocks cancels out), else the RTT, in which a queue on the way back counts as well.
//! Left out: slow start where the connection begins, unless `slow_start` asks for it (it ends with the first queue above the
//! target); a drift of the clocks.

use crate::Variant;
use crate::common::{BaseDelay, LossDriven, Window};
use crate::{AckEvent, CongestionEvent, Cx, Setup};
use dumbbell_units::Dur;
use dumbbell_units::param::{Kind, ParamError, Params, Spec};

pub(crate) const ROW: Variant = Variant {
    name: "ledbat",
    title: "low extra delay background transport: keeps the queueing delay at a target",
    year: 2012,
    source: "RFC 6817",
    on_loss: "window halved; timeout: cwnd = 1 segment",
    on_delay: "grows below the target, by a segment a round trip without a queue, and shrinks above it",
    on_ecn: "as to a loss, without a retransmission",
    params: &[
        Spec {
            name: "target",
            kind: Kind::Duration,
            default: "100 ms",
            doc: "queueing delay that it keeps; at most 100 ms [RFC 6817]",
        },
        Spec {
            name: "gain",
            kind: Kind::Float { min: 0.001, max: 1.0 },
            default: "1",
            doc: "segments gained in a round trip without a queue [RFC 6817]",
        },
        Spec {
            name: "base_history",
            kind: Kind::Int { min: 1, max: 1000 },
            default: "10",
            doc: "minutes that the smallest delay is remembered [RFC 6817]",
        },
        Spec {
            name: "allowed_increase",
            kind: Kind::Float { min: 0.001, max: 1000.0 },
            default: "1",
            doc: "segments that the window may be larger than what was outstanding [RFC 6817]",
        },
        Spec {
            name: "slow_start",
            kind: Kind::Bool,
            default: "false",
            doc: "whether a connection begins with slow start, up to the first delay above the target",
        },
        Spec {
            name: "delay",
            kind: Kind::Choice(&["one-way", "round-trip"]),
            default: "one-way",
            doc: "which delay; one-way becomes round-trip on a connection without timestamps",
        },
    ],
    columns: &["queueing_delay", "base_delay"],
    build: |params, setup| Ok(Box::new(Ledbat::new(params, setup)?)),
    ..Variant::EMPTY
};

/// Segments of the smallest window (MIN_CWND) [RFC 6817].
const LEAST: f64 = 2.0;
/// The largest target [RFC 6817].
const TARGET_MAX: Dur = Dur::millis(100);

/// See the top of this file.
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
        if target == Dur::ZERO || target > TARGET_MAX {
            let message = format!("{target} given, more than 0 and at most {TARGET_MAX} is needed");
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

    fn queueing(&self) -> f64 {
        self.delay.queueing().unwrap_or(f64::NAN)
    }

    /// The window after an ACK of avoidance [RFC 6817].
    fn adapt(&mut self, ev: &AckEvent, cx: &Cx) {
        let off_target = 1.0 - self.queueing() / self.target;
        // A stack that waits for a longer burst leaves room in a window that is used nonetheless.
        let whole = (self.window.cwnd / cx.mss).floor() * cx.mss;
        let used = if ev.cwnd_limited { whole.max(ev.flight as f64) } else { ev.flight as f64 };
        let most = used + self.allowed_increase * cx.mss;
        let grown = self.window.cwnd + self.gain * off_target * ev.acked as f64 * cx.mss / self.window.cwnd;
        self.window.cwnd = grown.min(most).max(LEAST * cx.mss);
        // Growth goes on from here: a queue is no reason for slow start.
        self.window.ssthresh = self.window.ssthresh.min(self.window.cwnd);
    }
}

impl LossDriven for Ledbat {
    fn window(&self) -> &Window {
        &self.window
    }

    fn window_mut(&mut self) -> &mut Window {
        &mut self.window
    }

    fn on_ack_sample(&mut self, ev: &AckEvent, cx: &Cx) {
        let Some(rtt) = ev.rtt else { return };
        let one_way = ev.one_way.filter(|_| self.one_way);
        self.delay.sample(one_way.unwrap_or(rtt.as_secs()), cx.now);
        if ev.in_recovery || ev.in_loss || ev.acked == 0 {
            return;
        }
        if self.window.in_slow_start() && self.queueing() <= self.target {
            return;
        }
        self.adapt(ev, cx);
    }

    fn on_ack_avoidance(&mut self, _ev: &AckEvent, _cx: &Cx) {}

    fn on_congestion_ssthresh(&mut self, ev: &CongestionEvent, _cx: &Cx) -> f64 {
        0.5 * ev.window
    }

    fn observe(&self, row: &mut Vec<f64>) {
        row.extend([self.queueing(), self.delay.base().unwrap_or(f64::NAN)]);
    }
}
