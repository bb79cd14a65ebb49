//! The features of an endpoint on which the documents of variants rely ([`StackFeature`]): which a configuration has,
//! and the parameters that turn them on.

use super::Config;
use dumbbell_cc::{LossRecovery, Requirement, SlowStart, StackFeature, Variant};

impl Config {
    /// Returns the features on which the variant's document relies and which this endpoint lacks.
    pub fn lacks<'a>(&'a self, variant: &'a Variant) -> impl Iterator<Item = &'static Requirement> + 'a {
        variant.requires.iter().filter(|requirement| !self.has(requirement.feature))
    }

    fn has(&self, feature: StackFeature) -> bool {
        let recovery = &self.recovery;
        match feature {
            StackFeature::PartialAcks => {
                matches!(recovery.algorithm, LossRecovery::NewReno | LossRecovery::Sack)
            }
            StackFeature::Sack => self.uses_sack(),
            StackFeature::Rack => self.uses_rack(),
            StackFeature::Undo => recovery.rack.is_some_and(|r| r.undo_by_timestamps || r.undo_by_dsack),
            StackFeature::HyStart => self.growth.slow_start != SlowStart::Standard,
            StackFeature::Timestamps => self.connection.timestamps,
        }
    }
}

/// Returns the feature's name in messages, and the parameters of a stack that turn it on.
#[must_use]
pub fn describe(feature: StackFeature) -> (&'static str, &'static str) {
    match feature {
        StackFeature::PartialAcks => ("recovery through partial ACKs", "recovery = \"newreno\""),
        StackFeature::Sack => ("SACK", "recovery = \"sack\""),
        StackFeature::Rack => ("RACK", "recovery = \"sack\", rack = true"),
        StackFeature::Undo => ("detection of spurious recoveries", "recovery = \"sack\", rack = true, undo = \"both\""),
        StackFeature::HyStart => ("a slow start that can end before a loss", "slow_start = \"hystart++\""),
        StackFeature::Timestamps => ("timestamps", "timestamps = true"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::{DEFAULT_PRESET, PRESETS, find_preset};
    use dumbbell_cc::LossRecovery;
    use dumbbell_units::param::Raw;

    /// The features that a variant lacks on a preset with changed parameters.
    fn lacking(variant: &str, preset: &str, given: &[(&str, Raw)]) -> Vec<StackFeature> {
        let variant = dumbbell_cc::find(variant).unwrap();
        let given: Vec<_> = given.iter().map(|(name, raw)| ((*name).to_owned(), raw.clone())).collect();
        let config = Config::read(preset, &given, variant).unwrap();
        config.lacks(variant).map(|r| r.feature).collect()
    }

    #[test]
    fn every_variant_has_all_features_on_the_default_stack() {
        for variant in dumbbell_cc::registry() {
            assert_eq!(lacking(variant.name, DEFAULT_PRESET, &[]), [], "{}", variant.name);
        }
    }

    #[test]
    fn a_name_implies_the_loss_recovery_that_runs_except_where_the_stack_has_its_own() {
        for preset in PRESETS {
            for variant in dumbbell_cc::registry() {
                let config = Config::read(preset.name, &[], variant).unwrap();
                if let Some(implied) = preset.implied_recovery(variant) {
                    assert_eq!(config.recovery.algorithm, implied, "{} on {}", variant.name, preset.name);
                    assert!(!config.uses_rack(), "{} on {}: RACK replaces it", variant.name, preset.name);
                }
            }
        }
        let implied = |preset: &str, variant: &str| {
            find_preset(preset).unwrap().implied_recovery(dumbbell_cc::find(variant).unwrap())
        };
        for (variant, named) in [
            ("tahoe", LossRecovery::Tahoe),
            ("reno", LossRecovery::Reno),
            ("newreno", LossRecovery::NewReno),
            ("sack", LossRecovery::Sack),
        ] {
            assert_eq!(implied("rfc", variant), Some(named));
            assert_eq!(implied("linux", variant), (variant == "tahoe").then_some(named));
        }
    }

    #[test]
    fn older_stacks_lack_features() {
        use StackFeature::{HyStart, PartialAcks, Rack, Sack, Timestamps, Undo};
        assert_eq!(lacking("cubic", "rfc", &[]), [HyStart]);
        assert_eq!(lacking("cubic", "ns2", &[]), [PartialAcks, HyStart]);
        assert_eq!(lacking("prague", "rfc", &[]), [Rack]);
        assert_eq!(lacking("bbr", "rfc", &[]), [Rack]);
        assert_eq!(lacking("bbr3", "ns2", &[]), [Sack, Timestamps, Rack, Undo]);
        assert_eq!(lacking("ledbat", "ns2", &[]), [Timestamps]);
        assert_eq!(lacking("vegas", "ns2", &[]), []);
    }

    #[test]
    fn the_parameters_of_a_description_turn_the_feature_on() {
        for preset in PRESETS {
            for variant in dumbbell_cc::registry() {
                let before = Config::read(preset.name, &[], variant).unwrap();
                for requirement in before.lacks(variant) {
                    let (_, settings) = describe(requirement.feature);
                    let given: Vec<_> = settings
                        .split(", ")
                        .map(|setting| {
                            let (name, value) = setting.split_once(" = ").unwrap();
                            let raw = match value {
                                "true" => Raw::Bool(true),
                                text => Raw::Text(text.trim_matches('"').to_owned()),
                            };
                            (name.to_owned(), raw)
                        })
                        .collect();
                    let after = Config::read(preset.name, &given, variant).unwrap();
                    assert!(after.has(requirement.feature), "{} on {}: {settings}", variant.name, preset.name);
                }
            }
        }
    }
}
