//! The analysis of a capture: connections, labels, series.
//!
//! ```text
//! frame ──> Front ──────────────> Back
//!           headers, stream,      labels, history, statistics
//!           place in memory       of each connection
//! ```

mod front;
mod labeller;

pub use labeller::Labeller;
