//! Pacing, and the number of segments sent together (TSO) [Linux tcp_input.c tcp_update_pacing_rate, tcp_output.c
//! tcp_update_skb_after_send, tcp_tso_autosize].

use super::{Defaults, Reading};
use dumbbell_units::param::{Kind, Spec, settings, specs};

pub(super) const PARAMS: &[Spec] = specs! {
    /// whether variants that set no pacing rate are paced too, at cwnd/srtt times the next two
    pacing = "false", Kind::Bool;
    /// percent of cwnd/srtt in the first half of slow start [Linux tcp_input.c tcp_update_pacing_rate]
    pacing_slow_start = "200", Kind::Int { min: 1, max: 1000 };
    /// percent of cwnd/srtt afterwards
    pacing_avoidance = "120", Kind::Int { min: 1, max: 1000 };
    /// segments at the start of a connection that are sent without pacing; a burst that extends beyond them is paced
    /// [Linux tcp_output.c tcp_update_skb_after_send]
    unpaced_segments = "0", Kind::Int { min: 0, max: 1000 };
    /// largest part of a paced burst's length, in percent, by which the next burst may be earlier if this one was late
    /// [Linux tcp_output.c tcp_update_skb_after_send]
    pacing_credit = "0", Kind::Int { min: 0, max: 100 };
    /// segments sent as one burst: single segments, or as many as the pacing rate sends in a millisecond, at least two
    /// and at most 64 KiB [Linux tcp_output.c tcp_tso_autosize]
    send_quantum = "segment", Kind::Choice(&["segment", "tso"]);
};

pub(super) const LINUX: Defaults = &[("unpaced_segments", "9"), ("pacing_credit", "50"), ("send_quantum", "tso")];

pub(super) const NS2: Defaults = &[];

settings! {
    /// Pacing and bursts.
    #[derive(Clone, Copy, Debug)]
    pub struct PacingConfig;
    pub(super) fn read(p: &Reading<'_>);
    /// True if variants without a rate of their own are paced.
    pub enabled: bool = p.bool("pacing");
    /// Percent of cwnd/srtt in the first half of slow start.
    pub slow_start: u32 = p.int("pacing_slow_start");
    /// Percent of cwnd/srtt afterwards.
    pub avoidance: u32 = p.int("pacing_avoidance");
    /// Segments at the start that aren't paced.
    pub unpaced_segments: u64 = p.params.int("unpaced_segments");
    /// Largest part of its own length, percent, that a late burst gets back.
    pub credit: u8 = p.int("pacing_credit") as u8;
    /// True if segments are sent in bursts that an offloading interface would split.
    pub tso: bool = p.choice("send_quantum") == "tso";
}
