//! The table of disciplines: everything that lists them reads it.

use crate::Qdisc;
use crate::discipline::{Discipline, LinkInfo};
use crate::disciplines::ROWS;
use dumbbell_units::param::{ParamError, Params, Raw, nearest};

/// Every discipline.
#[must_use]
pub fn registry() -> &'static [Discipline] {
    ROWS
}

/// The discipline of that name.
///
/// # Errors
/// Says which names there are, and the nearest.
pub fn find(name: &str) -> Result<&'static Discipline, ParamError> {
    registry().iter().find(|d| d.name == name).ok_or_else(|| {
        let names = || registry().iter().map(|d| d.name);
        let message = match nearest(name, names()) {
            Some(n) => format!("unknown queue discipline '{name}': did you mean '{n}'?"),
            None => {
                format!(
                    "unknown queue discipline '{name}' (known: {})",
                    names().collect::<Vec<_>>().join(", ")
                )
            }
        };
        ParamError { name: "discipline".into(), message }
    })
}

/// Makes a discipline from its name and what a scenario gives.
///
/// # Errors
/// An unknown name, an unknown parameter, a value out of range or values that contradict each other.
pub fn build(name: &str, given: &[(String, Raw)], link: &LinkInfo) -> Result<Box<dyn Qdisc>, ParamError> {
    let row = find(name)?;
    (row.build)(&Params::read(row.params, given)?, link)
}
