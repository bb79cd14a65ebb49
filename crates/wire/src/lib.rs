//! Formats on the wire that several crates share: the simulated endpoint, the capture reader and writer, and the
//! measurement of the real kernel.
//!
//! | module | content | source |
//! | --- | --- | --- |
//! | `checksum` | Internet checksum, in full and incremental | RFC 1071, RFC 1624 |
//! | `ecn` | ECN field of the IP header | RFC 3168 §5, RFC 9331 |
//! | `flags` | control bits of the TCP header | RFC 9293 §3.1, RFC 9768 §3.1 |
//! | `header` | read-only views of IPv4, IPv6, TCP, UDP and ICMP headers | RFC 791, 8200, 9293, 768, 792, 4443 |
//! | `ip_version` | IPv4 or IPv6, with the length of the header | RFC 791, RFC 8200 |
//! | `options` | TCP options, parsing and writing | RFC 9293 §3.2, RFC 7323, RFC 2018, RFC 8684, RFC 9768 |
//! | `seq` | sequence numbers: modular order, 64-bit offsets | RFC 9293 §3.4 |
//!
//! The crate does no I/O and allocates nothing, except that writers append to a buffer of the caller. Headers are not
//! copied: a view borrows the bytes and reads a field when its method is called.

pub mod checksum;
mod ecn;
mod flags;
mod header;
mod ip_version;
mod options;
pub mod seq;

pub use checksum::Checksum;
pub use ecn::Ecn;
pub use flags::TcpFlags;
pub use header::{IcmpHeader, Ipv4Header, Ipv6Header, TcpHeader, UdpHeader, protocol};
pub use ip_version::IpVersion;
pub use options::{AccEcn, MAX_OPTIONS, SackBlock, SackBlocks, TcpOptions};
pub use seq::{Seq, SeqUnwrapper};
