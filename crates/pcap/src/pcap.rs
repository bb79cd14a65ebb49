//! Writes pcap files [draft-ietf-opsawg-pcap]: little-endian, time stamps in nanoseconds.

use dumbbell_units::Time;
use std::io::{self, Write};

use crate::LinkType;

/// A pcap file that is being written.
#[derive(Debug)]
pub struct PcapWriter<W> {
    out: W,
}

impl<W: Write> PcapWriter<W> {
    /// Writes the header. The caller must cut frames to `snaplen` bytes.
    ///
    /// # Errors
    ///
    /// If a write to `out` fails.
    pub fn new(mut out: W, link: LinkType, snaplen: u32) -> io::Result<Self> {
        out.write_all(&0xa1b2_3c4d_u32.to_le_bytes())?;
        out.write_all(&[2, 0, 4, 0])?; // version 2.4
        out.write_all(&[0; 8])?; // time zone and accuracy: always 0
        out.write_all(&snaplen.to_le_bytes())?;
        out.write_all(&u32::from(link.0).to_le_bytes())?;
        Ok(Self { out })
    }

    /// Writes a frame of `len` bytes on the wire with the captured bytes `data`, at `time` since 1970-01-01 UTC.
    ///
    /// # Errors
    ///
    /// If a write fails, or if the time is after the year 2106, the last one of the format.
    pub fn frame(&mut self, time: Time, len: u32, data: &[u8]) -> io::Result<()> {
        let seconds = u32::try_from(time.0 / 1_000_000_000).map_err(io::Error::other)?;
        let captured = u32::try_from(data.len()).map_err(io::Error::other)?;
        let rest = (time.0 % 1_000_000_000) as u32;
        let mut header = [0; 16];
        for (place, value) in header.chunks_exact_mut(4).zip([seconds, rest, captured, len]) {
            place.copy_from_slice(&value.to_le_bytes());
        }
        self.out.write_all(&header)?;
        self.out.write_all(data)
    }

    /// Flushes and returns the stream.
    ///
    /// # Errors
    ///
    /// If a write fails.
    pub fn finish(mut self) -> io::Result<W> {
        self.out.flush()?;
        Ok(self.out)
    }
}
