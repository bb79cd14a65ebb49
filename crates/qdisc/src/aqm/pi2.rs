//! The PI2 algorithm: a PI controller sets a base probability p'. Classic packets are dropped or marked with p'
//! squared, scalable packets are marked with k p' [De Schepper, Bondarenko, Tsang and Briscoe, PI2: A Linearized AQM
//! for both Classic and Scalable TCP, CoNEXT 2016; RFC 9332, App. A.1, A.2].
//!
//! ```text
//! update     p' += alpha (curq - target) + beta (curq - prevq), limited to 0..1; curq is the queue delay
//! classic    p_C = p'^2: a classic rate is proportional to 1 / sqrt(p_C), so the control is linear in p'
//! scalable   p_CL = k p': a classic and a scalable flow with equal round-trip times get equal rates
//! overload   k p' >= 1 (p_C >= 1/k^2): marks alone cannot signal more. Both kinds are dropped with p_C, and the
//!            remaining scalable packets are marked
//! ```
//! An overload can also be left to the limit of the queue; p' is then limited to 1/k.

use super::Verdict;
use dumbbell_units::Dur;

/// The parameters of PI2.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Pi2Params {
    /// Target queue delay.
    pub target: Dur,
    /// Integral gain per update, 1/s.
    pub alpha: f64,
    /// Proportional gain per update, 1/s.
    pub beta: f64,
    /// Coupling factor k; at least 1.
    pub coupling_factor: f64,
    /// True if packets are dropped in an overload.
    pub drop_overload: bool,
}

/// The state of PI2.
#[derive(Clone, Debug)]
pub struct Pi2 {
    params: Pi2Params,
    /// The base probability p'.
    p: f64,
    /// Queue delay at the last update.
    prevq: Dur,
}

impl Pi2 {
    /// Returns the initial state, that of an empty queue.
    #[must_use]
    pub fn new(params: Pi2Params) -> Pi2 {
        Pi2 { params, p: 0.0, prevq: Dur::ZERO }
    }

    /// Returns the base probability p'.
    #[must_use]
    pub fn p(&self) -> f64 {
        self.p
    }

    /// Returns the probability for classic packets, p_C = p'^2.
    #[must_use]
    pub fn p_c(&self) -> f64 {
        self.p * self.p
    }

    /// Returns the coupled probability for scalable packets, p_CL = k p', at most 1.
    #[must_use]
    pub fn p_cl(&self) -> f64 {
        (self.params.coupling_factor * self.p).min(1.0)
    }

    /// Updates p' with the current queue delay. Returns false if p' and the delay are zero, so that further updates of
    /// an empty queue change nothing.
    pub fn update(&mut self, curq: Dur) -> bool {
        let Pi2Params { target, alpha, beta, coupling_factor, drop_overload } = self.params;
        let (now, before) = (curq.as_secs(), self.prevq.as_secs());
        self.p += alpha * (now - target.as_secs()) + beta * (now - before);
        self.p = self.p.clamp(0.0, if drop_overload { 1.0 } else { 1.0 / coupling_factor });
        self.prevq = curq;
        self.p > 0.0 || curq > Dur::ZERO
    }

    /// True if marks alone cannot signal the congestion.
    fn is_overloaded(&self) -> bool {
        self.params.drop_overload && self.params.coupling_factor * self.p >= 1.0
    }

    /// Decides on a classic packet. `draw` returns a number uniform in 0..1.
    pub fn classic(&self, draw: impl FnOnce() -> f64) -> Verdict {
        match draw() < self.p_c() {
            false => Verdict::Pass,
            true if self.is_overloaded() => Verdict::Drop,
            true => Verdict::Mark,
        }
    }

    /// Decides on a scalable packet. `draw` returns a number uniform in 0..1.
    pub fn scalable(&self, draw: impl FnOnce() -> f64) -> Verdict {
        let random = draw();
        match self.is_overloaded() {
            true if random < self.p_c() => Verdict::Drop,
            true => Verdict::Mark,
            false if random < self.p_cl() => Verdict::Mark,
            false => Verdict::Pass,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PARAMS: Pi2Params =
        Pi2Params { target: Dur::millis(15), alpha: 0.16, beta: 3.2, coupling_factor: 2.0, drop_overload: true };

    fn at(p: f64, change: impl FnOnce(&mut Pi2Params)) -> Pi2 {
        let mut params = PARAMS;
        change(&mut params);
        Pi2 { p, ..Pi2::new(params) }
    }

    fn near(a: f64, b: f64) {
        assert!((a - b).abs() < 1e-12, "{a} {b}");
    }

    #[test]
    fn the_controller_acts_on_the_error_and_its_change() {
        // Delays 0, 25, 35, 15, 15, 0 ms:
        //  0:  0.16 x -0.015              = -0.0024 -> 0
        // 25:  0.16 x  0.010 + 3.2 x 0.025 =  0.0816
        // 35:  0.16 x  0.020 + 3.2 x 0.010 =  0.0352
        // 15:  0             - 3.2 x 0.020 = -0.064
        // 15:  0
        //  0:  0.16 x -0.015 - 3.2 x 0.015 = -0.0504
        let mut pi2 = Pi2::new(PARAMS);
        for (ms, p) in [(0, 0.0), (25, 0.0816), (35, 0.1168), (15, 0.0528), (15, 0.0528), (0, 0.0024)] {
            pi2.update(Dur::millis(ms));
            near(pi2.p(), p);
        }
        pi2.update(Dur::ZERO); // 0.0024 - 0.0024
        assert!(!pi2.update(Dur::ZERO)); // further updates change nothing
        assert_eq!(pi2.p(), 0.0);
    }

    #[test]
    fn classic_probability_is_squared_and_scalable_probability_coupled() {
        for (p, k, classic, scalable) in
            [(0.2, 2.0, 0.04, 0.4), (0.2, 4.0, 0.04, 0.8), (0.6, 2.0, 0.36, 1.0), (0.5, 1.0, 0.25, 0.5)]
        {
            let pi2 = at(p, |params| params.coupling_factor = k);
            near(pi2.p_c(), classic);
            near(pi2.p_cl(), scalable);
        }
    }

    #[test]
    fn packets_are_marked_and_in_an_overload_dropped() {
        let pi2 = at(0.2, |_| ());
        assert_eq!((pi2.classic(|| 0.039), pi2.classic(|| 0.041)), (Verdict::Mark, Verdict::Pass));
        assert_eq!((pi2.scalable(|| 0.39), pi2.scalable(|| 0.41)), (Verdict::Mark, Verdict::Pass));
        // With k = 2 the overload begins at p' = 1/2: packets are dropped too.
        let pi2 = at(0.5, |_| ());
        assert_eq!((pi2.classic(|| 0.24), pi2.classic(|| 0.26)), (Verdict::Drop, Verdict::Pass));
        assert_eq!((pi2.scalable(|| 0.24), pi2.scalable(|| 0.26)), (Verdict::Drop, Verdict::Mark));
        // Overload left to the limit: no drops, p' is at most 1/k.
        let mut pi2 = at(0.49, |params| params.drop_overload = false);
        pi2.update(Dur::millis(500));
        near(pi2.p(), 0.5);
        assert_eq!((pi2.classic(|| 0.24), pi2.scalable(|| 0.99)), (Verdict::Mark, Verdict::Mark));
        let mut pi2 = at(0.9, |_| ());
        pi2.update(Dur::millis(500));
        near(pi2.p(), 1.0);
    }
}
