//! Capture properties, as Wireshark and its `capinfos` define them [Wireshark capinfos.c].

use crate::LinkType;
use crate::read::{Compression, Interface, Kind, Reader, Section};

/// The properties of a capture.
#[derive(Clone, Debug, PartialEq)]
pub struct Properties {
    /// The file's name.
    pub file: String,
    /// Its format.
    pub kind: Kind,
    /// Its compression.
    pub compression: Option<Compression>,
    /// Link types with their frame counts, in the order of their interfaces.
    pub encapsulations: Vec<(LinkType, u64)>,
    /// Snap length of the file as a whole, bytes (pcap only).
    pub snaplen: Option<u32>,
    /// Shortest and longest captured length of the cut frames, bytes.
    pub inferred_snaplen: Option<(u32, u32)>,
    /// Number of frames.
    pub packets: u64,
    /// The file's size on disk, bytes.
    pub file_size: Option<u64>,
    /// Sum of the lengths on the wire.
    pub bytes: u64,
    /// Sum of the captured lengths.
    pub captured_bytes: u64,
    /// Earliest time stamp, ns since 1970-01-01 UTC.
    pub first: Option<i64>,
    /// Latest time stamp, ns since 1970-01-01 UTC.
    pub last: Option<i64>,
    /// Decimal digits of the time stamps of those two frames.
    pub time_digits: (u8, u8),
    /// Frames without a time stamp.
    pub untimed: u64,
    /// Frames with a time stamp before that of the previous frame.
    pub backwards: u64,
    /// Sections: hardware and software that captured.
    pub sections: Vec<Section>,
    /// Interfaces.
    pub interfaces: Vec<Interface>,
}

impl Properties {
    /// The properties of the frames that `reader` has read so far.
    pub fn of(reader: &Reader) -> Self {
        let tally = reader.tally();
        let mut encapsulations: Vec<(LinkType, u64)> = Vec::new();
        for interface in reader.interfaces() {
            match encapsulations.iter_mut().find(|(link, _)| link.is_same_in_wireshark(interface.link)) {
                Some((_, frames)) => *frames += interface.frames,
                None => encapsulations.push((interface.link, interface.frames)),
            }
        }
        let digits = |interface: u32| reader.interfaces().get(interface as usize).map_or(9, |i| i.resolution.digits());
        Self {
            file: reader.name().to_owned(),
            kind: reader.kind(),
            compression: reader.compression(),
            encapsulations,
            snaplen: reader.snaplen(),
            inferred_snaplen: tally.cut,
            packets: tally.packets,
            file_size: reader.file_size(),
            bytes: tally.bytes,
            captured_bytes: tally.captured_bytes,
            first: tally.span.map(|span| span.earliest.0),
            last: tally.span.map(|span| span.latest.0),
            time_digits: tally.span.map_or((9, 9), |s| (digits(s.earliest.1), digits(s.latest.1))),
            untimed: tally.untimed,
            backwards: tally.backwards,
            sections: reader.sections().to_vec(),
            interfaces: reader.interfaces().to_vec(),
        }
    }

    /// True if no time stamp is earlier than the one before it; `None` if a frame has no time stamp.
    pub fn in_order(&self) -> Option<bool> {
        (self.untimed == 0).then_some(self.backwards == 0)
    }

    /// Time from the earliest to the latest time stamp, ns; `None` if a frame has no time stamp.
    pub fn duration(&self) -> Option<i64> {
        if self.untimed > 0 {
            return None;
        }
        Some(self.last?.saturating_sub(self.first?))
    }

    /// The duration in seconds, `None` if it is 0. As in Wireshark it is the difference of the two times as
    /// floating-point numbers, which have a resolution of a quarter of a microsecond today; the rates of short captures
    /// depend on that.
    fn seconds(&self) -> Option<f64> {
        self.duration()?;
        let whole = |ns: i64| ns.div_euclid(1_000_000_000) as f64 + ns.rem_euclid(1_000_000_000) as f64 / 1e9;
        let seconds = whole(self.last?) - whole(self.first?);
        (seconds > 0.0).then_some(seconds)
    }

    /// Bytes per second.
    pub fn byte_rate(&self) -> Option<f64> {
        Some(self.bytes as f64 / self.seconds()?)
    }

    /// Bits per second.
    pub fn bit_rate(&self) -> Option<f64> {
        Some(self.bytes as f64 * 8.0 / self.seconds()?)
    }

    /// Packets per second.
    pub fn packet_rate(&self) -> Option<f64> {
        Some(self.packets as f64 / self.seconds()?)
    }

    /// Mean length on the wire, bytes.
    pub fn mean_length(&self) -> Option<f64> {
        (self.packets > 0).then(|| self.bytes as f64 / self.packets as f64)
    }

    /// Decimal digits of the time stamps; `None` without an interface.
    pub fn digits(&self) -> Option<Digits> {
        let mut all = self.interfaces.iter().map(|interface| interface.resolution.digits());
        let first = all.next()?;
        Some(if all.all(|digits| digits == first) { Digits::All(first) } else { Digits::Differ })
    }
}

/// See [`Properties::digits`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Digits {
    /// The same on all interfaces.
    All(u8),
    /// The interfaces differ.
    Differ,
}
