//! Capture files: reading, dissection down to TCP and UDP, Wireshark's labels, analysis of connections.
//! Writing is in `dumbbell-pcap`.
//!
//! ```text
//! file, stdin ──> Reader ──> Frame ──> Dissector ──> Dissected ──> Sink (an analyzer)
//!   pcap, pcapng,     one window of      IP fragments,      analyze: labels, connections,
//!   gzip, zstd, lz4   the file           tunnels            series
//! ```
//!
//! Memory does not grow with the file: the reader holds one window of it, the dissector holds a bounded number of
//! fragments ([`dissect::Fragments`]). A [`Frame`] and its [`Dissected`] borrow from the window until the next frame is
//! read; no packet needs an allocation.
//!
//! Capture times are `i64` nanoseconds since 1970 and their differences are `i64` nanoseconds: files have times before
//! 1970 and decreasing time stamps, which the unsigned `Time` and `Dur` of `dumbbell-units` cannot represent. Times of
//! written frames and lengths of intervals have those types.
//!
//! A damaged file is no error: the frames before the damage are used, and [`Damage`] has its byte offset and kind.
//!
//! Sources: the pcap and pcapng drafts (draft-ietf-opsawg-pcap, draft-ietf-opsawg-pcapng), Wireshark 4.0 and 4.4
//! (`packet-tcp.c`, `capinfos.c`, `stats_tree.c`), and the RFCs of each protocol.

pub mod analyze;
pub mod capinfos;
pub mod dissect;
mod dscp;
mod error;
pub mod flow;
mod frame;
mod json;
mod pack;
mod packet_lengths;
pub mod pair;
mod properties;
mod quic;
pub mod read;
pub mod series;
mod sink;
pub mod table;
pub mod tcp;
mod udp;

pub use analyze::Labeler;
pub use dissect::{Dissected, Dissector, TcpView, Transport, UdpView};
pub use dumbbell_pcap::LinkType;
pub use error::{Damage, Error, Fault};
pub use frame::Frame;
pub use packet_lengths::{PacketLengths, Row};
pub use properties::{Digits, Properties};
pub use read::{Kind, Reader};
pub use sink::{Sink, run};
