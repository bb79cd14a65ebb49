//! Names of protocols that are not IP, or not read, for the summary: a frame that is not analyzed is named.

use std::fmt;

/// A protocol by its name, or by a number of the registry that `name` states.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Named {
    /// The name, or that of the registry.
    pub name: &'static str,
    /// The number, 0 if the name suffices.
    pub number: u32,
}

impl fmt::Display for Named {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.number {
            0 => f.write_str(self.name),
            n => write!(f, "{} {n:#06x}", self.name),
        }
    }
}

/// The protocol of an EtherType [IEEE 802 numbers of IANA].
pub(super) fn ethertype(kind: u16) -> Named {
    let name = match kind {
        0x0806 => "ARP",
        0x8035 => "RARP",
        0x2000 => "CDP",
        0x22f0 => "AVTP",
        0x8137 => "IPX",
        0x8808 => "Ethernet flow control",
        0x8809 => "Slow Protocols",
        0x8863 => "PPPoE discovery",
        0x886d => "Intel ANS",
        0x888e => "EAPOL",
        0x8892 => "PROFINET",
        0x88a4 => "EtherCAT",
        0x88b8 => "GOOSE",
        0x88ba => "Sampled Values",
        0x88cc => "LLDP",
        0x88e1 => "HomePlug AV",
        0x88f5 => "MVRP",
        0x88f7 => "PTP",
        0x88fb => "PRP supervision",
        0x8902 => "CFM",
        0x8906 => "FCoE",
        0x8914 => "FIP",
        0x8915 => "RoCE",
        0x893a => "IEEE 1905",
        0x9000 => "Ethernet loopback",
        kind => return Named { name: "EtherType", number: kind.into() },
    };
    Named { name, number: 0 }
}

/// The protocol of a number of IP [IANA protocol numbers].
pub fn ip_protocol(number: u8) -> Named {
    let name = match number {
        1 => "ICMP",
        2 => "IGMP",
        6 => "TCP",
        17 => "UDP",
        33 => "DCCP",
        46 => "RSVP",
        58 => "ICMPv6",
        59 => "IPv6 without payload",
        88 => "EIGRP",
        89 => "OSPF",
        103 => "PIM",
        112 => "VRRP",
        132 => "SCTP",
        136 => "UDP-Lite",
        number => return Named { name: "IP protocol", number: u32::from(number) },
    };
    Named { name, number: 0 }
}
