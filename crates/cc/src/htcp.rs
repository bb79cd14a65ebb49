//! H-TCP: the increase grows with the time since the last loss, the decrease follows the round-trip times [Leith and
//! Shorten, H-TCP: TCP for High-Speed and Long-Distance Networks, PFLDnet 2004, "LS"; draft-leith-tcp-htcp-06].
//!
//! ```text
//! avoidance    cwnd += alpha for each window of ACKs, at most one segment for each acknowledged         [LS]
//!   f(t)       1 up to delta_l, then 1 + 10 (t - delta_l) + ((t - delta_l) / 2)^2, t in s since the last loss
//!   scaled     f * base_rtt / 100 ms, that ratio within 0.1 .. 2, at least 1 (rtt_scaling)
//!   alpha      2 (1 - beta) * f                          whatever beta is, as fair as with one half
//! loss         beta = base_rtt / max_rtt within 0.5 .. 0.8; 0.5 if the rate just before differs by more than a fifth
//!              from that at the last loss, and at the first;  ssthresh = beta * window, cwnd = ssthresh  [LS]
//! timeout      ssthresh likewise, cwnd = 1
//! ```
//! t starts again when a recovery ends. The rate is what was delivered over the last whole round trip. After each loss
//! max_rtt moves 5 % towards base_rtt, as in Linux, so that a path that got shorter is noticed. Slow start is Reno's.
//! Linux takes the highest rate since the last loss for the comparison, and beta = 0.5 where base_rtt is under 10 ms.
//! Left out: nothing else of the draft's sender.

use crate::common::{DeliveryRate, LossDriven, Window};
use crate::registry::{EcnUse, Variant};
use crate::{AckEvent, CongestionEvent, Cx, Start};
use dumbbell_units::param::{Kind, Params, Spec};
use dumbbell_units::{Dur, Time};

pub(crate) const ROW: Variant = Variant {
    name: "htcp",
    title: "H-TCP: the increase grows with the time since the last loss",
    year: 2004,
    source: "Leith and Shorten, H-TCP, PFLDnet 2004; draft-leith-tcp-htcp-06",
    shell: None,
    fine_timeouts: false,
    own_recovery: false,
    ecn: EcnUse::Stack,
    on_loss: "window to base_rtt / max_rtt of it, within 0.5 and 0.8, to 0.5 when the rate has changed; timeout: \
              cwnd = 1 segment",
    on_delay: "none",
    on_ecn: "as to a loss, without a retransmission",
    params: &[
        Spec {
            name: "delta_l",
            kind: Kind::Duration,
            default: "1 s",
            doc: "time after a loss in which it grows as Reno does [Leith and Shorten 2004]",
        },
        Spec {
            name: "rtt_scaling",
            kind: Kind::Bool,
            default: "true",
            doc: "whether the increase is in proportion to base_rtt, so that flows of unequal RTT share alike",
        },
        Spec {
            name: "adaptive_backoff",
            kind: Kind::Bool,
            default: "true",
            doc: "whether beta follows the round-trip times; else it is 0.5",
        },
    ],
    stacks: &[],
    columns: &["alpha", "beta", "base_rtt", "max_rtt"],
    build: |params, start| Ok(Box::new(Htcp::new(params, start))),
};

/// Bounds of beta [draft-leith-tcp-htcp-06].
const BETA: (f64, f64) = (0.5, 0.8);
/// A rate that differs by more than this part is a change [draft-leith-tcp-htcp-06].
const CHANGE: f64 = 0.2;
/// The round-trip time that scaling refers to, s, and the bounds of the ratio; Linux's numbers.
const RTT_REF: f64 = 0.1;
const RATIO: (f64, f64) = (0.1, 2.0);
/// What a loss leaves of max_rtt's excess over base_rtt; Linux's number.
const FADE: f64 = 0.95;

/// When t was 0, the rate before the last loss, smallest and largest RTT, beta.
type Before = (Option<Time>, Option<f64>, Option<(f64, f64)>, f64);

/// See the top of this file.
#[derive(Clone, Debug)]
struct Htcp {
    window: Window,
    delta_l: f64,
    rtt_scaling: bool,
    adaptive_backoff: bool,
    /// When t was 0: the first ACK, a loss, the end of its recovery.
    since: Option<Time>,
    rate: DeliveryRate,
    latest_rtt: Dur,
    /// The rate of the last round trip and that before the last loss, bytes/s.
    latest: Option<f64>,
    at_loss: Option<f64>,
    /// Smallest and largest RTT, s.
    rtts: Option<(f64, f64)>,
    beta: f64,
    /// since, at_loss, rtts and beta before the last episode of congestion.
    before: Before,
    /// As of the last ACK in avoidance, for the trace.
    alpha: f64,
}

impl Htcp {
    fn new(params: &Params, start: &Start) -> Htcp {
        Htcp {
            window: Window::new(start),
            delta_l: params.duration("delta_l").as_secs(),
            rtt_scaling: params.bool("rtt_scaling"),
            adaptive_backoff: params.bool("adaptive_backoff"),
            since: None,
            rate: DeliveryRate::default(),
            latest_rtt: Dur::ZERO,
            latest: None,
            at_loss: None,
            rtts: None,
            beta: BETA.0,
            before: (None, None, None, BETA.0),
            alpha: f64::NAN,
        }
    }

    /// Segments that a window of ACKs adds [LS].
    fn increase(&mut self, now: Time) -> f64 {
        let t = now.since(*self.since.get_or_insert(now)).as_secs() - self.delta_l;
        let mut f = if t > 0.0 { 1.0 + 10.0 * t + (t / 2.0) * (t / 2.0) } else { 1.0 };
        if let Some((base, _)) = self.rtts
            && self.rtt_scaling
        {
            f = (f * (base / RTT_REF).clamp(RATIO.0, RATIO.1)).max(1.0);
        }
        2.0 * (1.0 - self.beta) * f
    }

    /// What is to be left of the window [LS].
    fn backoff(&mut self) -> f64 {
        let before = std::mem::replace(&mut self.at_loss, self.latest);
        let steady = match (before, self.latest) {
            (Some(before), Some(now)) => (now - before).abs() <= CHANGE * before,
            _ => false,
        };
        match self.rtts {
            Some((base, max)) if steady && self.adaptive_backoff => (base / max).clamp(BETA.0, BETA.1),
            _ => BETA.0,
        }
    }
}

impl LossDriven for Htcp {
    fn window(&self) -> &Window {
        &self.window
    }

    fn window_mut(&mut self) -> &mut Window {
        &mut self.window
    }

    fn measure(&mut self, ev: &AckEvent, cx: &Cx) {
        if ev.in_recovery {
            self.rate.restart(); // what recovery delivers is not the flow's rate
            return;
        }
        if let Some(rtt) = ev.rtt {
            self.latest_rtt = rtt;
            let rtt = rtt.as_secs();
            let (base, max) = self.rtts.unwrap_or((rtt, rtt));
            self.rtts = Some((base.min(rtt), max.max(rtt)));
        }
        if let Some(rate) = self.rate.on_ack(ev.delivered, self.latest_rtt, cx.now) {
            self.latest = Some(rate);
        }
    }

    fn avoid(&mut self, ev: &AckEvent, cx: &Cx) {
        let cwnd = self.window.segments(cx);
        self.alpha = self.increase(cx.now).min(cwnd);
        self.window.additive(self.alpha, ev.acked, cx);
    }

    fn episode_begins(&mut self) {
        self.before = (self.since, self.at_loss, self.rtts, self.beta);
    }

    fn undone(&mut self, _cx: &Cx) {
        let (since, at_loss, rtts, beta) = self.before;
        (self.since, self.at_loss, self.beta) = (since, at_loss, beta);
        if let (Some((base, max)), Some((_, before))) = (self.rtts, rtts) {
            self.rtts = Some((base, max.max(before)));
        }
    }

    fn reduce(&mut self, ev: &CongestionEvent, cx: &Cx) -> f64 {
        self.beta = self.backoff();
        if let Some((base, max)) = &mut self.rtts {
            *max = *base + FADE * (*max - *base);
        }
        self.since = Some(cx.now);
        self.beta * ev.window
    }

    fn recovered(&mut self, cx: &Cx) {
        self.since = Some(cx.now);
    }

    fn restarted(&mut self, cx: &Cx) {
        self.since = Some(cx.now); // the pause says nothing of the path
        self.rate.restart();
    }

    fn columns(&self, row: &mut Vec<f64>) {
        let (base, max) = self.rtts.unwrap_or((f64::NAN, f64::NAN));
        row.extend([self.alpha, self.beta, base, max]);
    }
}
