//! The parts of a link against numbers worked by hand.

// A part that cannot be made fails its test.
#![allow(clippy::unwrap_used, clippy::expect_used)]

mod course;
mod draws;
mod loss;
mod opportunities;
mod policer;
mod reordering;
mod service;

use dumbbell_units::random::Stream;

/// A stream for a test.
fn stream(name: &str) -> Stream {
    Stream::new(11, name)
}

/// Asserts that a count out of `n` lies within five standard deviations of what a probability makes likely.
fn binomial(count: usize, n: usize, p: f64, what: &str) {
    let (n, count) = (n as f64, count as f64);
    let sd = (n * p * (1.0 - p)).sqrt();
    assert!((count - n * p).abs() <= 5.0 * sd, "{what}: {count} of {n}, expected {} +- {sd}", n * p);
}
