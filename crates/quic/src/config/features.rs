//! The features on which the documents of variants rely, as far as this endpoint has them.

use super::Config;
use dumbbell_cc::{Requirement, SlowStart, StackFeature, Variant};

impl Config {
    /// Returns the features on which the variant's document relies and which this endpoint lacks.
    pub fn lacks<'a>(&'a self, variant: &'a Variant) -> impl Iterator<Item = &'static Requirement> + 'a {
        variant.requires.iter().filter(|requirement| !self.has(requirement.feature))
    }

    fn has(&self, feature: StackFeature) -> bool {
        match feature {
            // ACK ranges report every packet, and each transmission has its own number, so that lost retransmissions
            // are found as every other loss [RFC 9002 §4].
            StackFeature::PartialAcks | StackFeature::Sack | StackFeature::Rack => true,
            StackFeature::HyStart => self.growth.slow_start != SlowStart::Standard,
            StackFeature::Undo | StackFeature::Timestamps => false,
        }
    }
}
