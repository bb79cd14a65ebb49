//! The registry of variants. The command line, Python, the docs and the property tests list variants from here only.

use crate::variant::Variant;
use crate::variants::ROWS;
use crate::{CongestionControl, Setup};
use dumbbell_units::param::{ParamError, Params, Raw, unknown_name};

/// Returns every variant, in the order of tables and of the looks in plots.
#[must_use]
pub fn registry() -> &'static [Variant] {
    ROWS
}

/// Returns the variant with this name or alias.
///
/// # Errors
/// An unknown name; the message has the nearest known name, or all names.
pub fn find(name: &str) -> Result<&'static Variant, ParamError> {
    let is_named = |v: &&Variant| v.name == name || v.aliases.contains(&name);
    registry().iter().find(is_named).ok_or_else(|| {
        let names = registry().iter().map(|v| v.name).chain(registry().iter().flat_map(|v| v.aliases).copied());
        ParamError { name: "name".into(), message: unknown_name("variant", name, names) }
    })
}

/// Builds a variant for one connection from its name and the parameters that a scenario gives.
///
/// # Errors
/// An unknown name, an unknown parameter, a value out of range, or values that contradict each other.
pub fn build(name: &str, given: &[(String, Raw)], setup: &Setup) -> Result<Box<dyn CongestionControl>, ParamError> {
    let row = find(name)?;
    (row.build)(&Params::read(&row.params_on(setup.preset), given)?, setup)
}
