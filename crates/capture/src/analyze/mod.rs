//! The analysis of a capture: connections, labels, series.
//!
//! ```text
//! frame ──> Dispatcher ────────> Connections ────────> tables, warnings
//!           headers, stream,     labels, history,
//!           slot in memory       statistics, series
//! ```
//!
//! Both stages run on one thread or on two ([`Options::threads`]).

mod connections;
mod datagrams;
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
