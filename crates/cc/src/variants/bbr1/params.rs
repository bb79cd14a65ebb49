//! The parameters of BBR, version 1.

use dumbbell_units::Dur;
use dumbbell_units::param::{Kind, Params, Spec};

pub(super) const PARAMS: &[Spec] = &[
    Spec {
        name: "high_gain",
        kind: Kind::Float { min: 1.0, max: 10.0 },
        default: "2.885",
        doc: "gain of rate and window in startup, 2/ln 2: the least that doubles the rate each round trip",
    },
    Spec {
        name: "probe_gain",
        kind: Kind::Float { min: 1.0, max: 1.9 },
        default: "1.25",
        doc: "gain of the phase that looks for more bandwidth; the next phase gives up as much: 2 less this",
    },
    Spec {
        name: "cwnd_gain",
        kind: Kind::Float { min: 0.1, max: 10.0 },
        default: "2",
        doc: "gain of the window while probing for bandwidth",
    },
    Spec {
        name: "bw_window",
        kind: Kind::Int { min: 1, max: 1000 },
        default: "10",
        doc: "round trips over which the largest rate is taken",
    },
    Spec {
        name: "min_rtt_window",
        kind: Kind::Duration,
        default: "10 s",
        doc: "time over which the smallest RTT is taken; at its end the window dips to see it anew",
    },
    Spec {
        name: "probe_rtt_duration",
        kind: Kind::Duration,
        default: "200 ms",
        doc: "how long the window dips at least",
    },
    Spec {
        name: "min_cwnd",
        kind: Kind::Int { min: 1, max: 1000 },
        default: "4",
        doc: "smallest window outside a timeout, and that of the dip, segments",
    },
    Spec {
        name: "full_bw_growth",
        kind: Kind::Float { min: 1.0, max: 10.0 },
        default: "1.25",
        doc: "a rate less than so many times the last mark counts as no growth",
    },
    Spec {
        name: "full_bw_rounds",
        kind: Kind::Int { min: 1, max: 1000 },
        default: "3",
        doc: "round trips without growth that end startup",
    },
    Spec {
        name: "pacing_margin",
        kind: Kind::Probability,
        default: "1 %",
        doc: "how much below the gain times the rate it paces",
    },
    Spec {
        name: "extra_acked_gain",
        kind: Kind::Float { min: 0.0, max: 10.0 },
        default: "1",
        doc: "part of the ACKs' excess that the window gets; 0: none, as before Linux 5.1",
    },
    Spec {
        name: "policer_detection",
        kind: Kind::Bool,
        default: "true",
        doc: "whether lossy intervals of like rate make it keep to that rate",
    },
];

/// Gains are whole 256ths; that of startup is rounded up, its inverse down [Linux 6.12 tcp_bbr.c].
const GAIN_UNIT: f64 = 256.0;

/// The parameters.
#[derive(Clone, Copy, Debug)]
pub(super) struct Settings {
    pub(super) high_gain: f64,
    /// Undoes it.
    pub(super) drain_gain: f64,
    pub(super) probe_gain: f64,
    pub(super) cwnd_gain: f64,
    pub(super) bw_window: u64,
    pub(super) min_rtt_window: Dur,
    pub(super) probe_rtt_duration: Dur,
    pub(super) min_cwnd: f64,
    pub(super) full_bw_growth: f64,
    pub(super) full_bw_rounds: u64,
    /// What is left of a rate after the margin.
    pub(super) pace: f64,
    pub(super) extra_acked_gain: f64,
    pub(super) policer_detection: bool,
}

impl Settings {
    pub(super) fn new(params: &Params) -> Settings {
        let high_gain = params.float("high_gain");
        Settings {
            high_gain: ((high_gain * GAIN_UNIT).floor() + 1.0) / GAIN_UNIT,
            drain_gain: (GAIN_UNIT / high_gain).floor().max(1.0) / GAIN_UNIT,
            probe_gain: (params.float("probe_gain") * GAIN_UNIT).floor() / GAIN_UNIT,
            cwnd_gain: (params.float("cwnd_gain") * GAIN_UNIT).floor() / GAIN_UNIT,
            bw_window: params.int("bw_window"),
            min_rtt_window: params.duration("min_rtt_window"),
            probe_rtt_duration: params.duration("probe_rtt_duration"),
            min_cwnd: params.int("min_cwnd") as f64,
            full_bw_growth: params.float("full_bw_growth"),
            full_bw_rounds: params.int("full_bw_rounds"),
            pace: 1.0 - params.probability("pacing_margin"),
            extra_acked_gain: params.float("extra_acked_gain"),
            policer_detection: params.bool("policer_detection"),
        }
    }
}
