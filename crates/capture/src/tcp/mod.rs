//! TCP: streams and labels by the rules of Wireshark [Wireshark packet-tcp.c], and the history of each direction's data
//! by rules of our own.

pub(crate) mod history;
mod index;
pub mod label;
pub mod segment;
pub(crate) mod track;
pub(crate) mod wireshark;

pub use wireshark::Verdict;
