//! Round-trip time and retransmission timeout [RFC 6298; Linux tcp_input.c tcp_rtt_estimator].
//!
//! ```text
//! first sample   SRTT = R, RTTVAR = R/2
//! later          RTTVAR = 3/4 RTTVAR + 1/4 |SRTT - R|,  SRTT = 7/8 SRTT + 1/8 R
//! RTO            SRTT + max(G, 4 RTTVAR), within [min, max], doubled by each expiry until a new sample
//! ```
//! A sample is the number of clock ticks between sending and ACK, at least one, as measured with a coarse clock.
//!
//! Linux has `rttvar` in place of 4 RTTVAR: the largest smoothed deviation (`mdev`) of a round trip. A falling RTT
//! hardly raises `mdev`; `rttvar` falls by at most a quarter of the difference in each round trip and is never below
//! the minimum RTO, so that the minimum is added to SRTT.

use crate::config::{RtoConfig, RtoEstimator};
use dumbbell_units::{Dur, Time};

/// The estimator of one connection.
#[derive(Clone, Debug)]
pub(crate) struct RttEstimator {
    config: RtoConfig,
    /// SRTT and RTTVAR, ns.
    estimate: Option<(f64, f64)>,
    linux: LinuxRttvar,
    /// SRTT and RTO; stored because they are read much more often than they change.
    path: PathRtt,
    /// The RTO without backoff.
    base_rto: Dur,
    backoff: u32,
}

/// The estimates that others use.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PathRtt {
    /// Smoothed round-trip time; None before the first sample.
    pub(crate) srtt: Option<Dur>,
    /// The RTO, backoff included.
    pub(crate) rto: Dur,
}

impl RttEstimator {
    /// Returns an estimator without samples.
    pub(crate) fn new(config: RtoConfig) -> RttEstimator {
        RttEstimator {
            config,
            estimate: None,
            linux: LinuxRttvar::default(),
            path: PathRtt { srtt: None, rto: config.initial.min(config.max) },
            base_rto: config.initial,
            backoff: 0,
        }
    }

    /// Adds the round trip of a segment that was sent once, from `sent` to `now`; ends backoff [RFC 6298 §3, (5.7)].
    /// `snd_una` and `snd_nxt` are those after the ACK: Linux's rule counts round trips with them.
    #[inline]
    pub(crate) fn sample(&mut self, sent: Time, now: Time, snd_una: u64, snd_nxt: u64) {
        let tick = self.config.granularity.0.max(1);
        let count = |t: Time| (t.0 + self.config.clock_phase.0) / tick;
        let ticks = if tick == 1 { now.0 - sent.0 } else { count(now) - count(sent) }.max(1);
        match self.config.estimator {
            RtoEstimator::Rfc6298 => self.sample_rfc6298(ticks, tick),
            RtoEstimator::Linux => self.sample_linux(ticks, tick, snd_una, snd_nxt),
            RtoEstimator::WholeTicks => self.sample_in_ticks(ticks, tick),
        }
    }

    /// Returns the next SRTT and RTTVAR with a round trip of `r` ns [RFC 6298 (2.2), (2.3)].
    #[inline]
    fn smoothed(&self, r: f64) -> (f64, f64) {
        match self.estimate {
            None => (r, r / 2.0),
            Some((srtt, rttvar)) => (srtt + (r - srtt) / 8.0, rttvar + ((srtt - r).abs() - rttvar) / 4.0),
        }
    }

    #[inline(never)]
    fn sample_rfc6298(&mut self, ticks: u64, tick: u64) {
        let (srtt, rttvar) = self.smoothed(nanoseconds(ticks, tick));
        let variance = (4.0 * rttvar).max(self.config.granularity.0 as f64);
        self.set(srtt, rttvar, whole(srtt + variance).max(self.config.min));
    }

    #[inline(never)]
    fn sample_linux(&mut self, ticks: u64, tick: u64, snd_una: u64, snd_nxt: u64) {
        let r = nanoseconds(ticks, tick);
        let (srtt, rttvar) = self.smoothed(r);
        let error = self.estimate.map(|(srtt, _)| r - srtt);
        let rto_min = self.config.min.0 as f64;
        let rto = whole(srtt + self.linux.update(r, error, rto_min, snd_una, snd_nxt));
        self.set(srtt, rttvar, rto);
    }

    #[inline(never)]
    fn sample_in_ticks(&mut self, ticks: u64, tick: u64) {
        let (srtt, rttvar) = in_integers(self.estimate, ticks, tick as f64);
        let variance = (4.0 * rttvar).max(self.config.granularity.0 as f64);
        let rto = whole(srtt + variance);
        self.set(srtt, rttvar, Dur(rto.0 / tick * tick).max(self.config.min));
    }

    /// Sets the estimates, and the RTO without backoff.
    #[inline]
    fn set(&mut self, srtt: f64, rttvar: f64, rto: Dur) {
        self.estimate = Some((srtt, rttvar));
        self.path = PathRtt { srtt: Some(whole(srtt)), rto: rto.min(self.config.max) };
        self.base_rto = rto;
        self.backoff = 0;
    }

    /// Smoothed round-trip time; None before the first sample.
    pub(crate) fn srtt(&self) -> Option<Dur> {
        self.path.srtt
    }

    /// SRTT and RTO.
    #[inline]
    pub(crate) fn path(&self) -> &PathRtt {
        &self.path
    }

    /// The current RTO, backoff included.
    pub(crate) fn rto(&self) -> Dur {
        self.path.rto
    }

    fn update_rto(&mut self) {
        self.path.rto = (self.base_rto * (1u64 << self.backoff.min(16))).min(self.config.max);
    }

    /// Doubles the RTO after the timer expired [RFC 6298 (5.5)].
    pub(crate) fn back_off(&mut self) {
        self.backoff += 1;
        self.update_rto();
    }

    /// Raises the first RTO to 3 s because the SYN was retransmitted [RFC 6298 (5.7)].
    pub(crate) fn on_syn_lost(&mut self) {
        self.base_rto = self.base_rto.max(Dur::secs(3));
        self.backoff = 0;
        self.update_rto();
    }
}

/// The part of the RTO that Linux adds to SRTT. The names are those of struct tcp_sock; values in ns.
#[derive(Clone, Copy, Debug, Default)]
struct LinuxRttvar {
    /// Four times the smoothed deviation.
    mdev: f64,
    /// The largest `mdev` of this round trip.
    mdev_max: f64,
    rttvar: f64,
    /// snd_nxt at the start of this round trip.
    rtt_seq: u64,
}

impl LinuxRttvar {
    /// Adds a sample that is `error` above SRTT (None for the first sample); returns `rttvar` [Linux tcp_input.c
    /// tcp_rtt_estimator].
    fn update(&mut self, r: f64, error: Option<f64>, rto_min: f64, snd_una: u64, snd_nxt: u64) -> f64 {
        let Some(error) = error else {
            self.mdev = 2.0 * r;
            self.rttvar = self.mdev.max(rto_min);
            (self.mdev_max, self.rtt_seq) = (self.rttvar, snd_nxt);
            return self.rttvar;
        };
        let change = error.abs() - self.mdev / 4.0;
        // An RTT that falls by more than the deviation raises it by an eighth of the change only.
        self.mdev += if error < 0.0 && change > 0.0 { change / 8.0 } else { change };
        self.mdev_max = self.mdev_max.max(self.mdev);
        self.rttvar = self.rttvar.max(self.mdev_max);
        if snd_una > self.rtt_seq {
            if self.mdev_max < self.rttvar {
                self.rttvar -= (self.rttvar - self.mdev_max) / 4.0;
            }
            (self.mdev_max, self.rtt_seq) = (rto_min, snd_nxt);
        }
        self.rttvar
    }
}

/// Returns a number of ticks in nanoseconds.
#[inline]
fn nanoseconds(ticks: u64, tick: u64) -> f64 {
    (ticks * tick).cast_signed() as f64 // cheaper than from u64
}

/// Returns a number of nanoseconds that isn't negative, rounded.
#[inline]
fn whole(ns: f64) -> Dur {
    Dur(((ns + 0.5) as i64).cast_unsigned()) // cheaper than to u64
}

/// Returns the next estimates [RFC 6298 (2.2), (2.3)] in integers [Jacobson 1988, appendix A].
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
    use crate::config::Config;

    /// The fields that these tests don't use.
    fn exact_timers() -> RtoConfig {
        Config::read("rfc", &[], dumbbell_cc::find("reno").unwrap()).unwrap().rto
    }

    fn fine() -> RttEstimator {
        RttEstimator::new(RtoConfig {
            initial: Dur::secs(1),
            min: Dur::millis(200),
            max: Dur::secs(60),
            granularity: Dur(1),
            estimator: RtoEstimator::Rfc6298,
            ..exact_timers()
        })
    }

    fn sample(rtt: &mut RttEstimator, ms: u64) {
        rtt.sample(Time::ZERO + Dur::secs(1), Time::ZERO + Dur::secs(1) + Dur::millis(ms), 0, 0);
    }

    #[test]
    fn estimates_equal_those_computed_by_hand() {
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
            estimator: RtoEstimator::Rfc6298,
            ..exact_timers()
        };
        let mut rtt = RttEstimator::new(config);
        // From 9 ms to 71 ms: seven tick boundaries at 10..70, so 70 ms instead of 62 ms.
        rtt.sample(Time(9_000_000), Time(71_000_000), 0, 0);
        assert_eq!(rtt.srtt(), Some(Dur::millis(70)));
    }

    #[test]
    fn integer_estimates_are_those_of_4_3_bsd() {
        let mut rtt = RttEstimator::new(RtoConfig {
            initial: Dur::secs(3),
            min: Dur::millis(20),
            max: Dur::secs(60),
            granularity: Dur::millis(10),
            estimator: RtoEstimator::WholeTicks,
            ..exact_timers()
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
    fn the_linux_timeout_falls_slowly_when_the_rtt_falls() {
        let mut rtt = RttEstimator::new(RtoConfig {
            initial: Dur::secs(1),
            min: Dur::millis(200),
            max: Dur::secs(120),
            granularity: Dur::micros(1),
            estimator: RtoEstimator::Linux,
            ..exact_timers()
        });
        let mut una = 0;
        let mut sample = |rtt: &mut RttEstimator, ms: u64, new_round: bool| {
            una += u64::from(new_round);
            let sent = Time(1_000_000_000);
            rtt.sample(sent, sent + Dur::millis(ms), una, una);
            rtt.rto().as_millis()
        };
        // 40 ms: mdev 80, rttvar at least 200.
        assert_eq!(sample(&mut rtt, 40, false), 240.0);
        // 440 ms: error 400, mdev 80 + 400 - 20 = 460 = rttvar; srtt 40 + 50 = 90.
        assert_eq!(sample(&mut rtt, 440, false), 550.0);
        // 90 ms: error 0, mdev 460 - 115 = 345; the round trip ends with mdev_max = 460: rttvar stays.
        assert_eq!(sample(&mut rtt, 90, true), 550.0);
        // 90 ms: mdev 345 - 86.25 = 258.75, the largest of the round trip: rttvar 460 - (460 - 258.75) / 4 = 409.6875.
        assert_eq!(sample(&mut rtt, 90, true), 499.6875);
        // 10 ms: error -80, srtt 80; 80 - 64.6875 = 15.3125 more, of which an eighth: 260.6640625. The round trip has
        // not ended.
        assert_eq!(sample(&mut rtt, 10, false), 489.6875);
    }
}
