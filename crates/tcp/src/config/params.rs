//! Every parameter of an endpoint in the order in which documents, results and commands list them.
//!
//! The parameters are declared in the files of their groups; the order here is part of the output format.

use super::{ack, buffer, connection, ecn, growth, pacing, recovery, rto};
use dumbbell_units::param::{Kind, Spec};

const GROUPS: [&[Spec]; 8] = [
    connection::PARAMS,
    buffer::PARAMS,
    growth::PARAMS,
    ack::PARAMS,
    rto::PARAMS,
    recovery::PARAMS,
    pacing::PARAMS,
    ecn::PARAMS,
];

const ORDER: [&str; 54] = [
    "mss",
    "window",
    "initial_window",
    "initial_ssthresh",
    "slow_start",
    "slow_start_limit",
    "handshake",
    "ack_every",
    "ack_delay",
    "quick_acks",
    "push_every",
    "sack_delay",
    "rto_initial",
    "rto_min",
    "rto_max",
    "granularity",
    "timer_tick",
    "clock_phase",
    "timestamp_clock",
    "min_rtt_window",
    "dupack_threshold",
    "limited_transmit",
    "timestamps",
    "recovery",
    "rack",
    "tlp",
    "prr",
    "frto",
    "dsack",
    "undo",
    "newreno_timer",
    "newreno_exit",
    "one_reduction_per_window",
    "increase",
    "grow_unused",
    "window_validation",
    "whole_numbers",
    "idle_restart",
    "nagle",
    "pacing",
    "pacing_slow_start",
    "pacing_avoidance",
    "unpaced_segments",
    "pacing_credit",
    "send_quantum",
    "autotuning",
    "window_start",
    "receive_buffer",
    "send_buffer_start",
    "send_buffer",
    "data_headers",
    "ecn",
    "ecn_feedback",
    "ecn_fallback",
];

/// Every parameter, with the default of the preset `rfc`.
pub const PARAMS: &[Spec] = &in_order();

/// Returns the parameters of all groups in [`ORDER`]. The compiler refuses a name that no group declares, and a
/// parameter that isn't in the order.
const fn in_order() -> [Spec; ORDER.len()] {
    let mut all = [Spec { name: "", kind: Kind::Bool, default: "", doc: "" }; ORDER.len()];
    let (mut i, mut declared) = (0, 0);
    while i < ORDER.len() {
        all[i] = find(ORDER[i]);
        i += 1;
    }
    let mut group = 0;
    while group < GROUPS.len() {
        declared += GROUPS[group].len();
        group += 1;
    }
    assert!(declared == ORDER.len(), "a group declares a parameter that is not in the order");
    all
}

const fn find(name: &str) -> Spec {
    let mut group = 0;
    while group < GROUPS.len() {
        let mut i = 0;
        while i < GROUPS[group].len() {
            if is_same(GROUPS[group][i].name, name) {
                return GROUPS[group][i];
            }
            i += 1;
        }
        group += 1;
    }
    panic!("no group declares a parameter of the order")
}

const fn is_same(a: &str, b: &str) -> bool {
    let (a, b) = (a.as_bytes(), b.as_bytes());
    if a.len() != b.len() {
        return false;
    }
    let mut i = 0;
    while i < a.len() {
        if a[i] != b[i] {
            return false;
        }
        i += 1;
    }
    true
}
