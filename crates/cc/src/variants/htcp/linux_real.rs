//! The rules of [Linux tcp_htcp.c htcp_cong_avoid] in real numbers, for `rules = "linux"` on a stack that doesn't count
//! cwnd in segments; the sources are in `linux.rs`. Differences from the published rules:
//!
//! ```text
//! alpha    f in whole numbers, before and after the scaling by 8 / floor(8 * 100 ms / minRTT)    [htcp_alpha_update]
//! B        the maximum since the last event of the smoothed rate Bi (3/4 old, 1/4 new); smoothed from three RTTs
//!          after the event on                                                         [measure_achieved_throughput]
//! beta     0.5 up to a minRTT of 10 ms, and at the first event with a steady B (modeswitch)       [htcp_beta_update]
//! maxRTT   raised only by samples up to 20 ms above it                                                 [measure_rtt]
//! ```

use super::{B_CHANGE, BETA, RATIO, RTT_REF, Settings, Variables};
use crate::AckEvent;
use crate::common::DeliveryRate;
use dumbbell_units::{Dur, Time};

/// minRTT up to which beta is 0.5, s [Linux tcp_htcp.c htcp_beta_update].
const SHORT_RTT: f64 = 0.01;
/// Largest step by which a sample raises maxRTT, s [Linux tcp_htcp.c measure_rtt].
const MAX_RTT_STEP: f64 = 0.02;
/// Gain of Bi, and RTTs after an event before it is smoothed [Linux tcp_htcp.c measure_achieved_throughput].
const BI_GAIN: f64 = 0.25;
const FRESH_RTTS: f64 = 3.0;

/// The state in real numbers; names of `struct htcp` [Linux tcp_htcp.c].
#[derive(Clone, Debug)]
pub(super) struct Real {
    pub(super) vars: Variables,
    pub(super) prior: Variables,
    pub(super) rate: DeliveryRate,
    pub(super) alpha: f64,
    last_rtt: Dur,
    bi: f64,
    max_b: Option<f64>,
    modeswitch: bool,
}

impl Real {
    pub(super) fn new() -> Real {
        let vars = Variables { last_cong: None, old_b: None, rtts: None, beta: BETA.0 };
        Real {
            vars,
            prior: vars,
            rate: DeliveryRate::default(),
            alpha: f64::NAN,
            last_rtt: Dur::ZERO,
            bi: 0.0,
            max_b: None,
            modeswitch: false,
        }
    }

    pub(super) fn on_ack_sample(&mut self, ev: &AckEvent, now: Time) {
        if ev.in_recovery {
            self.rate.restart();
            return;
        }
        if let Some(rtt) = ev.rtt {
            self.last_rtt = rtt;
            let rtt = rtt.as_secs();
            let (min_rtt, max_rtt) = self.vars.rtts.unwrap_or((rtt, rtt));
            let max_rtt = if rtt > max_rtt + MAX_RTT_STEP { max_rtt } else { max_rtt.max(rtt) };
            self.vars.rtts = Some((min_rtt.min(rtt), max_rtt));
        }
        if let Some(b) = self.rate.on_ack(ev.delivered, self.last_rtt, now) {
            self.max_b = Some(self.max_b(b, now));
        }
    }

    fn max_b(&mut self, b: f64, now: Time) -> f64 {
        let since = self.vars.last_cong.map_or(0.0, |last_cong| now.since(last_cong).as_secs());
        let fresh = self.vars.rtts.is_none_or(|(min_rtt, _)| since <= FRESH_RTTS * min_rtt);
        self.bi = if fresh { b } else { self.bi + BI_GAIN * (b - self.bi) };
        let max_b = self.max_b.filter(|_| !fresh);
        max_b.map_or(self.bi, |max_b| max_b.max(self.bi))
    }

    pub(super) fn alpha(&mut self, now: Time, settings: &Settings) -> f64 {
        let delta = now.since(*self.vars.last_cong.get_or_insert(now)).as_secs() - settings.delta_l.as_secs();
        let mut f = if delta > 0.0 { 1.0 + 10.0 * delta + (delta / 2.0) * (delta / 2.0) } else { 1.0 }.floor();
        if let Some((min_rtt, _)) = self.vars.rtts.filter(|_| settings.rtt_scaling) {
            let ratio = (min_rtt / RTT_REF).clamp(RATIO.0, RATIO.1);
            f = (8.0 * f / (8.0 / ratio).floor()).floor().max(1.0);
        }
        2.0 * (1.0 - self.vars.beta) * f
    }

    pub(super) fn beta(&mut self, settings: &Settings) -> f64 {
        let old_b = std::mem::replace(&mut self.vars.old_b, self.max_b);
        let steady = match (old_b, self.max_b) {
            (Some(old), Some(b)) => (b - old).abs() <= B_CHANGE * old,
            _ => false,
        };
        let modeswitch = std::mem::replace(&mut self.modeswitch, steady);
        match self.vars.rtts.filter(|_| steady && modeswitch && settings.adaptive_backoff) {
            Some((min_rtt, max_rtt)) if min_rtt > SHORT_RTT => (min_rtt / max_rtt).clamp(BETA.0, BETA.1),
            _ => BETA.0,
        }
    }
}
