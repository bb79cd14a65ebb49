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
//! max_rtt moves 5 % towards base_rtt, as in Linux, so that a path that got shorter is noticed. Slow start is the stack's.
//!
//! Linux's rules (`rules`): f in whole numbers, before and after the scaling, which is by 8 / floor(8 * 100 ms / base_rtt); for
//! the comparison the highest smoothed rate (3/4, 1/4) since three round trips after the last loss; beta = 0.5 where base_rtt
//! is not above 10 ms and at the first loss with a steady rate; a sample raises max_rtt if it is 20 ms above at most.
//! On a stack that counts segments the clock has ticks of 4 ms, a rate is taken over a window of segments, alpha and beta are
//! whole 128ths, and alpha is looked up at a loss (before t starts again) and when the window has grown.
//! Left out: nothing else of the draft's sender.

mod ticks;

use crate::Variant;
use crate::common::{DeliveryRate, JIFFY, LossDriven, Window};
use crate::{AckArrival, AckEvent, CongestionEvent, Cx, Setup};
use dumbbell_units::param::{Kind, Params, Spec};
use dumbbell_units::{Dur, Time};
use ticks::Ticks;

pub(crate) const ROW: Variant = Variant {
    name: "htcp",
    title: "H-TCP: the increase grows with the time since the last loss",
    year: 2004,
    source: "Leith and Shorten, H-TCP, PFLDnet 2004; draft-leith-tcp-htcp-06",
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
        Spec {
            name: "rules",
            kind: Kind::Choice(&["published", "linux"]),
            default: "published",
            doc: "how alpha, the rates and beta are computed: see the model",
        },
    ],
    stack_defaults: &[("linux", "rules", "linux")],
    columns: &["alpha", "beta", "base_rtt", "max_rtt"],
    build: |params, setup| Ok(Box::new(Htcp::new(params, setup))),
    ..Variant::EMPTY
};

/// Bounds of beta [draft-leith-tcp-htcp-06].
const BETA: (f64, f64) = (0.5, 0.8);
/// A rate that differs by more than this part is a change [draft-leith-tcp-htcp-06].
const CHANGE: f64 = 0.2;
/// The round-trip time that scaling refers to, s, and the bounds of the ratio; Linux's numbers.
const RTT_REF: f64 = 0.1;
const RATIO: (f64, f64) = (0.1, 2.0);
/// Linux: base RTT up to which beta is 0.5, and what a sample may be above max_rtt to raise it, s.
const SHORT: f64 = 0.01;
const JUMP: f64 = 0.02;
/// Linux: weight of a new rate, and round trips after a loss before rates are smoothed.
const WEIGHT: f64 = 0.25;
const FRESH: f64 = 3.0;
/// What a loss leaves of max_rtt's excess over base_rtt; Linux's number.
const FADE: f64 = 0.95;

/// When t was 0, the rate before the last loss, smallest and largest RTT, beta.
type Before = (Option<Time>, Option<f64>, Option<(f64, f64)>, f64);

/// See the top of this file.
#[derive(Clone, Debug)]
struct Htcp {
    window: Window,
    settings: Settings,
    linux: bool,
    /// Linux, on a stack that counts segments.
    ticks: Option<Ticks>,
    /// When t was 0: the first ACK, a loss, the end of its recovery.
    since: Option<Time>,
    rate: DeliveryRate,
    latest_rtt: Dur,
    /// The rate of the last round trip (Linux: the highest since the last loss) and that before the last loss, bytes/s.
    latest: Option<f64>,
    at_loss: Option<f64>,
    /// Linux: the smoothed rate, and whether the rate was steady at the last loss.
    smoothed: f64,
    was_steady: bool,
    /// Smallest and largest RTT, s.
    rtts: Option<(f64, f64)>,
    beta: f64,
    /// since, at_loss, rtts and beta before the last episode of congestion.
    before: Before,
    /// As of the last ACK in avoidance, for the trace.
    alpha: f64,
}

/// What a scenario says.
#[derive(Clone, Copy, Debug)]
struct Settings {
    delta_l: Dur,
    rtt_scaling: bool,
    adaptive_backoff: bool,
}

impl Htcp {
    fn new(params: &Params, setup: &Setup) -> Htcp {
        Htcp {
            window: Window::new(setup),
            settings: Settings {
                delta_l: params.duration("delta_l"),
                rtt_scaling: params.bool("rtt_scaling"),
                adaptive_backoff: params.bool("adaptive_backoff"),
            },
            linux: params.choice("rules") == "linux",
            ticks: None,
            since: None,
            rate: DeliveryRate::default(),
            latest_rtt: Dur::ZERO,
            latest: None,
            at_loss: None,
            smoothed: 0.0,
            was_steady: false,
            rtts: None,
            beta: BETA.0,
            before: (None, None, None, BETA.0),
            alpha: f64::NAN,
        }
    }

    /// Segments that a window of ACKs adds [LS].
    fn increase(&mut self, now: Time) -> f64 {
        let t = now.since(*self.since.get_or_insert(now)).as_secs() - self.settings.delta_l.as_secs();
        let mut f = if t > 0.0 { 1.0 + 10.0 * t + (t / 2.0) * (t / 2.0) } else { 1.0 };
        if self.linux {
            f = f.floor();
        }
        if let Some((base, _)) = self.rtts
            && self.settings.rtt_scaling
        {
            let ratio = (base / RTT_REF).clamp(RATIO.0, RATIO.1);
            f = if self.linux { (8.0 * f / (8.0 / ratio).floor()).floor() } else { f * ratio }.max(1.0);
        }
        2.0 * (1.0 - self.beta) * f
    }

    /// Linux's way on a stack that counts segments.
    fn in_ticks(&mut self, cx: &Cx) -> Option<&mut Ticks> {
        if self.linux && cx.counts_segments() {
            Some(self.ticks.get_or_insert_with(Ticks::new))
        } else {
            None
        }
    }

    /// The highest smoothed rate since the last loss, with this one.
    fn highest(&mut self, rate: f64, now: Time) -> f64 {
        let since = self.since.map_or(0.0, |since| now.since(since).as_secs());
        let fresh = self.rtts.is_none_or(|(base, _)| since <= FRESH * base);
        self.smoothed = if fresh { rate } else { self.smoothed + WEIGHT * (rate - self.smoothed) };
        let before = self.latest.filter(|_| !fresh);
        before.map_or(self.smoothed, |highest| highest.max(self.smoothed))
    }

    /// What is to be left of the window [LS].
    fn backoff(&mut self) -> f64 {
        let before = std::mem::replace(&mut self.at_loss, self.latest);
        let steady = match (before, self.latest) {
            (Some(before), Some(now)) => (now - before).abs() <= CHANGE * before,
            _ => false,
        };
        let trusted = !self.linux || self.was_steady;
        self.was_steady = steady;
        match self.rtts {
            Some((base, _)) if self.linux && base <= SHORT => BETA.0,
            Some((base, max)) if steady && trusted && self.settings.adaptive_backoff => {
                (base / max).clamp(BETA.0, BETA.1)
            }
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

    fn on_established(&mut self, _rtt: Option<Dur>, cx: &Cx) {
        if let Some(ticks) = self.in_ticks(cx) {
            ticks.begin(cx.now);
        }
    }

    fn wants_arrivals(&self) -> bool {
        self.linux
    }

    fn on_arrival(&mut self, ev: &AckArrival, cx: &Cx) {
        let cwnd = self.window.segments(cx) as u64;
        if let Some(ticks) = self.in_ticks(cx) {
            ticks.arrived(ev, cwnd, cx.mss as u64, cx.now);
        }
    }

    fn on_ack_sample(&mut self, ev: &AckEvent, cx: &Cx) {
        if self.in_ticks(cx).is_some() {
            return;
        }
        if ev.in_recovery {
            self.rate.restart(); // what recovery delivers is not the flow's rate
            return;
        }
        if let Some(rtt) = ev.rtt {
            self.latest_rtt = rtt;
            let rtt = rtt.as_secs();
            let (base, max) = self.rtts.unwrap_or((rtt, rtt));
            let higher = if self.linux && rtt > max + JUMP { max } else { max.max(rtt) };
            self.rtts = Some((base.min(rtt), higher));
        }
        if let Some(rate) = self.rate.on_ack(ev.delivered, self.latest_rtt, cx.now) {
            self.latest = Some(if self.linux { self.highest(rate, cx.now) } else { rate });
        }
    }

    fn on_ack_slow_start(&mut self, ev: &AckEvent, cx: &Cx) -> u64 {
        let rest = self.window.slow_start(ev.acked, cx);
        if self.in_ticks(cx).is_some() { 0 } else { rest } // Linux drops what is beyond ssthresh
    }

    fn on_ack_avoidance(&mut self, ev: &AckEvent, cx: &Cx) {
        let (cwnd, settings) = (self.window.segments(cx), self.settings);
        let counted = (*self.window.cwnd_cnt() / cx.mss) as u64;
        if let Some(ticks) = self.in_ticks(cx) {
            let (counted, grows) = ticks.avoid(counted, cwnd as u64, cx.now, &settings);
            *self.window.cwnd_cnt() = counted as f64 * cx.mss;
            self.window.cwnd += if grows { cx.mss } else { 0.0 };
            return;
        }
        self.alpha = self.increase(cx.now).min(cwnd);
        self.window.additive_increase(self.alpha, ev.acked, cx);
    }

    fn on_congestion_begin(&mut self) {
        self.before = (self.since, self.at_loss, self.rtts, self.beta);
    }

    fn on_undo(&mut self, _reduced_cwnd: f64, _cx: &Cx) {
        if let Some(ticks) = &mut self.ticks {
            ticks.undone();
            return;
        }
        let (since, at_loss, rtts, beta) = self.before;
        (self.since, self.at_loss, self.beta) = (since, at_loss, beta);
        if let (Some((base, max)), Some((_, before))) = (self.rtts, rtts) {
            self.rtts = Some((base, max.max(before)));
        }
    }

    fn on_congestion_ssthresh(&mut self, ev: &CongestionEvent, cx: &Cx) -> f64 {
        let settings = self.settings;
        if let Some(ticks) = self.in_ticks(cx) {
            return ticks.reduce((ev.window / cx.mss) as u64, cx.now, &settings) as f64 * cx.mss;
        }
        self.beta = self.backoff();
        if let Some((base, max)) = &mut self.rtts {
            *max = *base + FADE * (*max - *base);
        }
        self.since = Some(cx.now);
        self.beta * ev.window
    }

    fn on_recovery_exit(&mut self, cx: &Cx) {
        match self.in_ticks(cx) {
            Some(ticks) => ticks.settled(cx.now),
            None => self.since = Some(cx.now),
        }
    }

    fn on_restart(&mut self, cx: &Cx) {
        if self.ticks.is_some() {
            return; // Linux goes on as if nothing had happened
        }
        self.since = Some(cx.now); // the pause says nothing of the path
        self.rate.restart();
    }

    fn observe(&self, row: &mut Vec<f64>) {
        if let Some(t) = &self.ticks {
            let unit = |n: u64| n as f64 / ticks::UNIT as f64;
            let span = |ticks: u64| if ticks == 0 { f64::NAN } else { (JIFFY * ticks).as_secs() };
            row.extend([unit(t.alpha), unit(t.beta), span(t.min), span(t.max)]);
            return;
        }
        let (base, max) = self.rtts.unwrap_or((f64::NAN, f64::NAN));
        row.extend([self.alpha, self.beta, base, max]);
    }
}
