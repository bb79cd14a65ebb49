//! The models of a link against numbers worked by hand.

#![expect(clippy::unwrap_used, reason = "a model that cannot be built fails its test")]

mod draws;
mod loss;
mod opportunities;
mod policer;
mod profile;
mod reordering;
mod transmitter;

use dumbbell_units::random::Stream;

/// Returns a random stream for a test.
fn stream(name: &str) -> Stream {
    Stream::new(11, name)
}

/// Asserts that a count out of `n` is within five standard deviations of its expectation for probability `p`.
fn binomial(count: usize, n: usize, p: f64, what: &str) {
    let (n, count) = (n as f64, count as f64);
    let sd = (n * p * (1.0 - p)).sqrt();
    assert!((count - n * p).abs() <= 5.0 * sd, "{what}: {count} of {n}, expected {} +- {sd}", n * p);
}
