//! Round-trip times, round by round.

use super::Round;
use crate::AckEvent;
use dumbbell_units::Dur;

/// Collects the samples of each round trip, and the smallest and largest of all.
#[derive(Clone, Copy, Debug, Default)]
pub struct RttPerRound {
    round: Option<Round>,
    sum: f64,
    count: u32,
    least: f64,
    bounds: Option<(f64, f64)>,
}

/// What a round trip brought, s.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RoundRtt {
    /// The mean of its samples.
    pub mean: f64,
    /// The smallest of them.
    pub least: f64,
    /// The smallest sample of the connection.
    pub base: f64,
    /// The largest sample of the connection.
    pub max: f64,
}

impl RttPerRound {
    /// Takes in an ACK; when it ends a round, gives what that brought, unless there was no sample. The sample of the ACK
    /// that ends a round counts for the next.
    pub fn on_ack(&mut self, ev: &AckEvent) -> Option<RoundRtt> {
        let measured = self.end(ev);
        self.sample(ev);
        measured
    }

    /// The first half of that: ends the round if the ACK does.
    pub fn end(&mut self, ev: &AckEvent) -> Option<RoundRtt> {
        let mut measured = None;
        if self.round.is_none_or(|round| round.ended(ev.snd_una)) {
            if let (Some(_), Some((base, max)), 1..) = (self.round, self.bounds, self.count) {
                let mean = self.sum / f64::from(self.count);
                measured = Some(RoundRtt { mean, least: self.least, base, max });
            }
            self.round = Some(Round::from(ev.snd_nxt));
            (self.sum, self.count, self.least) = (0.0, 0, f64::INFINITY);
        }
        measured
    }

    /// The second: takes the sample in.
    pub fn sample(&mut self, ev: &AckEvent) {
        if let Some(rtt) = ev.rtt.filter(|rtt| *rtt > Dur::ZERO).map(Dur::as_secs) {
            self.sum += rtt;
            self.count += 1;
            self.least = self.least.min(rtt);
            self.bounds = Some(self.bounds.map_or((rtt, rtt), |(base, max)| (base.min(rtt), max.max(rtt))));
        }
    }

    /// Samples of the round that runs.
    #[must_use]
    pub fn samples(&self) -> u32 {
        self.count
    }

    /// The smallest sample of the connection, s; NaN before the first.
    #[must_use]
    pub fn base(&self) -> f64 {
        self.bounds.map_or(f64::NAN, |(base, _)| base)
    }

    /// The largest sample of the connection, s; NaN before the first.
    #[must_use]
    pub fn max(&self) -> f64 {
        self.bounds.map_or(f64::NAN, |(_, max)| max)
    }

    /// Nothing is known any more, the extremes neither; a round trip begins at `snd_nxt`.
    pub fn forget(&mut self, snd_nxt: u64) {
        *self =
            RttPerRound { round: Some(Round::from(snd_nxt)), least: f64::INFINITY, ..RttPerRound::default() };
    }

    /// Forgets the round that runs; the next ACK starts one.
    pub fn restart(&mut self) {
        self.round = None;
    }
}
