//! Captured bytes together with their length on the wire, which a snap length may have cut.

/// A part of a frame.
#[derive(Clone, Copy, Debug)]
pub(super) struct Slice<'a> {
    /// The captured bytes.
    pub(super) data: &'a [u8],
    /// Its length on the wire; never less than that of `data`.
    pub(super) len: usize,
}

impl<'a> Slice<'a> {
    /// A frame of `len` bytes with `data` captured. Some files have a `len` that is too small.
    #[inline]
    pub(super) fn new(data: &'a [u8], len: usize) -> Self {
        Self { data, len: len.max(data.len()) }
    }

    /// The part after the first `n` bytes; empty if there are fewer.
    #[inline]
    pub(super) fn after(self, n: usize) -> Self {
        Self { data: self.data.get(n..).unwrap_or_default(), len: self.len.saturating_sub(n) }
    }

    /// The first `len` bytes: the length in a header.
    #[inline]
    pub(super) fn cut(self, len: usize) -> Self {
        if len >= self.len {
            return self;
        }
        Self { data: &self.data[..self.data.len().min(len)], len }
    }

    /// The first `N` bytes, if they were captured.
    #[inline]
    pub(super) fn head<const N: usize>(self) -> Option<&'a [u8; N]> {
        self.data.first_chunk::<N>()
    }

    #[inline]
    pub(super) fn u8(self, at: usize) -> Option<u8> {
        self.data.get(at).copied()
    }

    /// Big-endian, as network headers are.
    #[inline]
    pub(super) fn u16(self, at: usize) -> Option<u16> {
        let [high, low] = *self.data.get(at..)?.first_chunk::<2>()?;
        Some(u16::from_be_bytes([high, low]))
    }

    /// Little-endian, as 802.11 and radiotap headers are.
    #[inline]
    pub(super) fn u16_le(self, at: usize) -> Option<u16> {
        self.u16(at).map(u16::swap_bytes)
    }

    /// Little-endian.
    #[inline]
    pub(super) fn u32_le(self, at: usize) -> Option<u32> {
        Some(u32::from(self.u16_le(at)?) | u32::from(self.u16_le(at + 2)?) << 16)
    }
}
