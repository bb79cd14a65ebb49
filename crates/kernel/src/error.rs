//! What can go wrong.

use std::io;
use thiserror::Error;

/// Why a run on the kernel can't be made or has failed.
#[derive(Debug, Error)]
pub enum KernelError {
    /// Something in the scenario that the kernel can't honour.
    #[error("{place}: {message}")]
    Refused {
        /// The dotted path in the scenario.
        place: String,
        /// What was given, what is possible.
        message: String,
    },
    /// A step that the kernel refused.
    #[error("{step}: {source}")]
    System {
        /// What was being done.
        step: String,
        /// The kernel's answer.
        source: io::Error,
    },
    /// What was measured can't be right.
    #[error("{0}")]
    Invalid(String),
}

impl KernelError {
    pub(crate) fn refused(place: &str, message: impl Into<String>) -> KernelError {
        KernelError::Refused { place: place.to_owned(), message: message.into() }
    }
}

/// Says what was being done when a system call failed.
pub(crate) trait Step<T> {
    /// The same result, its error with the step.
    fn step(self, what: impl FnOnce() -> String) -> Result<T, KernelError>;
}

impl<T> Step<T> for io::Result<T> {
    fn step(self, what: impl FnOnce() -> String) -> Result<T, KernelError> {
        self.map_err(|source| KernelError::System { step: what(), source })
    }
}
