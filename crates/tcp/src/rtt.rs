//! Round-trip time and retransmission timeout [RFC 6298].
//!
//! ```text
//! first sample   srtt = r, rttvar = r/2
//! later          rttvar = 3/4 rttvar + 1/4 |srtt - r|,  srtt = 7/8 srtt + 1/8 r
//! rto            srtt + max(G, 4 rttvar), within [min, max], doubled by each expiry until a new sample
//! ```
//! With a timer tick the sample is the number of ticks that passed, at least one, as a stack with a coarse clock
//! sees it.
//!
//! Linux keeps, in place of 4 rttvar, a deviation that a falling RTT hardly raises, takes the largest of a round trip,
//! and comes down by a quarter of the difference a round trip at most; it never falls below the minimum RTO, which so
//! comes on top of srtt.

use dumbbell_units::{Dur, Time};

/// Bounds and clock of the retransmission timer.
#[derive(Clone, Copy, Debug)]
pub struct RtoConfig {
    /// Before the first sample [RFC 6298 (2.1)].
    pub initial: Dur,
    /// Lower bound [RFC 6298 (2.4)].
    pub min: Dur,
    /// Upper bound [RFC 6298 (2.5)], backoff included.
    pub max: Dur,
    /// Clock granularity G; samples are whole multiples of it.
    pub granularity: Dur,
    /// How the timeout follows from samples.
    pub estimator: Estimator,
}

/// How the timeout follows from samples.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Estimator {
    /// As above.
    Rfc6298,
    /// The same in integers as 4.3BSD keeps them: srtt in eighths of a tick, rttvar in quarters, the timeout in whole
    /// ticks.
    WholeTicks,
    /// As Linux does.
    Linux,
}

/// Estimator of one connection.
#[derive(Clone, Debug)]
pub struct Rtt {
    config: RtoConfig,
    /// srtt and rttvar, ns.
    estimate: Option<(f64, f64)>,
    linux: Linux,
    /// srtt, and the timeout without backoff: they are asked for much more often than they change.
    srtt: Option<Dur>,
    base: Dur,
    backoff: u32,
}

impl Rtt {
    /// An estimator without samples.
    #[must_use]
    pub fn new(config: RtoConfig) -> Rtt {
        Rtt { config, estimate: None, linux: Linux::default(), srtt: None, base: config.initial, backoff: 0 }
    }

    /// A round trip from `sent` to `now` of a segment that was sent once; ends backoff [RFC 6298 §3, (5.7)]. The ends of
    /// what is acknowledged and of what was sent tell Linux's estimator the round trips.
    pub fn sample(&mut self, sent: Time, now: Time, una: u64, nxt: u64) {
        let tick = self.config.granularity.0.max(1);
        let ticks = (now.0 / tick - sent.0 / tick).max(1);
        self.backoff = 0;
        let r = (ticks * tick) as f64;
        let (srtt, rttvar) = match (self.config.estimator, self.estimate) {
            (Estimator::WholeTicks, estimate) => in_integers(estimate, ticks, tick as f64),
            (_, None) => (r, r / 2.0),
            (_, Some((srtt, rttvar))) => {
                (srtt + (r - srtt) / 8.0, rttvar + ((srtt - r).abs() - rttvar) / 4.0) // [RFC 6298 (2.3)]
            }
        };
        let timeout = match self.config.estimator {
            Estimator::Linux => {
                let error = self.estimate.map(|(srtt, _)| r - srtt);
                Dur((srtt + self.linux.margin(r, error, self.config.min.0 as f64, una, nxt) + 0.5) as u64)
            }
            estimator => {
                let variance = (4.0 * rttvar).max(self.config.granularity.0 as f64);
                let timeout = (srtt + variance + 0.5) as u64;
                let whole = estimator == Estimator::WholeTicks;
                Dur(if whole { timeout / tick * tick } else { timeout }).max(self.config.min)
            }
        };
        self.estimate = Some((srtt, rttvar));
        self.srtt = Some(Dur((srtt + 0.5) as u64));
        self.base = timeout;
    }

    /// Smoothed round-trip time; None before the first sample.
    #[must_use]
    pub fn srtt(&self) -> Option<Dur> {
        self.srtt
    }

    /// The timeout in force, backoff included.
    #[must_use]
    pub fn rto(&self) -> Dur {
        (self.base * (1u64 << self.backoff.min(16))).min(self.config.max)
    }

    /// The timer expired: the timeout doubles [RFC 6298 (5.5)].
    pub fn back_off(&mut self) {
        self.backoff += 1;
    }

    /// The SYN had to be repeated: data starts with at least 3 s [RFC 6298 (5.7)].
    pub fn syn_was_lost(&mut self) {
        self.base = self.base.max(Dur::secs(3));
        self.backoff = 0;
    }
}

/// What Linux adds to srtt.
#[derive(Clone, Copy, Debug, Default)]
struct Linux {
    /// Four times the smoothed deviation, and the largest that it was in this round trip.
    deviation: f64,
    largest: f64,
    margin: f64,
    round_end: u64,
}

impl Linux {
    /// Takes in a sample and how far it is above srtt (None for the first); gives the margin.
    fn margin(&mut self, r: f64, error: Option<f64>, least: f64, una: u64, nxt: u64) -> f64 {
        let Some(error) = error else {
            self.deviation = 2.0 * r;
            self.margin = self.deviation.max(least);
            (self.largest, self.round_end) = (self.margin, nxt);
            return self.margin;
        };
        let change = error.abs() - self.deviation / 4.0;
        // An RTT that falls by more than usual raises the deviation by an eighth of that only.
        self.deviation += if error < 0.0 && change > 0.0 { change / 8.0 } else { change };
        self.largest = self.largest.max(self.deviation);
        self.margin = self.margin.max(self.largest);
        if una > self.round_end {
            if self.largest < self.margin {
                self.margin -= (self.margin - self.largest) / 4.0;
            }
            (self.largest, self.round_end) = (least, nxt);
        }
        self.margin
    }
}

/// The next estimates [RFC 6298 (2.2), (2.3)] cut to integers [Jacobson 1988, appendix A].
fn in_integers(estimate: Option<(f64, f64)>, ticks: u64, tick: f64) -> (f64, f64) {
    let ticks = ticks as i64;
    let (eighths, quarters) = match estimate {
        None => (8 * ticks, 2 * ticks),
        Some((srtt, rttvar)) => {
            let (srtt, rttvar) = ((srtt / tick * 8.0).round() as i64, (rttvar / tick * 4.0).round() as i64);
            let error = ticks - (srtt >> 3);
            ((srtt + error).max(1), (rttvar + error.abs() - (rttvar >> 2)).max(1))
        }
    };
    (eighths as f64 / 8.0 * tick, quarters as f64 / 4.0 * tick)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fine() -> Rtt {
        Rtt::new(RtoConfig {
            initial: Dur::secs(1),
            min: Dur::millis(200),
            max: Dur::secs(60),
            granularity: Dur(1),
            estimator: Estimator::Rfc6298,
        })
    }

    fn sample(rtt: &mut Rtt, ms: u64) {
        rtt.sample(Time::ZERO + Dur::secs(1), Time::ZERO + Dur::secs(1) + Dur::millis(ms), 0, 0);
    }

    #[test]
    fn worked_example() {
        let mut rtt = fine();
        assert_eq!(rtt.rto(), Dur::secs(1));
        sample(&mut rtt, 100); // srtt 100, rttvar 50 -> rto 300
        assert_eq!((rtt.srtt(), rtt.rto()), (Some(Dur::millis(100)), Dur::millis(300)));
        sample(&mut rtt, 180); // rttvar = 50 + (80-50)/4 = 57.5, srtt = 110 -> 340
        assert_eq!((rtt.srtt(), rtt.rto()), (Some(Dur::millis(110)), Dur::millis(340)));
    }

    #[test]
    fn backoff_doubles_up_to_the_maximum_and_ends_with_a_sample() {
        let mut rtt = fine();
        sample(&mut rtt, 100);
        for expected in [600, 1200, 2400] {
            rtt.back_off();
            assert_eq!(rtt.rto(), Dur::millis(expected));
        }
        (0..40).for_each(|_| rtt.back_off());
        assert_eq!(rtt.rto(), Dur::secs(60));
        sample(&mut rtt, 100);
        assert!(rtt.rto() < Dur::millis(300));
    }

    #[test]
    fn a_coarse_clock_counts_whole_ticks() {
        let config = RtoConfig {
            initial: Dur::secs(3),
            min: Dur::millis(200),
            max: Dur::secs(60),
            granularity: Dur::millis(10),
            estimator: Estimator::Rfc6298,
        };
        let mut rtt = Rtt::new(config);
        // From 9 ms to 71 ms: tick boundaries at 10..70, seven of them, so 70 ms for a true 62 ms.
        rtt.sample(Time(9_000_000), Time(71_000_000), 0, 0);
        assert_eq!(rtt.srtt(), Some(Dur::millis(70)));
    }

    #[test]
    fn integers_as_in_4_3_bsd() {
        let mut rtt = Rtt::new(RtoConfig {
            initial: Dur::secs(3),
            min: Dur::millis(20),
            max: Dur::secs(60),
            granularity: Dur::millis(10),
            estimator: Estimator::WholeTicks,
        });
        let at = |ms: u64| Time::ZERO + Dur::millis(ms);
        rtt.sample(at(0), at(70), 0, 0); // 7 ticks: srtt 56/8, rttvar 14/4; rto = 7 + 14 ticks
        assert_eq!((rtt.srtt(), rtt.rto()), (Some(Dur::millis(70)), Dur::millis(210)));
        rtt.sample(at(0), at(60), 0, 0); // error -1: srtt 55/8 = 6.875, rttvar 14 + 1 - 3 = 12; rto = 12 + 6.875, cut to 18
        assert_eq!((rtt.srtt(), rtt.rto()), (Some(Dur::micros(68_750)), Dur::millis(180)));
        rtt.sample(at(0), at(60), 0, 0); // 55 >> 3 = 6: error 0, srtt 55/8; rttvar 12 - 3 = 9; rto = 9 + 6.875, cut to 15
        assert_eq!(rtt.rto(), Dur::millis(150));
    }

    #[test]
    fn the_timeout_of_linux() {
        let mut rtt = Rtt::new(RtoConfig {
            initial: Dur::secs(1),
            min: Dur::millis(200),
            max: Dur::secs(120),
            granularity: Dur::micros(1),
            estimator: Estimator::Linux,
        });
        let mut una = 0;
        let mut sample = |rtt: &mut Rtt, ms: u64, new_round: bool| {
            una += u64::from(new_round);
            let sent = Time(1_000_000_000);
            rtt.sample(sent, sent + Dur::millis(ms), una, una);
            rtt.rto().as_millis()
        };
        // 40 ms: deviation 80, the margin at least 200.
        assert_eq!(sample(&mut rtt, 40, false), 240.0);
        // 440 ms: error 400, deviation 80 + 400 - 20 = 460 = margin; srtt 40 + 50 = 90.
        assert_eq!(sample(&mut rtt, 440, false), 550.0);
        // 90 ms: error 0, deviation 460 - 115 = 345; the round is over with 460 as its largest: the margin stays.
        assert_eq!(sample(&mut rtt, 90, true), 550.0);
        // 90 ms: deviation 345 - 86.25 = 258.75, the round's largest: margin 460 - (460 - 258.75) / 4 = 409.6875.
        assert_eq!(sample(&mut rtt, 90, true), 499.6875);
        // 10 ms: error -80, srtt 80; 80 - 64.6875 = 15.3125 more, of which an eighth: 260.6640625. The round goes on.
        assert_eq!(sample(&mut rtt, 10, false), 489.6875);
    }
}
