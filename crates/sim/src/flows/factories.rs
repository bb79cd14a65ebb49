//! The factories of TCP connections. Flows with equal settings share one: the settings take more memory than an idle
//! flow, and reading them takes longer than its start.

use super::tcp::ConnectionFactory;
use crate::error::SimError;
use dumbbell_plan::FlowPlan;
use std::sync::Arc;

/// See the top of this file.
pub(crate) struct Factories<'p> {
    /// True if endpoints handle usual segments in few steps: false in the slow reference that tests compare with.
    pub(crate) shortcuts: bool,
    /// The last flow whose factory may be shared, with the factory.
    last: Option<(&'p FlowPlan, Arc<ConnectionFactory>)>,
}

impl<'p> Factories<'p> {
    pub(crate) fn new(shortcuts: bool) -> Factories<'p> {
        Factories { shortcuts, last: None }
    }

    /// Returns the factory of a flow: that of the flow before, if its settings are equal, or a new one.
    ///
    /// # Errors
    /// Those of `make`.
    pub(crate) fn tcp(
        &mut self,
        flow: &'p FlowPlan,
        make: impl FnOnce() -> Result<ConnectionFactory, SimError>,
    ) -> Result<Arc<ConnectionFactory>, SimError> {
        if let Some((_, factory)) = self.last.as_ref().filter(|(last, _)| have_equal_settings(last, flow)) {
            return Ok(Arc::clone(factory));
        }
        let factory = Arc::new(make()?);
        // An external variant reports its failures under the name of its flow.
        self.last = factory.is_of_registry().then(|| (flow, Arc::clone(&factory)));
        Ok(factory)
    }
}

fn have_equal_settings(a: &FlowPlan, b: &FlowPlan) -> bool {
    a.transport == b.transport && a.ip == b.ip && a.sets_nodelay() == b.sets_nodelay()
}
