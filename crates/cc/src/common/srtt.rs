//! The smoothed round-trip time [RFC 6298 §2], for variants that need it.

use dumbbell_units::Dur;

/// SRTT [RFC 6298 §2] in seconds. The endpoint has its own for its retransmission timer, possibly in clock ticks.
#[derive(Clone, Copy, Debug, Default)]
pub struct Srtt(Option<f64>);

impl Srtt {
    /// Takes an RTT sample, with a gain of 1/8 [RFC 6298 (2.2), (2.3)].
    pub fn sample(&mut self, rtt: Dur) {
        let r = rtt.as_secs();
        self.0 = Some(self.0.map_or(r, |srtt| srtt + (r - srtt) / 8.0));
    }

    /// Returns the value in seconds; zero before the first sample.
    #[must_use]
    pub fn secs(&self) -> f64 {
        self.0.unwrap_or(0.0)
    }
}
