//! When and how a receiver acknowledges: delayed, quick and compressed ACKs, SACK blocks, D-SACK [RFC 5681 §4.2,
//! RFC 2018, RFC 2883; Linux tcp_input.c].

use super::{Defaults, Reading};
use dumbbell_units::Dur;
use dumbbell_units::param::{Kind, Spec, settings, specs};

pub(super) const PARAMS: &[Spec] = specs! {
    /// segments in order for one ACK: 1 acknowledges each, 2 delays [RFC 5681 §4.2]
    ack_every = "2", Kind::Int { min: 1, max: 1000 };
    /// longest delay of an ACK; at most 500 ms in RFC 5681 §4.2
    ack_delay = "200 ms", Kind::Duration;
    /// ACKs without delay at the start of a connection, after an idle time and after a duplicate segment, at most half
    /// a window of them; 0: none [Linux tcp_input.c tcp_incr_quickack]
    quick_acks = "0", Kind::Int { min: 0, max: 1000 };
    /// longest time for which ACKs that only report segments out of order are compressed into one, after the first
    /// three; 5 % of the round trip where that is less; 0: not at all [Linux tcp_input.c __tcp_ack_snd_check]
    sack_delay = "0 ms", Kind::Duration;
    /// the receiver reports segments that arrive twice [RFC 2883]
    dsack = "false", Kind::Bool;
};

pub(super) const LINUX: Defaults = &[
    // [Linux include/net/tcp.h TCP_MAX_QUICKACKS]
    ("quick_acks", "16"),
    // [Linux tcp_ipv4.c tcp_sk_init: sysctl_tcp_comp_sack_delay_ns]
    ("sack_delay", "1 ms"),
    // [Linux tcp_ipv4.c tcp_sk_init: sysctl_tcp_dsack]
    ("dsack", "true"),
];

pub(super) const NS2: Defaults = &[("ack_every", "1")];

settings! {
    /// The receiver's acknowledgments.
    #[derive(Clone, Copy, Debug)]
    pub struct AckConfig;
    pub(super) fn read(p: &Reading<'_>);
    /// Segments in order for one ACK.
    pub every: u32 = p.int("ack_every");
    /// Longest delay of an ACK.
    pub delay: Dur = p.duration("ack_delay");
    /// First delay of an ACK; the delay adapts if this is below the longest.
    pub delay_min: Dur = p.facts.ack_delay_min.min(p.duration("ack_delay"));
    /// Most ACKs without delay at the start, after an idle time and after a duplicate segment; 0: none.
    pub quick: u32 = p.int("quick_acks");
    /// True if a short segment or one with PSH is acknowledged at once.
    pub pushed: bool = p.facts.ack_pushed;
    /// Longest time for which ACKs of segments out of order are compressed; zero: not at all.
    pub sack_delay: Dur = p.duration("sack_delay");
    /// Ranges kept for SACK blocks; 0: all.
    pub sack_kept: u64 = p.facts.sack_kept;
    /// True if segments that arrive twice are reported.
    pub dsack: bool = p.bool("dsack");
}

impl AckConfig {
    /// True if the delay of an ACK follows the time between segments.
    pub(crate) fn adapts(&self) -> bool {
        self.delay_min < self.delay
    }
}
