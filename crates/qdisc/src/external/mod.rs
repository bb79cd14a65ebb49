//! External disciplines: queue disciplines that are not in the registry, written by users in Python or in a library.
//!
//! ```text
//! link -> ExternalQdisc (the checks) -> Code: calls a Python object or a library
//!              |                          |
//!              +------ Held: the packets, and every way in which they leave: release, drop
//! ```
//! The user's code never owns a packet. It receives a handle and the fields of the packet; [`Held`] keeps the packet
//! until the code returns the handle from a dequeue or drops it. A packet that the code forgets, returns twice or
//! invents is therefore found, whatever the code does.

mod check;
mod exercise;
mod given_packets;

pub use check::ExternalQdisc;
pub use exercise::{Exercise, Finding, Report, exercise};
pub use given_packets::{Handle, Held};

use crate::{LinkInfo, QdiscContext};
use dumbbell_units::Time;
use dumbbell_units::param::{ParamError, Raw};
use std::fmt::Debug;
use std::sync::Arc;

/// A source of external disciplines; corresponds to a row of the registry.
pub trait External: Send + Sync + Debug {
    /// Returns the names of its private columns in the trace.
    fn columns(&self) -> &'static [&'static str];

    /// Starts the code for one queue.
    ///
    /// # Errors
    /// An unknown parameter, or a parameter that it refuses.
    fn make(&self, given: &[(String, Raw)], link: &LinkInfo) -> Result<Box<dyn Code>, ParamError>;
}

/// The code of one queue. An error is the place in the code and the reason; afterwards the code is not called again.
pub trait Code: Send + Debug {
    /// Returns the name of the code in messages.
    fn name(&self) -> &str;

    /// A packet arrives; `held` has it already. The code may drop it or others.
    ///
    /// # Errors
    /// The code failed.
    fn enqueue(&mut self, packet: Handle, held: &mut Held, cx: &mut QdiscContext) -> Result<(), String>;

    /// Returns the next packet to send; None if no packet waits or a shaper delays the next one.
    ///
    /// # Errors
    /// The code failed.
    fn dequeue(&mut self, held: &mut Held, cx: &mut QdiscContext) -> Result<Option<Handle>, String>;

    /// Returns the time of the next dequeue, after a dequeue without a packet while packets wait.
    ///
    /// # Errors
    /// The code failed.
    fn next_ready(&mut self, now: Time) -> Result<Option<Time>, String>;

    /// Appends one value for each column.
    ///
    /// # Errors
    /// The code failed.
    fn observe(&self, row: &mut Vec<f64>) -> Result<(), String>;

    /// Returns the number of classes, for code that uses the class of packets.
    fn classes(&self) -> Option<u32> {
        None
    }
}

/// Receives the failure of a queue's code: the simulated time, the place in the code and the reason.
pub type Fail = Arc<dyn Fn(Time, String) + Send + Sync>;
