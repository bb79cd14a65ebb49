//! Writing of captures: pcapng and pcap files, and packets with correct headers and checksums.

mod packet;
mod pcap;
mod pcapng;

pub use packet::{Datagram, IcmpEcho, IpFields, Segment, ethernet};
pub use pcap::PcapWriter;
pub use pcapng::{About, InterfaceDescription, PcapngWriter, Statistics};
