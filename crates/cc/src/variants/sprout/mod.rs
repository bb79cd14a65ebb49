//! Sprout: as much outstanding as the link will deliver within 100 ms with a probability of 95 %, by a model of its rate
//! [Winstein, Sivaraman and Balakrishnan, Stochastic Forecasts Achieve High Throughput and Low Delay over Cellular Networks,
//! NSDI 2013, "WSB"].
//!
//! ```text
//! each tick (20 ms)   evolve and observe what the model (model.rs) says of the rate                           [WSB]
//!   not observed      a tick without deliveries in which none were due, as not two segments were outstanding long enough:
//!                     a receiver that delays ACKs waits for the second                                      [WSB]
//!   at least          a tick after whose deliveries none are due: more might have come, had more been sent
//! window              forecast of `lookahead` ticks at `risk`, at least a segment for each tick of the smallest RTT [WSB]
//! timeout             cwnd = 1 segment until the next tick is over
//! ```
//! What differs from the publication, where the receiver forecasts and tells: deliveries are what ACKs tell of, at the
//! moment they come to the sender, so that the model is half a round trip late and ACKs in batches are bursts to it; the
//! window is what may be outstanding, the way there and back included, so that a path of 100 ms and more is not filled;
//! deliveries that are due follow from the smallest RTT, where Sprout's sender announces its next packet; the least window,
//! without which a long path would never be heard of again, stands for its heartbeats; it begins with the stack's initial window. A unit of the model is a segment, or as many as make `max_rate` the largest rate.

mod model;

use crate::Variant;
use crate::common::Window;
use crate::{
    AckEvent, Congestion, CongestionControl, CongestionEvent, Control, Cx, Phase, RecoveryExit, SentEvent,
    Setup,
};
use dumbbell_units::param::{Kind, Params, Spec};
use dumbbell_units::{Dur, Time};
use model::{Model, RATE_MAX, TICK, TICKS};
use std::collections::VecDeque;

pub(crate) const ROW: Variant = Variant {
    name: "sprout",
    title: "forecasts what a cellular link will surely deliver, and sends that much",
    year: 2013,
    source: "Winstein, Sivaraman and Balakrishnan, Stochastic Forecasts, NSDI 2013",
    own_recovery: true,
    on_loss: "not at all but for what isn't delivered; timeout: cwnd = 1 segment until the next forecast",
    on_delay: "deliveries that come late lower the forecast, which is the window",
    on_ecn: "not at all",
    params: &[
        Spec {
            name: "risk",
            kind: Kind::Probability,
            default: "5 %",
            doc: "probability with which less is delivered than forecast [Winstein et al. 2013]",
        },
        Spec {
            name: "lookahead",
            kind: Kind::Int { min: 1, max: TICKS as u64 },
            default: "5",
            doc: "ticks of 20 ms in which what is outstanding is to be delivered [Winstein et al. 2013]",
        },
        Spec {
            name: "max_rate",
            kind: Kind::Float { min: 1.0, max: 1e8 },
            default: "1000",
            doc: "largest rate that the model knows, segments/s; the others of its rates scale with it \
                  [Winstein et al. 2013]",
        },
    ],
    columns: &["rate", "outage", "forecast"],
    build: |params, setup| Ok(Box::new(Sprout::new(params, setup))),
    ..Variant::EMPTY
};

/// Ticks of a silence that are gone through: after three seconds the model knows nothing of the time before.
const SILENCE: u64 = 150;

/// See the top of this file.
#[derive(Clone, Debug)]
struct Sprout {
    window: Window,
    risk: f64,
    lookahead: usize,
    /// Bytes of a unit of the model, and of a segment.
    unit: f64,
    mss: u64,
    model: Model,
    /// When the running tick began; None before the first ACK.
    tick: Option<Time>,
    /// Bytes delivered in it.
    delivered: f64,
    /// End of what left and when, one entry for each tick at most.
    sent: VecDeque<(u64, Time)>,
    snd_una: u64,
    min_rtt: Option<Dur>,
    /// Units.
    forecast: usize,
}

impl Sprout {
    fn new(params: &Params, setup: &Setup) -> Sprout {
        Sprout {
            window: Window::without_ssthresh(setup),
            risk: params.probability("risk"),
            lookahead: usize::try_from(params.int("lookahead")).unwrap_or(TICKS),
            unit: setup.mss * params.float("max_rate") / RATE_MAX,
            mss: setup.mss as u64,
            model: Model::new(),
            tick: None,
            delivered: 0.0,
            sent: VecDeque::new(),
            snd_una: 0,
            min_rtt: None,
            forecast: 0,
        }
    }

    /// Whether something outstanding would have been acknowledged by then, were there no queue. A single segment tells
    /// nothing: a receiver that delays its ACKs waits for the next one.
    fn due(&self, end: Time) -> bool {
        let Some(min_rtt) = self.min_rtt else { return false };
        let least = self.snd_una + 2 * self.mss;
        self.sent.iter().any(|(offset, at)| *offset >= least && *at + min_rtt <= end)
    }

    /// Goes through the ticks that are over.
    fn advance(&mut self, cx: &Cx) {
        let length = Dur::from_secs_f64(TICK);
        let begun = *self.tick.get_or_insert(cx.now);
        let over = cx.now.since(begun).0 / length.0;
        if over == 0 {
            return;
        }
        for n in 1..=over.min(SILENCE) {
            let end = begun + length * n;
            self.model.evolve();
            let units = (self.delivered / self.unit).round();
            // A part of a unit is one, lest a slow sender looks like an outage.
            let units = if self.delivered > 0.0 { units.max(1.0) } else { 0.0 };
            if self.due(end) {
                self.model.observe(units as u32);
            } else if units > 0.0 {
                self.model.observe_at_least(units as u32);
            }
            self.delivered = 0.0;
        }
        self.tick = Some(begun + length * over);
        while self.sent.front().is_some_and(|(offset, _)| *offset <= self.snd_una) {
            self.sent.pop_front();
        }
        self.forecast = self.model.forecast(self.lookahead, self.risk);
        let beats = self.min_rtt.map_or(1.0, |rtt| (rtt.as_secs() / TICK).ceil().max(1.0));
        self.window.cwnd = (self.forecast as f64 * self.unit).max(beats * cx.mss);
    }
}

impl CongestionControl for Sprout {
    fn on_sent(&mut self, ev: &SentEvent, cx: &Cx) {
        let tick = Dur::from_secs_f64(TICK);
        match self.sent.back_mut() {
            Some((offset, at)) if cx.now.since(*at) < tick => *offset = ev.snd_nxt.max(*offset),
            _ => self.sent.push_back((ev.snd_nxt, cx.now)),
        }
    }

    fn on_ack(&mut self, ev: &AckEvent, cx: &Cx) {
        if !ev.in_recovery && !ev.in_loss {
            self.window.end_episode();
        }
        // What came before this ACK belongs to the ticks before.
        self.advance(cx);
        self.snd_una = ev.snd_una;
        self.delivered += ev.delivered as f64;
        if let Some(rtt) = ev.rtt {
            self.min_rtt = Some(self.min_rtt.map_or(rtt, |least| least.min(rtt)));
        }
    }

    fn on_congestion(&mut self, ev: &CongestionEvent, cx: &Cx) {
        if matches!(ev.kind, Congestion::Timeout | Congestion::Collapse) {
            self.window.begin_episode(ev.kind);
            self.advance(cx); // the silence is an observation
            self.window.set_loss_window(cx);
        }
    }

    fn on_recovery_exit(&mut self, _ev: &RecoveryExit, _cx: &Cx) {
        self.window.end_episode();
    }

    fn on_undo(&mut self, _cx: &Cx) {
        self.window.undo();
    }

    fn on_restart(&mut self, _idle: Dur, cx: &Cx) {
        self.window.restart(cx);
        self.tick = None;
    }

    fn control(&self) -> Control {
        self.window.control()
    }

    fn phase(&self) -> Phase {
        Phase::Avoidance
    }

    fn observe(&self, row: &mut Vec<f64>) {
        let (rate, outage) = self.model.state();
        row.extend([rate * self.unit, outage, self.forecast as f64 * self.unit]);
    }
}
