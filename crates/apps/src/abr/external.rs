//! Rules of the user, which another crate runs.

use super::Abr;
use serde_json::{Map, Value};
use std::fmt::Debug;
use std::sync::Arc;

/// Receives the message of a rule that fails during a run. The rule isn't called again, and the run ends.
pub type Fail = Arc<dyn Fn(String) + Send + Sync>;

/// A source of rules.
pub trait ExternalAbr: Send + Sync + Debug {
    /// Makes the rule of one video.
    ///
    /// # Errors
    /// The reason why it can't be made.
    fn make(&self, params: &Map<String, Value>, fail: Fail) -> Result<Box<dyn Abr>, String>;
}
