//! Capture files: read any of them, find IP, TCP and UDP in each frame, write new ones.
//!
//! ```text
//! file, stdin ──> Reader ──> Frame ──> Dissector ──> Dissected ──> Sink (an analyzer)
//!   pcap, pcapng,     one window of      IP fragments,      labels, conversations,
//!   gzip, zstd, lz4   the file           tunnels            series: elsewhere
//! ```
//!
//! Memory is flat: the reader holds one window of the file, the dissector the fragments that wait for
//! their datagram ([`dissect::Fragments`] says the bound). A [`Frame`] and what is dissected from it are
//! borrowed until the next frame is asked for; nothing is allocated for a packet.
//!
//! Damage never stops the program: the frames before it are used, and [`Damage`] says where (byte
//! offset) and what it is.

pub mod analyze;
pub mod capinfos;
pub mod dissect;
mod error;
pub mod flow;
mod frame;
mod link_names;
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
pub mod write;

pub use analyze::Labeler;
pub use dissect::{Dissected, Dissector, TcpView, Transport, UdpView};
pub use error::{Damage, Error, Fault};
pub use frame::{Frame, LinkType};
pub use packet_lengths::{PacketLengths, Row};
pub use properties::{Digits, Kind, Properties};
pub use read::Reader;
pub use sink::{Sink, run};
