//! A pcap file, little-endian.

use std::io::{self, Write};

use crate::LinkType;

/// Writes one, with time stamps in nanoseconds.
#[derive(Debug)]
pub struct PcapWriter<W> {
    out: W,
}

impl<W: Write> PcapWriter<W> {
    /// Begins a file; frames longer than `snaplen` bytes are the caller's to cut.
    ///
    /// # Errors
    ///
    /// If `out` fails.
    pub fn new(mut out: W, link: LinkType, snaplen: u32) -> io::Result<Self> {
        out.write_all(&0xa1b2_3c4d_u32.to_le_bytes())?;
        out.write_all(&[2, 0, 4, 0])?; // version 2.4
        out.write_all(&[0; 8])?; // time zone and accuracy: always 0
        out.write_all(&snaplen.to_le_bytes())?;
        out.write_all(&u32::from(link.0).to_le_bytes())?;
        Ok(Self { out })
    }

    /// Adds a frame of `len` bytes on the wire, of which `data` was captured, at `time` ns since 1970.
    ///
    /// # Errors
    ///
    /// If the stream fails, or if the time lies beyond the year 2106, which the format can't hold.
    pub fn frame(&mut self, time: u64, len: u32, data: &[u8]) -> io::Result<()> {
        let seconds = u32::try_from(time / 1_000_000_000).map_err(io::Error::other)?;
        let captured = u32::try_from(data.len()).map_err(io::Error::other)?;
        let rest = (time % 1_000_000_000) as u32;
        let mut header = [0; 16];
        for (place, value) in header.chunks_exact_mut(4).zip([seconds, rest, captured, len]) {
            place.copy_from_slice(&value.to_le_bytes());
        }
        self.out.write_all(&header)?;
        self.out.write_all(data)
    }

    /// Ends the file and gives back the stream, flushed.
    ///
    /// # Errors
    ///
    /// If the stream fails.
    pub fn finish(mut self) -> io::Result<W> {
        self.out.flush()?;
        Ok(self.out)
    }
}
