//! Everything that can be set about an endpoint, and the presets: named sets of visible parameters.

mod params;
mod presets;

pub use params::PARAMS;
pub use presets::{PRESETS, Preset, find_preset};

use crate::rtt::{Estimator, RtoConfig};
use crate::segment::TIMESTAMPS_OPTION;
use dumbbell_cc::{EcnUse, Increase, LossRecovery, Setup, SlowStart, Variant};
use dumbbell_units::Dur;
use dumbbell_units::param::{ParamError, Params, Raw};
use dumbbell_units::parse::Size;

const SLOW_STARTS: [(&str, SlowStart); 3] = [
    ("standard", SlowStart::Standard),
    ("hystart", SlowStart::HyStart),
    ("hystart++", SlowStart::HyStartPlusPlus),
];

const SHELLS: [(&str, LossRecovery); 4] = [
    ("tahoe", LossRecovery::Tahoe),
    ("reno", LossRecovery::Reno),
    ("newreno", LossRecovery::NewReno),
    ("sack", LossRecovery::Sack),
];

/// How a receiver tells of congestion marks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EcnFeedback {
    /// An echo until the sender has answered [RFC 3168 §6.1.3].
    Classic,
    /// Whether the segments that an ACK covers were marked [RFC 8257 §3.2].
    Dctcp,
    /// Counters [RFC 9768].
    Accurate,
}

/// What becomes of a window that the application doesn't use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Validation {
    /// It stays.
    None,
    /// It shrinks with each timeout that passes.
    Rfc2861,
    /// It stays for five minutes; a loss starts from what was used.
    Rfc7661,
}

/// The parameters of recovery with a scoreboard that goes by time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)]
pub struct RackConfig {
    pub tlp: bool,
    pub tlp_ack_delay: Dur,
    pub prr: bool,
    pub frto: bool,
    pub undo_by_timestamps: bool,
    pub undo_by_dsack: bool,
}

/// An endpoint's parameters, resolved. Field docs: see [`PARAMS`].
#[derive(Clone, Copy, Debug)]
#[allow(missing_docs)]
pub struct Config {
    /// The preset's name.
    pub preset: &'static str,
    /// Payload bytes of a full segment, after options.
    pub mss: u32,
    /// What the MSS option says.
    pub mss_option: u16,
    /// Receive window, bytes.
    pub window: u64,
    /// cwnd at the start, bytes.
    pub initial_window: u64,
    /// First ssthresh, bytes.
    pub initial_ssthresh: u64,
    pub slow_start: SlowStart,
    pub slow_start_limit: u32,
    pub handshake: bool,
    /// The handshake's last ACK leaves before data.
    pub handshake_ack_alone: bool,
    pub ack_every: u32,
    pub ack_delay: Dur,
    pub ack_delay_min: Dur,
    pub quick_acks: u32,
    pub ack_pushed: bool,
    /// Bytes that the application writes at a time; 0: all at once.
    pub push_every: u64,
    pub sack_delay: Dur,
    /// Ranges that a receiver keeps for SACK blocks; 0: all.
    pub sack_kept: u64,
    pub rto: RtoConfig,
    pub timer_tick: Dur,
    pub timestamp_clock: Dur,
    /// Samples of the timer come from segments where that is possible, not from echoed timestamps.
    pub rtt_from_segments: bool,
    /// Zero: the smallest round trip is never forgotten.
    pub min_rtt_window: Dur,
    pub dupack_threshold: u32,
    pub limited_transmit: bool,
    pub timestamps: bool,
    pub aligned_options: bool,
    pub shell: LossRecovery,
    /// RACK and what builds on it; None where a shell counts.
    pub rack: Option<RackConfig>,
    pub dsack: bool,
    /// The law itself says during recovery how much may be outstanding.
    pub own_recovery: bool,
    /// The law answers congestion marks by their number, itself.
    pub answers_marks: bool,
    /// Restart the timer on the first partial ACK only.
    pub impatient: bool,
    /// Bound cwnd by FlightSize at the end of NewReno's recovery.
    pub bounded_exit: bool,
    pub one_reduction_per_window: bool,
    /// Reductions start from min(cwnd, offered window) instead of FlightSize.
    pub reduce_from_cwnd: bool,
    pub increase: Increase,
    pub grow_by_delivered: bool,
    pub grow_unused: bool,
    /// A window counts as used for a window of data after it was.
    pub limited_for_a_window: bool,
    pub validation: Validation,
    pub grow_on_exit: bool,
    pub limited_retransmit: bool,
    pub whole_numbers: bool,
    pub idle_restart: bool,
    pub nagle: bool,
    pub pacing: bool,
    pub unpaced_segments: u64,
    pub pacing_credit: u8,
    pub pacing_slow_start: u32,
    pub pacing_avoidance: u32,
    pub tso: bool,
    /// Where the receive window starts if it grows.
    pub autotuning: Option<u64>,
    pub ecn: bool,
    pub ecn_feedback: EcnFeedback,
    /// Data packets say that they belong to a scalable law [RFC 9331].
    pub ect1: bool,
    pub data_headers: bool,
    /// Vegas' early retransmission on a fine-grained timeout.
    pub fine_timeouts: bool,
}

impl Config {
    /// The parameters of a connection: preset, what the scenario sets, and what the variant's name says.
    ///
    /// # Errors
    /// An unknown preset or parameter, a value out of range, or a recovery that contradicts the variant.
    pub fn read(preset: &str, given: &[(String, Raw)], variant: &Variant) -> Result<Config, ParamError> {
        let preset = find_preset(preset)?;
        let p = Params::read(&preset.params_for(variant.name), given)?;
        let names_law = preset.names_laws && variant.loss_recovery != Some(LossRecovery::Tahoe);
        if variant.loss_recovery.is_some() && !names_law && given.iter().any(|(name, _)| name == "recovery") {
            return Err(ParamError {
                name: "recovery".into(),
                message: format!(
                    "variant '{}' says itself how it recovers from loss: leave this out",
                    variant.name
                ),
            });
        }
        let named = p.choice("recovery");
        let stack_shell =
            SHELLS.iter().find(|(name, _)| *name == named).map_or(LossRecovery::Sack, |(_, s)| *s);
        let shell = variant.loss_recovery.filter(|_| !names_law).unwrap_or(stack_shell);
        let rack = read_rack(&p, given, shell)?;
        let named = p.choice("slow_start");
        let slow_start =
            SLOW_STARTS.iter().find(|(name, _)| *name == named).map(|(_, s)| *s).unwrap_or_default();
        let too_small = |name: &str, least: &str| ParamError {
            name: name.into(),
            message: format!("at least {least} is needed"),
        };
        let options = if p.bool("timestamps") { TIMESTAMPS_OPTION } else { 0 };
        let mss_option = u16::try_from(p.bytes("mss").0).map_err(|_| ParamError {
            name: "mss".into(),
            message: format!("'{}' is above 65535 bytes, the most that the option can say", p.bytes("mss")),
        })?;
        let mss = u32::from(mss_option).checked_sub(options).filter(|m| *m > 0);
        let mss = mss.ok_or_else(|| too_small("mss", &format!("{} bytes", options + 1)))?;
        let int = |name: &str| u32::try_from(p.int(name)).unwrap_or(u32::MAX);
        let bytes = |name: &str| match p.size(name) {
            Size::Packets(n) => n.0.saturating_mul(u64::from(mss)),
            Size::Bytes(n) => n.0,
        };
        let window = bytes("window").min(1 << 30); // what scale 14 can offer [RFC 7323 §2.3]
        for name in ["window", "initial_window", "initial_ssthresh"] {
            if bytes(name) == 0 {
                return Err(too_small(name, "1 byte"));
            }
        }
        if p.duration("rto_initial") == Dur::ZERO || p.duration("rto_max") < p.duration("rto_min") {
            return Err(too_small("rto_max", "rto_min and a positive rto_initial"));
        }
        Ok(Config {
            preset: preset.name,
            mss,
            mss_option,
            window,
            initial_window: bytes("initial_window").max(u64::from(mss)),
            initial_ssthresh: bytes("initial_ssthresh").min(window),
            slow_start,
            slow_start_limit: int("slow_start_limit"),
            handshake: p.bool("handshake"),
            handshake_ack_alone: p.choice("handshake_ack") == "alone",
            ack_every: int("ack_every"),
            ack_delay: p.duration("ack_delay"),
            ack_delay_min: p.duration("ack_delay_min").min(p.duration("ack_delay")),
            quick_acks: int("quick_acks"),
            ack_pushed: p.bool("ack_pushed"),
            push_every: bytes("push_every"),
            sack_delay: p.duration("sack_delay"),
            sack_kept: p.int("sack_kept"),
            rto: RtoConfig {
                initial: p.duration("rto_initial"),
                min: p.duration("rto_min"),
                max: p.duration("rto_max"),
                granularity: p.duration("granularity"),
                estimator: match p.choice("rto_estimator") {
                    "linux" => Estimator::Linux,
                    _ if p.bool("whole_numbers") => Estimator::WholeTicks,
                    _ => Estimator::Rfc6298,
                },
            },
            timer_tick: p.duration("timer_tick"),
            timestamp_clock: p.duration("timestamp_clock").max(Dur(1)),
            rtt_from_segments: p.choice("rtt_from") == "segments",
            min_rtt_window: p.duration("min_rtt_window"),
            dupack_threshold: int("dupack_threshold"),
            limited_transmit: p.bool("limited_transmit"),
            timestamps: p.bool("timestamps"),
            aligned_options: p.bool("aligned_options"),
            shell,
            rack,
            dsack: p.bool("dsack"),
            own_recovery: variant.own_recovery,
            answers_marks: variant.ecn != EcnUse::Stack,
            impatient: p.choice("newreno_timer") == "impatient",
            bounded_exit: p.choice("newreno_exit") == "flight",
            one_reduction_per_window: p.bool("one_reduction_per_window"),
            reduce_from_cwnd: p.choice("reduce_from") == "cwnd",
            increase: match p.choice("increase") {
                "ack" => Increase::PerAck,
                "window" => Increase::PerWindow,
                _ => Increase::PerByte,
            },
            grow_by_delivered: p.choice("grow_by") == "delivered",
            grow_unused: p.bool("grow_unused"),
            limited_for_a_window: p.choice("cwnd_limited") == "window",
            validation: match p.choice("window_validation") {
                "rfc2861" => Validation::Rfc2861,
                "rfc7661" => Validation::Rfc7661,
                _ => Validation::None,
            },
            grow_on_exit: p.bool("grow_on_exit"),
            limited_retransmit: p.bool("limited_retransmit"),
            whole_numbers: p.bool("whole_numbers"),
            idle_restart: p.bool("idle_restart"),
            nagle: p.bool("nagle"),
            pacing: p.bool("pacing"),
            unpaced_segments: p.int("unpaced_segments"),
            pacing_credit: int("pacing_credit") as u8,
            pacing_slow_start: int("pacing_slow_start"),
            pacing_avoidance: int("pacing_avoidance"),
            tso: p.choice("send_quantum") == "tso",
            autotuning: p.bool("autotuning").then(|| bytes("window_start").clamp(1, window)),
            // A law that lives by marks needs them, whatever the stack says.
            ecn: p.bool("ecn") || variant.ecn != EcnUse::Stack,
            ecn_feedback: match (variant.ecn, p.choice("ecn_feedback")) {
                (EcnUse::Scalable, _) | (EcnUse::Stack, "accurate") => EcnFeedback::Accurate,
                (EcnUse::Dctcp, _) | (EcnUse::Stack, "dctcp") => EcnFeedback::Dctcp,
                _ => EcnFeedback::Classic,
            },
            ect1: variant.ecn == EcnUse::Scalable,
            data_headers: p.bool("data_headers"),
            // What they are for, RACK does better.
            fine_timeouts: variant.fine_timeouts && rack.is_none(),
        })
    }

    /// What a law starts from.
    #[must_use]
    pub fn start(&self) -> Setup {
        let (window, ssthresh) = (self.initial_window as f64, self.initial_ssthresh as f64);
        Setup {
            slow_start: self.slow_start,
            slow_start_limit: f64::from(self.slow_start_limit),
            paced: self.pacing,
            selective_acks: self.shell == LossRecovery::Sack,
            preset: self.preset,
            ..Setup::new(f64::from(self.mss), window, ssthresh)
        }
    }

    /// The scale that lets the whole receive window be offered [RFC 7323 §2.3].
    #[must_use]
    pub fn window_scale(&self) -> u8 {
        (0..=14).find(|s| self.window >> s <= 0xffff).unwrap_or(14)
    }
}

/// RACK and what builds on it. Where a shell that counts duplicate ACKs is chosen, what only the preset asked for is off.
fn read_rack(
    p: &Params,
    given: &[(String, Raw)],
    shell: LossRecovery,
) -> Result<Option<RackConfig>, ParamError> {
    let needs = |name: &str, what: &str| {
        let message = format!("needs {what}");
        Err(ParamError { name: name.into(), message })
    };
    let asked = |name: &str| {
        given.iter().any(|(n, _)| n == name)
            && match name {
                "undo" => p.choice(name) != "none",
                _ => p.bool(name),
            }
    };
    if shell != LossRecovery::Sack && asked("rack") {
        return needs("rack", "recovery = \"sack\"");
    }
    if shell != LossRecovery::Sack || !p.bool("rack") {
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
        tlp_ack_delay: p.duration("tlp_ack_delay"),
        prr: p.bool("prr"),
        frto: p.bool("frto"),
        undo_by_timestamps: matches!(undo, "timestamps" | "both"),
        undo_by_dsack: matches!(undo, "dsack" | "both"),
    }))
}
