//! The congestion control algorithms of a flow's connections, from the registry or from outside.

use dumbbell_cc::{CongestionControl, External, Failure, Setup, Variant};
use dumbbell_plan::Named;
use dumbbell_units::param::ParamError;
use std::sync::Arc;

/// The source of a flow's congestion control algorithm.
pub(crate) enum VariantSource {
    /// A row of the registry.
    Registry(&'static Variant),
    /// A library or Python; the second field receives its failures.
    External(Arc<dyn External>, Failure),
}

impl VariantSource {
    pub(crate) fn variant(&self) -> &'static Variant {
        match self {
            VariantSource::Registry(row) => row,
            VariantSource::External(external, _) => external.variant(),
        }
    }
}

/// Makes the algorithms of a flow's connections.
pub(crate) struct Algorithms {
    source: VariantSource,
    variant: Named,
}

impl Algorithms {
    pub(crate) fn new(source: VariantSource, variant: Named) -> Algorithms {
        Algorithms { source, variant }
    }

    pub(crate) fn variant(&self) -> &'static Variant {
        self.source.variant()
    }

    /// True if the algorithms are those of the registry.
    pub(crate) fn are_of_registry(&self) -> bool {
        matches!(self.source, VariantSource::Registry(_))
    }

    /// Checks the parameters by making one algorithm.
    pub(crate) fn check(&self, setup: &Setup) -> Result<(), ParamError> {
        self.try_make(setup, 0).map(|_| ())
    }

    /// Makes the algorithm of a connection; `seed`: seed of its random numbers. If an external algorithm fails to be
    /// made, although the first one with the same parameters succeeded, the failure is reported, and a fixed window
    /// serves for the rest of the run.
    pub(crate) fn make(&self, setup: &Setup, seed: u64) -> Box<dyn CongestionControl> {
        self.try_make(setup, seed).unwrap_or_else(|error| {
            let VariantSource::External(_, failure) = &self.source else {
                unreachable!("a registry row succeeded before: {error}")
            };
            failure.fail(error.to_string());
            let idle = dumbbell_cc::build("fixed", &[], setup);
            idle.unwrap_or_else(|e| unreachable!("defaults are valid: {e}"))
        })
    }

    fn try_make(&self, setup: &Setup, seed: u64) -> Result<Box<dyn CongestionControl>, ParamError> {
        let start = Setup { seed, ..*setup };
        match &self.source {
            VariantSource::Registry(row) => dumbbell_cc::build(row.name, &self.variant.given(), &start),
            VariantSource::External(external, failure) => external.make(&self.variant.given(), &start, failure),
        }
    }
}
