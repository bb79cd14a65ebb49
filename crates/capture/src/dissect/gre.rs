//! GRE [RFC 2784, RFC 2890] with PPTP [RFC 2637 §4.1], ERSPAN (draft-foschiano-erspan), WCCP, frame
//! relay, and Aruba's 802.11 frames.

use super::slice::Slice;
use super::{Dissected, Path, Unread, ethertype, ip, link_headers, wireless};

/// The payload: after flags and protocol type there are up to four optional fields.
pub(super) fn payload<'a>(path: Path<'a>, at: Slice<'a>) -> Dissected<'a> {
    let (Some(flags), Some(kind)) = (at.u16(0), at.u16(2)) else { return path.none(Unread::Cut) };
    let has = |bit: u16| usize::from(flags & bit != 0);
    // Checksum and offset are both present if either bit (checksum, routing) is set; then key and sequence number, and
    // in PPTP (version 1) an acknowledgment number.
    let version = flags & 7;
    let len =
        4 + 4 * (has(0x8000 | 0x4000) + has(0x2000) + has(0x1000)) + if version == 1 { 4 * has(0x0080) } else { 0 };
    let body = at.after(len);
    match (version, kind) {
        (1, 0x880b) => ethertype::ppp(path, body),
        (0, 0x88be) => ethertype::ethernet(path, body.after(8 * has(0x1000))),
        // ERSPAN type III; its last flag means that 8 more bytes follow.
        (0, 0x22eb) => match body.u8(11) {
            Some(flags) => ethertype::ethernet(path, body.after(12 + 8 * usize::from(flags & 1))),
            None => path.none(Unread::Cut),
        },
        (0, 0x6559) => link_headers::frame_relay(path, body),
        (0, 0x6400) => ethertype::ethernet(path, body),
        (0, 0x880b | 0x8881 | 0x88d2) => ethertype::ppp(path, body),
        // The redirect header of WCCP version 2 is no IP header.
        (0, 0x883e) if body.u8(0).is_some_and(|b| b >> 4 == 4) => ip::v4(path, body),
        (0, 0x883e) => ip::v4(path, body.after(4)),
        // Of these types Wireshark enters the multiples of 16.
        (0, 0x8200..=0x8370) if kind.is_multiple_of(16) => wireless::frame(path, body, false),
        // The EtherTypes that Wireshark reads in GRE.
        (0, 0x0800 | 0x86dd | 0x6558 | 0x8847 | 0x8848 | 0x8909 | 0x894f | 0x0806) => {
            ethertype::payload(path, kind, body)
        }
        _ => path.none(Unread::Tunnel),
    }
}
