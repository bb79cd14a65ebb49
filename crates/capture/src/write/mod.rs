//! Writing of captures: pcapng and pcap files [draft-ietf-opsawg-pcapng, draft-ietf-opsawg-pcap], and packets with correct
//! headers and checksums [RFC 1071].

mod packet;
mod pcap;
mod pcapng;

pub use packet::{Datagram, IcmpEcho, IpFields, Segment, ethernet};
pub use pcap::PcapWriter;
pub use pcapng::{About, InterfaceDescription, PcapngWriter, Statistics};
