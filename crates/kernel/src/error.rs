//! The errors of this crate: a refused part of a scenario with its place, a failed system call with its step, invalid
//! data.

use std::io;
use thiserror::Error;

/// The reason that a run is refused or has failed.
#[derive(Debug, Error)]
pub enum KernelError {
    /// A part of the scenario that the kernel can't run.
    #[error("{place}: {message}")]
    Refused {
        /// The dotted path in the scenario.
        place: String,
        /// The given value, and the possible ones.
        message: String,
    },
    /// A system call that failed.
    #[error("{step}: {source}")]
    System {
        /// The step that made it.
        step: String,
        /// The kernel's error.
        source: io::Error,
    },
    /// An invalid input or result.
    #[error("{0}")]
    Invalid(String),
}

impl KernelError {
    pub(crate) fn refused(place: &str, message: impl Into<String>) -> KernelError {
        KernelError::Refused { place: place.to_owned(), message: message.into() }
    }
}

/// Adds the step to the error of a system call.
pub(crate) trait Step<T> {
    /// Returns the result, its error with the step.
    fn step(self, what: impl FnOnce() -> String) -> Result<T, KernelError>;
}

impl<T> Step<T> for io::Result<T> {
    fn step(self, what: impl FnOnce() -> String) -> Result<T, KernelError> {
        self.map_err(|source| KernelError::System { step: what(), source })
    }
}
