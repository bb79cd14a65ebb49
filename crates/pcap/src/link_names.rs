//! Names of link types in Wireshark [Wireshark wiretap/wtap.c].

use crate::LinkType;

/// One row: LINKTYPE_ number, Wireshark's own number, its short name, its name. Link types that carry no IP in
/// practice are listed only for the names of their captures.
type Row = (u16, u16, &'static str, &'static str);

const NAMES: &[Row] = &[
    (0, 15, "null", "NULL/Loopback"),
    (1, 1, "ether", "Ethernet"),
    (6, 2, "tr", "Token Ring"),
    (8, 3, "slip", "SLIP"),
    (9, 4, "ppp", "PPP"),
    (10, 6, "fddi-swapped", "FDDI with bit-swapped MAC addresses"),
    (12, 7, "rawip", "Raw IP"),
    (14, 7, "rawip", "Raw IP"),
    (50, 4, "ppp", "PPP"),
    (51, 139, "pppoes", "PPP-over-Ethernet session"),
    (101, 7, "rawip", "Raw IP"),
    (104, 28, "chdlc", "Cisco HDLC"),
    (105, 20, "ieee-802-11", "IEEE 802.11 Wireless LAN"),
    (107, 26, "frelay", "Frame Relay"),
    (108, 174, "loop", "OpenBSD loopback"),
    (109, 38, "enc", "OpenBSD enc(4) encapsulating interface"),
    (113, 25, "linux-sll", "Linux cooked-mode capture v1"),
    (117, 39, "pflog", "OpenBSD PF Firewall logs"),
    (119, 21, "ieee-802-11-prism", "IEEE 802.11 plus Prism II monitor mode radio header"),
    (127, 23, "ieee-802-11-radiotap", "IEEE 802.11 plus radiotap radio header"),
    (143, 33, "docsis", "Data Over Cable Service Interface Specification"),
    (147, 45, "user0", "USER 0"),
    (148, 46, "user1", "USER 1"),
    (149, 47, "user2", "USER 2"),
    (150, 48, "user3", "USER 3"),
    (163, 24, "ieee-802-11-avs", "IEEE 802.11 plus AVS radio header"),
    (186, 92, "usb-freebsd", "USB packets with FreeBSD header"),
    (187, 41, "bluetooth-h4", "Bluetooth H4"),
    (189, 95, "usb-linux", "USB packets with Linux header"),
    (192, 97, "ppi", "Per-Packet Information header"),
    (195, 104, "wpan", "IEEE 802.15.4 Wireless PAN"),
    (197, 98, "erf", "Extensible Record Format"),
    (201, 99, "bluetooth-h4-linux", "Bluetooth H4 with linux header"),
    (204, 19, "ppp-with-direction", "PPP with Directional Info"),
    (220, 115, "usb-linux-mmap", "USB packets with Linux header and padding"),
    (224, 121, "fc2", "Fibre Channel FC-2"),
    (226, 124, "ipnet", "Solaris IPNET"),
    (227, 125, "socketcan", "SocketCAN"),
    (228, 129, "rawip4", "Raw IPv4"),
    (229, 130, "rawip6", "Raw IPv6"),
    (230, 127, "wpan-nofcs", "IEEE 802.15.4 Wireless PAN with FCS not present"),
    (231, 146, "dbus", "D-Bus"),
    (239, 141, "nflog", "NFLOG"),
    (240, 135, "netanalyzer", "Hilscher netANALYZER"),
    (243, 138, "mp2ts", "ISO/IEC 13818-1 MPEG2-TS"),
    (248, 149, "sctp", "SCTP"),
    (249, 152, "usb-usbpcap", "USB packets with USBPcap header"),
    (251, 154, "bluetooth-le-ll", "Bluetooth Low Energy Link Layer"),
    (252, 155, "wireshark-upper-pdu", "Wireshark Upper PDU export"),
    (253, 158, "netlink", "Linux Netlink"),
    (254, 159, "bluetooth-linux-monitor", "Bluetooth Linux Monitor"),
    (256, 161, "bluetooth-le-ll-rf", "Bluetooth Low Energy Link Layer RF"),
    (258, 171, "pktap", "Apple PKTAP"),
    (266, 182, "usb-darwin", "USB packets with Darwin (macOS, etc.) headers"),
    (276, 210, "linux-sll2", "Linux cooked-mode capture v2"),
];

fn row(link: LinkType) -> Option<&'static Row> {
    NAMES.iter().find(|row| row.0 == link.0)
}

impl LinkType {
    /// Its name in Wireshark; `LINKTYPE_` and the number if it is unknown.
    pub fn title(self) -> String {
        row(self).map_or_else(|| format!("LINKTYPE_{}", self.0), |row| row.3.to_owned())
    }

    /// Its short name in Wireshark.
    pub fn name(self) -> String {
        row(self).map_or_else(|| format!("linktype-{}", self.0), |row| row.2.to_owned())
    }

    /// Its number in Wireshark.
    pub fn wireshark_number(self) -> u16 {
        row(self).map_or(u16::MAX, |row| row.1)
    }

    /// True if both are one link type in Wireshark: raw IP and PPP have several numbers.
    pub fn is_same_in_wireshark(self, other: LinkType) -> bool {
        self == other || matches!((row(self), row(other)), (Some(a), Some(b)) if a.1 == b.1)
    }
}
