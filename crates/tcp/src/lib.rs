//! A TCP endpoint without I/O: segments, times and writes are its input; segments, timers and deliveries its output
//! [RFC 9293]. The caller has the clock, the network and the payload (the endpoint knows its length only).
//!
//! ```text
//! on_segment(now, ..)  on_timer(now)  write(n)  close()      events
//! poll(now) -> Some(segment)                                 segments to send now; call until None
//! next_timer()                                               when to call on_timer
//! ```
//! Congestion control is in `dumbbell-cc`; [`Config`] has all parameters, with named presets. Rules that follow Linux
//! name the file (net/ipv4, unless a path is given) and the function or variable of Linux 6.12.
//!
//! Times and rates have types everywhere ([`dumbbell_units::Dur`], `Time`, `Rate`), sequence numbers on the wire too
//! (`Seq`). Offsets in the sequence space and byte counts are plain `u64`: all have one unit, bytes since the initial
//! sequence number, and nearly each line adds offsets and counts. Windows are `f64` bytes where congestion control
//! computes them.
//!
//! Left out: urgent data, simultaneous open, TIME-WAIT's two minutes, persist timer (our receivers read at once, so
//! that an offered window never closes), path MTU discovery, resets.

mod ack;
mod cc_driver;
mod config;
mod delivery_rate;
mod ecn;
mod endpoint;
mod min_rtt;
mod pacer;
mod receiver;
mod recovery;
mod rtt;
mod scoreboard;
mod segment;
mod send_sequence;
mod send_timer;
mod sender;
mod timer_wheel;
mod timestamp;

pub use config::{
    AckConfig, BufferConfig, Config, ConnectionConfig, DEFAULT_PRESET, EcnConfig, EcnFeedback, Fact, Facts,
    GrowthConfig, NewRenoExit, PARAMS, PRESETS, PacingConfig, Preset, RackConfig, RecoveryConfig, RtoConfig,
    RtoEstimator, WindowValidation, describe_feature, find_preset,
};
pub use delivery_rate::{DeliveryRate, TxState};
pub use endpoint::{Due, Endpoint, Snapshot, State, Transmit};
pub use scoreboard::{DeliveredSegment, SegmentFate};
pub use segment::{Segment, TCP_HEADER};
pub use send_sequence::Counters;
pub use sender::{BulkStep, NewSegment};
