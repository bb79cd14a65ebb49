//! The endpoint on a wire with faults: what is sent again after which losses, and that nothing is ever lost or
//! delivered twice.

mod delivery;
mod recovery;
mod signals;
mod timers;
