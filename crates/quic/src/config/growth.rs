//! The congestion window's start and bounds, pacing, ECN, as far as the endpoint decides [RFC 9002 §7].

use super::{Defaults, Reading, invalid};
use dumbbell_cc::{EcnUse, SlowStart, Variant};
use dumbbell_units::param::{Kind, ParamError, Spec, settings, specs};

pub(super) const PARAMS: &[Spec] = specs! {
    /// cwnd at the start [RFC 9002 §7.2]
    initial_window = "10 packets", Kind::Size;
    /// least cwnd, whatever the variant computes [RFC 9002 §7.2]
    minimum_window = "2 packets", Kind::Size;
    /// first slow start threshold [RFC 9002 §7.3]
    initial_ssthresh = "1 GiB", Kind::Size;
    /// how slow start may end before a loss: not at all [RFC 9002 §7.3.1], by HyStart [Ha & Rhee 2011], by HyStart++
    /// [RFC 9406]; for variants that have the common slow start
    slow_start = "standard", Kind::Choice(SlowStart::NAMES);
    /// whether variants that set no pacing rate are paced too, at cwnd/srtt times the next [RFC 9002 §7.7]
    pacing = "true", Kind::Bool;
    /// percent of cwnd/srtt at which packets are paced [RFC 9002 §7.7: N = 1.25]
    pacing_percent = "125", Kind::Int { min: 1, max: 1000 };
    /// largest burst of a paced sender, where the variant sets none [RFC 9002 §7.7: the initial window]
    pacing_burst = "10 packets", Kind::Size;
    /// whether the pacer adds credit only when a packet lacks it, for the time since it last did, and a sender without
    /// credit waits for that of a whole burst; up to two bursts can follow each other then [quinn-proto
    /// connection/pacing.rs Pacer::delay]
    pacing_refill = "false", Kind::Bool;
    /// explicit congestion notification, with validation of the counts [RFC 9000 §13.4]; on for variants that need it
    ecn = "false", Kind::Bool;
};

pub(super) const QUINN: Defaults = &[("pacing_refill", "true")];

// [aioquic 1.7.2 recovery.py QuicPacketPacer.update_rate]
pub(super) const AIOQUIC: Defaults = &[("pacing_percent", "100"), ("pacing_burst", "16 packets")];

// [QUICHE quic_constants.h kInitialCongestionWindow]
pub(super) const CHROMIUM: Defaults = &[("initial_window", "32 packets")];

settings! {
    /// The congestion window's start and bounds, pacing, ECN.
    #[derive(Clone, Copy, Debug)]
    pub struct GrowthConfig;
    fn unchecked(p: &Reading<'_>, variant: &Variant);
    /// cwnd at the start, bytes.
    pub initial_window: u64 = p.bytes("initial_window");
    /// Least cwnd, bytes.
    pub minimum_window: u64 = p.bytes("minimum_window");
    /// First ssthresh, bytes.
    pub initial_ssthresh: u64 = p.bytes("initial_ssthresh");
    /// How slow start may end before a loss.
    pub slow_start: SlowStart = SlowStart::from_name(p.params.choice("slow_start")).unwrap_or_default();
    /// True if variants without a rate of their own are paced.
    pub paced: bool = p.params.bool("pacing");
    /// Percent of cwnd/srtt.
    pub pacing_percent: u32 = p.int("pacing_percent");
    /// Largest paced burst, bytes.
    pub pacing_burst: u64 = p.bytes("pacing_burst");
    /// True if credit is added only when it is used up.
    pub pacing_refill: bool = p.params.bool("pacing_refill");
    /// True if packets are sent as ECN-capable.
    pub ecn: bool = p.params.bool("ecn") || variant.ecn != EcnUse::Stack;
    /// True if they carry ECT(1), which identifies scalable congestion control [RFC 9331].
    pub ect1: bool = variant.ecn == EcnUse::Scalable;
    /// True if the congestion control algorithm responds to the number of marks itself.
    pub own_response: bool = variant.ecn != EcnUse::Stack;
}

impl GrowthConfig {
    pub(super) fn read(p: &Reading<'_>, variant: &Variant) -> Result<GrowthConfig, ParamError> {
        // At the start a full datagram has the initial size. When it is larger, the window is too: every variant keeps
        // at least one unit of `Config::mss`, and the pacer lets a single datagram pass.
        for name in ["initial_window", "minimum_window", "initial_ssthresh", "pacing_burst"] {
            if p.bytes(name) < p.datagram {
                let least = p.datagram;
                return Err(invalid(name, &format!("at least one datagram, {least} bytes, is needed")));
            }
        }
        Ok(GrowthConfig::unchecked(p, variant))
    }
}
