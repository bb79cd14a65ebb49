//! Options of pcapng blocks [draft-ietf-opsawg-pcapng §3.5], decoded on access.

use std::borrow::Cow;

use super::bytes::Order;

/// The undecoded options of a pcapng block; empty for a pcap frame.
#[derive(Clone, Copy, Debug, Default)]
pub struct Options<'a> {
    pub(super) bytes: &'a [u8],
    pub(super) order: Order,
}

/// A comment, in any block.
pub(super) const COMMENT: u16 = 1;
/// Code of `epb_dropcount`.
const EPB_DROPCOUNT: u16 = 4;

impl<'a> Options<'a> {
    /// Code and value of each option, in order, up to `opt_endofopt` or a length beyond the block.
    pub fn iter(&self) -> OptionsIter<'a> {
        OptionsIter { rest: *self }
    }

    /// The texts of the comment options.
    pub fn comments(&self) -> Comments<'a> {
        Comments { options: self.iter() }
    }

    /// Frames lost between the previous frame of the interface and this one (`epb_dropcount`).
    pub fn dropped_before(&self) -> Option<u64> {
        self.u64(EPB_DROPCOUNT)
    }

    /// The value of the first option `code`, if it has 8 bytes.
    pub(super) fn u64(&self, code: u16) -> Option<u64> {
        let (_, value) = self.iter().find(|&(c, _)| c == code)?;
        (value.len() == 8).then(|| self.order.u64(value, 0))
    }

    /// The value of the first option `code` as text.
    pub(super) fn text(&self, code: u16) -> Option<String> {
        let (_, value) = self.iter().find(|&(c, _)| c == code)?;
        Some(text(value).into_owned())
    }
}

/// A text, up to the NUL that some writers append.
fn text(value: &[u8]) -> Cow<'_, str> {
    String::from_utf8_lossy(value.split(|&b| b == 0).next().unwrap_or_default())
}

/// See [`Options::iter`].
#[derive(Clone, Debug)]
pub struct OptionsIter<'a> {
    rest: Options<'a>,
}

impl<'a> Iterator for OptionsIter<'a> {
    type Item = (u16, &'a [u8]);

    fn next(&mut self) -> Option<Self::Item> {
        let Options { bytes, order } = self.rest;
        if bytes.len() < 4 {
            return None;
        }
        let code = order.u16(bytes, 0);
        let len = usize::from(order.u16(bytes, 2));
        if code == 0 {
            return None;
        }
        let value = bytes.get(4..4 + len)?;
        self.rest.bytes = bytes.get(4 + len.next_multiple_of(4)..).unwrap_or_default();
        Some((code, value))
    }
}

/// See [`Options::comments`].
#[derive(Clone, Debug)]
pub struct Comments<'a> {
    options: OptionsIter<'a>,
}

impl<'a> Iterator for Comments<'a> {
    type Item = Cow<'a, str>;

    fn next(&mut self) -> Option<Self::Item> {
        self.options.by_ref().find(|&(code, _)| code == COMMENT).map(|(_, value)| text(value))
    }
}
