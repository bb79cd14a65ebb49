//! A probability: a number that is within 0 and 1 by construction.

/// A probability, always within 0..=1.
#[derive(Clone, Copy, Debug, Default, PartialEq, PartialOrd)]
pub struct Prob(f64);

impl Prob {
    /// The impossible event.
    pub const ZERO: Prob = Prob(0.0);

    /// Returns `p` if it is within 0..=1.
    #[must_use]
    pub fn new(p: f64) -> Option<Prob> {
        (0.0..=1.0).contains(&p).then_some(Prob(p))
    }

    /// Returns the number.
    #[must_use]
    pub fn get(self) -> f64 {
        self.0
    }
}
