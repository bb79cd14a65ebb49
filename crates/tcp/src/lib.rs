//! A TCP endpoint without I/O: segments, times and writes go in; segments, timers and deliveries come out
//! [RFC 9293]. The caller owns the clock, the network and the payload (only its length exists here).
//!
//! ```text
//! on_segment(now, ..)  on_timer(now)  write(n)  close()      what happens to it
//! poll(now) -> Some(segment)                                 what it wants to send now; ask until None
//! next_timer()                                               when to call on_timer
//! ```
//! The window law comes from `dumbbell-cc`; [`Config`] holds everything that can be set, as named presets.
//!
//! Left out: urgent data, simultaneous open, TIME-WAIT's two minutes, persist timer (our receivers read at once, so
//! an offered window never closes), path MTU discovery, resets.

mod config;
mod ecn;
mod endpoint;
mod min_rtt;
mod pacer;
mod rate;
mod receiver;
mod recovery;
mod rtt;
mod segment;
mod sender;
mod sent;
mod ticks;

pub use config::{Config, EcnFeedback, PARAMS, PRESETS, Preset, RackConfig, Validation, find_preset};
pub use endpoint::{Endpoint, Snapshot, State, Transmit};
pub use rtt::{Estimator, RtoConfig};
pub use segment::{IP_HEADER, Segment, TCP_HEADER};
pub use sender::Counters;
pub use sent::{DeliveredSegment, SegmentFate};
