//! The numbers of the link types [draft-ietf-opsawg-pcaplinktype].

/// The number of a link type in the LINKTYPE_ registry, as pcap and pcapng files store it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct LinkType(pub u16);

impl LinkType {
    /// BSD loopback: a 4-byte address family in the byte order of the capturing host.
    pub const NULL: Self = Self(0);
    /// Ethernet.
    pub const ETHERNET: Self = Self(1);
    /// PPP; the address and control bytes (ff 03) may come first or be absent.
    pub const PPP: Self = Self(9);
    /// Raw IP, under old numbers that some systems wrote in place of [`Self::RAW`].
    pub const RAW_OLD: [Self; 2] = [Self(12), Self(14)];
    /// PPP in HDLC-like framing.
    pub const PPP_HDLC: Self = Self(50);
    /// PPPoE session header, then PPP.
    pub const PPP_ETHER: Self = Self(51);
    /// Raw IPv4 or IPv6; the version field distinguishes them.
    pub const RAW: Self = Self(101);
    /// Cisco's HDLC framing.
    pub const CISCO_HDLC: Self = Self(104);
    /// 802.11 without a header before it.
    pub const IEEE802_11: Self = Self(105);
    /// OpenBSD loopback: the address family in network byte order.
    pub const LOOP: Self = Self(108);
    /// Linux "cooked" capture.
    pub const LINUX_SLL: Self = Self(113);
    /// 802.11 after a radiotap header.
    pub const IEEE802_11_RADIOTAP: Self = Self(127);
    /// A "per-packet information" header before another link type.
    pub const PPI: Self = Self(192);
    /// Bluetooth HCI with a direction before it.
    pub const BLUETOOTH_H4: Self = Self(201);
    /// PPP; the direction byte before it is not part of a frame.
    pub const PPP_WITH_DIR: Self = Self(204);
    /// Raw IPv4.
    pub const IPV4: Self = Self(228);
    /// Raw IPv6.
    pub const IPV6: Self = Self(229);
    /// Linux "cooked" capture, version 2.
    pub const LINUX_SLL2: Self = Self(276);
}
