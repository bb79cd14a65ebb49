//! Writes pcapng files [draft-ietf-opsawg-pcapng]: one section, little-endian, time stamps in nanoseconds.

use dumbbell_units::Time;
use std::io::{self, Write};

use crate::LinkType;

/// Hardware and software that captured, for the Section Header Block.
#[derive(Clone, Copy, Debug, Default)]
pub struct About<'a> {
    /// `shb_hardware`.
    pub hardware: Option<&'a str>,
    /// `shb_os`.
    pub os: Option<&'a str>,
    /// `shb_userappl`.
    pub application: Option<&'a str>,
    /// A comment on the section.
    pub comment: Option<&'a str>,
}

/// An interface, for the Interface Description Block.
#[derive(Clone, Copy, Debug)]
pub struct InterfaceDescription<'a> {
    /// `if_name`.
    pub name: &'a str,
    /// `if_description`.
    pub description: Option<&'a str>,
    /// Link type of its frames.
    pub link: LinkType,
    /// Snap length, bytes; 0: none.
    pub snaplen: u32,
    /// `if_speed`, bit/s.
    pub speed: Option<u64>,
}

/// Counters of an interface, for the Interface Statistics Block.
#[derive(Clone, Copy, Debug, Default)]
pub struct Statistics {
    /// `isb_ifrecv`: frames received.
    pub received: u64,
    /// `isb_ifdrop`: frames dropped for lack of resources.
    pub dropped: u64,
}

/// A pcapng file that is being written.
#[derive(Debug)]
pub struct PcapngWriter<W> {
    out: W,
    /// The block that is being written.
    block: Vec<u8>,
    /// True if the block has options.
    options: bool,
    interfaces: u32,
}

const NANOSECONDS: u8 = 9;

impl<W: Write> PcapngWriter<W> {
    /// Writes the Section Header Block.
    ///
    /// # Errors
    ///
    /// If a write to `out` fails.
    pub fn new(out: W, about: &About<'_>) -> io::Result<Self> {
        let mut writer = Self { out, block: Vec::new(), options: false, interfaces: 0 };
        writer.begin(0x0a0d_0d0a);
        writer.u32(0x1a2b_3c4d);
        writer.block.extend([1, 0, 0, 0]); // version 1.0
        writer.block.extend([0xff; 8]); // section length: not specified
        writer.text(1, about.comment);
        writer.text(2, about.hardware);
        writer.text(3, about.os);
        writer.text(4, about.application);
        writer.end()?;
        Ok(writer)
    }

    /// Returns a writer for the rest of a file in which so many interfaces are described already.
    pub fn resume(out: W, interfaces: u32) -> Self {
        Self { out, block: Vec::new(), options: false, interfaces }
    }

    /// Writes the description of an interface. Returns its number for [`frame`](Self::frame).
    ///
    /// # Errors
    ///
    /// If a write fails.
    pub fn interface(&mut self, description: &InterfaceDescription<'_>) -> io::Result<u32> {
        self.begin(1);
        self.block.extend(description.link.0.to_le_bytes());
        self.block.extend([0, 0]);
        self.u32(description.snaplen);
        self.text(2, Some(description.name));
        self.text(3, description.description);
        if let Some(speed) = description.speed {
            self.option(8, &speed.to_le_bytes());
        }
        self.option(9, &[NANOSECONDS]);
        self.end()?;
        self.interfaces += 1;
        Ok(self.interfaces - 1)
    }

    /// Writes a frame of `len` bytes on the wire with the captured bytes `data`, at `time` since 1970-01-01 UTC.
    ///
    /// # Errors
    ///
    /// If a write fails, or if the interface is not described.
    pub fn frame(&mut self, interface: u32, time: Time, len: u32, data: &[u8], comments: &[&str]) -> io::Result<()> {
        if interface >= self.interfaces {
            let message = format!("interface {interface} of {} isn't described", self.interfaces);
            return Err(io::Error::new(io::ErrorKind::InvalidInput, message));
        }
        let captured = u32::try_from(data.len()).map_err(io::Error::other)?;
        self.begin(6);
        self.u32(interface);
        self.u32((time.0 >> 32) as u32);
        self.u32(time.0 as u32);
        self.u32(captured);
        self.u32(len);
        self.block.extend(data);
        self.pad();
        for comment in comments {
            self.text(1, Some(comment));
        }
        self.end()
    }

    /// Writes the counters of an interface at `time` since 1970-01-01 UTC.
    ///
    /// # Errors
    ///
    /// If a write fails.
    pub fn statistics(&mut self, interface: u32, time: Time, counted: &Statistics) -> io::Result<()> {
        self.begin(5);
        self.u32(interface);
        self.u32((time.0 >> 32) as u32);
        self.u32(time.0 as u32);
        self.option(4, &counted.received.to_le_bytes());
        self.option(5, &counted.dropped.to_le_bytes());
        self.end()
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

    fn begin(&mut self, kind: u32) {
        self.block.clear();
        self.options = false;
        self.u32(kind);
        self.u32(0); // the length: set at the end of the block
    }

    fn u32(&mut self, value: u32) {
        self.block.extend(value.to_le_bytes());
    }

    fn pad(&mut self) {
        self.block.resize(self.block.len().next_multiple_of(4), 0);
    }

    fn option(&mut self, code: u16, value: &[u8]) {
        self.options = true;
        // A longer value is cut: the length field has 16 bits.
        let value = &value[..value.len().min(usize::from(u16::MAX))];
        self.block.extend(code.to_le_bytes());
        self.block.extend((value.len() as u16).to_le_bytes());
        self.block.extend(value);
        self.pad();
    }

    fn text(&mut self, code: u16, text: Option<&str>) {
        if let Some(text) = text {
            self.option(code, text.as_bytes());
        }
    }

    fn end(&mut self) -> io::Result<()> {
        if self.options {
            self.block.extend([0; 4]); // opt_endofopt
        }
        let len = (self.block.len() + 4) as u32;
        self.block[4..8].copy_from_slice(&len.to_le_bytes());
        self.u32(len);
        self.out.write_all(&self.block)
    }
}
