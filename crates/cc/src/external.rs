//! Laws that are not in the registry: users' own, written in another language or in another library.

use crate::{CongestionControl, Control, Setup, Variant};
use dumbbell_units::param::{ParamError, Raw};
use std::fmt::Debug;
use std::sync::{Arc, OnceLock};

/// Something that makes laws, as a row of the registry does.
pub trait External: Send + Sync + Debug {
    /// What the registry would hold of it. Its `build` is not called.
    fn variant(&self) -> &'static Variant;

    /// Makes a law for a connection. A law that can't go on later says so through `failure`.
    ///
    /// # Errors
    /// An unknown parameter or one that it refuses.
    fn make(
        &self,
        given: &[(String, Raw)],
        setup: &Setup,
        failure: &Failure,
    ) -> Result<Box<dyn CongestionControl>, ParamError>;
}

/// Where a law says why it can't go on. From then on it is not asked any more, and the run ends.
#[derive(Clone, Debug, Default)]
pub struct Failure {
    flow: Arc<str>,
    first: Arc<OnceLock<(Arc<str>, String)>>,
}

impl Failure {
    /// The same place, for the laws of a flow of that name.
    #[must_use]
    pub fn of_flow(&self, name: &str) -> Failure {
        Failure { flow: name.into(), first: Arc::clone(&self.first) }
    }

    /// The law can't go on. What is said first counts.
    pub fn fail(&self, message: String) {
        let _ = self.first.set((Arc::clone(&self.flow), message));
    }

    /// Whether a law has failed.
    #[must_use]
    pub fn is_set(&self) -> bool {
        self.first.get().is_some()
    }

    /// The flow whose law has failed, and why.
    #[must_use]
    pub fn get(&self) -> Option<(&str, &str)> {
        self.first.get().map(|(flow, message)| (&**flow, message.as_str()))
    }
}

/// What an endpoint can work with of an answer from outside: a window of one segment at least, so that something is
/// always sent.
///
/// # Errors
/// Says which part is no amount.
pub fn validate_control(answer: Control, mss: f64) -> Result<Control, String> {
    let Control { cwnd, ssthresh, pacing, quantum } = answer;
    if !cwnd.is_finite() || cwnd < 0.0 {
        return Err(format!("cwnd is {cwnd}: a number of bytes is needed"));
    }
    if ssthresh.is_nan() || ssthresh < 0.0 {
        return Err(format!("ssthresh is {ssthresh}: a number of bytes is needed, or infinity"));
    }
    if pacing.is_some_and(|rate| rate.0 == 0) {
        return Err("the pacing rate is zero: a rate above zero is needed, or none".into());
    }
    if quantum == Some(0) {
        return Err("the send quantum is zero: a number of bytes above zero is needed, or none".into());
    }
    Ok(Control { cwnd: cwnd.max(mss), ssthresh, pacing, quantum })
}

#[cfg(test)]
mod tests {
    use super::*;
    use dumbbell_units::Rate;

    #[test]
    fn the_first_failure_counts_with_its_flow() {
        let failure = Failure::default();
        let (a, b) = (failure.of_flow("a"), failure.of_flow("b"));
        assert!(!a.is_set());
        b.fail("first".into());
        a.fail("second".into());
        assert_eq!(failure.get(), Some(("b", "first")));
    }

    #[test]
    fn answers_that_are_none_are_refused() {
        let good = Control { cwnd: 10.0, ssthresh: f64::INFINITY, pacing: None, quantum: None };
        assert_eq!(validate_control(good, 1000.0).unwrap().cwnd, 1000.0);
        let bad = |c: Control| validate_control(c, 1000.0).unwrap_err();
        assert!(bad(Control { cwnd: f64::NAN, ..good }).contains("cwnd is NaN"));
        assert!(bad(Control { cwnd: f64::INFINITY, ..good }).contains("cwnd is inf"));
        assert!(bad(Control { cwnd: -1.0, ..good }).contains("cwnd is -1"));
        assert!(bad(Control { ssthresh: f64::NAN, ..good }).contains("ssthresh"));
        assert!(bad(Control { pacing: Some(Rate(0)), ..good }).contains("pacing"));
        assert!(bad(Control { quantum: Some(0), ..good }).contains("quantum"));
    }
}
