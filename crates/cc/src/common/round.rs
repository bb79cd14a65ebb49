//! Round trips, counted by sequence numbers [RFC 9406 §4.1; Linux tcp_cubic.c bictcp_hystart_reset].

/// One round trip: it ends when a segment that was sent after its start is acknowledged.
#[derive(Clone, Copy, Debug, Default)]
pub struct Round {
    /// SND.NXT at its start [Linux tcp_cubic.c end_seq; tcp_vegas.h beg_snd_nxt].
    pub end_seq: u64,
}

impl Round {
    /// Returns the round trip that starts with the next segment.
    #[must_use]
    pub fn from(snd_nxt: u64) -> Round {
        Round { end_seq: snd_nxt }
    }

    /// True if an ACK up to `snd_una` ends it.
    #[must_use]
    pub fn ended(&self, snd_una: u64) -> bool {
        snd_una > self.end_seq
    }

    /// Returns the bytes sent in it so far, without retransmissions.
    #[must_use]
    pub fn sent(&self, snd_nxt: u64) -> u64 {
        snd_nxt.saturating_sub(self.end_seq)
    }
}
