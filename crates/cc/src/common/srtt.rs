//! The smoothed round-trip time, for laws that need it.

use dumbbell_units::Dur;

/// srtt of [RFC 6298 §2], in seconds; the endpoint keeps its own for its timer, possibly in clock ticks.
#[derive(Clone, Copy, Debug, Default)]
pub struct Srtt(Option<f64>);

impl Srtt {
    /// Takes in a sample with the gain of 1/8 [RFC 6298 (2.2), (2.3)].
    pub fn sample(&mut self, rtt: Dur) {
        let r = rtt.as_secs();
        self.0 = Some(self.0.map_or(r, |srtt| srtt + (r - srtt) / 8.0));
    }

    /// The value in seconds; zero before the first sample.
    #[must_use]
    pub fn secs(&self) -> f64 {
        self.0.unwrap_or(0.0)
    }
}
