//! The labels of segments: the names of the `tcp.analysis` fields of Wireshark [Wireshark packet-tcp.c].

use dumbbell_units::named;
use std::fmt;

named! {
    /// A label, named as the field `tcp.analysis.NAME`.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
    #[repr(u8)]
    pub enum Label {
        /// "Retransmission": plain, fast or spurious.
        Retransmission = "retransmission",
        /// "Fast Retransmission": after duplicate ACKs.
        FastRetransmission = "fast_retransmission",
        /// "Spurious Retransmission": the data was acknowledged already.
        SpuriousRetransmission = "spurious_retransmission",
        /// "Out-Of-Order": after a segment with higher sequence numbers, soon enough for reordering.
        OutOfOrder = "out_of_order",
        /// "Previous segment not captured".
        LostSegment = "lost_segment",
        /// "ACKed unseen segment".
        AckLostSegment = "ack_lost_segment",
        /// "Dup ACK".
        DuplicateAck = "duplicate_ack",
        /// "ZeroWindow": the receive window is 0.
        ZeroWindow = "zero_window",
        /// "ZeroWindowProbe": one byte beyond a zero window.
        ZeroWindowProbe = "zero_window_probe",
        /// "ZeroWindowProbeAck": the answer to a probe, with a zero window.
        ZeroWindowProbeAck = "zero_window_probe_ack",
        /// "Window Full": the segment fills the receive window.
        WindowFull = "window_full",
        /// "Window Update": an ACK that only changes the window.
        WindowUpdate = "window_update",
        /// "Keep-Alive".
        KeepAlive = "keep_alive",
        /// "Keep-Alive ACK".
        KeepAliveAck = "keep_alive_ack",
        /// "Port numbers reused": a new connection on the ports of an earlier one.
        ReusedPorts = "reused_ports",
    }
}

/// Number of labels.
pub const LABELS: usize = Label::ALL.len();

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

named! {
    /// A rule set for the labels, with its name on the command line.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
    pub enum Rules {
        /// The rules of Wireshark 4.0.
        Wireshark40 = "wireshark-4.0",
        /// The rules of Wireshark 4.4.
        #[default]
        Wireshark44 = "wireshark-4.4",
        /// Retransmissions and reordering from the history of the connection (`tcp/history`); all other labels as in
        /// Wireshark 4.4.
        Dumbbell = "dumbbell",
    }
}
