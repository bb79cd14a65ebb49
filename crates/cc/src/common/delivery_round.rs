//! Round trips, counted by what was delivered.

/// Packet-timed round trips: one ends when a segment sent after its start is delivered
/// [draft-ietf-ccwg-bbr-06 §5.5.1].
#[derive(Clone, Copy, Debug, Default)]
pub struct DeliveryRound {
    /// Round trips so far.
    pub round_count: u64,
    /// Whether the last ACK ended one.
    pub round_start: bool,
    /// Bytes delivered on the connection when the current one began.
    next_round_delivered: u64,
}

impl DeliveryRound {
    /// A round starts now, not counted.
    pub fn start_round(&mut self, delivered: u64) {
        self.next_round_delivered = delivered;
    }

    /// A segment was delivered that left when `prior_delivered` bytes were; `delivered` are now.
    pub fn on_ack(&mut self, prior_delivered: u64, delivered: u64) {
        self.round_start = prior_delivered >= self.next_round_delivered;
        if self.round_start {
            self.round_count += 1;
            self.next_round_delivered = delivered;
        }
    }
}
