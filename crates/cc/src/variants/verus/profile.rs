//! The delay profile of Verus: the smoothed RTT for each window that was used [Zaki et al., SIGCOMM 2015, "Z"].

/// The weight of a new RTT sample [Z].
const WEIGHT: f64 = 0.125;
/// The number of windows in the profile; larger ones count as the largest, segments.
pub(super) const MAX_WINDOWS: usize = 1 << 16;

/// RTTs by window in segments, s; NaN if unknown.
#[derive(Clone, Debug, Default)]
pub(super) struct Profile(Vec<f64>);

impl Profile {
    /// Adds the RTT of a segment that was sent with this window.
    pub(super) fn add(&mut self, window: f64, rtt: f64) {
        let w = (window as usize).min(MAX_WINDOWS - 1);
        if w >= self.0.len() {
            self.0.resize(w + 1, f64::NAN);
        }
        let d = &mut self.0[w];
        *d = if d.is_nan() { rtt } else { *d + WEIGHT * (rtt - *d) };
    }

    pub(super) fn points(&self) -> &[f64] {
        &self.0
    }

    pub(super) fn clear(&mut self) {
        self.0.clear();
    }
}
