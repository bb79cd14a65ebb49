//! The smallest RTT of a sliding window of time [Linux lib/win_minmax.c minmax_running_min, by Kathleen Nichols].
//!
//! Three samples replace the whole list: the smallest of the window, the smallest since that one, the smallest since
//! the second. When the first is older than the window, the second replaces it. If no smaller sample arrives for a
//! quarter (half) of the window, the current sample becomes the second (third), so that a successor always exists.

use dumbbell_units::{Dur, Time};

/// The filter.
#[derive(Clone, Copy, Debug)]
pub(crate) struct MinRtt {
    /// Length of the window; zero: no sample is forgotten.
    window: Dur,
    best: Option<[(Time, Dur); 3]>,
}

impl MinRtt {
    pub(crate) fn new(window: Dur) -> MinRtt {
        MinRtt { window, best: None }
    }

    pub(crate) fn get(&self) -> Option<Dur> {
        self.best.map(|best| best[0].1)
    }

    #[inline(always)] // for each ACK
    pub(crate) fn sample(&mut self, rtt: Dur, now: Time) {
        // Above all samples, while the smallest is still young: nothing changes.
        let is_ignored = self.best.as_ref().is_some_and(|best| match self.window {
            Dur::ZERO => rtt > best[0].1,
            window => rtt > best[2].1 && now.since(best[0].0) <= window / 4,
        });
        if !is_ignored {
            self.update(rtt, now);
        }
    }

    #[inline(never)]
    fn update(&mut self, rtt: Dur, now: Time) {
        let new = (now, rtt);
        let Some(best) = &mut self.best else {
            self.best = Some([new; 3]);
            return;
        };
        let forgets = self.window > Dur::ZERO;
        if rtt <= best[0].1 || (forgets && now.since(best[2].0) > self.window) {
            *best = [new; 3];
            return;
        }
        if !forgets {
            return;
        }
        if rtt <= best[1].1 {
            (best[1], best[2]) = (new, new);
        } else if rtt <= best[2].1 {
            best[2] = new;
        }
        let age = now.since(best[0].0);
        if age > self.window {
            *best = [best[1], best[2], new];
            if now.since(best[0].0) > self.window {
                *best = [best[1], best[2], new];
            }
        } else if best[1].0 == best[0].0 && age > self.window / 4 {
            (best[1], best[2]) = (new, new);
        } else if best[2].0 == best[1].0 && age > self.window / 2 {
            best[2] = new;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use dumbbell_units::random::Stream;

    fn at(s: u64) -> Time {
        Time(s * 1_000_000_000)
    }

    #[test]
    fn without_a_window_the_minimum_is_that_of_all_samples() {
        let mut m = MinRtt::new(Dur::ZERO);
        assert_eq!(m.get(), None);
        for (s, ms) in [(0, 50), (1, 40), (1000, 60)] {
            m.sample(Dur::millis(ms), at(s));
        }
        assert_eq!(m.get(), Some(Dur::millis(40)));
    }

    #[test]
    fn an_old_minimum_is_replaced_by_a_later_sample() {
        let mut m = MinRtt::new(Dur::secs(100));
        m.sample(Dur::millis(40), at(0));
        m.sample(Dur::millis(60), at(30)); // after a quarter: the successor
        m.sample(Dur::millis(55), at(60));
        m.sample(Dur::millis(90), at(100));
        assert_eq!(m.get(), Some(Dur::millis(40)));
        m.sample(Dur::millis(90), at(101));
        assert_eq!(m.get(), Some(Dur::millis(55)));
    }

    #[test]
    fn never_below_the_windows_minimum_and_rarely_above() {
        // The filter has three samples only: its result is never below the minimum of the window, and never above the
        // minimum of the window's newer half.
        let mut random = Stream::new(1, "rtt");
        let mut m = MinRtt::new(Dur::secs(10));
        let mut all: Vec<(Time, Dur)> = Vec::new();
        for i in 0..5000u64 {
            let now = Time(i * 20_000_000);
            let rtt = Dur::millis(50).scale(1.0 + random.uniform());
            m.sample(rtt, now);
            all.push((now, rtt));
            let least_since = |span| all.iter().rev().take_while(|(t, _)| now.since(*t) <= span).map(|(_, r)| *r).min();
            let got = m.get();
            assert!(got >= least_since(Dur::secs(10)), "{i}");
            assert!(got <= least_since(Dur::secs(5)), "{i}");
        }
    }
}
