//! The transfers of an application: `transfer` and `page`.

use dumbbell_plan::AppPlan;
use dumbbell_units::Dur;

/// Transfers, each over its own connection.
#[derive(Clone, Copy)]
pub(super) struct Transfers {
    /// Bytes of one.
    pub(super) bytes: u64,
    /// Number; 0: no limit.
    pub(super) repeat: u64,
    /// Time from start to start.
    pub(super) every: Dur,
    /// True if the data receiver requests each.
    pub(super) requested: bool,
}

impl Transfers {
    /// The transfers of an application; None for one that has no transfers.
    pub(super) fn of(app: &AppPlan) -> Option<Transfers> {
        match *app {
            AppPlan::Transfer { bytes, repeat, every_ns } => {
                Some(Transfers { bytes, repeat, every: Dur(every_ns), requested: false })
            }
            AppPlan::Page { bytes, repeat, every_ns, .. } => {
                Some(Transfers { bytes, repeat, every: Dur(every_ns), requested: true })
            }
            _ => None,
        }
    }
}
