//! The presets: named sets of visible parameters.

use super::params::PARAMS;
use dumbbell_units::param::{ParamError, Spec, unknown_name};

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
    /// Whether Reno, NewReno and SACK name the window law only and recover as the stack does.
    pub(super) names_laws: bool,
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
        names_laws: false,
    },
    Preset {
        name: "linux",
        title: "what a current Linux sends and acknowledges",
        doc: "Linux 6.12 without the fq discipline, so that only laws that give a rate are paced: \
              SACK with RACK, tail loss probes, proportional rate reduction, F-RTO and undo; windows in whole segments, \
              reduced from cwnd; quick ACKs at the start, then delayed by 40 to 200 ms; minimum RTO 200 ms above srtt; \
              a window that isn't used shrinks (RFC 2861). The names of the Reno family stand for their law only, \
              except Tahoe, which Linux hasn't got; it has one_reduction_per_window here. The receive buffer starts at 32 MiB, so that it doesn't limit; while its \
              window opens, for the first 1,539 full segments, each is acknowledged at once. The send buffer starts at 1 MiB and \
              doesn't limit either; it says where bursts end.",
        overrides: &[
            ("slow_start_limit", "1000"),
            ("handshake_ack", "alone"),
            ("aligned_options", "true"),
            ("unpaced_segments", "9"),
            ("pacing_credit", "50"),
            ("ack_delay_min", "40 ms"),
            ("quick_acks", "16"),
            ("ack_pushed", "true"),
            ("sack_delay", "1 ms"),
            ("sack_kept", "4"),
            // Half of the buffer [the kernel's assumption before it has seen a segment].
            ("autotuning", "true"),
            ("window_start", "16 MiB"),
            ("window", "256 MiB"),
            ("rto_min", "200 ms"),
            ("rto_max", "120 s"),
            ("granularity", "1 us"),
            ("timer_tick", "4 ms"),
            ("rto_estimator", "linux"),
            ("timestamp_clock", "1 ms"),
            ("rtt_from", "segments"),
            ("min_rtt_window", "300 s"),
            ("rack", "true"),
            ("tlp", "true"),
            ("prr", "true"),
            ("frto", "true"),
            ("dsack", "true"),
            ("undo", "both"),
            ("reduce_from", "cwnd"),
            ("increase", "window"),
            ("whole_numbers", "true"),
            ("grow_by", "delivered"),
            ("grow_on_exit", "true"),
            ("cwnd_limited", "window"),
            ("window_validation", "rfc2861"),
            ("nagle", "true"),
            ("send_quantum", "tso"),
        ],
        // The second as for rfc.
        for_variant: &[("cubic", "slow_start", "hystart"), ("tahoe", "one_reduction_per_window", "true")],
        names_laws: true,
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
        names_laws: false,
    },
];

/// The preset of that name.
///
/// # Errors
/// Says which names there are, and the nearest.
pub fn find_preset(name: &str) -> Result<&'static Preset, ParamError> {
    PRESETS.iter().find(|p| p.name == name).ok_or_else(|| {
        let message = unknown_name("stack preset", name, PRESETS.iter().map(|p| p.name));
        ParamError { name: "preset".into(), message }
    })
}

impl Preset {
    /// Every parameter with the default that this preset has for a variant.
    pub(super) fn params_for(&self, variant: &str) -> Vec<Spec> {
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
