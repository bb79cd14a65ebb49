//! How losses are found and repaired [RFC 5681, 6582, 6675, 8985, 9937, 5682, 3522, 3708].

use super::facts::SackRules;
use super::{Defaults, Reading};
use dumbbell_cc::{LossRecovery, Variant};
use dumbbell_units::Dur;
use dumbbell_units::param::{Kind, ParamError, Spec, specs};

pub(super) const PARAMS: &[Spec] = specs! {
    /// duplicate ACKs (or SACKed segments) that mean a loss [RFC 5681 §3.2, RFC 6675 §2 DupThresh]
    dupack_threshold = "3", Kind::Int { min: 1, max: 1000 };
    /// each of the first duplicate ACKs lets one new segment be sent [RFC 3042]
    limited_transmit = "true", Kind::Bool;
    /// loss recovery of variants whose name doesn't imply one (Vegas, CUBIC)
    recovery = "sack", Kind::Choice(LossRecovery::NAMES);
    /// losses are found by the time at which segments were sent, instead of by counting; so are lost retransmissions
    /// [RFC 8985 §6]; needs recovery = sack
    rack = "false", Kind::Bool;
    /// tail loss probes: after two round trips without an ACK, a segment is sent to trigger one [RFC 8985 §7]; needs
    /// rack
    tlp = "false", Kind::Bool;
    /// proportional rate reduction: in recovery, and after a congestion mark, the window shrinks in proportion to the
    /// data that ACKs report [RFC 9937]; needs rack
    prr = "false", Kind::Bool;
    /// after a timeout the next ACKs show whether it was spurious, before more is retransmitted [RFC 5682 §3.1]; needs
    /// rack
    frto = "false", Kind::Bool;
    /// which ACKs undo a window reduction: one whose timestamp is older than the retransmission [RFC 3522], reports
    /// that all retransmissions arrived twice [RFC 3708], either; needs rack
    undo = "none", Kind::Choice(&["none", "timestamps", "dsack", "both"]);
    /// whether only the first partial ACK restarts the timer, or each [RFC 6582 §4]
    newreno_timer = "impatient", Kind::Choice(&["impatient", "slow-but-steady"]);
    /// cwnd after NewReno's recovery: bounded by the data outstanding, so that no burst follows, ssthresh [RFC 6582
    /// §3.2 step 3, (1) or (2)], or the rest after partial ACKs have deflated it, as in ns-2
    newreno_exit = "flight", Kind::Choice(&["flight", "ssthresh", "deflated"]);
    /// no second fast retransmit before all data outstanding at the first (or at a timeout) is acknowledged: an option
    /// for Reno, on by default for Tahoe; NewReno and SACK always have it [RFC 6582 §3.2]
    one_reduction_per_window = "false", Kind::Bool;
};

pub(super) const LINUX: Defaults = &[
    // [Linux tcp_ipv4.c tcp_sk_init: sysctl_tcp_recovery, sysctl_tcp_early_retrans, sysctl_tcp_frto]
    ("rack", "true"),
    ("tlp", "true"),
    ("frto", "true"),
    // [Linux tcp_input.c tcp_cwnd_reduction]
    ("prr", "true"),
    // [Linux tcp_input.c tcp_may_undo]
    ("undo", "both"),
];

pub(super) const NS2: Defaults =
    &[("recovery", "reno"), ("newreno_exit", "deflated"), ("one_reduction_per_window", "true")];

/// How losses are found and repaired.
#[derive(Clone, Copy, Debug)]
pub struct RecoveryConfig {
    /// Duplicate ACKs, or SACKed segments, that mean a loss (DupThresh).
    pub dupack_threshold: u32,
    /// True if the first duplicate ACKs let new segments be sent.
    pub limited_transmit: bool,
    /// True if they also let segments be retransmitted after a timeout.
    pub limited_retransmit: bool,
    /// The recovery algorithm.
    pub algorithm: LossRecovery,
    /// RACK and its companions; None if losses are found by counting.
    pub rack: Option<RackConfig>,
    /// True if only the first partial ACK restarts NewReno's timer.
    pub impatient: bool,
    /// cwnd at the end of NewReno's recovery.
    pub exit: NewRenoExit,
    /// True if recovery with SACK follows ns-2.
    pub sack_as_ns2: bool,
    /// True if data of one window causes one fast retransmit at most.
    pub one_reduction_per_window: bool,
    /// True if the congestion control algorithm decides during recovery how much may be outstanding.
    pub own_recovery: bool,
    /// True if Vegas' fine-grained timeout causes early retransmissions.
    pub fine_timeouts: bool,
}

/// cwnd at the end of NewReno's recovery.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NewRenoExit {
    /// At most the data outstanding and a segment [RFC 6582 §3.2 step 3 (1)].
    Flight,
    /// ssthresh [RFC 6582 §3.2 step 3 (2)].
    Ssthresh,
    /// The window that partial ACKs have left [ns-2 tcp-newreno.cc].
    Deflated,
}

/// The parameters of recovery with RACK.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RackConfig {
    /// True if tail loss probes are sent.
    pub tlp: bool,
    /// TLP.max_ack_delay [RFC 8985 §7.2].
    pub tlp_ack_delay: Dur,
    /// True if PRR sets the window during recovery.
    pub prr: bool,
    /// True if F-RTO detects spurious timeouts.
    pub frto: bool,
    /// True if old timestamps undo reductions.
    pub undo_by_timestamps: bool,
    /// True if D-SACKs undo reductions.
    pub undo_by_dsack: bool,
}

impl RecoveryConfig {
    /// Reads the group. `implied` is the loss recovery that the variant's name implies, if any.
    pub(super) fn read(
        p: &Reading<'_>,
        variant: &Variant,
        implied: Option<LossRecovery>,
    ) -> Result<RecoveryConfig, ParamError> {
        if implied.is_some() && p.is_given("recovery") {
            return Err(ParamError {
                name: "recovery".into(),
                message: format!(
                    "the name of variant '{}' implies its loss recovery: remove this parameter",
                    variant.name
                ),
            });
        }
        let chosen = LossRecovery::from_name(p.choice("recovery"));
        let algorithm = implied.or(chosen).unwrap_or(LossRecovery::Sack);
        let rack = read_rack(p, algorithm)?;
        Ok(RecoveryConfig {
            dupack_threshold: p.int("dupack_threshold"),
            limited_transmit: p.bool("limited_transmit"),
            limited_retransmit: p.facts.limited_retransmit,
            algorithm,
            rack,
            impatient: p.choice("newreno_timer") == "impatient",
            exit: match p.choice("newreno_exit") {
                "flight" => NewRenoExit::Flight,
                "ssthresh" => NewRenoExit::Ssthresh,
                _ => NewRenoExit::Deflated,
            },
            sack_as_ns2: p.facts.sack_rules == SackRules::Ns2 && rack.is_none(),
            one_reduction_per_window: p.bool("one_reduction_per_window"),
            own_recovery: variant.own_recovery,
            // RACK finds the same losses, and earlier.
            fine_timeouts: variant.fine_timeouts && rack.is_none(),
        })
    }
}

/// Reads RACK and its companions. An algorithm that counts duplicate ACKs turns off those that only the preset turned
/// on.
fn read_rack(p: &Reading<'_>, algorithm: LossRecovery) -> Result<Option<RackConfig>, ParamError> {
    let needs = |name: &str, needed: &str| {
        let message = format!("needs {needed}");
        Err(ParamError { name: name.into(), message })
    };
    let asked = |name: &str| {
        p.is_given(name)
            && match name {
                "undo" => p.choice(name) != "none",
                _ => p.bool(name),
            }
    };
    if algorithm != LossRecovery::Sack && asked("rack") {
        return needs("rack", "recovery = \"sack\"");
    }
    if algorithm != LossRecovery::Sack || !p.bool("rack") {
        for name in ["tlp", "prr", "frto", "undo"] {
            if asked(name) {
                return needs(name, "rack = true and recovery = \"sack\"");
            }
        }
        return Ok(None);
    }
    let undo = p.choice("undo");
    Ok(Some(RackConfig {
        tlp: p.bool("tlp"),
        tlp_ack_delay: p.facts.tlp_ack_delay,
        prr: p.bool("prr"),
        frto: p.bool("frto"),
        undo_by_timestamps: matches!(undo, "timestamps" | "both"),
        undo_by_dsack: matches!(undo, "dsack" | "both"),
    }))
}
