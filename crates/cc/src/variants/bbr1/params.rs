//! The parameters of BBR, version 1, with the defaults of Linux 6.12 [Linux tcp_bbr.c bbr_high_gain and following].

use dumbbell_units::Dur;
use dumbbell_units::param::{Kind, Params, Spec};

pub(super) const PARAMS: &[Spec] = &[
    Spec {
        name: "high_gain",
        kind: Kind::Float { min: 1.0, max: 10.0 },
        default: "2.885",
        doc: "pacing and cwnd gain in STARTUP, 2/ln 2: the smallest that doubles the rate each round trip",
    },
    Spec {
        name: "probe_gain",
        kind: Kind::Float { min: 1.0, max: 1.9 },
        default: "1.25",
        doc: "pacing gain of the phase that probes for more bandwidth; the next phase, which drains, has 2 minus this",
    },
    Spec { name: "cwnd_gain", kind: Kind::Float { min: 0.1, max: 10.0 }, default: "2", doc: "cwnd gain in PROBE_BW" },
    Spec {
        name: "bw_window",
        kind: Kind::Int { min: 1, max: 1000 },
        default: "10",
        doc: "length of the maximum filter of the bandwidth, in round trips",
    },
    Spec {
        name: "min_rtt_window",
        kind: Kind::Duration,
        default: "10 s",
        doc: "length of the minimum filter of the RTT; when it expires, PROBE_RTT begins",
    },
    Spec { name: "probe_rtt_duration", kind: Kind::Duration, default: "200 ms", doc: "shortest duration of PROBE_RTT" },
    Spec {
        name: "min_cwnd",
        kind: Kind::Int { min: 1, max: 1000 },
        default: "4",
        doc: "smallest window except after a timeout, and the window in PROBE_RTT, segments",
    },
    Spec {
        name: "full_bw_growth",
        kind: Kind::Float { min: 1.0, max: 10.0 },
        default: "1.25",
        doc: "the bandwidth has grown in a round trip if it is at least this many times the previous mark",
    },
    Spec {
        name: "full_bw_rounds",
        kind: Kind::Int { min: 1, max: 1000 },
        default: "3",
        doc: "round trips without growth of the bandwidth that end STARTUP",
    },
    Spec {
        name: "pacing_margin",
        kind: Kind::Probability,
        default: "1 %",
        doc: "how much the pacing rate is below gain times bandwidth",
    },
    Spec {
        name: "extra_acked_gain",
        kind: Kind::Float { min: 0.0, max: 10.0 },
        default: "1",
        doc: "part of extra_acked that is added to the window; 0: none, as before Linux 5.1",
    },
    Spec {
        name: "policer_detection",
        kind: Kind::Bool,
        default: "true",
        doc: "whether to detect a policer from lossy intervals with consistent bandwidth, and to pace at that bandwidth",
    },
];

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
