//! The send sequence space of a connection, and the counters of what it sent.

/// The send sequence space [RFC 9293 §3.3.1].
#[derive(Clone, Copy, Debug)]
pub(crate) struct SendSequence {
    /// SND.UNA.
    pub(crate) una: u64,
    /// SND.NXT.
    pub(crate) nxt: u64,
    /// The end of all data sent so far.
    pub(crate) max: u64,
    /// SND.UNA + SND.WND: the receiver allows data below this [Linux include/net/tcp.h tcp_wnd_end].
    pub(crate) wnd_end: u64,
    /// The end of the last new segment that was not full [Linux tcp_output.c tcp_minshall_update, snd_sml].
    pub(crate) sml: u64,
}

impl SendSequence {
    /// Bytes from snd_una to snd_nxt.
    pub(crate) fn outstanding(&self) -> u64 {
        self.nxt - self.una
    }
}

/// Counters of the sending half.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counters {
    /// Segments with payload, retransmissions included.
    pub sent_segments: u64,
    /// Payload bytes, retransmissions included.
    pub sent_bytes: u64,
    /// Retransmitted segments with payload.
    pub retransmitted_segments: u64,
    /// Retransmitted payload bytes.
    pub retransmitted_bytes: u64,
    /// Expiries of the retransmission timer with data outstanding.
    pub timeouts: u64,
    /// Recoveries that started without a timeout.
    pub fast_retransmits: u64,
}

impl Counters {
    /// Combines each counter with that of another connection or of another time.
    #[must_use]
    pub fn combine(self, o: Counters, f: impl Fn(u64, u64) -> u64) -> Counters {
        Counters {
            sent_segments: f(self.sent_segments, o.sent_segments),
            sent_bytes: f(self.sent_bytes, o.sent_bytes),
            retransmitted_segments: f(self.retransmitted_segments, o.retransmitted_segments),
            retransmitted_bytes: f(self.retransmitted_bytes, o.retransmitted_bytes),
            timeouts: f(self.timeouts, o.timeouts),
            fast_retransmits: f(self.fast_retransmits, o.fast_retransmits),
        }
    }
}
