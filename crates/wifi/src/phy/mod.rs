//! The physical layer: timing and rates of each standard, the duration of a frame, signal and errors.

pub mod channel;
pub mod error_rate;
pub mod mode;
pub mod standard;
