//! Fixtures for the tests of the other crates: [`CcFixture`] is an endpoint for a congestion control algorithm,
//! [`QdiscFixture`] a link for a queue discipline, [`wire::Wire`] a network for two endpoints. Their methods are in
//! segments, packets and milliseconds, so that a test reads like the worked example in its comment. [`check_specs`] and
//! [`any_given`] serve the property tests over the registries, which are in `tests/registry` of each crate.

#![expect(clippy::unwrap_used, clippy::expect_used, reason = "a fixture that cannot be built fails its test")]

mod cc_fixture;
pub mod cc_recorder;
mod qdisc_fixture;
mod specs;
pub mod wire;

pub use cc_fixture::CcFixture;
pub use qdisc_fixture::{Fate, QdiscFixture, link};
pub use specs::{any_given, check_specs};

use dumbbell_units::param::Raw;

/// Returns parameters as a scenario gives them, from text; numbers and booleans are recognized.
#[must_use]
pub fn given(params: &[(&str, &str)]) -> Vec<(String, Raw)> {
    let raw = |text: &str| match (text.parse::<f64>(), text.parse::<bool>()) {
        (Ok(number), _) => Raw::Number(number),
        (_, Ok(b)) => Raw::Bool(b),
        _ => Raw::Text(text.to_owned()),
    };
    params.iter().map(|(name, text)| ((*name).to_owned(), raw(text))).collect()
}

/// Asserts that two numbers are equal except for rounding.
///
/// # Panics
/// If they differ by more than 1e-9 times the second number, or times 1 if that is larger.
#[track_caller]
pub fn near(a: f64, b: f64) {
    assert!((a - b).abs() <= 1e-9 * b.abs().max(1.0), "{a} is not {b}");
}
