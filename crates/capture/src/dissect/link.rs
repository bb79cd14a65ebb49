//! Link layers.

use super::{Dissected, Dissector, Transport, Unread, ip};
use crate::{Frame, LinkType};

/// The bytes at hand and how many there would be without the snap length.
#[derive(Clone, Copy)]
pub(super) struct Slice<'a> {
    pub(super) data: &'a [u8],
    pub(super) len: usize,
}

impl<'a> Slice<'a> {
    /// What follows the first `n` bytes; empty if there are fewer.
    #[inline]
    pub(super) fn after(self, n: usize) -> Self {
        Self { data: self.data.get(n..).unwrap_or_default(), len: self.len.saturating_sub(n) }
    }

    /// Cut to a length that a header says.
    #[inline]
    pub(super) fn cut(self, len: usize) -> Self {
        if len >= self.len {
            return self;
        }
        Self { data: &self.data[..self.data.len().min(len)], len }
    }

    #[inline]
    pub(super) fn u16(self, at: usize) -> Option<u16> {
        self.data.get(at..at + 2).map(|b| u16::from_be_bytes([b[0], b[1]]))
    }
}

pub(super) fn dissect<'a>(state: &'a mut Dissector, frame: &Frame<'a>) -> Dissected<'a> {
    let all = Slice { data: frame.data, len: (frame.len as usize).max(frame.data.len()) };
    match frame.link {
        LinkType::ETHERNET => match all.u16(12) {
            Some(0x0800) => ip::v4(state, all.after(14)),
            Some(_) => none(Unread::NotIp),
            None => none(Unread::Cut),
        },
        LinkType::RAW => ip::v4(state, all),
        _ => none(Unread::LinkType),
    }
}

pub(super) fn none<'a>(why: Unread) -> Dissected<'a> {
    Dissected { ip: None, tunnel: None, transport: Transport::None(why) }
}
