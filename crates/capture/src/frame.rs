//! One frame of a capture file, with the fields that pcapng has for it [draft-ietf-opsawg-pcapng].

use crate::LinkType;
use crate::read::options::{Comments, Options};

/// One frame. Everything in it is borrowed from the reader's window until the next frame is read.
#[derive(Clone, Copy, Debug)]
pub struct Frame<'a> {
    /// 1 for the first frame of the file.
    pub number: u64,
    /// Capture time, nanoseconds since 1970-01-01 UTC. `None`: the block has none (pcapng's Simple Packet
    /// Block), or it is outside the years 1678 to 2262.
    pub time: Option<i64>,
    /// Length of the frame on the wire, or as the kernel passed it on: Wireshark's `frame.len`.
    pub len: u32,
    /// The captured bytes; shorter than `len` if a snap length has cut the frame.
    pub data: &'a [u8],
    /// Index into [`Reader::interfaces`](crate::Reader::interfaces), which counts through all sections.
    pub interface: u32,
    /// Link type of that interface.
    pub link: LinkType,
    /// Bytes of frame check sequence at the end of the frame, according to the interface.
    pub fcs_len: u8,
    /// Byte offset of the record or block in the (decompressed) capture.
    pub offset: u64,
    /// The block's options (pcapng), not yet decoded.
    pub options: Options<'a>,
}

impl<'a> Frame<'a> {
    /// The comments on this frame, oldest first.
    pub fn comments(&self) -> Comments<'a> {
        self.options.comments()
    }
}
