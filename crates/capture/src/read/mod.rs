//! Reading captures.

pub mod options;
mod pcap;
mod window;

use std::fs::File;
use std::io::Read;
use std::path::Path;

use crate::{Damage, Error, Frame, LinkType};
use window::Window;

/// One interface of a capture; a pcap file has one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Interface {
    /// Its link type.
    pub link: LinkType,
    /// Snap length; 0: none.
    pub snaplen: u32,
    /// `if_name`.
    pub name: Option<String>,
    /// `if_description`.
    pub description: Option<String>,
    /// `if_filter`, if it is a text.
    pub filter: Option<String>,
    /// `if_os`.
    pub os: Option<String>,
    /// `if_hardware`.
    pub hardware: Option<String>,
    /// `if_speed`, bit/s.
    pub speed: Option<u64>,
    /// Units of the time stamps in a second.
    pub units_per_second: u64,
    /// Frames of it so far.
    pub frames: u64,
    /// Frames that the interface dropped, by its last statistics block.
    pub dropped: Option<u64>,
}

/// Reads the frames of one file, in file order.
pub struct Reader {
    name: String,
    window: Window,
    format: pcap::Pcap,
    interfaces: Vec<Interface>,
    frames: u64,
    damage: Option<Damage>,
}

impl Reader {
    /// Opens a file; `-` is the standard input.
    ///
    /// # Errors
    ///
    /// If it can't be opened or isn't a capture.
    pub fn open(path: &Path) -> Result<Self, Error> {
        let name = path.display().to_string();
        if name == "-" {
            return Self::from_read(&name, Box::new(std::io::stdin()));
        }
        let file = File::open(path).map_err(|source| Error::Io { file: name.clone(), source })?;
        Self::from_read(&name, Box::new(file))
    }

    /// Reads from any stream of bytes; `name` is for messages.
    ///
    /// # Errors
    ///
    /// If it doesn't begin as a capture does.
    pub fn from_read(name: &str, source: Box<dyn Read + Send>) -> Result<Self, Error> {
        let mut window = Window::new(source);
        let (format, interface) = pcap::open(name, &mut window)?;
        Ok(Self {
            name: name.to_owned(),
            window,
            format,
            interfaces: vec![interface],
            frames: 0,
            damage: None,
        })
    }

    /// The next frame; `None` at the end of the file or at damage ([`damage`](Self::damage) tells which).
    #[inline]
    pub fn next_frame(&mut self) -> Option<Frame<'_>> {
        if self.damage.is_some() {
            return None;
        }
        let offset = self.window.offset();
        match self.format.next(&mut self.window) {
            Ok(Some(record)) => {
                self.frames += 1;
                Some(Frame {
                    number: self.frames,
                    time: record.time,
                    len: record.len,
                    data: self.window.before(record.captured),
                    interface: 0,
                    link: self.interfaces[0].link,
                    offset,
                    options: options::Options::default(),
                })
            }
            Ok(None) => None,
            Err(fault) => {
                self.damage = Some(Damage { file: self.name.clone(), offset, frames: self.frames, fault });
                None
            }
        }
    }

    /// The file's name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The interfaces described so far, through all sections.
    pub fn interfaces(&self) -> &[Interface] {
        &self.interfaces
    }

    /// Where and why reading stopped before the end, once it has.
    pub fn damage(&self) -> Option<&Damage> {
        self.damage.as_ref()
    }

    /// Bytes of the (decompressed) capture read so far.
    pub fn offset(&self) -> u64 {
        self.window.offset()
    }
}
