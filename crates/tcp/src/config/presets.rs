//! The presets: named sets of parameter values, and of properties that no parameter changes, for the RFCs (`rfc`), for
//! Linux 6.12 (`linux`, and `linux-tuned` with large buffers) and for ns-2 (`ns2`).
//!
//! The default of each parameter on each preset is declared beside the parameter, in the file of its group; the
//! properties are in `facts.rs`. A preset that differs little from another one is derived from it, as `linux-tuned`
//! from `linux`.

use super::params::PARAMS;
use super::{Defaults, Facts, ack, buffer, connection, ecn, facts, growth, pacing, recovery, rto};
use dumbbell_cc::{LossRecovery, Variant};
use dumbbell_units::param::{ParamError, Params, Raw, Spec, unknown_name, with_defaults};

/// A named set of parameter values.
#[derive(Debug)]
pub struct Preset {
    /// The name in a scenario.
    pub name: &'static str,
    /// A description in one line.
    pub title: &'static str,
    /// The model, and its differences from the original.
    pub doc: &'static str,
    /// The preset from whose defaults this one's differ; None: [`PARAMS`].
    base: Option<&'static Preset>,
    /// The parameters whose default differs from the base, group by group.
    defaults: &'static [Defaults],
    /// What a scenario can't set.
    facts: Facts,
    /// The same for one variant.
    facts_for: &'static [(&'static str, Facts)],
    /// Other defaults for one variant: variant, parameter, default.
    for_variant: &'static [(&'static str, &'static str, &'static str)],
    /// The preset whose defaults of a variant's own parameters apply [`dumbbell_cc::Variant::params_on`].
    pub variants_as: &'static str,
    /// True if the names Reno, NewReno and SACK select congestion control only, and the stack's parameters loss
    /// recovery.
    any_recovery: bool,
}

/// HyStart is on by default [Linux tcp_cubic.c: hystart]. Tahoe as for rfc.
const LINUX_VARIANTS: &[(&str, &str, &str)] =
    &[("cubic", "slow_start", "hystart"), ("tahoe", "one_reduction_per_window", "true")];

/// Every preset.
pub const PRESETS: &[Preset] = &[RFC, LINUX, LINUX_TUNED, NS2];

/// The preset of a flow that names none. It is the same for every variant, so that a comparison of variants is not also
/// one of stacks.
pub const DEFAULT_PRESET: &str = LINUX.name;

const RFC: Preset = Preset {
    name: "rfc",
    title: "what the current RFCs recommend",
    doc: "RFC 9293 with RFC 5681, 6298, 6928 (initial window of 10 segments), 7323 (timestamps, window scale), \
          2018 and 6675 (SACK); delayed ACKs; minimum RTO 1 s. Tahoe, which no current RFC describes, has \
          one_reduction_per_window.",
    base: None,
    defaults: &[],
    facts: facts::RFC,
    facts_for: &[],
    // Go-back-N causes duplicate ACKs, which would be taken for further losses.
    for_variant: &[("tahoe", "one_reduction_per_window", "true")],
    variants_as: "rfc",
    any_recovery: false,
};

const LINUX: Preset = Preset {
    name: "linux",
    title: "what a current Linux sends and acknowledges",
    doc: "Linux 6.12 without the fq discipline, so that only variants that set a pacing rate are paced: \
          SACK with RACK, tail loss probes, proportional rate reduction, F-RTO and undo; windows in whole segments, \
          reduced from cwnd; quick ACKs at the start, then delayed by 40 to 200 ms; minimum RTO 200 ms above srtt; \
          a window that isn't used shrinks (RFC 2861). The names of the Reno family select congestion control only, \
          except Tahoe, which Linux does not implement; it has one_reduction_per_window here. The buffers are those \
          of an unchanged Linux: the receive buffer starts at 128 KiB and grows to 6 MiB, 3.98 MB of window; the send \
          buffer starts at 16 KiB and grows to 4 MiB. Paths with more than that in flight are limited by them.",
    defaults: &[
        connection::LINUX,
        buffer::LINUX,
        growth::LINUX,
        ack::LINUX,
        rto::LINUX,
        recovery::LINUX,
        pacing::LINUX,
        ecn::LINUX,
    ],
    facts: facts::LINUX,
    for_variant: LINUX_VARIANTS,
    variants_as: "linux",
    any_recovery: true,
    ..RFC
};

const LINUX_TUNED: Preset = Preset {
    name: "linux-tuned",
    title: "Linux with buffers that don't limit",
    doc: "The preset linux with tcp_rmem and tcp_wmem of a host that is tuned for fast, long paths. The receive buffer \
          starts at 32 MiB; while its window opens, for the first 1,539 full segments, each is acknowledged at once. The \
          send buffer starts at 1 MiB and grows to 256 MiB.",
    base: Some(&LINUX),
    defaults: &[buffer::LINUX_TUNED],
    ..LINUX
};

const NS2: Preset = Preset {
    name: "ns2",
    title: "ns-2's TCP agents, so that published ns-2 set-ups can be repeated",
    doc: "Packets of 1000 + 40 bytes, a window of 20 packets, initial window 2, an ACK for every packet, a 10 ms \
          clock, minimum RTO 200 ms, first RTO 3 s, no timestamps. A reduction starts from min(cwnd, window), the \
          window grows even while it isn't used, and a window sees one fast retransmit only (bugFix_). Vegas' \
          data packets are 1000 bytes in all (data_headers), it starts with 3 of them and has neither limited \
          transmit nor limited_retransmit and reduce_each_timeout; its karn is any. \
          SACK is ns-2's (sack_rules). Differences from ns-2: Vegas sends a SYN, and a fourth timeout in a row doesn't \
          discard srtt.",
    defaults: &[connection::NS2, buffer::NS2, growth::NS2, ack::NS2, rto::NS2, recovery::NS2, pacing::NS2, ecn::NS2],
    facts: facts::NS2,
    facts_for: &[("vegas", facts::NS2_VEGAS)],
    for_variant: &[
        ("vegas", "data_headers", "false"),
        ("vegas", "initial_window", "3 packets"),
        ("vegas", "limited_transmit", "false"),
    ],
    variants_as: "ns2",
    ..RFC
};

/// Returns the preset of that name.
///
/// # Errors
/// An unknown name; the message lists the nearest or all names.
pub fn find_preset(name: &str) -> Result<&'static Preset, ParamError> {
    PRESETS.iter().find(|p| p.name == name).ok_or_else(|| {
        let message = unknown_name("stack preset", name, PRESETS.iter().map(|p| p.name));
        ParamError { name: "preset".into(), message }
    })
}

impl Preset {
    /// Returns every parameter with the default that this preset has for a variant.
    #[must_use]
    pub fn params_for(&self, variant: &str) -> Vec<Spec> {
        let own = self.for_variant.iter().filter(|(v, ..)| *v == variant);
        with_defaults(self.params(), own.map(|(_, name, default)| (*name, *default)))
    }

    /// Returns every parameter with this preset's own default.
    #[must_use]
    pub fn params(&self) -> Vec<Spec> {
        let specs = self.base.map_or_else(|| PARAMS.to_vec(), Preset::params);
        with_defaults(specs, self.defaults.iter().copied().flatten().copied())
    }

    /// Returns the loss recovery that a variant's name implies on this preset; None: the stack's parameters select it.
    #[must_use]
    pub fn implied_recovery(&self, variant: &Variant) -> Option<LossRecovery> {
        variant.loss_recovery.filter(|named| !self.any_recovery || *named == LossRecovery::Tahoe)
    }

    /// Returns what a scenario can't set.
    #[must_use]
    pub fn facts(&self) -> &Facts {
        &self.facts
    }

    /// Returns the same for a variant.
    #[must_use]
    pub fn facts_for(&self, variant: &str) -> &Facts {
        self.facts_for.iter().find(|(v, _)| *v == variant).map_or(&self.facts, |(_, facts)| facts)
    }

    /// Reads parameters, with the defaults for a variant.
    ///
    /// # Errors
    /// An unknown parameter, a property of the preset, or a value out of range.
    pub fn read(&self, variant: &str, given: &[(String, Raw)]) -> Result<Params, ParamError> {
        let fixed = |name: &str| self.facts_for(variant).list().into_iter().find(|fact| fact.name == name);
        if let Some(fact) = given.iter().find_map(|(name, _)| fixed(name)) {
            let message = format!(
                "a property of the preset, which can't be set: it is {} with '{}' ('dumbbell stacks' shows every preset's)",
                fact.value, self.name
            );
            return Err(ParamError { name: fact.name.into(), message });
        }
        Params::read(&self.params_for(variant), given)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_property_of_a_preset_is_no_parameter() {
        for (variant, value) in [("reno", "reduction"), ("vegas", "any")] {
            let given = [("karn".to_owned(), Raw::Text("any".into()))];
            let refused = NS2.read(variant, &given).unwrap_err();
            assert_eq!(refused.name, "karn");
            assert!(refused.message.contains(&format!("it is {value} with 'ns2'")), "{refused}");
        }
        let names: Vec<&str> = RFC.facts().list().iter().map(|fact| fact.name).collect();
        assert!(PARAMS.iter().all(|spec| !names.contains(&spec.name)));
    }
}
