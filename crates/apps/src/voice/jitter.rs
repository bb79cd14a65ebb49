//! Interarrival jitter, as a receiver of RTP reports it [RFC 3550 §6.4.1, Appendix A.8].

/// The estimate J of the jitter: the mean deviation of the transit time between packets that arrive one after the
/// other.
#[derive(Clone, Copy, Debug, Default)]
pub struct InterarrivalJitter {
    transit: Option<i128>,
    jitter: f64,
}

impl InterarrivalJitter {
    /// A packet that was sent at `sent` arrives at `at`, ns. Returns J, ns.
    pub fn arrived(&mut self, sent: u64, at: u64) -> f64 {
        let transit = i128::from(at) - i128::from(sent);
        if let Some(last) = self.transit.replace(transit) {
            let difference = (transit - last).unsigned_abs() as f64;
            // J = J + (|D| - J) / 16 [RFC 3550 §6.4.1].
            self.jitter += (difference - self.jitter) / 16.0;
        }
        self.jitter
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_estimate_gains_a_sixteenth_of_each_difference() {
        let mut jitter = InterarrivalJitter::default();
        // Transit times 10, 26, 10 ms: differences of 16 ms. J = 1 ms, then 1 + 15/16 ms.
        let js = [(0, 10), (20, 46), (40, 50)].map(|(sent, at)| jitter.arrived(sent * 1_000_000, at * 1_000_000));
        assert_eq!(js, [0.0, 1e6, 1.9375e6]);
    }
}
