//! External variants: algorithms that are not in the registry, written by users in Python or in a library.

use crate::{CongestionControl, Control, Setup, Variant};
use dumbbell_units::Time;
use dumbbell_units::param::{ParamError, Raw};
use std::fmt::Debug;
use std::sync::{Arc, OnceLock};

/// A source of external variants; corresponds to a row of the registry.
pub trait External: Send + Sync + Debug {
    /// Returns its description. The description's `build` is not called.
    fn variant(&self) -> &'static Variant;

    /// Builds the variant for one connection. If it fails during the run, it reports that through `failure`.
    ///
    /// # Errors
    /// An unknown parameter, or a parameter that it refuses.
    fn make(
        &self,
        given: &[(String, Raw)],
        setup: &Setup,
        failure: &Failure,
    ) -> Result<Box<dyn CongestionControl>, ParamError>;
}

/// The place where external code reports that it failed. After a failure it is not called again, and the run ends.
#[derive(Clone, Debug, Default)]
pub struct Failure {
    part: Arc<str>,
    first: Arc<OnceLock<First>>,
}

/// The first failure.
#[derive(Debug)]
struct First {
    part: Arc<str>,
    at: Option<Time>,
    message: String,
}

impl Failure {
    /// Returns the same place for the code of one part of the plan, such as "flows.a.variant".
    #[must_use]
    pub fn of(&self, part: &str) -> Failure {
        Failure { part: part.into(), first: Arc::clone(&self.first) }
    }

    /// Reports a failure. Only the first report is kept.
    pub fn fail(&self, message: String) {
        self.set(None, message);
    }

    /// Reports a failure at a time that may differ from the clock of the run: links can be ahead of it.
    pub fn fail_at(&self, at: Time, message: String) {
        self.set(Some(at), message);
    }

    fn set(&self, at: Option<Time>, message: String) {
        let _ = self.first.set(First { part: Arc::clone(&self.part), at, message });
    }

    /// True if something has failed.
    #[must_use]
    pub fn is_set(&self) -> bool {
        self.first.get().is_some()
    }

    /// Returns the part of the plan whose code failed, and the message.
    #[must_use]
    pub fn get(&self) -> Option<(&str, &str)> {
        self.first.get().map(|first| (&*first.part, first.message.as_str()))
    }

    /// Returns the time of the failure, if it was reported.
    #[must_use]
    pub fn time(&self) -> Option<Time> {
        self.first.get()?.at
    }
}

/// Validates the result of an external variant. A window below one segment becomes one segment, so that the connection
/// can always send.
///
/// # Errors
/// The name of the value that is not a valid amount.
pub fn validate_control(control: Control, mss: f64) -> Result<Control, String> {
    let Control { cwnd, ssthresh, pacing, quantum } = control;
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
    fn the_first_failure_is_kept_with_its_part() {
        let failure = Failure::default();
        let (a, b) = (failure.of("a"), failure.of("b"));
        assert!(!a.is_set());
        b.fail_at(Time(7), "first".into());
        a.fail("second".into());
        assert_eq!((failure.get(), failure.time()), (Some(("b", "first")), Some(Time(7))));
    }

    #[test]
    fn invalid_results_are_refused() {
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
