//! IEEE 802.11 frames, with or without a radiotap header [IEEE 802.11 §9.2, §9.3.2; radiotap.org].

use super::slice::Slice;
use super::{Dissected, Path, Unread, ethertype};

/// Bits of the flags field of radiotap.
const HAS_FCS: u8 = 0x10;
const PADDED: u8 = 0x20;

/// Bits of the second byte of the frame control field.
const TO_AND_FROM_DS: u8 = 0x03;
const MORE_FRAGMENTS: u8 = 0x04;
const PROTECTED: u8 = 0x40;
const ORDER: u8 = 0x80;

/// A frame after a radiotap header.
pub(super) fn radiotap<'a>(path: Path<'a>, at: Slice<'a>) -> Dissected<'a> {
    let (Some(len), Some(flags)) = (at.u16_le(2), radiotap_flags(at)) else {
        return path.none(Unread::Cut);
    };
    let body = at.after(len.into());
    let body = if flags & HAS_FCS != 0 { body.cut(body.len.saturating_sub(4)) } else { body };
    frame(path, body, flags & PADDED != 0)
}

/// The flags field, 0 if the header has none; `None` if the capture ends before it.
fn radiotap_flags(at: Slice<'_>) -> Option<u8> {
    let present = at.u32_le(4)?;
    let mut end = 8;
    let mut word = present;
    // Bit 31: another word of the presence mask follows.
    while word & 0x8000_0000 != 0 {
        word = at.u32_le(end)?;
        end += 4;
    }
    if present & 2 == 0 {
        return Some(0);
    }
    // Only the 64-bit TSFT field precedes the flags, aligned to 8 bytes.
    at.u8(if present & 1 == 1 { end.next_multiple_of(8) + 8 } else { end })
}

/// A frame; `padded`: its header is padded to a multiple of 4 bytes.
pub(super) fn frame<'a>(path: Path<'a>, at: Slice<'a>, padded: bool) -> Dissected<'a> {
    let Some(&[first, second]) = at.head::<2>() else { return path.none(Unread::Cut) };
    let (version, kind, subtype) = (first & 3, first >> 2 & 3, first >> 4);
    // Only data frames that are not empty.
    if version != 0 || kind != 2 || subtype & 4 != 0 {
        return path.not_ip("802.11 management and control", 0);
    }
    if second & PROTECTED != 0 {
        return path.none(Unread::Encrypted);
    }
    let Some(sequence) = at.u16_le(22) else { return path.none(Unread::Cut) };
    if second & MORE_FRAGMENTS != 0 || sequence & 0x000f != 0 {
        return path.none(Unread::Fragment);
    }
    let mut len = 24;
    if second & TO_AND_FROM_DS == TO_AND_FROM_DS {
        len += 6;
    }
    let quality = if subtype & 8 != 0 { at.u16_le(len) } else { Some(0) };
    let Some(quality) = quality else { return path.none(Unread::Cut) };
    if subtype & 8 != 0 {
        len += if second & ORDER != 0 { 6 } else { 2 };
    }
    if padded {
        len = len.next_multiple_of(4);
    }
    let body = at.after(len);
    if quality & 0x80 == 0 {
        return ethertype::llc(path, body);
    }
    // DIVERGES [IEEE 802.11]: only the first frame of an A-MSDU is read.
    match body.u16(12) {
        Some(len) => ethertype::llc(path, body.after(14).cut(len.into())),
        None => path.none(Unread::Cut),
    }
}
