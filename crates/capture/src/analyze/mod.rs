//! The analysis of a capture: connections, labels, series.
//!
//! ```text
//! frame ──> Dispatcher ──────────────> Connections ─────────────────> tables
//!           headers, stream,      labels, history,
//!           place in memory       statistics, series
//! ```

mod connections;
mod dispatch;
mod flows;
mod labeler;
mod options;
mod packets;
mod run;
mod warnings;
mod worker;

pub use labeler::Labeler;
pub use options::Options;
pub use packets::Chunk;
pub use run::{Analysis, Progress, analyze};
pub use warnings::Warning;
