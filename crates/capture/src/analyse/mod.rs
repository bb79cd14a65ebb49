//! The analysis of a capture: connections, labels, series.
//!
//! ```text
//! frame ──> Front ──────────────> Back ─────────────────> tables
//!           headers, stream,      labels, history,
//!           place in memory       statistics, series
//! ```

mod back;
mod flows;
mod front;
mod labeller;
mod options;
mod packets;
mod pipe;
mod run;
mod traps;

pub use labeller::Labeller;
pub use options::Options;
pub use packets::Chunk;
pub use run::{Analysis, Progress, Warning, analyse};
