//! What is believed of a file, so that one that lies can't have all memory.

use crate::LinkType;

/// Longest block that is read as a whole.
pub(super) const BLOCK: u32 = 16 << 20;
/// Most interfaces of a file, and most sections that are told.
pub(super) const INTERFACES: usize = 1 << 16;
/// Bytes kept of all the texts (names, comments) that describe sections and interfaces.
pub(super) const TEXTS: usize = 16 << 20;
/// Longest frame of a network: Wireshark's limit, at which it calls a file damaged too.
const FRAME: u32 = 256 << 10;

/// The longest captured length that is believed.
pub(super) fn captured(link: LinkType) -> u32 {
    match link.0 {
        // USB and D-Bus transfers, automotive captures: long "frames" are usual.
        186 | 189 | 220 | 231 | 249 | 266 | 279 => BLOCK,
        _ => FRAME,
    }
}

/// Bytes before the frame that belong to the file format, not to the frame: Wireshark doesn't count them.
pub(super) fn pseudo_header(link: LinkType) -> u32 {
    match link {
        LinkType::PPP_WITH_DIR => 1,
        LinkType::BLUETOOTH_H4 => 4,
        _ => 0,
    }
}
