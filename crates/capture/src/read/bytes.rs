//! Integers in the byte order of a file or section: both formats store the order of the machine that wrote them
//! [draft-ietf-opsawg-pcap, draft-ietf-opsawg-pcapng].

/// Byte order of a file or section.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Order {
    /// Least significant byte first.
    #[default]
    Little,
    /// Most significant byte first.
    Big,
}

/// The `N` bytes at `at`; zeros beyond the end (callers have checked the length).
#[inline]
fn take<const N: usize>(bytes: &[u8], at: usize) -> [u8; N] {
    bytes.get(at..).and_then(|b| b.first_chunk::<N>()).copied().unwrap_or([0; N])
}

impl Order {
    #[inline]
    pub(crate) fn u16(self, bytes: &[u8], at: usize) -> u16 {
        match self {
            Self::Little => u16::from_le_bytes(take(bytes, at)),
            Self::Big => u16::from_be_bytes(take(bytes, at)),
        }
    }

    #[inline]
    pub(crate) fn u32(self, bytes: &[u8], at: usize) -> u32 {
        match self {
            Self::Little => u32::from_le_bytes(take(bytes, at)),
            Self::Big => u32::from_be_bytes(take(bytes, at)),
        }
    }

    #[inline]
    pub(crate) fn u64(self, bytes: &[u8], at: usize) -> u64 {
        match self {
            Self::Little => u64::from_le_bytes(take(bytes, at)),
            Self::Big => u64::from_be_bytes(take(bytes, at)),
        }
    }
}
