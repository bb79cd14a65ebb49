//! Round-trip time, loss detection, probe timeout [RFC 9002 §5, §6, §7.6].

use super::{Defaults, Reading, invalid};
use dumbbell_units::Dur;
use dumbbell_units::param::{Kind, ParamError, Spec, settings, specs};

pub(super) const PARAMS: &[Spec] = specs! {
    /// round-trip time before the first sample [RFC 9002 §6.2.2]
    initial_rtt = "333 ms", Kind::Duration;
    /// a packet is lost if a packet that many numbers later is acknowledged [RFC 9002 §6.1.1]
    packet_threshold = "3", Kind::Int { min: 1, max: 1000 };
    /// a packet is lost if a later one is acknowledged and it was sent this many round trips ago [RFC 9002 §6.1.2]
    time_threshold = "1.125", Kind::Float { min: 1.0, max: 10.0 };
    /// granularity of timers: the minimum of the time threshold, and of the variation in the PTO [RFC 9002 §6.1.2]
    granularity = "1 ms", Kind::Duration;
    /// multiples of rttvar in the PTO [RFC 9002 §6.2.1]
    pto_rttvar = "4", Kind::Int { min: 1, max: 100 };
    /// packets that are sent when the PTO expires [RFC 9002 §6.2.4]
    pto_probes = "2", Kind::Int { min: 1, max: 2 };
    /// PTOs over which every packet must be lost to establish persistent congestion [RFC 9002 §7.6.1]
    persistent_congestion = "3", Kind::Int { min: 1, max: 1000 };
};

pub(super) const QUINN: Defaults = &[];

// [aioquic 1.7.2 configuration.py initial_rtt, recovery.py on_loss_detection_timeout]
pub(super) const AIOQUIC: Defaults = &[("initial_rtt", "100 ms"), ("pto_probes", "1")];

// [QUICHE quic_constants.h kInitialRttMs, kPtoRttvarMultiplier]
pub(super) const CHROMIUM: Defaults = &[("initial_rtt", "100 ms"), ("pto_rttvar", "2")];

settings! {
    /// Round-trip time, loss detection, probe timeout.
    #[derive(Clone, Copy, Debug)]
    pub struct RecoveryConfig;
    fn unchecked(p: &Reading<'_>, collapses: bool);
    /// Round-trip time before the first sample.
    pub initial_rtt: Dur = p.params.duration("initial_rtt");
    /// kPacketThreshold.
    pub packet_threshold: u64 = p.params.int("packet_threshold");
    /// kTimeThreshold.
    pub time_threshold: f64 = p.params.float("time_threshold");
    /// kGranularity.
    pub granularity: Dur = p.params.duration("granularity");
    /// Multiples of rttvar in the PTO.
    pub pto_rttvar: u32 = p.int("pto_rttvar");
    /// Probes per PTO.
    pub pto_probes: u32 = p.int("pto_probes");
    /// kPersistentCongestionThreshold.
    pub persistent_congestion: u64 = p.params.int("persistent_congestion");
    /// True if a loss sets the window to its minimum, as Tahoe does.
    pub collapses: bool = collapses;
}

impl RecoveryConfig {
    pub(super) fn read(p: &Reading<'_>, collapses: bool) -> Result<RecoveryConfig, ParamError> {
        if p.params.duration("initial_rtt") == Dur::ZERO {
            return Err(invalid("initial_rtt", "a time above zero is needed"));
        }
        Ok(RecoveryConfig::unchecked(p, collapses))
    }
}
