//! Counters over the frames of a file: the input of the capture properties, besides sections and interfaces.

use dumbbell_units::named;

named! {
    /// A file format, with its short name in Wireshark.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
    pub enum Kind {
        /// pcap with microseconds.
        Pcap = "pcap",
        /// pcap with nanoseconds.
        PcapNanoseconds = "nsecpcap",
        /// pcapng.
        Pcapng = "pcapng",
    }
}

impl Kind {
    /// Its name in Wireshark.
    pub fn title(self) -> &'static str {
        match self {
            Self::Pcap => "Wireshark/tcpdump/... - pcap",
            Self::PcapNanoseconds => "Wireshark/tcpdump/... - nanosecond pcap",
            Self::Pcapng => "Wireshark/... - pcapng",
        }
    }
}

/// Counters that the reader updates with each frame.
#[derive(Clone, Debug, Default)]
pub(crate) struct Tally {
    pub(crate) packets: u64,
    pub(crate) bytes: u64,
    pub(crate) captured_bytes: u64,
    pub(crate) span: Option<Span>,
    pub(crate) untimed: u64,
    /// Frames with a time stamp before that of the previous frame.
    pub(crate) backwards: u64,
    /// Shortest and longest captured length of the cut frames.
    pub(crate) cut: Option<(u32, u32)>,
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct Span {
    /// Time and interface.
    pub(crate) earliest: (i64, u32),
    pub(crate) latest: (i64, u32),
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
