//! Writing of captures: pcapng and pcap files [draft-ietf-opsawg-pcapng, draft-ietf-opsawg-pcap], and packets with
//! correct headers and checksums [RFC 1071].
//!
//! Reading is in `dumbbell-capture`, which needs threads and libraries in C for decompression and cryptography. The
//! simulator only writes, and so it compiles for every target of Rust, such as WebAssembly.

mod link_names;
mod link_type;
mod packet;
mod pcap;
mod pcapng;

pub use link_type::LinkType;
pub use packet::{Datagram, IcmpEcho, IpFields, Segment, ethernet};
pub use pcap::PcapWriter;
pub use pcapng::{About, InterfaceDescription, PcapngWriter, Statistics};
