//! The description of a variant: one row of the registry.

use crate::{CongestionControl, Setup};
use dumbbell_units::named;
use dumbbell_units::param::{ParamError, Params, Spec};

named! {
    /// The loss recovery of an endpoint: how losses are detected and repaired.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
    pub enum LossRecovery {
        /// Fast retransmit, then slow start from one segment [Jacobson, SIGCOMM 1988].
        Tahoe = "tahoe",
        /// Fast recovery that ends with the first new ACK [RFC 5681 §3.2].
        Reno = "reno",
        /// Fast recovery that continues through partial ACKs [RFC 6582].
        NewReno = "newreno",
        /// SACK scoreboard and pipe [RFC 6675].
        Sack = "sack",
    }
}

named! {
    /// The congestion feedback by ECN that a variant needs.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
    pub enum EcnUse {
        /// The setting of the stack: none, or one echo per window [RFC 3168].
        Stack = "stack",
        /// Every data packet is ECN-capable, and the receiver echoes each mark [RFC 8257 §3.2].
        Dctcp = "dctcp",
        /// Packets are sent with ECT(1), and the receiver counts marks [RFC 9331, Accurate ECN].
        Scalable = "scalable",
    }
}

/// A property of the endpoint on which the document of a variant relies. Pacing at the variant's rate, samples of the
/// delivery rate and the feedback of [`EcnUse`] exist on every stack, so they are not in this list.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum StackFeature {
    /// Fast recovery that continues through partial ACKs [RFC 6582, 6675].
    PartialAcks,
    /// Selective acknowledgments, and a loss recovery that uses them [RFC 6675].
    Sack,
    /// Loss detection by time, which also finds lost retransmissions [RFC 8985].
    Rack,
    /// Detection of spurious loss recoveries [RFC 3522, 3708].
    Undo,
    /// A slow start that can end before a loss [RFC 9406].
    HyStart,
    /// The timestamps option [RFC 7323].
    Timestamps,
}

/// A feature of the endpoint on which a variant relies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Requirement {
    /// The feature.
    pub feature: StackFeature,
    /// The document and its section.
    pub source: &'static str,
    /// The relation in a few words, such as "the slow start that it recommends".
    pub why: &'static str,
}

/// Builds a variant from parameters that have been read.
pub type Build = fn(&Params, &Setup) -> Result<Box<dyn CongestionControl>, ParamError>;

/// One row of the registry.
#[derive(Debug)]
pub struct Variant {
    /// The name in a scenario.
    pub name: &'static str,
    /// Other names that a scenario may use; results carry `name`.
    pub aliases: &'static [&'static str],
    /// A description of one line.
    pub title: &'static str,
    /// The year of its first publication.
    pub year: u16,
    /// The RFC or paper that it implements.
    pub source: &'static str,
    /// The loss recovery that is part of the variant; None: the stack's.
    pub loss_recovery: Option<LossRecovery>,
    /// The features of the stack on which its document relies.
    pub requires: &'static [Requirement],
    /// True if the endpoint also retransmits on Vegas' fine-grained timeout.
    pub fine_timeouts: bool,
    /// True if the variant limits the data in flight during recovery, as BBR does; otherwise the stack's recovery does
    /// (PRR).
    pub own_recovery: bool,
    /// The congestion feedback that it needs.
    pub ecn: EcnUse,
    /// Its response to a loss. In this field and the next two, "none" means no response; the registry's tests verify
    /// it.
    pub on_loss: &'static str,
    /// Its response to growing delay.
    pub on_delay: &'static str,
    /// Its response to a congestion mark.
    pub on_ecn: &'static str,
    /// Its parameters.
    pub params: &'static [Spec],
    /// Defaults that differ on a stack: preset, parameter, default.
    pub stack_defaults: &'static [(&'static str, &'static str, &'static str)],
    /// The names of its own columns in the trace.
    pub columns: &'static [&'static str],
    /// True if it draws random numbers.
    pub random: bool,
    /// Builds one for a connection; an error names the parameter that contradicts another.
    pub build: Build,
}

impl Variant {
    /// A row to be completed: loss recovery and ECN of the stack, no response to congestion, no parameters.
    pub const EMPTY: Variant = Variant {
        name: "",
        aliases: &[],
        title: "",
        year: 0,
        source: "",
        loss_recovery: None,
        requires: &[],
        fine_timeouts: false,
        own_recovery: false,
        ecn: EcnUse::Stack,
        on_loss: "none",
        on_delay: "none",
        on_ecn: "none",
        params: &[],
        stack_defaults: &[],
        columns: &[],
        random: false,
        build: |_, _| Err(ParamError { name: "name".into(), message: "the row has no `build`".into() }),
    };

    /// Returns its parameters with their defaults on the stack with this preset.
    #[must_use]
    pub fn params_on(&self, preset: &str) -> Vec<Spec> {
        let own =
            |spec: &Spec| self.stack_defaults.iter().find(|(stack, name, _)| *stack == preset && *name == spec.name);
        self.params.iter().map(|s| Spec { default: own(s).map_or(s.default, |(_, _, d)| d), ..*s }).collect()
    }
}
