//! The rule of hls.js 1.7: two averages of the throughput, and the buffer as a limit on the time of a download [hls.js
//! src/utils/ewma.ts, src/utils/ewma-bandwidth-estimator.ts, src/controller/abr-controller.ts findBestLevel].
//!
//! ```text
//! average   weighted by time: after a download of w seconds at r, estimate = a^w estimate + (1 - a^w) r, a^half-life =
//!           1/2; divided by 1 - a^(sum of w), so that the start at zero has no weight
//! estimate  the smaller of the two averages; `estimate` before the first download
//! level     the highest with bit rate <= estimate x factor (x up_factor above the current level) whose download takes
//!           less than the buffer lasts; without one, than the buffer lasts and 4 s
//! ```

use super::{Abr, Choice, Download, View};
use dumbbell_units::Dur;

/// Seconds of starvation that the lowest usable level may cost [hls.js config.ts maxStarvationDelay].
const MAX_STARVATION: f64 = 4.0;
/// The least weight of a download, s [hls.js ewma-bandwidth-estimator.ts minDelayMs_].
const MIN_WEIGHT: f64 = 0.05;

/// An average weighted by time.
#[derive(Clone, Debug)]
struct Ewma {
    /// The factor a: a^half-life = 1/2.
    alpha: f64,
    estimate: f64,
    weight: f64,
}

impl Ewma {
    fn new(half_life: Dur) -> Ewma {
        Ewma { alpha: 0.5_f64.powf(1.0 / half_life.as_secs()), estimate: 0.0, weight: 0.0 }
    }

    fn sample(&mut self, weight: f64, value: f64) {
        let keeps = self.alpha.powf(weight);
        self.estimate = value * (1.0 - keeps) + keeps * self.estimate;
        self.weight += weight;
    }

    fn value(&self) -> f64 {
        self.estimate / (1.0 - self.alpha.powf(self.weight))
    }
}

/// See the top of this file.
#[derive(Debug)]
pub struct Rate {
    first: f64,
    averages: [Ewma; 2],
    factor: f64,
    up_factor: f64,
}

impl Rate {
    /// The rule with a first estimate (bit/s), half-lives and factors.
    #[must_use]
    pub fn new(first: f64, half_lives: [Dur; 2], factor: f64, up_factor: f64) -> Rate {
        Rate { first, averages: half_lives.map(Ewma::new), factor, up_factor }
    }

    fn estimate(&self) -> f64 {
        if self.averages[0].weight == 0.0 {
            return self.first;
        }
        self.averages[0].value().min(self.averages[1].value())
    }

    fn best(&self, view: &View<'_>, longest: f64) -> Option<usize> {
        let estimate = self.estimate();
        let fits = |level: usize| {
            let up = view.last.is_none_or(|last| level > last);
            let usable = estimate * if up { self.up_factor } else { self.factor };
            let rate = view.ladder[level] as f64;
            rate <= usable && rate * view.segment.as_secs() / usable < longest
        };
        (0..view.ladder.len()).rev().find(|level| fits(*level))
    }
}

impl Abr for Rate {
    fn choose(&mut self, view: &View<'_>) -> Choice {
        let buffer = view.buffer.as_secs();
        let level = self.best(view, buffer).or_else(|| self.best(view, buffer + MAX_STARVATION));
        Choice::Level(level.unwrap_or(0))
    }

    fn on_download(&mut self, download: &Download) {
        let weight = download.took.as_secs().max(MIN_WEIGHT);
        let bps = download.bytes as f64 * 8.0 / weight;
        self.averages.iter_mut().for_each(|average| average.sample(weight, bps));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::playback::State;
    use dumbbell_units::Time;

    fn rule() -> Rate {
        Rate::new(500e3, [Dur::secs(3), Dur::secs(9)], 0.95, 0.7)
    }

    fn view(buffer: u64, last: Option<usize>) -> View<'static> {
        View {
            now: Time::ZERO,
            buffer: Dur::secs(buffer),
            ladder: &[300_000, 1_000_000, 1_300_000],
            segment: Dur::secs(4),
            number: 1,
            last,
            state: State::Playing,
        }
    }

    fn download(bytes: u64, took: Dur) -> Download {
        Download { at: Time::ZERO, number: 0, level: 0, bytes, took, first_byte: Dur::ZERO }
    }

    /// 3 s at 1 Mbit/s, then 3 s at 2 Mbit/s: fast (2 - 1/2 + 1/4) / (1 - 1/4) x 1 Mbit/s: after the first 0.5, then
    /// 0.5 x 0.5 + 0.5 x 2 = 1.25, over 0.75: 1.6667. Slow, k = 2^(-1/3) = 0.79370: 0.20630, then 0.79370 x 0.20630 +
    /// 0.41260 = 0.57634, over 1 - 2^(-2/3) = 0.37004: 1.5575. The smaller one counts.
    #[test]
    fn the_smaller_average_counts() {
        let mut rate = rule();
        assert_eq!(rate.estimate(), 500e3);
        rate.on_download(&download(375_000, Dur::secs(3)));
        assert!((rate.estimate() - 1e6).abs() < 1.0, "the start at zero has no weight");
        rate.on_download(&download(750_000, Dur::secs(3)));
        assert!((rate.averages[0].value() - 1.6667e6).abs() < 100.0);
        assert!((rate.estimate() - 1.5575e6).abs() < 100.0, "{}", rate.estimate());
    }

    /// With an estimate of 1.4 Mbit/s: 0.7 x 1.4 = 0.98 < 1 Mbit/s, so it doesn't switch up from 300 kbit/s; 0.95 x
    /// 1.4 = 1.33, so it stays at 1.3 Mbit/s.
    #[test]
    fn switching_up_needs_more_than_staying() {
        let mut rate = rule();
        rate.on_download(&download(1_400_000 / 8, Dur::secs(1)));
        assert_eq!(rate.choose(&view(30, Some(0))), Choice::Level(0));
        assert_eq!(rate.choose(&view(30, Some(2))), Choice::Level(2));
    }

    /// At 1.33 Mbit/s usable, a segment of 1.3 Mbit/s takes 3.91 s and one of 1 Mbit/s 3.01 s: with 3.5 s of buffer the
    /// lower one fits.
    #[test]
    fn a_download_must_end_before_the_buffer_does() {
        let mut rate = rule();
        rate.on_download(&download(1_400_000 / 8, Dur::secs(1)));
        let v = View { buffer: Dur::millis(3500), ..view(0, Some(2)) };
        assert_eq!(rate.choose(&v), Choice::Level(1));
    }
}
