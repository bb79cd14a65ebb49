//! The model of the path: bandwidth, ACK aggregation, latest delivery signals [draft-ietf-ccwg-bbr-06 §5.5].
//! The section numbers below are those of the draft.

use super::Bbr3;
use dumbbell_units::Time;

/// BBR.max_bw_filter: the maximum delivery rates of the previous and of the current ProbeBW cycle (§5.5.5, §5.5.6).
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct MaxBwFilter {
    cycles: [f64; 2],
}

impl MaxBwFilter {
    pub(super) fn get(&self) -> f64 {
        self.cycles[0].max(self.cycles[1])
    }

    fn update(&mut self, rate: f64) {
        self.cycles[1] = self.cycles[1].max(rate);
    }

    /// §5.5.6 AdvanceMaxBwFilter. A cycle without a rate sample doesn't count, the filter keeps its values.
    pub(super) fn advance(&mut self) {
        if self.cycles[1] > 0.0 {
            self.cycles = [self.cycles[1], 0.0];
        }
    }
}

impl Bbr3 {
    /// §5.5.10.3 UpdateLatestDeliverySignals.
    pub(super) fn update_latest_delivery_signals(&mut self) {
        self.loss_round.start = false;
        self.bw_latest = self.bw_latest.max(self.rs.delivery_rate);
        self.inflight_latest = self.inflight_latest.max(self.rs.delivered as f64);
        if self.rs.valid && self.rs.prior_delivered >= self.loss_round.delivered {
            self.loss_round.delivered = self.delivered;
            self.loss_round.start = true;
        }
    }

    /// §5.5.10.3 AdvanceLatestDeliverySignals.
    pub(super) fn advance_latest_delivery_signals(&mut self) {
        if self.loss_round.start {
            self.bw_latest = self.rs.delivery_rate;
            self.inflight_latest = self.rs.delivered as f64;
        }
    }

    /// §5.5.10.3 UpdateCongestionSignals.
    pub(super) fn update_congestion_signals(&mut self) {
        self.update_max_bw();
        if !self.loss_round.start {
            return;
        }
        self.adapt_lower_bounds();
        self.loss_round.is_loss_in_round = false;
    }

    /// §5.5.5 UpdateMaxBw, §5.5.1 UpdateRound.
    fn update_max_bw(&mut self) {
        self.round.round_start = false;
        if !self.rs.valid {
            return;
        }
        self.round.on_ack(self.rs.prior_delivered, self.delivered);
        self.rounds_since_probe_up += u64::from(self.round.round_start);
        if self.rs.delivery_rate >= self.max_bw_filter.get() || !self.rs.is_app_limited {
            self.max_bw_filter.update(self.rs.delivery_rate);
        }
    }

    /// §5.5.9 UpdateACKAggregation.
    pub(super) fn update_ack_aggregation(&mut self, now: Time) {
        let start = self.extra_acked_interval_start.unwrap_or(now);
        let mut expected = self.bw * now.since(start).as_secs();
        if self.extra_acked_delivered <= expected {
            (self.extra_acked_delivered, self.extra_acked_interval_start, expected) = (0.0, Some(now), 0.0);
        }
        self.extra_acked_delivered += self.rs.newly_acked as f64;
        let extra = (self.extra_acked_delivered - expected).min(self.cwnd);
        let window = if self.full_bw_reached { self.set.extra_acked_rounds } else { 1 };
        self.extra_acked_filter.update(extra, self.round.round_count, window);
    }

    /// BBR.bdp with bandwidth `bw`; the initial window while min_rtt is unknown (§5.6.4.2).
    pub(super) fn bdp(&self, bw: f64) -> f64 {
        if self.min_rtt.is_finite() { bw * self.min_rtt } else { self.initial_window }
    }

    /// §5.6.4.2 Inflight: the bytes in flight that `bw` needs.
    pub(super) fn inflight_for(&self, bw: f64, gain: f64) -> f64 {
        self.quantization_budget(gain * self.bdp(bw))
    }

    /// §5.6.4.2 QuantizationBudget, §5.5.8.1 UpdateOffloadBudget.
    pub(super) fn quantization_budget(&self, volume: f64) -> f64 {
        let offload_budget = (3.0 * self.send_quantum()).max(self.set.min_cwnd);
        volume.max(offload_budget) + if self.state == super::State::ProbeBwUp { 2.0 * self.mss } else { 0.0 }
    }

    /// §5.3.3.8.3 TargetInflight.
    pub(super) fn target_inflight(&self) -> f64 {
        self.bdp(self.bw).min(self.cwnd)
    }
}
