//! Round-trip time [RFC 9002 §5].
//!
//! ```text
//! first sample   smoothed_rtt = latest_rtt, rttvar = latest_rtt / 2
//! later          adjusted_rtt = latest_rtt - ack_delay, unless that is below min_rtt
//!                rttvar       = 3/4 rttvar + 1/4 |smoothed_rtt - adjusted_rtt|
//!                smoothed_rtt = 7/8 smoothed_rtt + 1/8 adjusted_rtt
//! PTO            smoothed_rtt + max(4 rttvar, kGranularity) + max_ack_delay
//! ```

use crate::config::RecoveryConfig;
use dumbbell_units::{Dur, Time};

/// The estimator of one connection.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RttEstimator {
    config: RecoveryConfig,
    pub(crate) latest: Dur,
    min: Dur,
    smoothed: Dur,
    rttvar: Dur,
    /// When the first sample was taken.
    pub(crate) first_sample: Option<Time>,
}

impl RttEstimator {
    pub(crate) fn new(config: RecoveryConfig) -> RttEstimator {
        let initial = config.initial_rtt;
        RttEstimator {
            config,
            latest: initial,
            min: Dur::ZERO,
            smoothed: initial,
            rttvar: initial / 2,
            first_sample: None,
        }
    }

    /// Adds a sample; `ack_delay` is already limited as RFC 9002 §5.3 demands.
    pub(crate) fn sample(&mut self, latest: Dur, ack_delay: Dur, now: Time) {
        self.latest = latest;
        if self.first_sample.is_none() {
            self.first_sample = Some(now);
            (self.min, self.smoothed, self.rttvar) = (latest, latest, latest / 2);
            return;
        }
        self.min = self.min.min(latest);
        let adjusted = if latest >= self.min + ack_delay { latest.saturating_sub(ack_delay) } else { latest };
        let error = Dur(self.smoothed.0.abs_diff(adjusted.0));
        self.rttvar = Dur((3 * self.rttvar.0 + error.0) / 4);
        self.smoothed = Dur((7 * self.smoothed.0 + adjusted.0) / 8);
    }

    /// The smoothed RTT; None before the first sample.
    pub(crate) fn srtt(&self) -> Option<Dur> {
        self.first_sample.map(|_| self.smoothed)
    }

    /// The smallest sample; None before the first one.
    pub(crate) fn min_rtt(&self) -> Option<Dur> {
        self.first_sample.map(|_| self.min)
    }

    pub(crate) fn rttvar(&self) -> Dur {
        self.rttvar
    }

    /// The smoothed RTT, or the assumed one.
    pub(crate) fn estimate(&self) -> Dur {
        self.smoothed
    }

    /// The PTO without max_ack_delay and backoff [RFC 9002 §6.2.1].
    pub(crate) fn pto(&self) -> Dur {
        self.smoothed + (self.rttvar * u64::from(self.config.pto_rttvar)).max(self.config.granularity)
    }

    /// The time after which a packet is lost if a later one was acknowledged [RFC 9002 §6.1.2].
    pub(crate) fn loss_delay(&self) -> Dur {
        self.latest.max(self.smoothed).scale(self.config.time_threshold).max(self.config.granularity)
    }
}
