//! The endpoint on a wire with faults: what is sent again after which losses, and that nothing is ever lost or
//! delivered twice.

mod acks;
mod delivery;
mod ecn;
mod frto;
mod modern;
mod rack;
mod recovery;
mod signals;
mod timers;
mod tlp;
mod undo;
