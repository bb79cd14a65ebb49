//! The model of the path: rate, aggregation, delivery signals.

use super::Bbr3;
use dumbbell_units::Time;

/// The largest rate of the current probing cycle and of the one before (§5.5.5, §5.5.6).
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct MaxBw {
    cycles: [f64; 2],
}

impl MaxBw {
    pub(super) fn get(&self) -> f64 {
        self.cycles[0].max(self.cycles[1])
    }

    fn update(&mut self, rate: f64) {
        self.cycles[1] = self.cycles[1].max(rate);
    }

    /// The next cycle begins. One without any rate is no cycle: what was known holds on.
    pub(super) fn advance(&mut self) {
        if self.cycles[1] > 0.0 {
            self.cycles = [self.cycles[1], 0.0];
        }
    }
}

impl Bbr3 {
    /// §5.5.10.3 UpdateLatestDeliverySignals.
    pub(super) fn update_latest_delivery_signals(&mut self) {
        self.loss_round.ended = false;
        self.bw_latest = self.bw_latest.max(self.rs.rate);
        self.inflight_latest = self.inflight_latest.max(self.rs.delivered as f64);
        if self.rs.valid && self.rs.prior_delivered >= self.loss_round.from {
            self.loss_round.from = self.delivered;
            self.loss_round.ended = true;
        }
    }

    /// §5.5.10.3 AdvanceLatestDeliverySignals.
    pub(super) fn advance_latest_delivery_signals(&mut self) {
        if self.loss_round.ended {
            self.bw_latest = self.rs.rate;
            self.inflight_latest = self.rs.delivered as f64;
        }
    }

    /// §5.5.10.3 UpdateCongestionSignals.
    pub(super) fn update_congestion_signals(&mut self) {
        self.update_max_bw();
        if !self.loss_round.ended {
            return;
        }
        self.adapt_lower_bounds();
        self.loss_round.lossy = false;
    }

    /// §5.5.5 UpdateMaxBw, §5.5.1 UpdateRound.
    fn update_max_bw(&mut self) {
        self.round.round_start = false;
        if !self.rs.valid {
            return;
        }
        self.round.on_ack(self.rs.prior_delivered, self.delivered);
        self.rounds_since_probe_up += u64::from(self.round.round_start);
        if self.rs.rate >= self.max_bw.get() || !self.rs.app_limited {
            self.max_bw.update(self.rs.rate);
        }
    }

    /// §5.5.9 UpdateACKAggregation.
    pub(super) fn update_ack_aggregation(&mut self, now: Time) {
        let since = self.extra_acked_since.unwrap_or(now);
        let mut expected = self.bw * now.since(since).as_secs();
        if self.extra_acked_delivered <= expected {
            (self.extra_acked_delivered, self.extra_acked_since, expected) = (0.0, Some(now), 0.0);
        }
        self.extra_acked_delivered += self.rs.newly_acked as f64;
        let extra = (self.extra_acked_delivered - expected).min(self.cwnd);
        let window = if self.full_bw_reached { self.set.extra_acked_rounds } else { 1 };
        self.extra_acked_filter.update(extra, self.round.round_count, window);
    }

    /// BBR.bdp with that rate; the initial window while no delay is known (§5.6.4.2).
    pub(super) fn bdp(&self, bw: f64) -> f64 {
        if self.min_rtt.is_finite() { bw * self.min_rtt } else { self.initial_window }
    }

    /// §5.6.4.2 Inflight: what a rate needs outstanding.
    pub(super) fn inflight_for(&self, bw: f64, gain: f64) -> f64 {
        self.with_quanta(gain * self.bdp(bw))
    }

    /// §5.6.4.2 QuantizationBudget, §5.5.8.1 UpdateOffloadBudget.
    pub(super) fn with_quanta(&self, volume: f64) -> f64 {
        let least = (3.0 * self.send_quantum()).max(self.set.min_cwnd);
        volume.max(least) + if self.state == super::State::Up { 2.0 * self.mss } else { 0.0 }
    }

    /// §5.3.3.8.3 TargetInflight.
    pub(super) fn target_inflight(&self) -> f64 {
        self.bdp(self.bw).min(self.cwnd)
    }
}
