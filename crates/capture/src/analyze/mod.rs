//! The analysis of a capture: finds the connections, labels their packets, and computes statistics and time series. The
//! labels are Wireshark's (see [`crate::tcp`]) or Dumbbell's own.
//!
//! ```text
//! frame ──> Dispatcher ──────────────────> Connections ──────────────────> tables, warnings
//!           parses headers, finds the      labels packets, keeps the state
//!           connection (stream number)     and statistics per connection
//! ```
//!
//! The two stages, dispatcher and connections, run on one thread, or on one thread each ([`Options::threads`]).

mod connections;
mod contents;
mod datagrams;
mod dispatch;
mod findings;
mod flows;
mod host_names;
mod hosts;
mod labeler;
mod live;
mod log;
mod options;
mod packets;
mod records;
mod result;
mod run;
mod states;
mod warnings;
mod worker;

pub use contents::Content;
pub use findings::Totals;
pub use labeler::Labeler;
pub use options::Options;
pub use packets::Chunk;
pub use result::{Analysis, Kind};
pub use run::{Progress, analyze, analyze_readers};
pub use warnings::Warning;
