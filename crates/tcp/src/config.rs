//! Everything that can be set about an endpoint, and the presets: named sets of visible parameters.

use dumbbell_cc::{EcnUse, Increase, Shell, SlowStart, Start, Variant};
use dumbbell_units::Dur;
use dumbbell_units::param::{Kind, ParamError, Params, Raw, Spec, nearest};
use dumbbell_units::parse::Size;

use crate::rtt::RtoConfig;
use crate::segment::TIMESTAMPS_OPTION;

/// A named set of parameter values.
#[derive(Debug)]
pub struct Preset {
    /// The name in a scenario.
    pub name: &'static str,
    /// What it is, in one line.
    pub title: &'static str,
    /// What it stands for and what differs from the real thing.
    pub doc: &'static str,
    /// The parameters whose default differs from [`PARAMS`].
    overrides: &'static [(&'static str, &'static str)],
    /// The same for one variant: variant, parameter, default.
    for_variant: &'static [(&'static str, &'static str, &'static str)],
}

/// Every preset.
pub const PRESETS: &[Preset] = &[
    Preset {
        name: "rfc",
        title: "what the current RFCs recommend",
        doc: "RFC 9293 with RFC 5681, 6298, 6928 (initial window of 10 segments), 7323 (timestamps, window scale), \
              2018 and 6675 (SACK); delayed ACKs; minimum RTO 1 s. Tahoe, which no current RFC describes, has \
              one_reduction_per_window.",
        overrides: &[],
        // The duplicates that going back makes would be taken for a loss again and again.
        for_variant: &[("tahoe", "one_reduction_per_window", "true")],
    },
    Preset {
        name: "ns2",
        title: "ns-2's TCP agents, so that published ns-2 set-ups can be repeated",
        doc: "Packets of 1000 + 40 bytes, a window of 20 packets, initial window 2, an ACK for every packet, a 10 ms \
              clock, minimum RTO 200 ms, first RTO 3 s, no timestamps. A reduction starts from min(cwnd, window), the \
              window grows even while it isn't used, and a window sees one fast retransmit only (bugFix_). Vegas' \
              data packets are 1000 bytes in all (data_headers), it starts with 3 of them and has no limited transmit. Differs from ns-2: a \
              second timeout of the same packet leaves ssthresh alone, SACK is that of RFC 6675, Vegas does send a SYN.",
        overrides: &[
            ("mss", "1000 bytes"),
            ("window", "20 packets"),
            ("initial_window", "2 packets"),
            ("ack_every", "1"),
            ("rto_initial", "3 s"),
            ("rto_min", "200 ms"),
            ("granularity", "10 ms"),
            ("timestamps", "false"),
            ("recovery", "reno"),
            ("newreno_exit", "ssthresh"),
            ("one_reduction_per_window", "true"),
            ("reduce_from", "cwnd"),
            ("increase", "ack"),
            ("grow_unused", "true"),
            ("grow_on_exit", "true"),
            ("limited_retransmit", "true"),
            ("whole_numbers", "true"),
        ],
        for_variant: &[
            ("vegas", "data_headers", "false"),
            ("vegas", "initial_window", "3 packets"),
            ("vegas", "limited_transmit", "false"),
            ("vegas", "limited_retransmit", "false"),
        ],
    },
];

const SLOW_STARTS: [(&str, SlowStart); 3] = [
    ("standard", SlowStart::Standard),
    ("hystart", SlowStart::HyStart),
    ("hystart++", SlowStart::HyStartPlusPlus),
];

const SHELLS: [(&str, Shell); 4] =
    [("tahoe", Shell::Tahoe), ("reno", Shell::Reno), ("newreno", Shell::NewReno), ("sack", Shell::Sack)];

/// Every parameter, with the default of the preset `rfc`.
pub const PARAMS: &[Spec] = &[
    Spec {
        name: "mss",
        kind: Kind::Bytes,
        default: "1460 bytes",
        doc: "largest payload of a segment; timestamps take 12 bytes of it [RFC 9293 §3.7.1, RFC 6691]",
    },
    Spec {
        name: "window",
        kind: Kind::Size,
        default: "64 MiB",
        doc: "receive buffer, and so the largest window ever offered [RFC 9293 §3.8.6]; the default never limits",
    },
    Spec {
        name: "initial_window",
        kind: Kind::Size,
        default: "10 packets",
        doc: "cwnd at the start [RFC 6928 §2]",
    },
    Spec {
        name: "initial_ssthresh",
        kind: Kind::Size,
        default: "1 GiB",
        doc: "first slow start threshold; never above the window that the receiver offers [RFC 5681 §3.1]",
    },
    Spec {
        name: "slow_start",
        kind: Kind::Choice(&["standard", "hystart", "hystart++"]),
        default: "standard",
        doc: "how slow start may end before a loss: not [RFC 5681 §3.1], by HyStart [Ha & Rhee 2011], by HyStart++ \
              [RFC 9406]; for variants that have the common slow start",
    },
    Spec {
        name: "handshake",
        kind: Kind::Bool,
        default: "true",
        doc: "whether a connection starts with the three-way handshake [RFC 9293 §3.5] or established",
    },
    Spec {
        name: "ack_every",
        kind: Kind::Int { min: 1, max: 1000 },
        default: "2",
        doc: "segments in order for one ACK: 1 acknowledges each, 2 delays [RFC 5681 §4.2]",
    },
    Spec {
        name: "ack_delay",
        kind: Kind::Duration,
        default: "200 ms",
        doc: "longest delay of an ACK; at most 500 ms in RFC 5681 §4.2",
    },
    Spec {
        name: "rto_initial",
        kind: Kind::Duration,
        default: "1 s",
        doc: "retransmission timeout before the first sample [RFC 6298 (2.1)]",
    },
    Spec {
        name: "rto_min",
        kind: Kind::Duration,
        default: "1 s",
        doc: "lower bound of the timeout [RFC 6298 (2.4)]",
    },
    Spec {
        name: "rto_max",
        kind: Kind::Duration,
        default: "60 s",
        doc: "upper bound of the timeout, backoff included [RFC 6298 (2.5)]",
    },
    Spec {
        name: "granularity",
        kind: Kind::Duration,
        default: "1 ms",
        doc: "clock tick: round-trip samples are whole ticks, and G of RFC 6298 (2.3)",
    },
    Spec {
        name: "dupack_threshold",
        kind: Kind::Int { min: 1, max: 1000 },
        default: "3",
        doc: "duplicate ACKs (or SACKed segments) that mean a loss [RFC 5681 §3.2, RFC 6675 §2 DupThresh]",
    },
    Spec {
        name: "limited_transmit",
        kind: Kind::Bool,
        default: "true",
        doc: "the first duplicate ACKs each let one new segment out [RFC 3042]",
    },
    Spec {
        name: "timestamps",
        kind: Kind::Bool,
        default: "true",
        doc: "timestamps option: 12 bytes a segment, a round-trip sample with each ACK [RFC 7323]",
    },
    Spec {
        name: "recovery",
        kind: Kind::Choice(&["tahoe", "reno", "newreno", "sack"]),
        default: "sack",
        doc: "loss recovery of variants whose name doesn't say it (Vegas, CUBIC)",
    },
    Spec {
        name: "newreno_timer",
        kind: Kind::Choice(&["impatient", "slow-but-steady"]),
        default: "impatient",
        doc: "whether only the first partial ACK restarts the timer, or each [RFC 6582 §4]",
    },
    Spec {
        name: "newreno_exit",
        kind: Kind::Choice(&["flight", "ssthresh"]),
        default: "flight",
        doc: "cwnd after NewReno's recovery: bounded by what is outstanding, so that no burst follows, or ssthresh \
              [RFC 6582 §3.2 step 3, (1) or (2)]",
    },
    Spec {
        name: "one_reduction_per_window",
        kind: Kind::Bool,
        default: "false",
        doc: "no second fast retransmit before what was outstanding at the first (or at a timeout) is acknowledged: an \
              option for Reno, on by default for Tahoe; NewReno and SACK always have it [RFC 6582 §3.2]",
    },
    Spec {
        name: "reduce_from",
        kind: Kind::Choice(&["flight", "cwnd"]),
        default: "flight",
        doc: "what a reduction takes its part of: FlightSize [RFC 5681 (4)] or min(cwnd, offered window)",
    },
    Spec {
        name: "increase",
        kind: Kind::Choice(&["ack", "bytes"]),
        default: "bytes",
        doc: "congestion avoidance counts ACKs or bytes acknowledged [RFC 5681 §3.1]",
    },
    Spec {
        name: "grow_unused",
        kind: Kind::Bool,
        default: "false",
        doc: "whether cwnd grows while application or receiver hold sending back [against RFC 7661 §4]",
    },
    Spec {
        name: "grow_on_exit",
        kind: Kind::Bool,
        default: "false",
        doc: "whether the ACK that ends fast recovery also lets cwnd grow, as in ns-2; RFC 5681 §3.2 step 6 only deflates",
    },
    Spec {
        name: "limited_retransmit",
        kind: Kind::Bool,
        default: "false",
        doc: "whether after a timeout the first duplicate ACKs let out what is to be sent again, as in ns-2; RFC 3042 \
              lets out new segments only",
    },
    Spec {
        name: "whole_numbers",
        kind: Kind::Bool,
        default: "false",
        doc: "ssthresh in whole segments, srtt, rttvar and timeout in integer ticks, as 4.3BSD and ns-2 count \
              [Jacobson 1988, appendix A]",
    },
    Spec {
        name: "idle_restart",
        kind: Kind::Bool,
        default: "true",
        doc: "after idling longer than an RTO start from the initial window [RFC 5681 §4.1]",
    },
    Spec {
        name: "data_headers",
        kind: Kind::Bool,
        default: "true",
        doc: "whether headers take room on the wire in data packets; ns-2's Vegas sends them without",
    },
    Spec {
        name: "ecn",
        kind: Kind::Bool,
        default: "false",
        doc: "explicit congestion notification [RFC 3168 §6.1]",
    },
];

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
    pub handshake: bool,
    pub ack_every: u32,
    pub ack_delay: Dur,
    pub rto: RtoConfig,
    pub dupack_threshold: u32,
    pub limited_transmit: bool,
    pub timestamps: bool,
    pub shell: Shell,
    /// Restart the timer on the first partial ACK only.
    pub impatient: bool,
    /// Bound cwnd by FlightSize at the end of NewReno's recovery.
    pub bounded_exit: bool,
    pub one_reduction_per_window: bool,
    /// Reductions start from min(cwnd, offered window) instead of FlightSize.
    pub reduce_from_cwnd: bool,
    pub increase: Increase,
    pub grow_unused: bool,
    pub grow_on_exit: bool,
    pub limited_retransmit: bool,
    pub whole_numbers: bool,
    pub idle_restart: bool,
    pub ecn: bool,
    pub data_headers: bool,
    /// Vegas' early retransmission on a fine-grained timeout.
    pub fine_timeouts: bool,
}

/// The preset of that name.
///
/// # Errors
/// Says which names there are, and the nearest.
pub fn find_preset(name: &str) -> Result<&'static Preset, ParamError> {
    PRESETS.iter().find(|p| p.name == name).ok_or_else(|| {
        let names = || PRESETS.iter().map(|p| p.name);
        let message = match nearest(name, names()) {
            Some(n) => format!("unknown stack preset '{name}': did you mean '{n}'?"),
            None => {
                format!("unknown stack preset '{name}' (known: {})", names().collect::<Vec<_>>().join(", "))
            }
        };
        ParamError { name: "preset".into(), message }
    })
}

impl Preset {
    /// Every parameter with the default that this preset has for a variant.
    fn params_for(&self, variant: &str) -> Vec<Spec> {
        let own =
            |spec: &Spec| self.for_variant.iter().find(|(v, name, _)| *v == variant && *name == spec.name);
        let params = self.params().into_iter();
        params.map(|s| Spec { default: own(&s).map_or(s.default, |(_, _, d)| d), ..s }).collect()
    }

    /// Every parameter with this preset's own default.
    #[must_use]
    pub fn params(&self) -> Vec<Spec> {
        let own = |spec: &Spec| self.overrides.iter().find(|(name, _)| *name == spec.name);
        PARAMS.iter().map(|s| Spec { default: own(s).map_or(s.default, |(_, d)| d), ..*s }).collect()
    }
}

impl Config {
    /// The parameters of a connection: preset, what the scenario sets, and what the variant's name says.
    ///
    /// # Errors
    /// An unknown preset or parameter, a value out of range, or a recovery that contradicts the variant.
    pub fn read(preset: &str, given: &[(String, Raw)], variant: &Variant) -> Result<Config, ParamError> {
        let preset = find_preset(preset)?;
        let p = Params::read(&preset.params_for(variant.name), given)?;
        if variant.shell.is_some() && given.iter().any(|(name, _)| name == "recovery") {
            return Err(ParamError {
                name: "recovery".into(),
                message: format!(
                    "variant '{}' says itself how it recovers from loss: leave this out",
                    variant.name
                ),
            });
        }
        let named = p.choice("recovery");
        let stack_shell = SHELLS.iter().find(|(name, _)| *name == named).map_or(Shell::Sack, |(_, s)| *s);
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
            handshake: p.bool("handshake"),
            ack_every: u32::try_from(p.int("ack_every")).unwrap_or(u32::MAX),
            ack_delay: p.duration("ack_delay"),
            rto: RtoConfig {
                initial: p.duration("rto_initial"),
                min: p.duration("rto_min"),
                max: p.duration("rto_max"),
                granularity: p.duration("granularity"),
                whole_ticks: p.bool("whole_numbers"),
            },
            dupack_threshold: u32::try_from(p.int("dupack_threshold")).unwrap_or(u32::MAX),
            limited_transmit: p.bool("limited_transmit"),
            timestamps: p.bool("timestamps"),
            shell: variant.shell.unwrap_or(stack_shell),
            impatient: p.choice("newreno_timer") == "impatient",
            bounded_exit: p.choice("newreno_exit") == "flight",
            one_reduction_per_window: p.bool("one_reduction_per_window"),
            reduce_from_cwnd: p.choice("reduce_from") == "cwnd",
            increase: if p.choice("increase") == "ack" { Increase::PerAck } else { Increase::Bytes },
            grow_unused: p.bool("grow_unused"),
            grow_on_exit: p.bool("grow_on_exit"),
            limited_retransmit: p.bool("limited_retransmit"),
            whole_numbers: p.bool("whole_numbers"),
            idle_restart: p.bool("idle_restart"),
            // A law that lives by marks needs them, whatever the stack says.
            ecn: p.bool("ecn") || variant.ecn != EcnUse::Stack,
            data_headers: p.bool("data_headers"),
            fine_timeouts: variant.fine_timeouts,
        })
    }

    /// What a law starts from.
    #[must_use]
    pub fn start(&self) -> Start {
        let (window, ssthresh) = (self.initial_window as f64, self.initial_ssthresh as f64);
        Start {
            slow_start: self.slow_start,
            preset: self.preset,
            ..Start::new(f64::from(self.mss), window, ssthresh)
        }
    }

    /// The scale that lets the whole receive window be offered [RFC 7323 §2.3].
    #[must_use]
    pub fn window_scale(&self) -> u8 {
        (0..=14).find(|s| self.window >> s <= 0xffff).unwrap_or(14)
    }
}
