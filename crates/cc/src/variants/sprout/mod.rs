//! Sprout: the window is the data that the link will deliver within 100 ms with a probability of 95 %, forecast by a
//! stochastic model of its rate.
//!
//! Source: Winstein, Sivaraman and Balakrishnan, Stochastic Forecasts Achieve High Throughput and Low Delay over
//! Cellular Networks, NSDI 2013 ("WSB"). The model is in model.rs.
//!
//! ```text
//! each tick (20 ms)   the model evolves and observes the deliveries of the tick                               [WSB]
//!   no observation    a tick without deliveries in which none were due: fewer than two segments were in flight long
//!                     enough, and a receiver with delayed ACKs waits for the second                          [WSB]
//!   at least          a tick after whose deliveries none were due: more could have been delivered
//! window              forecast of `lookahead` ticks at `risk`, at least a segment for each tick of the minimum RTT
//!                     [WSB]
//! timeout             cwnd = 1 segment until the end of the next tick
//! ```
//! In the publication the receiver makes the forecast and reports it. Differences that follow:
//! - Deliveries are observed when their ACKs arrive, so the model is half a round trip late, and ACKs in batches are
//!   bursts.
//! - The window limits the data in flight on the whole path, so a path with an RTT of 100 ms or more is not filled.
//! - The minimum RTT determines which deliveries are due; Sprout's sender announces its next packet.
//! - The smallest window replaces Sprout's heartbeats; without it, a long path would no longer be observed.
//! - The connection begins with the stack's initial window.
//!
//! A unit of the model is a segment, or more: as many as make `max_rate` the largest rate.

mod model;

use crate::Variant;
use crate::common::Window;
use crate::{
    AckEvent, Congestion, CongestionControl, CongestionEvent, Control, Cx, Phase, RecoveryExit, SentEvent, Setup,
};
use dumbbell_units::param::{Kind, Params, specs};
use dumbbell_units::{Dur, Time};
use model::{Model, RATE_MAX, TICK, TICKS};
use std::collections::VecDeque;

pub(crate) const ROW: Variant = Variant {
    name: "sprout",
    title: "sends the data that a cellular link will deliver, by a stochastic forecast",
    year: 2013,
    source: "Winstein, Sivaraman and Balakrishnan, Stochastic Forecasts, NSDI 2013",
    own_recovery: true,
    on_loss: "none, but lost segments are not delivered; timeout: cwnd = 1 segment until the next forecast",
    on_delay: "late deliveries reduce the forecast, which is the window",
    on_ecn: "none",
    params: specs! {
        /// probability that less is delivered than forecast [Winstein et al. 2013]
        risk = "5 %", Kind::Probability;
        /// ticks of 20 ms within which the data in flight are to be delivered [Winstein et al. 2013]
        lookahead = "5", Kind::Int { min: 1, max: TICKS as u64 };
        /// largest rate of the model, segments/s; its other rates scale with it [Winstein et al. 2013]
        max_rate = "1000", Kind::Float { min: 1.0, max: 1e8 };
    },
    columns: &["rate", "outage", "forecast"],
    build: |params, setup| Ok(Box::new(Sprout::new(params, setup))),
    ..Variant::EMPTY
};

/// The most ticks that one ACK ends: after three seconds without an ACK the model has forgotten its observations.
const MAX_TICKS: u64 = 150;

/// The state of Sprout.
#[derive(Clone, Debug)]
struct Sprout {
    window: Window,
    risk: f64,
    lookahead: usize,
    /// Bytes of a unit of the model, and of a segment.
    unit: f64,
    mss: u64,
    model: Model,
    /// Start of the current tick; None before the first ACK.
    tick_start: Option<Time>,
    /// Bytes delivered in the current tick.
    delivered: f64,
    /// Sent data as (end offset, time of the first segment), at most one entry for each tick.
    sent: VecDeque<(u64, Time)>,
    snd_una: u64,
    min_rtt: Option<Dur>,
    /// The forecast, units.
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
            tick_start: None,
            delivered: 0.0,
            sent: VecDeque::new(),
            snd_una: 0,
            min_rtt: None,
            forecast: 0,
        }
    }

    /// True if data in flight would have been acknowledged by `end` without a queue. A single segment doesn't count: a
    /// receiver with delayed ACKs waits for the next one.
    fn is_delivery_due(&self, end: Time) -> bool {
        let Some(min_rtt) = self.min_rtt else { return false };
        let least = self.snd_una + 2 * self.mss;
        self.sent.iter().any(|(offset, at)| *offset >= least && *at + min_rtt <= end)
    }

    /// Ends the ticks that have passed, and sets the window.
    fn end_ticks(&mut self, cx: &Cx) {
        let length = Dur::from_secs_f64(TICK);
        let start = *self.tick_start.get_or_insert(cx.now);
        let ended = cx.now.since(start).0 / length.0;
        if ended == 0 {
            return;
        }
        for n in 1..=ended.min(MAX_TICKS) {
            let end = start + length * n;
            self.model.evolve();
            let units = (self.delivered / self.unit).round();
            // A part of a unit counts as one: otherwise a slow sender would look like an outage.
            let units = if self.delivered > 0.0 { units.max(1.0) } else { 0.0 };
            if self.is_delivery_due(end) {
                self.model.observe(units as u32);
            } else if units > 0.0 {
                self.model.observe_at_least(units as u32);
            }
            self.delivered = 0.0;
        }
        self.tick_start = Some(start + length * ended);
        while self.sent.front().is_some_and(|(offset, _)| *offset <= self.snd_una) {
            self.sent.pop_front();
        }
        self.forecast = self.model.forecast(self.lookahead, self.risk);
        let min_segments = self.min_rtt.map_or(1.0, |rtt| (rtt.as_secs() / TICK).ceil().max(1.0));
        self.window.cwnd = (self.forecast as f64 * self.unit).max(min_segments * cx.mss);
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
        // Earlier deliveries belong to the previous ticks.
        self.end_ticks(cx);
        self.snd_una = ev.snd_una;
        self.delivered += ev.delivered as f64;
        if let Some(rtt) = ev.rtt {
            self.min_rtt = Some(self.min_rtt.map_or(rtt, |least| least.min(rtt)));
        }
    }

    fn on_congestion(&mut self, ev: &CongestionEvent, cx: &Cx) {
        if matches!(ev.kind, Congestion::Timeout | Congestion::Collapse) {
            self.window.begin_episode(ev.kind);
            self.end_ticks(cx); // ticks without deliveries are observations
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
        self.tick_start = None;
    }

    fn wants_one_way(&self) -> bool {
        false
    }

    fn wants_rates(&self) -> bool {
        false
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
