//! The table of variants: everything that lists them reads it.

use crate::{
    CongestionControl, Start, bbr1, bbr3, bic, cdg, compound, copa, cubic, dctcp, fixed, highspeed, htcp,
    hybla, illinois, ledbat, ledbat_plus_plus, lp, nv, prague, reno, scalable, sprout, vegas, veno, verus,
    westwood, yeah,
};
use dumbbell_units::param::{ParamError, Params, Raw, Spec, nearest};

/// How an endpoint finds and repairs losses.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Shell {
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
pub type Build = fn(&Params, &Start) -> Result<Box<dyn CongestionControl>, ParamError>;

/// One row of the registry.
#[derive(Debug)]
pub struct Variant {
    /// The name in a scenario.
    pub name: &'static str,
    /// What it is, in one line.
    pub title: &'static str,
    /// The year of its source.
    pub year: u16,
    /// What it implements.
    pub source: &'static str,
    /// The shell that the name stands for; None leaves it to the stack.
    pub shell: Option<Shell>,
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
    pub stacks: &'static [(&'static str, &'static str, &'static str)],
    /// The names of its private columns in the trace.
    pub columns: &'static [&'static str],
    /// Makes one; an error says which parameter contradicts another.
    pub build: Build,
}

impl Variant {
    /// A row to be completed: a law that leaves everything to the stack and answers nothing, without parameters.
    pub const EMPTY: Variant = Variant {
        name: "",
        title: "",
        year: 0,
        source: "",
        shell: None,
        fine_timeouts: false,
        own_recovery: false,
        ecn: EcnUse::Stack,
        on_loss: "none",
        on_delay: "none",
        on_ecn: "none",
        params: &[],
        stacks: &[],
        columns: &[],
        build: |_, _| Err(ParamError { name: "name".into(), message: "a row without a law".into() }),
    };

    /// Its parameters with their defaults on the stack of that preset.
    #[must_use]
    pub fn params_on(&self, preset: &str) -> Vec<Spec> {
        let own =
            |spec: &Spec| self.stacks.iter().find(|(stack, name, _)| *stack == preset && *name == spec.name);
        self.params.iter().map(|s| Spec { default: own(s).map_or(s.default, |(_, _, d)| d), ..*s }).collect()
    }
}

/// Every variant.
#[must_use]
pub fn registry() -> &'static [Variant] {
    const ROWS: &[Variant] = &[
        reno::TAHOE,
        reno::RENO,
        reno::NEWRENO,
        reno::SACK,
        vegas::ROW,
        veno::ROW,
        westwood::ROW,
        bic::ROW,
        cubic::ROW,
        highspeed::ROW,
        scalable::ROW,
        htcp::ROW,
        hybla::ROW,
        illinois::ROW,
        yeah::ROW,
        compound::ROW,
        lp::ROW,
        ledbat::ROW,
        ledbat_plus_plus::ROW,
        cdg::ROW,
        nv::ROW,
        dctcp::ROW,
        prague::ROW,
        copa::ROW,
        sprout::ROW,
        verus::ROW,
        bbr1::ROW,
        bbr3::ROW,
        fixed::ROW,
    ];
    ROWS
}

/// Second names, each with the variant it stands for: a variant's results carry that one's name.
pub const ALIASES: &[(&str, &str)] = &[("bbr", "bbr1")];

impl Variant {
    /// Its second names.
    pub fn aliases(&self) -> impl Iterator<Item = &'static str> + use<> {
        let name = self.name;
        ALIASES.iter().filter(move |(_, of)| *of == name).map(|(alias, _)| *alias)
    }
}

/// The variant of that name, or of that second name.
///
/// # Errors
/// Says which names there are, and the nearest.
pub fn find(name: &str) -> Result<&'static Variant, ParamError> {
    let own = ALIASES.iter().find(|(alias, _)| *alias == name).map_or(name, |(_, of)| *of);
    registry().iter().find(|v| v.name == own).ok_or_else(|| {
        let names = || registry().iter().map(|v| v.name).chain(ALIASES.iter().map(|(alias, _)| *alias));
        let message = match nearest(name, names()) {
            Some(n) => format!("unknown variant '{name}': did you mean '{n}'?"),
            None => format!("unknown variant '{name}' (known: {})", names().collect::<Vec<_>>().join(", ")),
        };
        ParamError { name: "name".into(), message }
    })
}

/// Makes a law from its name and what a scenario gives.
///
/// # Errors
/// An unknown name, an unknown parameter, a value out of range or values that contradict each other.
pub fn build(
    name: &str,
    given: &[(String, Raw)],
    start: &Start,
) -> Result<Box<dyn CongestionControl>, ParamError> {
    let row = find(name)?;
    (row.build)(&Params::read(&row.params_on(start.preset), given)?, start)
}
