//! Explicit congestion notification: its use, and the feedback of marks [RFC 3168, 8257, 9768].

use super::{Defaults, Reading};
use dumbbell_cc::{EcnUse, Variant};
use dumbbell_units::param::{Kind, Spec, settings, specs};

pub(super) const PARAMS: &[Spec] = specs! {
    /// explicit congestion notification [RFC 3168 §6.1]; on for variants that need it
    ecn = "false", Kind::Bool;
    /// how the receiver reports marks: until the sender has reduced [RFC 3168 §6.1.3], for each segment [RFC 8257
    /// §3.2], by counters [RFC 9768]; fixed for variants that need one of the last two
    ecn_feedback = "classic", Kind::Choice(&["classic", "dctcp", "accurate"]);
    /// a retransmitted SYN doesn't negotiate ECN: the connection works without it [RFC 3168 §6.1.1.1; Linux
    /// net.ipv4.tcp_ecn_fallback]; not with accurate feedback
    ecn_fallback = "false", Kind::Bool;
};

pub(super) const LINUX: Defaults = &[
    // [Linux tcp_output.c __tcp_retransmit_skb, tcp_ecn_clear_syn]
    ("ecn_fallback", "true"),
];

pub(super) const NS2: Defaults = &[];

settings! {
    /// Explicit congestion notification.
    #[derive(Clone, Copy, Debug)]
    pub struct EcnConfig;
    pub(super) fn read(p: &Reading<'_>, variant: &Variant);
    /// True if the endpoint negotiates ECN.
    // A variant whose only signal is marks needs ECN on every stack.
    pub enabled: bool = p.bool("ecn") || variant.ecn != EcnUse::Stack;
    /// How marks are reported.
    pub feedback: EcnFeedback = match (variant.ecn, p.choice("ecn_feedback")) {
        (EcnUse::Scalable, _) | (EcnUse::Stack, "accurate") => EcnFeedback::Accurate,
        (EcnUse::Dctcp, _) | (EcnUse::Stack, "dctcp") => EcnFeedback::Dctcp,
        _ => EcnFeedback::Classic,
    };
    /// True if only the first SYN asks for ECN.
    pub fallback: bool = p.bool("ecn_fallback");
    /// True if data packets carry ECT(1), which identifies scalable congestion control [RFC 9331].
    pub ect1: bool = variant.ecn == EcnUse::Scalable;
    /// True if the congestion control algorithm responds to the number of marks itself.
    pub own_response: bool = variant.ecn != EcnUse::Stack;
}

/// How a receiver reports congestion marks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EcnFeedback {
    /// An echo until the sender has reduced its window [RFC 3168 §6.1.3].
    Classic,
    /// An echo for each segment that arrived with a mark [RFC 8257 §3.2].
    Dctcp,
    /// Counters [RFC 9768].
    Accurate,
}
