//! Limits for lengths and counts in a file, so that a false length cannot use up memory. They follow Wireshark's
//! [Wireshark wiretap/wtap.h].

use crate::LinkType;

/// Longest block that is read as a whole.
pub(super) const BLOCK: u32 = 16 << 20;
/// Most interfaces of a file, and most sections that are listed.
pub(super) const INTERFACES: usize = 1 << 16;
/// Most bytes of texts (names, comments) kept for all sections and interfaces.
pub(super) const TEXTS: usize = 16 << 20;
/// Longest frame of a network, Wireshark's WTAP_MAX_PACKET_SIZE_STANDARD.
const FRAME: u32 = 256 << 10;

/// The longest captured length that is accepted.
pub(super) fn captured(link: LinkType) -> u32 {
    match link.0 {
        // USB and D-Bus transfers and automotive captures have long frames.
        186 | 189 | 220 | 231 | 249 | 266 | 279 => BLOCK,
        _ => FRAME,
    }
}

/// Bytes of a pseudo-header of the file format before the frame; Wireshark does not count them.
pub(super) fn pseudo_header(link: LinkType) -> u32 {
    match link {
        LinkType::PPP_WITH_DIR => 1,
        LinkType::BLUETOOTH_H4 => 4,
        _ => 0,
    }
}
