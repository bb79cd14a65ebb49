//! Round trips, counted by sequence numbers.

/// One round trip: it is over when a segment sent after its start is acknowledged.
#[derive(Clone, Copy, Debug, Default)]
pub struct Round {
    /// The first byte that was sent in it.
    pub first: u64,
}

impl Round {
    /// The round that starts with the next segment.
    #[must_use]
    pub fn from(snd_nxt: u64) -> Round {
        Round { first: snd_nxt }
    }

    /// Whether an ACK up to `snd_una` ends it.
    #[must_use]
    pub fn ended(&self, snd_una: u64) -> bool {
        snd_una > self.first
    }

    /// Bytes sent in it so far, retransmissions not counted.
    #[must_use]
    pub fn sent(&self, snd_nxt: u64) -> u64 {
        snd_nxt.saturating_sub(self.first)
    }
}
