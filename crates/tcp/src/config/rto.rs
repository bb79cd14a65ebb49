//! Round-trip time samples and the retransmission timer [RFC 6298, RFC 7323 §4; Linux tcp_input.c tcp_rtt_estimator].

use super::facts::{Karn, RttFrom};
use super::{Defaults, Reading, too_small};
use dumbbell_units::param::{Kind, ParamError, Spec, settings, specs};
use dumbbell_units::{Dur, named};

pub(super) const PARAMS: &[Spec] = specs! {
    /// retransmission timeout before the first sample [RFC 6298 (2.1)]
    rto_initial = "1 s", Kind::Duration;
    /// lower bound of the timeout [RFC 6298 (2.4)]
    rto_min = "1 s", Kind::Duration;
    /// upper bound of the timeout, backoff included [RFC 6298 (2.5)]
    rto_max = "60 s", Kind::Duration;
    /// clock tick: round-trip samples are whole ticks, and G of RFC 6298 (2.3)
    granularity = "1 ms", Kind::Duration;
    /// tick of the clock of the timers for retransmissions and delayed ACKs: they expire at a tick, never early, and
    /// long ones up to an eighth late (4 ms with 250 ticks a second) [Linux kernel/time/timer.c calc_wheel_index]; 0:
    /// exact timers
    timer_tick = "0 ms", Kind::Duration;
    /// time for which the smallest round trip is remembered [RFC 8985 §6.2]; 0: for the whole connection
    min_rtt_window = "0 s", Kind::Duration;
    /// time from a tick of the clock of round-trip samples (granularity) to the start of the run; ns-2 draws it for
    /// each flow
    clock_phase = "0 ms", Kind::Duration;
};

pub(super) const LINUX: Defaults = &[
    // [Linux include/net/tcp.h TCP_RTO_MIN, TCP_RTO_MAX]
    ("rto_min", "200 ms"),
    ("rto_max", "120 s"),
    ("granularity", "1 us"),
    // CONFIG_HZ = 250.
    ("timer_tick", "4 ms"),
    // [Linux tcp_ipv4.c tcp_sk_init: sysctl_tcp_min_rtt_wlen]
    ("min_rtt_window", "300 s"),
];

// ns-2 draws the phase; this is that of the recorded runs (validation/ns2/drops.tcl with seed 1).
pub(super) const NS2: Defaults =
    &[("rto_initial", "3 s"), ("rto_min", "200 ms"), ("granularity", "10 ms"), ("clock_phase", "2 ms")];

settings! {
    /// Round-trip time samples and the retransmission timer.
    #[derive(Clone, Copy, Debug)]
    pub struct RtoConfig;
    fn unchecked(p: &Reading<'_>);
    /// Timeout before the first sample [RFC 6298 (2.1)].
    pub initial: Dur = p.duration("rto_initial");
    /// Lower bound [RFC 6298 (2.4)].
    pub min: Dur = p.duration("rto_min");
    /// Upper bound [RFC 6298 (2.5)], backoff included.
    pub max: Dur = p.duration("rto_max");
    /// Clock granularity G; samples are whole multiples of it.
    pub granularity: Dur = p.duration("granularity");
    /// How the timeout follows from samples.
    pub estimator: RtoEstimator = match p.facts.rto_estimator {
        RtoEstimator::Rfc6298 if p.bool("whole_numbers") => RtoEstimator::WholeTicks,
        estimator => estimator,
    };
    /// Time from a tick of that clock to the start of the run.
    pub clock_phase: Dur = p.duration("clock_phase");
    /// True if only fast retransmits and timeouts discard the round trip that is being timed.
    pub timed_past_retransmissions: bool = p.facts.karn == Karn::Reduction;
    /// Tick of the timers' clock; zero: exact timers.
    pub timer_tick: Dur = p.duration("timer_tick");
    /// True if samples come from the times at which segments were sent, false if from echoed timestamps.
    pub rtt_from_segments: bool = p.facts.rtt_from == RttFrom::Segments;
    /// Time for which the smallest round trip is remembered; zero: for the whole connection.
    pub min_rtt_window: Dur = p.duration("min_rtt_window");
}

named! {
    /// How the timeout follows from samples.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum RtoEstimator {
        /// RFC 6298 §2.
        Rfc6298 = "rfc6298",
        /// The same in integers, as 4.3BSD keeps them: srtt in eighths of a tick, rttvar in quarters, the timeout in
        /// whole ticks [Jacobson 1988, appendix A].
        WholeTicks = "whole ticks",
        /// Linux's rule [Linux tcp_input.c tcp_rtt_estimator].
        Linux = "linux",
    }
}

impl RtoConfig {
    pub(super) fn read(p: &Reading<'_>) -> Result<RtoConfig, ParamError> {
        if p.duration("rto_initial") == Dur::ZERO || p.duration("rto_max") < p.duration("rto_min") {
            return Err(too_small("rto_max", "rto_min and a positive rto_initial"));
        }
        Ok(RtoConfig::unchecked(p))
    }
}
