//! The table of variants: everything that lists them reads it.

use crate::variant::Variant;
use crate::variants::ROWS;
use crate::{CongestionControl, Start};
use dumbbell_units::param::{ParamError, Params, Raw, unknown_name};

/// Every variant.
#[must_use]
pub fn registry() -> &'static [Variant] {
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
        let names = registry().iter().map(|v| v.name).chain(ALIASES.iter().map(|(alias, _)| *alias));
        ParamError { name: "name".into(), message: unknown_name("variant", name, names) }
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
