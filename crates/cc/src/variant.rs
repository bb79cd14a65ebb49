//! What a variant says of itself: one row of the registry.

use crate::{CongestionControl, Setup};
use dumbbell_units::param::{ParamError, Params, Spec};

/// How an endpoint finds and repairs losses.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum LossRecovery {
    /// Fast retransmit, then slow start from one segment.
    Tahoe,
    /// Fast recovery that ends with the first new ACK [RFC 5681 §3.2].
    Reno,
    /// Fast recovery through partial ACKs [RFC 6582].
    NewReno,
    /// Scoreboard and pipe [RFC 6675].
    Sack,
}

/// Which congestion feedback a law needs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum EcnUse {
    /// What the stack says: none, or one echo a window [RFC 3168].
    Stack,
    /// Every data packet is ECN-capable, the receiver echoes each mark as it comes [RFC 8257 §3.2].
    Dctcp,
    /// Packets say that they belong to a scalable law (ECT(1)), marks are counted [RFC 9331, AccECN].
    Scalable,
}

/// Makes a law from parameters that were read.
pub type Build = fn(&Params, &Setup) -> Result<Box<dyn CongestionControl>, ParamError>;

/// One row of the registry.
#[derive(Debug)]
pub struct Variant {
    /// The name in a scenario.
    pub name: &'static str,
    /// Other names that a scenario may use; results carry `name`.
    pub aliases: &'static [&'static str],
    /// What it is, in one line.
    pub title: &'static str,
    /// The year of its source.
    pub year: u16,
    /// What it implements.
    pub source: &'static str,
    /// The shell that the name stands for; None leaves it to the stack.
    pub loss_recovery: Option<LossRecovery>,
    /// Whether the endpoint also retransmits on Vegas' fine-grained timeout.
    pub fine_timeouts: bool,
    /// Whether the law itself says during recovery how much may be outstanding, as model-based laws do; else the stack's
    /// recovery does (PRR).
    pub own_recovery: bool,
    /// The congestion feedback that it needs.
    pub ecn: EcnUse,
    /// How it answers a loss. Here as in the next two "none" says that it doesn't: the registry's tests rely on it.
    pub on_loss: &'static str,
    /// How it answers growing delay.
    pub on_delay: &'static str,
    /// How it answers a congestion mark.
    pub on_ecn: &'static str,
    /// Its parameters.
    pub params: &'static [Spec],
    /// The defaults that differ on a stack: preset, parameter, default.
    pub stack_defaults: &'static [(&'static str, &'static str, &'static str)],
    /// The names of its private columns in the trace.
    pub columns: &'static [&'static str],
    /// Makes one; an error says which parameter contradicts another.
    pub build: Build,
}

impl Variant {
    /// A row to be completed: a law that leaves everything to the stack and answers nothing, without parameters.
    pub const EMPTY: Variant = Variant {
        name: "",
        aliases: &[],
        title: "",
        year: 0,
        source: "",
        loss_recovery: None,
        fine_timeouts: false,
        own_recovery: false,
        ecn: EcnUse::Stack,
        on_loss: "none",
        on_delay: "none",
        on_ecn: "none",
        params: &[],
        stack_defaults: &[],
        columns: &[],
        build: |_, _| Err(ParamError { name: "name".into(), message: "a row without a law".into() }),
    };

    /// Its parameters with their defaults on the stack of that preset.
    #[must_use]
    pub fn params_on(&self, preset: &str) -> Vec<Spec> {
        let own = |spec: &Spec| {
            self.stack_defaults.iter().find(|(stack, name, _)| *stack == preset && *name == spec.name)
        };
        self.params.iter().map(|s| Spec { default: own(s).map_or(s.default, |(_, _, d)| d), ..*s }).collect()
    }
}
