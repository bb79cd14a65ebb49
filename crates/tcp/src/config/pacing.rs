//! Pacing, and the number of segments sent together (TSO) [Linux tcp_input.c tcp_update_pacing_rate, tcp_output.c
//! tcp_update_skb_after_send, tcp_tso_autosize].

use super::{Defaults, Reading};
use dumbbell_units::param::{Kind, Spec};

pub(super) const PARAMS: &[Spec] = &[
    Spec {
        name: "pacing",
        kind: Kind::Bool,
        default: "false",
        doc: "whether variants that set no pacing rate are paced too, at cwnd/srtt times the next two",
    },
    Spec {
        name: "pacing_slow_start",
        kind: Kind::Int { min: 1, max: 1000 },
        default: "200",
        doc: "percent of cwnd/srtt in the first half of slow start [Linux tcp_input.c tcp_update_pacing_rate]",
    },
    Spec {
        name: "pacing_avoidance",
        kind: Kind::Int { min: 1, max: 1000 },
        default: "120",
        doc: "percent of cwnd/srtt afterwards",
    },
    Spec {
        name: "unpaced_segments",
        kind: Kind::Int { min: 0, max: 1000 },
        default: "0",
        doc: "segments at the start of a connection that are sent without pacing; a burst that extends beyond \
              them is paced [Linux tcp_output.c tcp_update_skb_after_send]",
    },
    Spec {
        name: "pacing_credit",
        kind: Kind::Int { min: 0, max: 100 },
        default: "0",
        doc: "largest part of a paced burst's length, in percent, by which the next burst may be earlier if this one was \
              late [Linux tcp_output.c tcp_update_skb_after_send]",
    },
    Spec {
        name: "send_quantum",
        kind: Kind::Choice(&["segment", "tso"]),
        default: "segment",
        doc: "segments sent as one burst: single segments, or as many as the pacing rate sends in a millisecond, at \
              least two and at most 64 KiB [Linux tcp_output.c tcp_tso_autosize]",
    },
];

pub(super) const LINUX: Defaults = &[("unpaced_segments", "9"), ("pacing_credit", "50"), ("send_quantum", "tso")];

pub(super) const NS2: Defaults = &[];

/// Pacing and bursts.
#[derive(Clone, Copy, Debug)]
pub struct PacingConfig {
    /// True if variants without a rate of their own are paced.
    pub enabled: bool,
    /// Percent of cwnd/srtt in the first half of slow start.
    pub slow_start: u32,
    /// Percent of cwnd/srtt afterwards.
    pub avoidance: u32,
    /// Segments at the start that aren't paced.
    pub unpaced_segments: u64,
    /// Largest part of its own length, percent, that a late burst gets back.
    pub credit: u8,
    /// True if segments are sent in bursts that an offloading interface would split.
    pub tso: bool,
}

impl PacingConfig {
    pub(super) fn read(p: &Reading<'_>) -> PacingConfig {
        PacingConfig {
            enabled: p.bool("pacing"),
            slow_start: p.int("pacing_slow_start"),
            avoidance: p.int("pacing_avoidance"),
            unpaced_segments: p.params.int("unpaced_segments"),
            credit: p.int("pacing_credit") as u8,
            tso: p.choice("send_quantum") == "tso",
        }
    }
}
