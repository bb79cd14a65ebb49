//! Capture properties, as Wireshark and its `capinfos` show them.

use crate::read::{Compression, Interface, Reader, Section};
use crate::{LinkType, link_names};

/// A file format.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Kind {
    /// pcap with microseconds.
    Pcap,
    /// pcap with nanoseconds.
    PcapNanoseconds,
    /// pcapng.
    Pcapng,
}

impl Kind {
    /// Wireshark's name for it.
    pub fn title(self) -> &'static str {
        match self {
            Self::Pcap => "Wireshark/tcpdump/... - pcap",
            Self::PcapNanoseconds => "Wireshark/tcpdump/... - nanosecond pcap",
            Self::Pcapng => "Wireshark/... - pcapng",
        }
    }

    /// Wireshark's short name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Pcap => "pcap",
            Self::PcapNanoseconds => "nsecpcap",
            Self::Pcapng => "pcapng",
        }
    }
}

/// What the reader counts of each frame.
#[derive(Clone, Debug, Default)]
pub(crate) struct Tally {
    pub(crate) packets: u64,
    bytes: u64,
    captured_bytes: u64,
    span: Option<Span>,
    untimed: u64,
    /// A time stamp lies before that of the frame before.
    backwards: u64,
    /// Shortest and longest captured length of the frames that were cut.
    cut: Option<(u32, u32)>,
}

#[derive(Clone, Copy, Debug)]
struct Span {
    /// Time and interface.
    earliest: (i64, u32),
    latest: (i64, u32),
    last: i64,
}

impl Tally {
    #[inline]
    pub(crate) fn add(&mut self, time: Option<i64>, len: u32, captured: u32, interface: u32) {
        self.packets += 1;
        self.bytes += u64::from(len);
        self.captured_bytes += u64::from(captured);
        if captured < len {
            let (least, most) = self.cut.unwrap_or((captured, captured));
            self.cut = Some((least.min(captured), most.max(captured)));
        }
        let Some(now) = time else {
            self.untimed += 1;
            return;
        };
        let Some(span) = &mut self.span else {
            self.span = Some(Span { earliest: (now, interface), latest: (now, interface), last: now });
            return;
        };
        self.backwards += u64::from(now < span.last);
        span.last = now;
        if now > span.latest.0 {
            span.latest = (now, interface);
        }
        if now < span.earliest.0 {
            span.earliest = (now, interface);
        }
    }
}

/// The properties of a capture.
#[derive(Clone, Debug, PartialEq)]
pub struct Properties {
    /// The file's name.
    pub file: String,
    /// Its format.
    pub kind: Kind,
    /// How it is compressed.
    pub compression: Option<Compression>,
    /// Link types and how many frames each has, in the order in which they came.
    pub encapsulations: Vec<(LinkType, u64)>,
    /// Snap length of the file as a whole, bytes (pcap only).
    pub snaplen: Option<u32>,
    /// Shortest and longest captured length of the frames that were cut, bytes.
    pub inferred_snaplen: Option<(u32, u32)>,
    /// Number of frames.
    pub packets: u64,
    /// The file's size, bytes, as it lies on the disk.
    pub file_size: Option<u64>,
    /// Sum of the lengths on the wire.
    pub bytes: u64,
    /// Sum of the captured lengths.
    pub captured_bytes: u64,
    /// Earliest time stamp, ns since 1970-01-01 UTC.
    pub first: Option<i64>,
    /// Latest time stamp, ns since 1970-01-01 UTC.
    pub last: Option<i64>,
    /// Digits of a second that the interfaces of those two frames give.
    pub time_digits: (u8, u8),
    /// Frames without a time stamp.
    pub untimed: u64,
    /// Frames whose time stamp lies before that of the frame before them.
    pub backwards: u64,
    /// Who captured it.
    pub sections: Vec<Section>,
    /// Where.
    pub interfaces: Vec<Interface>,
}

impl Properties {
    pub(crate) fn new(reader: &Reader, kind: Kind, tally: &Tally) -> Self {
        let mut encapsulations: Vec<(LinkType, u64)> = Vec::new();
        for interface in reader.interfaces() {
            match encapsulations.iter_mut().find(|(link, _)| link_names::same(*link, interface.link)) {
                Some((_, frames)) => *frames += interface.frames,
                None => encapsulations.push((interface.link, interface.frames)),
            }
        }
        let digits =
            |interface: u32| reader.interfaces().get(interface as usize).map_or(9, |i| i.resolution.digits());
        Self {
            file: reader.name().to_owned(),
            kind,
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

    /// Whether the time stamps never go back; `None` if a frame has none.
    pub fn in_order(&self) -> Option<bool> {
        (self.untimed == 0).then_some(self.backwards == 0)
    }

    /// From the earliest to the latest time stamp, ns; `None` if a frame has none.
    pub fn duration(&self) -> Option<i64> {
        if self.untimed > 0 {
            return None;
        }
        Some(self.last?.saturating_sub(self.first?))
    }

    /// The duration in seconds, unless it is 0: the difference of the two times as floating-point numbers, as
    /// Wireshark takes it. At today's dates those are good to a quarter of a microsecond, which shows in the rates of
    /// short captures.
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

    /// Digits of a second in the time stamps; `None` without an interface.
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
