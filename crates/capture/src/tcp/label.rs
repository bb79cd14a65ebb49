//! The labels of segments: the names of the `tcp.analysis` fields of Wireshark [Wireshark packet-tcp.c].

use std::fmt;

/// A label, named as the field `tcp.analysis.NAME`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum Label {
    /// "Retransmission": plain, fast or spurious.
    Retransmission,
    /// "Fast Retransmission": after duplicate ACKs.
    FastRetransmission,
    /// "Spurious Retransmission": the data was acknowledged already.
    SpuriousRetransmission,
    /// "Out-Of-Order": after a segment with higher sequence numbers, soon enough for reordering.
    OutOfOrder,
    /// "Previous segment not captured".
    LostSegment,
    /// "ACKed unseen segment".
    AckLostSegment,
    /// "Dup ACK".
    DuplicateAck,
    /// "ZeroWindow": the receive window is 0.
    ZeroWindow,
    /// "ZeroWindowProbe": one byte beyond a zero window.
    ZeroWindowProbe,
    /// "ZeroWindowProbeAck": the answer to a probe, with a zero window.
    ZeroWindowProbeAck,
    /// "Window Full": the segment fills the receive window.
    WindowFull,
    /// "Window Update": an ACK that only changes the window.
    WindowUpdate,
    /// "Keep-Alive".
    KeepAlive,
    /// "Keep-Alive ACK".
    KeepAliveAck,
    /// "Port numbers reused": a new connection on the ports of an earlier one.
    ReusedPorts,
}

/// Number of labels.
pub const LABELS: usize = 15;

impl Label {
    /// All labels, in the order of their bits.
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

    /// The NAME of its field `tcp.analysis.NAME`.
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
    /// The four labels of segments with old data.
    pub const FAMILY: Self = Self(0b1111);

    /// True if `label` is set.
    #[inline]
    pub fn has(self, label: Label) -> bool {
        self.0 & 1 << label as u8 != 0
    }

    /// Sets `label`.
    #[inline]
    pub fn set(&mut self, label: Label) {
        self.0 |= 1 << label as u8;
    }

    /// True without a label.
    #[inline]
    pub fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// The labels of the set.
    pub fn iter(self) -> impl Iterator<Item = Label> {
        Label::ALL.into_iter().filter(move |&l| self.has(l))
    }

    /// True if Wireshark's I/O graph counts the segment as an error: any label but Window Update.
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

/// A rule set for the labels.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Rules {
    /// The rules of Wireshark 4.0.
    Wireshark40,
    /// The rules of Wireshark 4.4.
    #[default]
    Wireshark44,
    /// Retransmissions and reordering from the history of the connection (`tcp/history`); all other labels as in
    /// Wireshark 4.4.
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
