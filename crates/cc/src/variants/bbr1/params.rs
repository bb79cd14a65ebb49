//! The parameters of BBR, version 1, with the defaults of Linux 6.12 [Linux tcp_bbr.c bbr_high_gain and following].

use dumbbell_units::Dur;
use dumbbell_units::param::{Kind, Params, Spec, specs};

pub(super) const PARAMS: &[Spec] = specs! {
    /// pacing and cwnd gain in STARTUP, 2/ln 2: the smallest that doubles the rate each round trip
    high_gain = "2.885", Kind::Float { min: 1.0, max: 10.0 };
    /// pacing gain of the phase that probes for more bandwidth; the next phase, which drains, has 2 minus this
    probe_gain = "1.25", Kind::Float { min: 1.0, max: 1.9 };
    /// cwnd gain in PROBE_BW
    cwnd_gain = "2", Kind::Float { min: 0.1, max: 10.0 };
    /// length of the maximum filter of the bandwidth, in round trips
    bw_window = "10", Kind::Int { min: 1, max: 1000 };
    /// length of the minimum filter of the RTT; when it expires, PROBE_RTT begins
    min_rtt_window = "10 s", Kind::Duration;
    /// shortest duration of PROBE_RTT
    probe_rtt_duration = "200 ms", Kind::Duration;
    /// smallest window except after a timeout, and the window in PROBE_RTT, segments
    min_cwnd = "4", Kind::Int { min: 1, max: 1000 };
    /// the bandwidth has grown in a round trip if it is at least this many times the previous mark
    full_bw_growth = "1.25", Kind::Float { min: 1.0, max: 10.0 };
    /// round trips without growth of the bandwidth that end STARTUP
    full_bw_rounds = "3", Kind::Int { min: 1, max: 1000 };
    /// how much the pacing rate is below gain times bandwidth
    pacing_margin = "1 %", Kind::Probability;
    /// part of extra_acked that is added to the window; 0: none, as before Linux 5.1
    extra_acked_gain = "1", Kind::Float { min: 0.0, max: 10.0 };
    /// whether to detect a policer from lossy intervals with consistent bandwidth, and to pace at that bandwidth
    policer_detection = "true", Kind::Bool;
};

/// Gains are multiples of 1/256: that of STARTUP rounded up, its inverse rounded down [Linux tcp_bbr.c BBR_UNIT,
/// bbr_high_gain, bbr_drain_gain].
const BBR_UNIT: f64 = 256.0;

/// The values of the parameters.
#[derive(Clone, Copy, Debug)]
pub(super) struct Settings {
    pub(super) high_gain: f64,
    /// The inverse of high_gain.
    pub(super) drain_gain: f64,
    pub(super) probe_gain: f64,
    pub(super) cwnd_gain: f64,
    pub(super) bw_window: u64,
    pub(super) min_rtt_window: Dur,
    pub(super) probe_rtt_duration: Dur,
    pub(super) min_cwnd: f64,
    pub(super) full_bw_growth: f64,
    pub(super) full_bw_rounds: u64,
    /// 1 - pacing_margin.
    pub(super) pacing_scale: f64,
    pub(super) extra_acked_gain: f64,
    pub(super) policer_detection: bool,
}

impl Settings {
    pub(super) fn new(params: &Params) -> Settings {
        let high_gain = params.float("high_gain");
        Settings {
            high_gain: ((high_gain * BBR_UNIT).floor() + 1.0) / BBR_UNIT,
            drain_gain: (BBR_UNIT / high_gain).floor().max(1.0) / BBR_UNIT,
            probe_gain: (params.float("probe_gain") * BBR_UNIT).floor() / BBR_UNIT,
            cwnd_gain: (params.float("cwnd_gain") * BBR_UNIT).floor() / BBR_UNIT,
            bw_window: params.int("bw_window"),
            min_rtt_window: params.duration("min_rtt_window"),
            probe_rtt_duration: params.duration("probe_rtt_duration"),
            min_cwnd: params.int("min_cwnd") as f64,
            full_bw_growth: params.float("full_bw_growth"),
            full_bw_rounds: params.int("full_bw_rounds"),
            pacing_scale: 1.0 - params.probability("pacing_margin"),
            extra_acked_gain: params.float("extra_acked_gain"),
            policer_detection: params.bool("policer_detection"),
        }
    }
}
