//! CDG, CAIA delay gradient: backs off with a probability that grows with the gradient of the RTT, and responds to a
//! loss only if the queue seems full.
//!
//! Sources: Hayes and Armitage, Revisiting TCP Congestion Control Using Delay Gradients, Networking 2011 ("HA"), and
//! their code in FreeBSD; for `rules = "linux"`, see linux.rs.
//!
//! ```text
//! once a round trip    gmin, gmax = change of its smallest and of its largest RTT, averaged over `window` round trips
//!                      [HA]
//!   g = gmin if positive, else gmax:  with probability 1 - e^(-g / scale)  ssthresh = cwnd = beta * cwnd          [HA]
//!   after `ineffectual` consecutive backoffs without a fall of the RTT, the next `hold` are skipped: a loss-based flow
//!   shares the queue                                                                                              [HA]
//!   queue    full: gmin > 0, gmax <= 0;  empty: gmin >= 0, gmax < 0;  rising: both > 0;  falling: both < 0        [HA]
//! growth     slow start and avoidance as Reno, but none in the round trip after a backoff
//! loss       queue full or unknown: half of the window, at least the shadow window, which a loss halves           [HA]
//!            otherwise none (loss tolerance);  timeout: ssthresh = half of the window, cwnd = 1 segment
//! shadow     shadow_wnd, the window without backoffs: max(shadow_wnd, cwnd) at each backoff, grows as cwnd does; zero
//!            when the queue is empty                                                                              [HA]
//! ```
//! In slow start the latest gradient is used instead of the mean, unless `extrapolate`.
//! Left out: the published filter for ACKs that the receiver's timer has delayed; `linux.rs` has the filter of [Linux
//! tcp_cdg.c tcp_cdg_acked].

mod gradient;
mod linux;

use crate::common::{LossDriven, Round, Window, window_is};
use crate::{AckEvent, Congestion, CongestionEvent, Cx, Setup, Variant};
use dumbbell_units::Dur;
use dumbbell_units::param::{Kind, Params, specs};
use gradient::Gradients;
use linux::LinuxCdg;

pub(crate) const ROW: Variant = Variant {
    name: "cdg",
    title: "delay gradient: backs off with a probability that grows with the gradient of the RTT",
    year: 2011,
    source: "Hayes and Armitage, Revisiting TCP Congestion Control Using Delay Gradients, Networking 2011",
    on_loss: "window halved if the queue seems full, but not below the shadow window; timeout: cwnd = 1 segment",
    on_delay: "while the RTT rises: window times beta, at most once a round trip, with a probability that grows with the gradient",
    on_ecn: "as to a loss with a full queue, without a retransmission",
    params: specs! {
        /// number of round trips in the mean gradient [Hayes and Armitage 2011]
        window = "8", Kind::Int { min: 1, max: 256 };
        /// G, the gradient per round trip at which it backs off with a probability of 63 % [Hayes and Armitage 2011];
        /// [Linux tcp_cdg.c backoff_factor = 1 s / (scale * window)]
        scale = "3 ms", Kind::Duration;
        /// factor of the window when it backs off [Hayes and Armitage 2011; Linux tcp_cdg.c backoff_beta]
        beta = "0.7", Kind::Float { min: 0.01, max: 0.99 };
        /// number of consecutive backoffs without a fall of the RTT before they count as ineffectual; 0: no limit
        /// [Linux tcp_cdg.c use_ineff]
        ineffectual = "5", Kind::Int { min: 0, max: 1000 };
        /// number of backoffs that are then skipped; 0: all until the RTT has fallen
        hold = "5", Kind::Int { min: 0, max: 1000 };
        /// whether the window is kept at a loss while the queue is not full [Linux tcp_cdg.c use_tolerance]
        tolerance = "true", Kind::Bool;
        /// whether the window after a loss is at least the shadow window [Linux tcp_cdg.c use_shadow]
        shadow = "true", Kind::Bool;
        /// whether the mean is taken over the available gradients while there are fewer than `window`, and applies in
        /// slow start too
        extrapolate = "false", Kind::Bool;
        /// linux: delayed-ACK filter, gradual backoff and HyStart as in tcp_cdg.c
        rules = "published", Kind::Choice(&["published", "linux"]);
    },
    stack_defaults: &[
        ("linux", "scale", "2.976 ms"),
        ("linux", "beta", "0.7071"),
        ("linux", "hold", "0"),
        ("linux", "tolerance", "false"),
        ("linux", "extrapolate", "true"),
        ("linux", "rules", "linux"),
    ],
    columns: &["g_min", "g_max", "shadow", "queue"],
    random: true,
    build: |params, setup| {
        let core = Core::new(params, setup)?;
        Ok(match params.choice("rules") {
            "linux" => Box::new(LinuxCdg::new(core)),
            _ => Box::new(Cdg { core }),
        })
    },
    ..Variant::EMPTY
};

/// The smallest and the largest RTT of a round trip, or their gradients, s.
type MinMax = (f64, f64);

/// The state that both sets of rules have.
#[derive(Clone, Debug)]
struct Core {
    window: Window,
    beta: f64,
    tolerance: bool,
    use_shadow: bool,
    gradients: Gradients,
    round: Option<Round>,
    /// RTTs of the current round trip and of the previous one.
    rtt: Option<MinMax>,
    rtt_prev: Option<MinMax>,
    /// The round trip after a backoff.
    backoff_round: Option<Round>,
    /// Bytes; 0: none.
    shadow_wnd: f64,
    shadow_before_episode: f64,
    /// True if an empty queue ends the shadow window [HA]; [Linux tcp_cdg.c tcp_cdg_grad] keeps it.
    drops_shadow: bool,
}

impl Core {
    fn new(params: &Params, setup: &Setup) -> Result<Core, dumbbell_units::param::ParamError> {
        let window = Window::new(setup);
        Ok(Core {
            beta: params.float("beta"),
            tolerance: params.bool("tolerance"),
            use_shadow: params.bool("shadow"),
            gradients: Gradients::new(params, setup)?,
            round: None,
            rtt: None,
            rtt_prev: None,
            backoff_round: None,
            shadow_wnd: window.cwnd,
            shadow_before_episode: 0.0,
            drops_shadow: params.choice("rules") != "linux",
            window,
        })
    }

    fn add_rtt(&mut self, rtt: f64) {
        let (min, max) = self.rtt.unwrap_or((rtt, rtt));
        self.rtt = Some((min.min(rtt), max.max(rtt)));
    }

    /// True if this ACK ends a round trip with RTT samples.
    fn round_ended(&self, ev: &AckEvent) -> bool {
        self.round.is_none_or(|round| round.ended(ev.snd_una)) && self.rtt.is_some()
    }

    /// Returns the gradient of the round trip that ends, 0 if unknown. `fall`: see [`Gradients::add`].
    fn gradient(&mut self, fall: impl Fn(f64) -> f64) -> f64 {
        let (Some(_), Some(rtt), Some(prev)) = (self.round, self.rtt, self.rtt_prev) else { return 0.0 };
        let gradient = self.gradients.add((rtt.0 - prev.0, rtt.1 - prev.1), self.window.in_slow_start(), fall);
        if self.gradients.queue_is_empty() && self.drops_shadow {
            self.shadow_wnd = 0.0;
        }
        gradient
    }

    /// Backs off: ssthresh and cwnd = beta * cwnd. Returns the window before.
    fn back_off(&mut self, cx: &Cx) -> f64 {
        self.shadow_wnd = self.shadow_wnd.max(self.window.cwnd);
        let cwnd = self.window.cwnd;
        self.window.reduce_to(self.beta * cwnd, cx);
        self.backoff_round = self.round;
        cwnd
    }

    /// Limits the shadow window to cwnd while cwnd doesn't limit sending.
    fn limit_shadow(&mut self, ev: &AckEvent) {
        if !ev.cwnd_limited {
            self.shadow_wnd = self.shadow_wnd.min(self.window.cwnd);
        }
    }

    /// The shadow window grows by as much as cwnd has grown since `before`.
    fn grow_shadow(&mut self, before: f64) {
        if self.shadow_wnd > 0.0 {
            self.shadow_wnd += self.window.cwnd - before;
        }
    }

    fn slow_start(&mut self, ev: &AckEvent, cx: &Cx) -> u64 {
        let before = self.window.cwnd;
        let rest = self.window.slow_start(ev.acked, cx);
        self.grow_shadow(before);
        rest
    }

    fn avoidance(&mut self, ev: &AckEvent, cx: &Cx) {
        if self.backoff_round.is_none() {
            let before = self.window.cwnd;
            self.window.additive_increase(1.0, ev.acked, cx);
            self.grow_shadow(before);
        }
    }

    /// Returns the window after a loss, unless loss tolerance keeps it.
    fn ssthresh(&mut self, ev: &CongestionEvent, cx: &Cx) -> f64 {
        let queue_full = self.gradients.queue_may_be_full() || !self.tolerance;
        if !queue_full && ev.kind == Congestion::Loss {
            return self.window.cwnd;
        }
        let half = 0.5 * self.shadow_wnd;
        let half = if cx.counts_segments() { (half / cx.mss).floor() * cx.mss } else { half };
        self.shadow_wnd = half.min(self.window.cwnd);
        let shadow_wnd = if self.use_shadow { self.shadow_wnd } else { 0.0 };
        shadow_wnd.max(0.5 * ev.window)
    }

    fn restart(&mut self) {
        (self.round, self.rtt, self.rtt_prev) = (None, None, None);
        self.gradients.reset();
        self.backoff_round = None;
        self.shadow_wnd = self.window.cwnd;
    }

    fn observe(&self, row: &mut Vec<f64>) {
        let (gmin, gmax) = self.gradients.mean();
        row.extend([gmin, gmax, self.shadow_wnd, self.gradients.queue_code()]);
    }
}

/// CDG as published.
#[derive(Clone, Debug)]
struct Cdg {
    core: Core,
}

impl Cdg {
    /// Starts a new measurement. The RTTs so far are those that the next round trip is compared with.
    fn start_round(&mut self, round: Option<Round>) {
        self.core.round = round;
        if let Some(rtt) = self.core.rtt.take() {
            self.core.rtt_prev = Some(rtt);
        }
    }
}

impl LossDriven for Cdg {
    window_is!(core.window);

    fn on_ack_sample(&mut self, ev: &AckEvent, cx: &Cx) {
        if let Some(rtt) = ev.rtt.map(Dur::as_secs) {
            self.core.add_rtt(rtt);
        }
        if ev.in_recovery || ev.in_loss {
            return;
        }
        if let Some(round) = self.core.backoff_round {
            if round.ended(ev.snd_una) {
                self.core.backoff_round = None;
                self.start_round(Some(Round::from(ev.snd_nxt)));
            }
            return;
        }
        if self.core.round_ended(ev) {
            let gradient = self.core.gradient(|_| f64::MIN_POSITIVE);
            self.start_round(Some(Round::from(ev.snd_nxt)));
            if self.core.gradients.backs_off(gradient) {
                self.core.back_off(cx);
                return;
            }
        }
        self.core.limit_shadow(ev);
    }

    fn on_ack_slow_start(&mut self, ev: &AckEvent, cx: &Cx) -> u64 {
        self.core.slow_start(ev, cx)
    }

    fn on_ack_avoidance(&mut self, ev: &AckEvent, cx: &Cx) {
        self.core.avoidance(ev, cx);
    }

    fn on_congestion_begin(&mut self) {
        self.core.shadow_before_episode = self.core.shadow_wnd;
    }

    fn on_undo(&mut self, _reduced_cwnd: f64, _cx: &Cx) {
        self.core.shadow_wnd = self.core.shadow_before_episode;
    }

    fn on_congestion_ssthresh(&mut self, ev: &CongestionEvent, cx: &Cx) -> f64 {
        self.core.backoff_round = None;
        if matches!(ev.kind, Congestion::Timeout | Congestion::Collapse) {
            self.core.shadow_wnd *= 0.5;
            return 0.5 * ev.window;
        }
        self.core.ssthresh(ev, cx)
    }

    fn on_congestion_done(&mut self, _ev: &CongestionEvent, _cx: &Cx) {
        self.start_round(None);
    }

    /// The RTTs of recovery are no gradient.
    fn on_recovery_exit(&mut self, _cx: &Cx) {
        self.start_round(None);
    }

    fn on_restart(&mut self, _cx: &Cx) {
        self.core.restart();
    }

    fn observe(&self, row: &mut Vec<f64>) {
        self.core.observe(row);
    }
}
