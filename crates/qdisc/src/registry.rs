//! The registry of queue disciplines. The command line, Python, the docs and the tests list disciplines from it.

use crate::Qdisc;
use crate::discipline::{Discipline, LinkInfo};
use crate::disciplines::ROWS;
use dumbbell_units::param::{ParamError, Params, Raw, unknown_name};

/// Every discipline.
#[must_use]
pub fn registry() -> &'static [Discipline] {
    ROWS
}

/// Returns the discipline of that name.
///
/// # Errors
/// An unknown name; the message suggests the nearest known one.
pub fn find(name: &str) -> Result<&'static Discipline, ParamError> {
    registry().iter().find(|d| d.name == name).ok_or_else(|| {
        let message = unknown_name("queue discipline", name, registry().iter().map(|d| d.name));
        ParamError { name: "discipline".into(), message }
    })
}

/// Builds a discipline from its name and the parameters that a scenario gives.
///
/// # Errors
/// An unknown name, an unknown parameter, a value out of range or values that contradict each other.
pub fn build(name: &str, given: &[(String, Raw)], link: &LinkInfo) -> Result<Box<dyn Qdisc>, ParamError> {
    let row = find(name)?;
    (row.build)(&Params::read(row.params, given)?, link)
}
