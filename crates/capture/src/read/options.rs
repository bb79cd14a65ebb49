//! Options of pcapng blocks, decoded where somebody asks for them.

use std::borrow::Cow;

/// The options at the end of a pcapng block, as they stand there. Of a pcap frame: none.
#[derive(Clone, Copy, Debug, Default)]
pub struct Options<'a> {
    pub(crate) bytes: &'a [u8],
    pub(crate) big_endian: bool,
}

impl<'a> Options<'a> {
    /// Code and value of each option, in order; ends at the end mark or at a length that leaves the block.
    pub fn iter(&self) -> OptionsIter<'a> {
        OptionsIter { rest: *self }
    }

    /// The texts of the comment options.
    pub fn comments(&self) -> Comments<'a> {
        Comments { options: self.iter() }
    }

    pub(crate) fn u16(&self, at: &[u8]) -> u16 {
        let raw = [at[0], at[1]];
        if self.big_endian { u16::from_be_bytes(raw) } else { u16::from_le_bytes(raw) }
    }
}

/// See [`Options::iter`].
#[derive(Clone, Debug)]
pub struct OptionsIter<'a> {
    rest: Options<'a>,
}

impl<'a> Iterator for OptionsIter<'a> {
    type Item = (u16, &'a [u8]);

    fn next(&mut self) -> Option<Self::Item> {
        let bytes = self.rest.bytes;
        if bytes.len() < 4 {
            return None;
        }
        let code = self.rest.u16(bytes);
        let len = usize::from(self.rest.u16(&bytes[2..]));
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
        self.options.by_ref().find(|&(code, _)| code == 1).map(|(_, value)| String::from_utf8_lossy(value))
    }
}
