//! The congestion window's start, growth, reduction and validation, as far as the endpoint decides [RFC 5681, 6928,
//! 9406, 2861; Linux tcp_cong.c].

use super::facts::{CwndLimited, GrowBy};
use super::{Defaults, Reading, too_small};
use dumbbell_cc::{Increase, SlowStart};
use dumbbell_units::named;
use dumbbell_units::param::{Kind, ParamError, Spec, specs};

pub(super) const PARAMS: &[Spec] = specs! {
    /// cwnd at the start [RFC 6928 §2]
    initial_window = "10 packets", Kind::Size;
    /// first slow start threshold; never above the window that the receiver offers [RFC 5681 §3.1], unless reduce_from
    /// is cwnd
    initial_ssthresh = "1 GiB", Kind::Size;
    /// how slow start may end before a loss: not at all [RFC 5681 §3.1], by HyStart [Ha & Rhee 2011], by HyStart++ [RFC
    /// 9406]; for variants that have the common slow start
    slow_start = "standard", Kind::Choice(SlowStart::NAMES);
    /// most segments that an ACK adds in slow start [RFC 5681 §3.1 (2): 1; RFC 3465 §2.2: 2]
    slow_start_limit = "1", Kind::Int { min: 1, max: 1000 };
    /// congestion avoidance counts ACKs or bytes acknowledged [RFC 5681 §3.1], or adds a whole segment once a window of
    /// bytes is acknowledged
    increase = "bytes", Kind::Choice(Increase::NAMES);
    /// whether cwnd grows while the application or the receiver limits sending [against RFC 7661 §4]
    grow_unused = "false", Kind::Bool;
    /// handling of a window that the application doesn't use: it is kept, or it shrinks towards the part in use once
    /// each timeout [RFC 2861; Linux tcp_output.c tcp_cwnd_application_limited]
    window_validation = "none", Kind::Choice(&["none", "rfc2861"]);
    /// ssthresh, and the window after a time in which it wasn't used, in whole segments; with rto_estimator = rfc6298
    /// also srtt, rttvar and timeout in integer ticks, as 4.3BSD and ns-2 count [Jacobson 1988, appendix A]
    whole_numbers = "false", Kind::Bool;
    /// after an idle time longer than an RTO start from the initial window [RFC 5681 §4.1]
    idle_restart = "true", Kind::Bool;
};

pub(super) const LINUX: Defaults = &[
    // As many as the ACK acknowledges [Linux tcp_cong.c tcp_slow_start].
    ("slow_start_limit", "1000"),
    // [Linux tcp_cong.c tcp_cong_avoid_ai]
    ("increase", "window"),
    ("whole_numbers", "true"),
    // [Linux tcp_output.c tcp_cwnd_application_limited, tcp_cwnd_restart]
    ("window_validation", "rfc2861"),
];

pub(super) const NS2: Defaults =
    &[("initial_window", "2 packets"), ("increase", "ack"), ("grow_unused", "true"), ("whole_numbers", "true")];

/// The congestion window's start, growth, reduction and validation.
#[derive(Clone, Copy, Debug)]
pub struct GrowthConfig {
    /// cwnd at the start, bytes.
    pub initial_window: u64,
    /// First ssthresh, bytes.
    pub initial_ssthresh: u64,
    /// How slow start may end before a loss.
    pub slow_start: SlowStart,
    /// Most segments that an ACK adds in slow start.
    pub slow_start_limit: u32,
    /// The window from which reductions start.
    pub reduce_from: ReduceFrom,
    /// Unit in which congestion avoidance counts.
    pub increase: Increase,
    /// True if delivered bytes count for growth, false if cumulatively acknowledged ones.
    pub by_delivered: bool,
    /// True if cwnd grows although it doesn't limit sending.
    pub unused: bool,
    /// True if "limited by cwnd" stays true for a window of data.
    pub limited_for_a_window: bool,
    /// Handling of a window that the application doesn't use.
    pub validation: WindowValidation,
    /// True if the ACK that ends fast recovery also lets cwnd grow.
    pub on_exit: bool,
    /// True if a further timeout of the same segment reduces ssthresh again.
    pub reduce_each_timeout: bool,
    /// True if ssthresh, and a window that wasn't used, are whole numbers of segments.
    pub whole_segments: bool,
    /// True if each segment counts as a full one.
    pub count_segments: bool,
    /// True if sending restarts from the initial window after an idle time.
    pub idle_restart: bool,
}

named! {
    /// The window from which reductions start.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum ReduceFrom {
        /// The data outstanding [RFC 5681 §3.1 (4)].
        Flight = "flight",
        /// cwnd, also where the receiver's window is smaller [Linux tcp_cong.c tcp_reno_ssthresh].
        Cwnd = "cwnd",
        /// The smaller one of cwnd and the offered window [ns-2 tcp.cc TcpAgent::slowdown].
        Offered = "offered",
    }
}

/// Handling of a window that the application doesn't use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WindowValidation {
    /// It is kept.
    None,
    /// It shrinks with each timeout that passes.
    Rfc2861,
}

impl GrowthConfig {
    /// Reads the group; `window` is the largest window that the receiver offers.
    pub(super) fn read(p: &Reading<'_>, window: u64) -> Result<GrowthConfig, ParamError> {
        for name in ["initial_window", "initial_ssthresh"] {
            if p.bytes(name) == 0 {
                return Err(too_small(name, "1 byte"));
            }
        }
        let reduce_from = p.facts.reduce_from;
        // Linux's first ssthresh has no bound [Linux tcp.c tcp_init_sock: TCP_INFINITE_SSTHRESH].
        let most = if reduce_from == ReduceFrom::Cwnd { u64::MAX } else { window };
        Ok(GrowthConfig {
            initial_window: p.bytes("initial_window").max(u64::from(p.mss)),
            initial_ssthresh: p.bytes("initial_ssthresh").min(most),
            slow_start: SlowStart::from_name(p.choice("slow_start")).unwrap_or_default(),
            slow_start_limit: p.int("slow_start_limit"),
            reduce_from,
            increase: Increase::from_name(p.choice("increase")).unwrap_or(Increase::PerByte),
            by_delivered: p.facts.grow_by == GrowBy::Delivered,
            unused: p.bool("grow_unused"),
            limited_for_a_window: p.facts.cwnd_limited == CwndLimited::Window,
            validation: match p.choice("window_validation") {
                "rfc2861" => WindowValidation::Rfc2861,
                _ => WindowValidation::None,
            },
            on_exit: p.facts.grow_on_exit,
            reduce_each_timeout: p.facts.reduce_each_timeout,
            whole_segments: p.bool("whole_numbers"),
            count_segments: p.facts.count_segments,
            idle_restart: p.bool("idle_restart"),
        })
    }
}
