//! Checks of parameter declarations, and random values for property tests.

use dumbbell_units::param::{Kind, Params, Raw, Spec};
use proptest::prelude::*;

/// Asserts that each declaration has a doc, a unique name and a default of its kind.
#[track_caller]
pub fn check_specs(owner: &str, specs: &[Spec]) {
    // Panics if a default does not fit its kind.
    Params::read(specs, &[]).expect("the defaults are valid");
    for (i, spec) in specs.iter().enumerate() {
        assert!(!spec.doc.is_empty(), "{owner}: {} has no doc", spec.name);
        assert!(specs[..i].iter().all(|s| s.name != spec.name), "{owner}: two parameters named {}", spec.name);
    }
}

fn any_value(kind: &Kind) -> BoxedStrategy<Raw> {
    let text = |texts: &[&str]| {
        proptest::sample::select(texts.iter().map(|t| Raw::Text((*t).to_owned())).collect::<Vec<_>>()).boxed()
    };
    match *kind {
        Kind::Float { min, max } => (min..=max.min(1e6)).prop_map(Raw::Number).boxed(),
        Kind::Int { min, max } => (min..=max.min(1_000_000)).prop_map(|n| Raw::Number(n as f64)).boxed(),
        Kind::Bool => any::<bool>().prop_map(Raw::Bool).boxed(),
        Kind::Choice(names) => text(names),
        Kind::Duration => text(&["1 ms", "20 ms", "0.5 s"]),
        Kind::Rate => text(&["1 Mbit/s", "10 Mbit/s"]),
        Kind::Bytes => text(&["1 bytes", "40 bytes", "500 bytes", "1500 bytes", "9000 bytes"]),
        Kind::Size => text(&["1 packets", "20 packets", "64 KiB"]),
        Kind::Length => text(&[
            "1 packets",
            "2 packets",
            "5 packets",
            "20 packets",
            "1 bytes",
            "3000 bytes",
            "20 kB",
            "5 ms",
            "0.2 bdp",
        ]),
        Kind::Probability => text(&["0 %", "2 %", "10 %", "100 %"]),
        Kind::Part(_) => text(&["droptail", "codel", "fq_codel", "drr", "cake", "tbf"]),
        Kind::Or(word, inner) => prop_oneof![text(&[word]), any_value(inner)].boxed(),
    }
}

/// Returns a strategy for some of the parameters, each with a random valid value.
pub fn any_given(specs: &'static [Spec]) -> BoxedStrategy<Vec<(String, Raw)>> {
    specs
        .iter()
        .map(|spec| {
            let name = spec.name.to_owned();
            proptest::option::of(any_value(&spec.kind)).prop_map(move |v| v.map(|v| (name.clone(), v)))
        })
        .collect::<Vec<_>>()
        .prop_map(|given| given.into_iter().flatten().collect())
        .boxed()
}
