//! The model of the path: bandwidth, ACK aggregation, the end of STARTUP and of DRAIN.
//!
//! Source: Linux 6.12 [Linux tcp_bbr.c bbr_main]; each function names its counterpart.

use super::long_term_bw::AckSample;
use super::{Bbr1, Mode, micros};
use crate::{AckEvent, RateSample};
use dumbbell_units::Time;

/// Unit of a bandwidth sample, segments/s: 2^-24 segments per microsecond, rounded down. Samples are therefore never
/// above the true rate, so that ACKs at exactly that rate count as one segment of aggregation, which the target of
/// the window includes [Linux tcp_bbr.c BW_UNIT].
const BW_UNIT: f64 = 1e6 / 16_777_216.0;

impl Bbr1 {
    /// The estimated bandwidth, bytes/s [Linux tcp_bbr.c bbr_bw].
    pub(super) fn bw(&self) -> f64 {
        self.lt_bw.get().unwrap_or_else(|| self.max_bw.get())
    }

    /// Counts round trips and takes the bandwidth sample of an ACK [Linux tcp_bbr.c bbr_update_bw].
    pub(super) fn update_bw(&mut self, ev: &AckEvent, now: Time) {
        self.round.round_start = false;
        let Some(rate) = ev.rate else { return };
        self.round.on_ack(rate.prior_delivered, self.delivered);
        if self.round.round_start {
            self.window.on_round_start();
        }
        self.lt_bw_sampling(ev.lost > 0, self.app_limited_interval.is_limited(&rate), now);
        let unit = BW_UNIT * self.mss;
        let bw = (rate.delivered as f64 * 1e6 / micros(rate.interval).max(1.0) / unit).floor() * unit;
        if !self.app_limited_interval.is_limited(&rate) || bw >= self.max_bw.get() {
            self.max_bw.running_max(bw, self.round.round_count, self.set.bw_window);
        }
    }

    /// [Linux tcp_bbr.c bbr_lt_bw_sampling]
    pub(super) fn lt_bw_sampling(&mut self, losses: bool, app_limited: bool, now: Time) {
        if !self.set.policer_detection {
            return;
        }
        let (delivered, lost, round_start) = (self.delivered, self.lost, self.round.round_start);
        let sample = AckSample { now, delivered, lost, losses, round_start, app_limited };
        let was_used = self.lt_bw.get().is_some();
        if self.lt_bw.on_ack(&sample, matches!(self.mode, Mode::ProbeBw(_))) {
            self.reset_probe_bw_mode(now);
        } else if !was_used && self.lt_bw.get().is_some() {
            self.pacing_gain = 1.0;
        }
    }

    /// [Linux tcp_bbr.c bbr_update_ack_aggregation]
    pub(super) fn update_ack_aggregation(&mut self, ev: &AckEvent, now: Time) {
        if self.set.extra_acked_gain > 0.0 && ev.rate.is_some() {
            let (acked, bw) = (ev.delivered as f64 / self.mss, self.bw() / self.mss);
            self.ack_aggregation.update(acked, bw, self.window.cwnd, self.round.round_start, now);
        }
    }

    /// [Linux tcp_bbr.c bbr_check_full_bw_reached]
    pub(super) fn check_full_bw_reached(&mut self, rate: Option<&RateSample>) {
        let app_limited = rate.is_some_and(|rate| self.app_limited_interval.is_limited(rate));
        if self.full_bw_reached || !self.round.round_start || app_limited {
            return;
        }
        let bw = self.max_bw.get();
        if bw >= self.set.full_bw_growth * self.full_bw {
            (self.full_bw, self.full_bw_cnt) = (bw, 0);
            return;
        }
        self.full_bw_cnt += 1;
        self.full_bw_reached = self.full_bw_cnt >= self.set.full_bw_rounds;
    }

    /// [Linux tcp_bbr.c bbr_check_drain]
    pub(super) fn check_drain(&mut self, ev: &AckEvent, now: Time) {
        if self.mode == Mode::Startup && self.full_bw_reached {
            self.mode = Mode::Drain;
        }
        if self.mode == Mode::Drain
            && self.packets_in_net_at_edt(ev.inflight, ev, now) <= self.inflight(self.max_bw.get(), 1.0)
        {
            self.reset_probe_bw_mode(now);
        }
    }
}
