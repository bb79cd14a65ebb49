//! TCP: streams, Wireshark's labels, and the history of each direction's data.

pub(crate) mod history;
pub mod label;
pub mod segment;
pub(crate) mod track;
pub(crate) mod wireshark;

pub use wireshark::Verdict;
