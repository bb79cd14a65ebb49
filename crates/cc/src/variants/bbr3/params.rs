//! The registry row of BBRv3 and its parameters, with the constants of draft-ietf-ccwg-bbr-06 as defaults.

use super::Bbr3;
use crate::{Requirement, StackFeature, Variant};
use dumbbell_units::Dur;
use dumbbell_units::param::{Kind, ParamError, Params, settings, specs};

const ABOVE_ONE: Kind = Kind::Float { min: 1.0, max: 10.0 };
const BELOW_ONE: Kind = Kind::Float { min: 0.01, max: 1.0 };

pub(crate) const ROW: Variant = Variant {
    name: "bbr3",
    title: "BBR, version 3: paced by a model of the path, with bounds learned from losses",
    year: 2026,
    source: "Cardwell, Swett and Beshay (eds.), BBR Congestion Control, draft-ietf-ccwg-bbr-06",
    requires: &[
        Requirement {
            feature: StackFeature::Sack,
            source: "draft-ietf-ccwg-bbr-06 §4.1.1.1",
            why: "its delivery rate samples are accurate during recovery only with SACK",
        },
        Requirement {
            feature: StackFeature::Timestamps,
            source: "draft-ietf-ccwg-bbr-06 §4.1.3.5.1",
            why: "without timestamps its RTT and bandwidth samples are much less accurate",
        },
        Requirement {
            feature: StackFeature::Rack,
            source: "draft-ietf-ccwg-bbr-06 §3.1",
            why: "its goal of full throughput at 1 % loss needs lost retransmissions to be found before a timeout",
        },
        Requirement {
            feature: StackFeature::Undo,
            source: "draft-ietf-ccwg-bbr-06 §5.5.11",
            why: "it restores its bounds when a recovery was spurious",
        },
    ],
    own_recovery: true,
    on_loss: "more than 2 % lost in a probe: the data in flight becomes a bound; other losses: bounds times 0.7, but not below \
              the delivered volume; timeout: cwnd = 1 segment",
    on_delay: "cwnd at most about twice the bandwidth times the minimum RTT",
    on_ecn: "as a round trip with more than 2 % lost",
    params: specs! {
        /// pacing gain in Startup, 4 ln 2: the smallest that doubles the rate each round trip [§2.5]
        startup_pacing_gain = "2.77", ABOVE_ONE;
        /// pacing gain in Drain [§2.5]
        drain_pacing_gain = "0.5", BELOW_ONE;
        /// cwnd gain except in ProbeBW_UP and ProbeRTT [§2.6]
        cwnd_gain = "2", Kind::Float { min: 0.5, max: 10.0 };
        /// pacing gain in ProbeBW_UP [§5.3.3.5]
        up_pacing_gain = "1.25", ABOVE_ONE;
        /// cwnd gain in ProbeBW_UP [§5.3.3.5]
        up_cwnd_gain = "2.25", Kind::Float { min: 0.5, max: 10.0 };
        /// pacing gain in ProbeBW_DOWN [§5.3.3.1]
        down_pacing_gain = "0.9", BELOW_ONE;
        /// cwnd gain in ProbeRTT [§2.16.2]
        probe_rtt_cwnd_gain = "0.5", BELOW_ONE;
        /// largest loss rate in a round trip that a probe accepts [§2.8]
        loss_thresh = "2 %", Kind::Probability;
        /// factor of the short-term bounds for each round trip with losses [§2.8]
        beta = "0.7", BELOW_ONE;
        /// part of inflight_longterm that is left free for other flows [§2.8]
        headroom = "0.15", Kind::Float { min: 0.0, max: 0.9 };
        /// smallest window except after a timeout, segments [§2.8]
        min_cwnd = "4", Kind::Int { min: 1, max: 1000 };
        /// shortest time between bandwidth probes [§5.3.3.8.2]
        probe_wait = "2 s", Kind::Duration;
        /// a random time between zero and this is added to probe_wait [§5.3.3.8.2]
        probe_wait_spread = "1 s", Kind::Duration;
        /// most round trips between probes, for large windows; a competing Reno flow needs about one round trip for
        /// each segment of its window [§5.3.3.8]
        reno_rounds = "63", Kind::Int { min: 1, max: 1_000_000 };
        /// length of the minimum filter of the RTT [§2.16.1]
        min_rtt_window = "10 s", Kind::Duration;
        /// time without a smaller RTT after which ProbeRTT begins [§2.16.2]
        probe_rtt_interval = "5 s", Kind::Duration;
        /// shortest duration of ProbeRTT [§2.16.2]
        probe_rtt_duration = "200 ms", Kind::Duration;
        /// the bandwidth has grown in a round trip if it is at least this many times full_bw [§5.3.1.2]
        full_bw_growth = "1.25", ABOVE_ONE;
        /// round trips without growth that set full_bw_now [§5.3.1.2]
        full_bw_rounds = "3", Kind::Int { min: 1, max: 1000 };
        /// separate ranges lost in a round trip that, together with loss_thresh, end Startup [§5.3.1.3]
        startup_full_losses = "6", Kind::Int { min: 1, max: 1_000_000 };
        /// length of the maximum filter of extra_acked after Startup, in round trips [§2.12]
        extra_acked_rounds = "10", Kind::Int { min: 1, max: 1000 };
        /// how much the pacing rate is below gain times bandwidth [§2.5]
        pacing_margin = "1 %", Kind::Probability;
    },
    columns: &[
        "bw",
        "max_bw",
        "bw_shortterm",
        "min_rtt",
        "probe_rtt_min_delay",
        "pacing_rate",
        "pacing_gain",
        "cwnd_gain",
        "round_count",
        "inflight_longterm",
        "inflight_shortterm",
        "extra_acked",
        "full_bw_count",
        "full_bw_now",
        "full_bw_reached",
        "idle_restart",
        "bw_probe_wait",
        "state",
    ],
    random: true,
    build: |params, setup| {
        check(params)?;
        Ok(Box::new(Bbr3::new(params, setup)))
    },
    ..Variant::EMPTY
};

fn check(params: &Params) -> Result<(), ParamError> {
    if params.duration("min_rtt_window") < params.duration("probe_rtt_interval") {
        return Err(ParamError {
            name: "min_rtt_window".into(),
            message: "must be at least probe_rtt_interval: the window has to contain a ProbeRTT".into(), // §5.3.4.2
        });
    }
    Ok(())
}

settings! {
    /// The values of the parameters. `min_cwnd` is in bytes.
    #[derive(Clone, Copy, Debug)]
    pub(super) struct Settings;
    pub(super) fn read(params: &Params, mss: f64);
    pub(super) startup_pacing_gain: f64 = params.float("startup_pacing_gain");
    pub(super) drain_pacing_gain: f64 = params.float("drain_pacing_gain");
    pub(super) cwnd_gain: f64 = params.float("cwnd_gain");
    pub(super) up_pacing_gain: f64 = params.float("up_pacing_gain");
    pub(super) up_cwnd_gain: f64 = params.float("up_cwnd_gain");
    pub(super) down_pacing_gain: f64 = params.float("down_pacing_gain");
    pub(super) probe_rtt_cwnd_gain: f64 = params.float("probe_rtt_cwnd_gain");
    pub(super) loss_thresh: f64 = params.probability("loss_thresh");
    pub(super) beta: f64 = params.float("beta");
    pub(super) headroom: f64 = params.float("headroom");
    pub(super) min_cwnd: f64 = params.int("min_cwnd") as f64 * mss;
    pub(super) probe_wait: Dur = params.duration("probe_wait");
    pub(super) probe_wait_spread: Dur = params.duration("probe_wait_spread");
    pub(super) reno_rounds: f64 = params.int("reno_rounds") as f64;
    pub(super) min_rtt_window: Dur = params.duration("min_rtt_window");
    pub(super) probe_rtt_interval: Dur = params.duration("probe_rtt_interval");
    pub(super) probe_rtt_duration: Dur = params.duration("probe_rtt_duration");
    pub(super) full_bw_growth: f64 = params.float("full_bw_growth");
    pub(super) full_bw_rounds: u64 = params.int("full_bw_rounds");
    pub(super) startup_full_losses: u64 = params.int("startup_full_losses");
    pub(super) extra_acked_rounds: u64 = params.int("extra_acked_rounds");
    /// 1 - pacing_margin.
    pub(super) pacing_scale: f64 = 1.0 - params.probability("pacing_margin");
}
