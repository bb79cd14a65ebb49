//! Fixtures with verbs, for the tests of the other crates: [`CcFixture`] plays an endpoint to a window law,
//! [`QdiscFixture`] plays a link to a queue discipline, [`wire::Wire`] a network to two endpoints. They say what
//! happened in segments, packets and seconds, so that a test reads like the worked example in its comment. Properties
//! that hold for every row of the registries are in `tests/`.

// A fixture that cannot be made, or an answer that isn't there, fails the test that asked for it.
#![allow(clippy::unwrap_used, clippy::expect_used)]

mod cc_fixture;
pub mod cc_recorder;
mod qdisc_fixture;
mod specs;
pub mod wire;

pub use cc_fixture::CcFixture;
pub use qdisc_fixture::{Fate, QdiscFixture, link};
pub use specs::{any_given, check_specs};

use dumbbell_units::param::Raw;

/// Parameters as a scenario gives them, from text: numbers and booleans are recognised.
#[must_use]
pub fn given(params: &[(&str, &str)]) -> Vec<(String, Raw)> {
    let raw = |text: &str| match (text.parse::<f64>(), text.parse::<bool>()) {
        (Ok(number), _) => Raw::Number(number),
        (_, Ok(b)) => Raw::Bool(b),
        _ => Raw::Text(text.to_owned()),
    };
    params.iter().map(|(name, text)| ((*name).to_owned(), raw(text))).collect()
}

/// Equal but for rounding.
///
/// # Panics
/// Where the two differ by more than 1e-9 of the second, or of 1 if that is larger.
#[track_caller]
pub fn near(a: f64, b: f64) {
    assert!((a - b).abs() <= 1e-9 * b.abs().max(1.0), "{a} is not {b}");
}
