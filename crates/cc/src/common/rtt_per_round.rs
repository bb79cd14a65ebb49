//! RTT statistics of each round trip, for variants that decide once a round trip (Illinois, YeAH, Compound TCP).

use super::Round;
use crate::AckEvent;
use dumbbell_units::Dur;

/// Collects the RTT samples of each round trip, and the minimum and maximum of the connection.
#[derive(Clone, Copy, Debug, Default)]
pub struct RttPerRound {
    round: Option<Round>,
    sum: f64,
    count: u32,
    min: f64,
    /// Minimum and maximum of the connection.
    bounds: Option<(f64, f64)>,
}

/// The RTT samples of one round trip, s.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RoundRtt {
    /// Their mean.
    pub mean: f64,
    /// Their minimum.
    pub min: f64,
    /// The minimum of the connection.
    pub base_rtt: f64,
    /// The maximum of the connection.
    pub max_rtt: f64,
}

impl RttPerRound {
    /// Processes an ACK. Returns the statistics of the round trip that it ends, if that had a sample. The sample of
    /// this ACK belongs to the next round trip.
    pub fn on_ack(&mut self, ev: &AckEvent) -> Option<RoundRtt> {
        let rtt = self.end_round(ev);
        self.sample(ev);
        rtt
    }

    /// The first half of [`RttPerRound::on_ack`]: ends the round trip if the ACK ends it.
    pub fn end_round(&mut self, ev: &AckEvent) -> Option<RoundRtt> {
        let mut rtt = None;
        if self.round.is_none_or(|round| round.ended(ev.snd_una)) {
            if let (Some(_), Some((base_rtt, max_rtt)), 1..) = (self.round, self.bounds, self.count) {
                let mean = self.sum / f64::from(self.count);
                rtt = Some(RoundRtt { mean, min: self.min, base_rtt, max_rtt });
            }
            self.round = Some(Round::from(ev.snd_nxt));
            (self.sum, self.count, self.min) = (0.0, 0, f64::INFINITY);
        }
        rtt
    }

    /// The second half: takes the sample of the ACK.
    pub fn sample(&mut self, ev: &AckEvent) {
        if let Some(rtt) = ev.rtt.filter(|rtt| *rtt > Dur::ZERO).map(Dur::as_secs) {
            self.sum += rtt;
            self.count += 1;
            self.min = self.min.min(rtt);
            self.bounds = Some(self.bounds.map_or((rtt, rtt), |(base, max)| (base.min(rtt), max.max(rtt))));
        }
    }

    /// Returns the number of samples of the current round trip.
    #[must_use]
    pub fn samples(&self) -> u32 {
        self.count
    }

    /// Returns the minimum RTT of the connection, s; NaN before the first sample.
    #[must_use]
    pub fn base_rtt(&self) -> f64 {
        self.bounds.map_or(f64::NAN, |(base, _)| base)
    }

    /// Returns the maximum RTT of the connection, s; NaN before the first sample.
    #[must_use]
    pub fn max_rtt(&self) -> f64 {
        self.bounds.map_or(f64::NAN, |(_, max)| max)
    }

    /// Forgets all samples, also the minimum and maximum; a round trip begins at `snd_nxt`.
    pub fn reset(&mut self, snd_nxt: u64) {
        *self = RttPerRound { round: Some(Round::from(snd_nxt)), min: f64::INFINITY, ..RttPerRound::default() };
    }

    /// Discards the current round trip; the next ACK starts one.
    pub fn restart_round(&mut self) {
        self.round = None;
    }
}
