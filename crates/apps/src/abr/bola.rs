//! BOLA: the buffer level decides [Spiteri, Urgaonkar, Sitaraman: BOLA: Near-Optimal Bitrate Adaptation for Online
//! Videos, INFOCOM 2016]. The parameters are those of dash.js's first version, not those of the paper.
//!
//! ```text
//! u_i   = ln(bitrate_i)                                 utility
//! g     = 1 - u_0 + (u_max - u_0) / (B / M - 1)         M: minimum, B: buffer target
//! V     = M / (u_0 + g - 1)
//! score = (V (u_i + g) - buffer) / bitrate_i            the highest score wins
//! ```
//! The lowest bit rate wins up to about M; no segment is requested above V (u_max + g), where every score is negative.

use super::{Abr, Choice, View};
use dumbbell_units::Dur;

/// See the top of this file.
#[derive(Clone, Debug)]
pub struct Bola {
    /// V (u_i + g) of each level, s: the buffer level at which its score is zero.
    zero: Vec<f64>,
}

impl Bola {
    /// The rule for a ladder; `minimum` is M, `target` is B, which is larger.
    #[must_use]
    pub fn new(ladder: &[u64], minimum: Dur, target: Dur) -> Bola {
        let utilities: Vec<f64> = ladder.iter().map(|rate| (*rate as f64).ln()).collect();
        let (lowest, highest) = (utilities[0], utilities[utilities.len() - 1]);
        let (m, b) = (minimum.as_secs(), target.as_secs());
        // One level has no differences of utilities: then any V does, and the buffer is limited at B.
        if utilities.len() == 1 {
            return Bola { zero: vec![b] };
        }
        let g = 1.0 - lowest + (highest - lowest) / (b / m - 1.0);
        let v = m / (lowest + g - 1.0);
        Bola { zero: utilities.iter().map(|u| v * (u + g)).collect() }
    }

    /// The level with the highest score; of equal ones the lowest.
    #[must_use]
    pub fn level(&self, ladder: &[u64], buffer: Dur) -> usize {
        let buffer = buffer.as_secs();
        let score = |level: usize| (self.zero[level] - buffer) / ladder[level] as f64;
        (1..ladder.len()).fold(0, |best, level| if score(level) > score(best) { level } else { best })
    }

    /// The buffer level above which no segment is requested.
    #[must_use]
    pub fn pause_above(&self) -> Dur {
        self.zero.last().map_or(Dur::ZERO, |s| Dur::from_secs_f64(*s))
    }
}

impl Abr for Bola {
    fn choose(&mut self, view: &View<'_>) -> Choice {
        let above = view.buffer.saturating_sub(self.pause_above());
        if above > Dur::ZERO {
            return Choice::Wait(above);
        }
        Choice::Level(self.level(view.ladder, view.buffer))
    }

    fn limits_buffer(&self) -> bool {
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LADDER: [u64; 3] = [1_000_000, 2_500_000, 5_000_000];

    fn seconds(s: f64) -> Dur {
        Dur::from_secs_f64(s)
    }

    /// M = 10 s, B = 30 s. With u_0 = 0: u = 0, ln 2.5 = 0.91629, ln 5 = 1.60944. g = 1 + 1.60944 / (30 / 10 - 1) =
    /// 1.80472; V = 10 / 0.80472 = 12.42669. Level 1 wins from (V g) / 1 - Q = (V (0.91629 + g) - Q) / 2.5: 1.5 Q = V
    /// (2.5 g - 0.91629 - g) = V 1.79079; Q = 14.836 s. Level 2 wins from (V (0.91629 + g) - Q) / 2.5 = (V (1.60944 +
    /// g) - Q) / 5: Q = V (g + 2 x 0.91629 - 1.60944) = 25.199 s. Pause above V (1.60944 + g) = 42.427 s.
    #[test]
    fn it_switches_and_pauses_at_the_thresholds_of_the_formula() {
        let bola = Bola::new(&LADDER, Dur::secs(10), Dur::secs(30));
        let level = |s: f64| bola.level(&LADDER, seconds(s));
        assert_eq!([level(0.0), level(14.83), level(14.84), level(25.19), level(25.20)], [0, 0, 1, 1, 2]);
        assert!((bola.pause_above().as_secs() - 42.427).abs() < 0.001, "{}", bola.pause_above());
    }

    /// The second ladder of six levels: 12.93 18.52 21.93 25.18 28.35, pause above 37.51 s, by the same formula.
    #[test]
    fn a_longer_ladder_has_its_thresholds() {
        let ladder = [300_000, 750_000, 1_200_000, 1_850_000, 2_850_000, 4_300_000];
        let bola = Bola::new(&ladder, Dur::secs(10), Dur::secs(30));
        for (n, at) in [12.93, 18.52, 21.93, 25.18, 28.35].into_iter().enumerate() {
            let levels = [at - 0.02, at + 0.02].map(|s| bola.level(&ladder, seconds(s)));
            assert_eq!(levels, [n, n + 1], "{at}");
        }
        assert!((bola.pause_above().as_secs() - 37.51).abs() < 0.01);
    }

    #[test]
    fn one_level_is_limited_at_the_target() {
        let bola = Bola::new(&[1_000_000], Dur::secs(10), Dur::secs(30));
        assert_eq!((bola.level(&[1_000_000], Dur::secs(60)), bola.pause_above()), (0, Dur::secs(30)));
    }
}
