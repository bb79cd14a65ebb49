//! TCP: connections told apart, segments labeled.

pub(crate) mod history;
pub mod label;
pub mod segment;
pub(crate) mod track;
pub(crate) mod wireshark;

pub use wireshark::Verdict;
