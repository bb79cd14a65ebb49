//! CDG, CAIA delay gradient: backs off with a probability that grows with the slope of the round-trip time, and takes a loss
//! for congestion only when the queue seems full [Hayes and Armitage, Revisiting TCP Congestion Control Using Delay
//! Gradients, Networking 2011, "HA"; their code in FreeBSD].
//!
//! ```text
//! once a round trip    g_min, g_max = change of its smallest and largest RTT, each the mean of the last `window` ones  [HA]
//!   g = g_min if above 0, else g_max:  with probability 1 - e^(-g / scale)  ssthresh = cwnd = beta * window            [HA]
//!   but not after `ineffectual` of them in a row without a fall of the RTT, for the next `hold`: a loss-based flow is beside it
//!   queue    full: g_min > 0, g_max <= 0;  empty: g_min = 0, g_max < 0;  rising: both > 0;  falling: both < 0          [HA]
//! growth     slow start and avoidance as Reno, not in the round trip after backing off
//! loss       with the queue full or nothing known: half, but not below the shadow window, which a loss halves         [HA]
//!            else nothing (tolerance);  timeout: ssthresh = half, cwnd = 1 segment
//! shadow     the window that no backing off has touched: max(shadow, cwnd) at each, grows as cwnd does; none with an empty
//!            queue                                                                                                    [HA]
//! ```
//! In slow start the latest g counts instead of the mean. Linux takes the mean of what there is while there are fewer than
//! `window`, in slow start too (`extrapolate`), holds until a backing off has an effect (`hold` = 0), believes every loss.
//!
//! Linux's rules (`rules`): where ACKs cover several segments, one that covers a single segment is taken for delayed by the
//! receiver's timer and counts for the smallest RTT only, if there is one; backing off takes a round trip, in proportion to
//! what is delivered, and a loss within it asks for nothing more; a fall of the RTT counts from 4 us a round trip on; a timeout
//! is answered as a loss is. Slow start ends with a train of ACKs at most 3 ms apart that is longer than half the smallest
//! RTT, or if the smallest of a round's more than 8 samples is above it by an eighth.
//! Left out: the published filter for ACKs that a receiver's timer has delayed.

use crate::Variant;
use crate::common::{LossDriven, Round, Window};
use crate::{AckEvent, Congestion, CongestionEvent, Cx, Setup};
use dumbbell_units::param::{Kind, ParamError, Params, Spec};
use dumbbell_units::random::Stream;
use dumbbell_units::{Dur, Time};
use std::collections::VecDeque;

pub(crate) const ROW: Variant = Variant {
    name: "cdg",
    title: "backs off at random, the more the steeper the round-trip time rises",
    year: 2011,
    source: "Hayes and Armitage, Revisiting TCP Congestion Control Using Delay Gradients, Networking 2011",
    on_loss: "window halved if the queue seems full, but not below the shadow window; timeout: cwnd = 1 segment",
    on_delay: "while the RTT rises: window to beta of it, once a round trip with a probability that follows the slope",
    on_ecn: "as to a loss with a full queue, without a retransmission",
    params: &[
        Spec {
            name: "window",
            kind: Kind::Int { min: 1, max: 256 },
            default: "8",
            doc: "round trips that the slope is the mean of [Hayes and Armitage 2011]",
        },
        Spec {
            name: "scale",
            kind: Kind::Duration,
            default: "3 ms",
            doc: "slope, in a round trip, at which it backs off with a probability of 63 % (G) [Hayes and Armitage 2011]; \
                  Linux: backoff_factor = 1 s / (scale * window)",
        },
        Spec {
            name: "beta",
            kind: Kind::Float { min: 0.01, max: 0.99 },
            default: "0.7",
            doc: "what backing off leaves of the window [Hayes and Armitage 2011]",
        },
        Spec {
            name: "ineffectual",
            kind: Kind::Int { min: 0, max: 1000 },
            default: "5",
            doc: "how often in a row it backs off while the RTT goes on rising; 0: always (Linux: use_ineff)",
        },
        Spec {
            name: "hold",
            kind: Kind::Int { min: 0, max: 1000 },
            default: "5",
            doc: "how often it then leaves it out; 0: until the RTT has fallen",
        },
        Spec {
            name: "tolerance",
            kind: Kind::Bool,
            default: "true",
            doc: "whether losses with a queue that isn't full leave the window as it is (Linux: use_tolerance)",
        },
        Spec {
            name: "shadow",
            kind: Kind::Bool,
            default: "true",
            doc: "whether a loss gives back what backing off has taken before (Linux: use_shadow)",
        },
        Spec {
            name: "extrapolate",
            kind: Kind::Bool,
            default: "false",
            doc: "whether the mean of fewer slopes than `window` stands for all, and counts in slow start too",
        },
        Spec {
            name: "rules",
            kind: Kind::Choice(&["published", "linux"]),
            default: "published",
            doc: "which samples count, how it backs off and when it leaves slow start: see the model",
        },
    ],
    stack_defaults: &[
        ("linux", "scale", "2.976 ms"),
        ("linux", "beta", "0.7071"),
        ("linux", "hold", "0"),
        ("linux", "tolerance", "false"),
        ("linux", "extrapolate", "true"),
        ("linux", "rules", "linux"),
    ],
    columns: &["g_min", "g_max", "shadow", "queue"],
    build: |params, setup| Ok(Box::new(Cdg::new(params, setup)?)),
    ..Variant::EMPTY
};

/// What the slopes say of the queue; the number is the trace's.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Queue {
    Unknown = 0,
    Empty = 1,
    Rising = 2,
    Falling = 3,
    Full = 4,
}

/// Linux: a sum of slopes from which on the RTT has fallen, s.
const FALL: f64 = 32e-6;
/// Linux: how many delayed ACKs it expects at most.
const MOST_DELAYED: u32 = 5;
/// Linux's slow start: longest gap within a train, shortest bound, samples of a round before the smallest counts.
const GAP: Dur = Dur::millis(3);
const LEAST: f64 = 125e-6;
const SAMPLES: u32 = 8;

/// Backing off, gradually: from which window to which, what was delivered since, and what the ACK that began it let out,
/// which counts already; bytes.
#[derive(Clone, Copy, Debug)]
struct Way {
    from: f64,
    to: f64,
    delivered: f64,
    out: f64,
}

/// What Linux looks at in slow start, round by round.
#[derive(Clone, Copy, Debug, Default)]
struct Train {
    began: Option<Time>,
    last: Time,
    samples: u32,
}

/// Smallest and largest RTT of a round trip, or how they changed, s.
type Extremes = (f64, f64);

/// See the top of this file.
#[derive(Clone, Debug)]
struct Cdg {
    window: Window,
    length: usize,
    scale: f64,
    beta: f64,
    ineffectual: u64,
    hold: u64,
    tolerance: bool,
    keep_shadow: bool,
    extrapolate: bool,
    random: Stream,
    round: Option<Round>,
    current: Option<Extremes>,
    previous: Option<Extremes>,
    gradients: VecDeque<Extremes>,
    /// The means, for the trace.
    mean: Extremes,
    queue: Queue,
    /// Times in a row that the slope asked for backing off.
    asked: u64,
    /// What was outstanding at the last backing off has to be acknowledged first.
    backing_off: Option<Round>,
    linux: bool,
    /// Linux: how backing off goes; a recovery has just ended, from which on slopes count anew; how many delayed ACKs are expected; the end of slow start, the smallest RTT of all.
    way: Option<Way>,
    recovered: bool,
    delayed: u32,
    train: Train,
    base_rtt: f64,
    /// Bytes; 0: none.
    shadow: f64,
    shadow_before: f64,
}

impl Cdg {
    fn new(params: &Params, setup: &Setup) -> Result<Cdg, ParamError> {
        let scale = params.duration("scale");
        if scale == Dur::ZERO {
            return Err(ParamError { name: "scale".into(), message: "0 given, more is needed".into() });
        }
        let window = Window::new(setup);
        Ok(Cdg {
            length: usize::try_from(params.int("window")).unwrap_or(1),
            scale: scale.as_secs(),
            beta: params.float("beta"),
            ineffectual: params.int("ineffectual"),
            hold: params.int("hold"),
            tolerance: params.bool("tolerance"),
            keep_shadow: params.bool("shadow"),
            extrapolate: params.bool("extrapolate"),
            random: Stream::new(setup.seed, "cdg"),
            round: None,
            current: None,
            previous: None,
            gradients: VecDeque::new(),
            mean: (f64::NAN, f64::NAN),
            queue: Queue::Unknown,
            asked: 0,
            backing_off: None,
            linux: params.choice("rules") == "linux",
            way: None,
            recovered: false,
            delayed: 0,
            train: Train::default(),
            base_rtt: f64::INFINITY,
            shadow: window.cwnd,
            shadow_before: 0.0,
            window,
        })
    }

    /// Starts measuring anew; what has been measured is what the next round trip is compared with.
    fn new_round(&mut self, round: Option<Round>) {
        self.round = round;
        self.train = Train::default();
        if self.linux {
            self.previous = self.current.take();
        } else if let Some(current) = self.current.take() {
            self.previous = Some(current);
        }
    }

    /// Takes the slope of a round trip in; gives the one that counts [HA].
    fn slope(&mut self, latest: Extremes) -> f64 {
        if self.gradients.len() == self.length {
            self.gradients.pop_front();
        }
        self.gradients.push_back(latest);
        let (low, high) = self.gradients.iter().fold((0.0, 0.0), |sum, g| (sum.0 + g.0, sum.1 + g.1));
        let n = if self.extrapolate { self.gradients.len() } else { self.length } as f64;
        self.mean = (low / n, high / n);
        let (low, high) = self.mean;
        self.queue = match () {
            () if low > 0.0 && high <= 0.0 => Queue::Full,
            () if low >= 0.0 && high < 0.0 => Queue::Empty,
            () if low > 0.0 && high > 0.0 => Queue::Rising,
            () if low < 0.0 && high < 0.0 => Queue::Falling,
            () => self.queue,
        };
        if self.queue == Queue::Empty {
            self.shadow = 0.0;
        }
        let fall = if self.linux { FALL / n } else { f64::MIN_POSITIVE };
        if low <= -fall || high <= -fall {
            self.asked = 0;
        }
        let raw = self.window.in_slow_start() && !self.extrapolate;
        let candidates = [latest.0, low, latest.1, high];
        let uses = [raw, true, raw, true];
        candidates.into_iter().zip(uses).find(|(g, use_it)| *use_it && *g > 0.0).map_or(0.0, |(g, _)| g)
    }

    /// Whether to back off after a round trip with this slope [HA].
    fn backs_off(&mut self, slope: f64) -> bool {
        if slope <= 0.0 || self.random.uniform() >= 1.0 - libm::exp(-slope / self.scale) {
            return false;
        }
        self.asked += 1;
        let effectual = self.ineffectual == 0 || self.asked <= self.ineffectual;
        if !effectual && self.hold > 0 && self.asked >= self.ineffectual + self.hold {
            self.asked = 0;
        }
        effectual
    }

    /// A sample of the running round; by Linux's rules perhaps not.
    fn sample(&mut self, rtt: f64, ev: &AckEvent, cx: &Cx) {
        if self.linux && ev.acked > 0 && !ev.in_recovery {
            let segments = ev.acked as f64 / cx.mss;
            if segments <= 1.0 && self.delayed > 0 {
                self.delayed -= 1;
                if let Some((low, _)) = &mut self.current {
                    *low = low.min(rtt);
                }
                return;
            } else if segments > 1.0 && self.delayed < MOST_DELAYED {
                self.delayed += 1;
            }
        }
        let (low, high) = self.current.unwrap_or((rtt, rtt));
        self.current = Some((low.min(rtt), high.max(rtt)));
    }

    /// Whether slow start is over, as Linux has it.
    fn train_is_over(&mut self, ev: &AckEvent, cx: &Cx) -> bool {
        let Some((least, _)) = self.current else { return false };
        self.base_rtt = self.base_rtt.min(least);
        match self.train.began.filter(|_| ev.cwnd_limited) {
            None => (self.train.began, self.train.last) = (Some(cx.now), cx.now),
            Some(began) if cx.now.since(self.train.last) < GAP => {
                self.train.last = cx.now;
                if cx.now.since(began).as_secs() > (self.base_rtt / 2.0).max(LEAST) {
                    return true;
                }
            }
            Some(_) => {}
        }
        if self.train.samples < SAMPLES {
            self.train.samples += 1;
            return false;
        }
        least > (self.base_rtt * 1.125).max(LEAST)
    }

    /// What is left to do of backing off: as proportional rate reduction has it.
    fn go_on(&mut self, ev: &AckEvent, cx: &Cx) {
        let Some(way) = &mut self.way else { return };
        way.delivered += ev.delivered as f64;
        let sent = (way.delivered * way.to / way.from / cx.mss).ceil() * cx.mss;
        self.window.cwnd = (way.from - way.delivered + (sent - way.out).max(0.0)).max(way.to);
    }

    /// The shadow window grows by as much as cwnd has.
    fn grow_shadow(&mut self, before: f64) {
        if self.shadow > 0.0 {
            self.shadow += self.window.cwnd - before;
        }
    }
}

impl LossDriven for Cdg {
    fn window(&self) -> &Window {
        &self.window
    }

    fn window_mut(&mut self) -> &mut Window {
        &mut self.window
    }

    fn on_ack_sample(&mut self, ev: &AckEvent, cx: &Cx) {
        if let Some(rtt) = ev.rtt.map(Dur::as_secs) {
            self.sample(rtt, ev, cx);
        }
        if ev.in_recovery || (ev.in_loss && !self.linux) {
            return;
        }
        if std::mem::take(&mut self.recovered) {
            self.new_round(Some(Round::from(ev.snd_nxt)));
            return;
        }
        if let Some(round) = self.backing_off {
            self.go_on(ev, cx);
            if round.ended(ev.snd_una) {
                if let Some(way) = self.way.take() {
                    self.window.cwnd = way.to;
                }
                self.backing_off = None;
                self.new_round(Some(Round::from(ev.snd_nxt)));
            }
            return;
        }
        if self.linux && self.window.in_slow_start() && self.train_is_over(ev, cx) {
            self.window.ssthresh = self.window.cwnd;
        }
        if self.round.is_none_or(|round| round.ended(ev.snd_una)) && self.current.is_some() {
            let slope = match (self.round, self.current, self.previous) {
                (Some(_), Some(now), Some(then)) => self.slope((now.0 - then.0, now.1 - then.1)),
                _ => 0.0,
            };
            self.new_round(Some(Round::from(ev.snd_nxt)));
            if self.backs_off(slope) {
                self.shadow = self.shadow.max(self.window.cwnd);
                let from = self.window.cwnd;
                self.window.reduce_to(self.beta * from, cx);
                self.backing_off = self.round;
                if self.linux {
                    let to = self.window.ssthresh;
                    self.way = Some(Way { from, to, delivered: 0.0, out: ev.delivered as f64 });
                    self.window.cwnd = from;
                }
                return;
            }
        }
        if !ev.cwnd_limited {
            self.shadow = self.shadow.min(self.window.cwnd);
        }
    }

    fn on_ack_slow_start(&mut self, ev: &AckEvent, cx: &Cx) -> u64 {
        let before = self.window.cwnd;
        let rest = self.window.slow_start(ev.acked, cx);
        self.grow_shadow(before);
        rest
    }

    fn on_ack_avoidance(&mut self, ev: &AckEvent, cx: &Cx) {
        if self.backing_off.is_none() {
            let before = self.window.cwnd;
            self.window.additive_increase(1.0, ev.acked, cx);
            self.grow_shadow(before);
        }
    }

    fn on_congestion_begin(&mut self) {
        self.shadow_before = self.shadow;
    }

    fn on_undo(&mut self, _reduced_cwnd: f64, _cx: &Cx) {
        self.shadow = self.shadow_before;
    }

    fn on_congestion_ssthresh(&mut self, ev: &CongestionEvent, cx: &Cx) -> f64 {
        if let Some(way) = self.way.take().filter(|_| ev.kind == Congestion::Loss) {
            self.backing_off = None;
            return way.to;
        }
        self.backing_off = None;
        if !self.linux && matches!(ev.kind, Congestion::Timeout | Congestion::Collapse) {
            self.shadow *= 0.5;
            return 0.5 * ev.window;
        }
        let believed = matches!(self.queue, Queue::Full | Queue::Unknown) || !self.tolerance;
        if !believed && ev.kind == Congestion::Loss {
            return self.window.cwnd;
        }
        let half = 0.5 * self.shadow;
        let half = if cx.counts_segments() { (half / cx.mss).floor() * cx.mss } else { half };
        self.shadow = half.min(self.window.cwnd);
        let shadow = if self.keep_shadow { self.shadow } else { 0.0 };
        shadow.max(0.5 * ev.window)
    }

    fn on_congestion_done(&mut self, _ev: &CongestionEvent, _cx: &Cx) {
        if !self.linux {
            self.new_round(None);
        }
    }

    fn on_recovery_exit(&mut self, _cx: &Cx) {
        if self.linux {
            self.recovered = true;
        } else {
            self.new_round(None); // what recovery has measured is no slope
        }
    }

    fn on_restart(&mut self, _cx: &Cx) {
        (self.round, self.current, self.previous) = (None, None, None);
        self.gradients.clear();
        self.queue = Queue::Unknown;
        self.asked = 0;
        (self.backing_off, self.way) = (None, None);
        self.shadow = self.window.cwnd;
    }

    fn observe(&self, row: &mut Vec<f64>) {
        row.extend([self.mean.0, self.mean.1, self.shadow, f64::from(self.queue as u8)]);
    }
}
