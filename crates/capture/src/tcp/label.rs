//! The labels of segments, in Wireshark's words.

use std::fmt;

/// A label; the names are those of Wireshark's `tcp.analysis` fields.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum Label {
    /// Sent before (plain, fast or spurious).
    Retransmission,
    /// Sent again because of duplicate ACKs.
    FastRetransmission,
    /// Sent again although the receiver had it.
    SpuriousRetransmission,
    /// Arrives after one that was sent later.
    OutOfOrder,
    /// Something before it wasn't captured.
    LostSegment,
    /// Acknowledges what wasn't captured.
    AckLostSegment,
    /// Repeats the last acknowledgment.
    DuplicateAck,
    /// The window is closed.
    ZeroWindow,
    /// Tests whether the window is open again.
    ZeroWindowProbe,
    /// Answers such a test: still closed.
    ZeroWindowProbeAck,
    /// Fills the receiver's window.
    WindowFull,
    /// Only changes the window.
    WindowUpdate,
    /// Tests whether the peer is still there.
    KeepAlive,
    /// Answers such a test.
    KeepAliveAck,
    /// Begins a connection on ports that were in use before.
    ReusedPorts,
}

/// Number of labels.
pub const LABELS: usize = 15;

impl Label {
    /// All of them, in the order of their numbers.
    pub const ALL: [Self; LABELS] = [
        Self::Retransmission,
        Self::FastRetransmission,
        Self::SpuriousRetransmission,
        Self::OutOfOrder,
        Self::LostSegment,
        Self::AckLostSegment,
        Self::DuplicateAck,
        Self::ZeroWindow,
        Self::ZeroWindowProbe,
        Self::ZeroWindowProbeAck,
        Self::WindowFull,
        Self::WindowUpdate,
        Self::KeepAlive,
        Self::KeepAliveAck,
        Self::ReusedPorts,
    ];

    /// Its name: that of the field `tcp.analysis.NAME`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Retransmission => "retransmission",
            Self::FastRetransmission => "fast_retransmission",
            Self::SpuriousRetransmission => "spurious_retransmission",
            Self::OutOfOrder => "out_of_order",
            Self::LostSegment => "lost_segment",
            Self::AckLostSegment => "ack_lost_segment",
            Self::DuplicateAck => "duplicate_ack",
            Self::ZeroWindow => "zero_window",
            Self::ZeroWindowProbe => "zero_window_probe",
            Self::ZeroWindowProbeAck => "zero_window_probe_ack",
            Self::WindowFull => "window_full",
            Self::WindowUpdate => "window_update",
            Self::KeepAlive => "keep_alive",
            Self::KeepAliveAck => "keep_alive_ack",
            Self::ReusedPorts => "reused_ports",
        }
    }
}

/// A set of labels; the bit of a label is its number in [`Label::ALL`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Labels(pub u16);

impl Labels {
    /// No label.
    pub const NONE: Self = Self(0);
    /// The four labels that say what a segment with old data is.
    pub const FAMILY: Self = Self(0b1111);

    /// Whether `label` is set.
    #[inline]
    pub fn has(self, label: Label) -> bool {
        self.0 & 1 << label as u8 != 0
    }

    /// Sets `label`.
    #[inline]
    pub fn set(&mut self, label: Label) {
        self.0 |= 1 << label as u8;
    }

    /// Whether there is none.
    #[inline]
    pub fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// The labels in it.
    pub fn iter(self) -> impl Iterator<Item = Label> {
        Label::ALL.into_iter().filter(move |&l| self.has(l))
    }

    /// Whether Wireshark's I/O graph counts the segment as an error: any label but a window update.
    #[inline]
    pub fn is_error(self) -> bool {
        self.0 & !(1 << Label::WindowUpdate as u8) != 0
    }
}

impl fmt::Display for Labels {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (i, label) in self.iter().enumerate() {
            write!(f, "{}{}", if i > 0 { "," } else { "" }, label.name())?;
        }
        Ok(())
    }
}

/// Whose rules label the segments.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Rules {
    /// Those of Wireshark 4.0.
    Wireshark40,
    /// Those of Wireshark 4.4.
    #[default]
    Wireshark44,
    /// Our own for repeated and reordered data, told from the history of the connection; the rest as Wireshark 4.4.
    Dumbbell,
}

impl Rules {
    /// All rule sets.
    pub const ALL: [Self; 3] = [Self::Wireshark40, Self::Wireshark44, Self::Dumbbell];

    /// Its name on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Self::Wireshark40 => "wireshark-4.0",
            Self::Wireshark44 => "wireshark-4.4",
            Self::Dumbbell => "dumbbell",
        }
    }

    /// The rule set of a name.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|r| r.name() == name)
    }
}
