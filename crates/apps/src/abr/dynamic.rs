//! The rule of dash.js: throughput at first, then BOLA, and a limit for a short buffer [Spiteri, Sitaraman, Sparacio:
//! From Theory to Practice: Improving Bitrate Adaptation in the DASH Reference Player, MMSys 2018; dash.js
//! src/streaming/rules/abr/InsufficientBufferRule.js].
//!
//! ```text
//! throughput   the highest bit rate <= mean throughput of the last segments x factor
//! to BOLA      when the buffer is at least `switch` and BOLA's choice is not lower
//! back         when the buffer is below `switch` and BOLA's choice is lower
//! limit        after the first two segments: bit rate <= mean throughput x 0.7 x buffer / segment; the lowest while
//!              stalled
//! ```

use super::{Abr, Bola, Choice, Download, View, highest_below};
use crate::playback::State;
use dumbbell_units::Dur;
use std::collections::VecDeque;

/// Share of the throughput that the limit for a short buffer uses [dash.js Settings.js throughputSafetyFactor].
const SAFETY: f64 = 0.7;
/// Segments before that limit holds [dash.js Settings.js segmentIgnoreCount].
const IGNORED: u64 = 2;

/// See the top of this file.
#[derive(Debug)]
pub struct Dynamic {
    bola: Bola,
    switch: Dur,
    factor: f64,
    segments: usize,
    /// Throughputs of the last segments, bit/s.
    throughputs: VecDeque<f64>,
    uses_bola: bool,
}

impl Dynamic {
    /// The rule; `segments`: number of segments that the mean throughput is of.
    #[must_use]
    pub fn new(bola: Bola, switch: Dur, factor: f64, segments: usize) -> Dynamic {
        Dynamic { bola, switch, factor, segments, throughputs: VecDeque::new(), uses_bola: false }
    }

    fn mean(&self) -> Option<f64> {
        let count = self.throughputs.len();
        (count > 0).then(|| self.throughputs.iter().sum::<f64>() / count as f64)
    }

    fn limit(&self, view: &View<'_>) -> usize {
        if view.state == State::Stalled {
            return 0;
        }
        match self.mean() {
            Some(mean) if view.number >= IGNORED => {
                highest_below(view.ladder, mean * SAFETY * view.buffer.as_secs() / view.segment.as_secs())
            }
            _ => view.ladder.len() - 1,
        }
    }
}

impl Abr for Dynamic {
    fn choose(&mut self, view: &View<'_>) -> Choice {
        let Some(mean) = self.mean() else { return Choice::Level(0) };
        let by_rate = highest_below(view.ladder, mean * self.factor);
        let by_buffer = self.bola.level(view.ladder, view.buffer);
        if view.buffer >= self.switch && by_buffer >= by_rate {
            self.uses_bola = true;
        } else if view.buffer < self.switch && by_buffer < by_rate {
            self.uses_bola = false;
        }
        let level = if self.uses_bola { by_buffer } else { by_rate };
        Choice::Level(level.min(self.limit(view)))
    }

    fn on_download(&mut self, download: &Download) {
        self.throughputs.push_back(download.throughput());
        if self.throughputs.len() > self.segments {
            self.throughputs.pop_front();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use dumbbell_units::Time;

    const LADDER: [u64; 3] = [1_000_000, 2_500_000, 5_000_000];

    fn view(buffer: f64, number: u64) -> View<'static> {
        View {
            now: Time::ZERO,
            buffer: Dur::from_secs_f64(buffer),
            ladder: &LADDER,
            segment: Dur::secs(4),
            number,
            last: Some(0),
            state: State::Playing,
        }
    }

    /// A rule that has seen one download of 4 s at 3 Mbit/s: 0.9 x 3 = 2.7 Mbit/s is usable.
    fn rule() -> Dynamic {
        let bola = Bola::new(&LADDER, Dur::secs(10), Dur::secs(30));
        let mut dynamic = Dynamic::new(bola, Dur::secs(10), 0.9, 4);
        assert_eq!(dynamic.choose(&view(0.0, 0)), Choice::Level(0), "nothing is known");
        let took = Dur::secs(4);
        let at = Time::ZERO + took;
        dynamic.on_download(&Download { at, number: 0, level: 0, bytes: 1_500_000, took, first_byte: took });
        dynamic
    }

    /// BOLA's thresholds are 14.84 and 25.20 s (see bola.rs).
    #[test]
    fn bola_takes_over_above_ten_seconds_and_leaves_below() {
        let mut d = rule();
        assert_eq!(d.choose(&view(12.0, 5)), Choice::Level(1), "throughput; BOLA would choose 0");
        assert_eq!(d.choose(&view(16.0, 6)), Choice::Level(1));
        assert_eq!(d.choose(&view(12.0, 7)), Choice::Level(0), "BOLA now decides");
        assert_eq!(d.choose(&view(9.0, 8)), Choice::Level(1), "and no more");
    }

    /// With 2 s of buffer and segments of 4 s: 3 x 0.7 x 2 / 4 = 1.05 Mbit/s at most.
    #[test]
    fn a_short_buffer_limits() {
        let mut d = rule();
        assert_eq!([1, 2].map(|n| d.choose(&view(2.0, n))), [Choice::Level(1), Choice::Level(0)]);
        let stalled = View { state: State::Stalled, ..view(8.0, 1) };
        assert_eq!(d.choose(&stalled), Choice::Level(0));
    }
}
