//! The endpoint on a wire with faults: acknowledgments, loss recovery, timers, ECN, the events of congestion control,
//! and that each byte is delivered exactly once.

mod acks;
mod bulk;
mod cc_events;
mod delivery;
mod ecn;
mod frto;
mod linux_stack;
mod nagle;
mod rack;
mod recovery;
mod small_segments;
mod timers;
mod tlp;
mod undo;
