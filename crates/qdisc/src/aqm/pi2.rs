//! PI2's law: a PI controller of a base probability, squared for classic senders and coupled to scalable ones
//! [De Schepper, Bondarenko, Tsang and Briscoe, PI2: A Linearized AQM for both Classic and Scalable TCP, CoNEXT 2016;
//! RFC 9332, App. A.1, A.2].
//!
//! ```text
//! update     p += alpha (delay - target) + beta (delay - delay before), within 0..1
//! classic    told with probability p^2: rates go with 1/sqrt(told), so the control is linear in p
//! scalable   marked with probability k p: at equal round-trip times a classic and a scalable flow then get the same
//! overload   k p has reached 1 (p^2 1/k^2): marks can't say more, so both are dropped with p^2, and what is left of the
//!            scalable packets is marked
//! ```
//! An overload may also be left to the queue's limit: then p stays within 1/k.

use super::Verdict;
use dumbbell_units::Dur;

/// What is fixed.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Config {
    /// The delay to keep.
    pub target: Dur,
    /// Weight of the distance from the target, 1/s for each update.
    pub alpha: f64,
    /// Weight of the change of the delay, 1/s.
    pub beta: f64,
    /// The coupling factor, k; at least 1.
    pub coupling: f64,
    /// Whether an overload is met by drops.
    pub drops: bool,
}

/// The law's state.
#[derive(Clone, Debug)]
pub struct Pi2 {
    config: Config,
    p: f64,
    before: Dur,
}

impl Pi2 {
    /// An empty queue's state.
    #[must_use]
    pub fn new(config: Config) -> Pi2 {
        Pi2 { config, p: 0.0, before: Dur::ZERO }
    }

    /// The base probability.
    #[must_use]
    pub fn p(&self) -> f64 {
        self.p
    }

    /// The probability of classic packets, p^2.
    #[must_use]
    pub fn classic_p(&self) -> f64 {
        self.p * self.p
    }

    /// The probability of scalable packets, k p, not above 1.
    #[must_use]
    pub fn scalable_p(&self) -> f64 {
        (self.config.coupling * self.p).min(1.0)
    }

    /// An update with this delay. Gives whether further ones could change anything while nothing happens.
    pub fn update(&mut self, delay: Dur) -> bool {
        let Config { target, alpha, beta, coupling, drops } = self.config;
        let (now, before) = (delay.as_secs(), self.before.as_secs());
        self.p += alpha * (now - target.as_secs()) + beta * (now - before);
        self.p = self.p.clamp(0.0, if drops { 1.0 } else { 1.0 / coupling });
        self.before = delay;
        self.p > 0.0 || delay > Dur::ZERO
    }

    /// Whether drops have to add to the marks.
    fn is_overloaded(&self) -> bool {
        self.config.drops && self.config.coupling * self.p >= 1.0
    }

    /// Decides on a classic packet; `draw` gives a number uniform in 0..1.
    pub fn classic(&self, draw: impl FnOnce() -> f64) -> Verdict {
        match draw() < self.classic_p() {
            false => Verdict::Pass,
            true if self.is_overloaded() => Verdict::Drop,
            true => Verdict::Mark,
        }
    }

    /// Decides on a scalable packet.
    pub fn scalable(&self, draw: impl FnOnce() -> f64) -> Verdict {
        let drawn = draw();
        match self.is_overloaded() {
            true if drawn < self.classic_p() => Verdict::Drop,
            true => Verdict::Mark,
            false if drawn < self.scalable_p() => Verdict::Mark,
            false => Verdict::Pass,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const CONFIG: Config =
        Config { target: Dur::millis(15), alpha: 0.16, beta: 3.2, coupling: 2.0, drops: true };

    fn at(p: f64, change: impl FnOnce(&mut Config)) -> Pi2 {
        let mut config = CONFIG;
        change(&mut config);
        Pi2 { p, ..Pi2::new(config) }
    }

    fn near(a: f64, b: f64) {
        assert!((a - b).abs() < 1e-12, "{a} {b}");
    }

    #[test]
    fn the_controller_moves_by_distance_and_change() {
        // Delays 0, 25, 35, 15, 15, 0 ms:
        //  0:  0.16 x -0.015              = -0.0024 -> 0
        // 25:  0.16 x  0.010 + 3.2 x 0.025 =  0.0816
        // 35:  0.16 x  0.020 + 3.2 x 0.010 =  0.0352
        // 15:  0             - 3.2 x 0.020 = -0.064
        // 15:  0
        //  0:  0.16 x -0.015 - 3.2 x 0.015 = -0.0504
        let mut law = Pi2::new(CONFIG);
        for (ms, p) in [(0, 0.0), (25, 0.0816), (35, 0.1168), (15, 0.0528), (15, 0.0528), (0, 0.0024)] {
            law.update(Dur::millis(ms));
            near(law.p(), p);
        }
        law.update(Dur::ZERO); // 0.0024 - 0.0024
        assert!(!law.update(Dur::ZERO)); // nothing is left to change
        assert_eq!(law.p(), 0.0);
    }

    #[test]
    fn squared_and_coupled() {
        for (p, k, classic, scalable) in
            [(0.2, 2.0, 0.04, 0.4), (0.2, 4.0, 0.04, 0.8), (0.6, 2.0, 0.36, 1.0), (0.5, 1.0, 0.25, 0.5)]
        {
            let law = at(p, |c| c.coupling = k);
            near(law.classic_p(), classic);
            near(law.scalable_p(), scalable);
        }
    }

    #[test]
    fn verdicts() {
        let law = at(0.2, |_| ());
        assert_eq!((law.classic(|| 0.039), law.classic(|| 0.041)), (Verdict::Mark, Verdict::Pass));
        assert_eq!((law.scalable(|| 0.39), law.scalable(|| 0.41)), (Verdict::Mark, Verdict::Pass));
        // From p = 1/2 on, with k = 2, drops join in.
        let law = at(0.5, |_| ());
        assert_eq!((law.classic(|| 0.24), law.classic(|| 0.26)), (Verdict::Drop, Verdict::Pass));
        assert_eq!((law.scalable(|| 0.24), law.scalable(|| 0.26)), (Verdict::Drop, Verdict::Mark));
        // Left to the limit: no drops, p up to 1/k.
        let mut law = at(0.49, |c| c.drops = false);
        law.update(Dur::millis(500));
        near(law.p(), 0.5);
        assert_eq!((law.classic(|| 0.24), law.scalable(|| 0.99)), (Verdict::Mark, Verdict::Mark));
        let mut law = at(0.9, |_| ());
        law.update(Dur::millis(500));
        near(law.p(), 1.0);
    }
}
