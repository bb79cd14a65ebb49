//! Round trips, counted by what was delivered.

/// Packet-timed round trips: one ends when a segment sent after its start is delivered
/// [draft-ietf-ccwg-bbr-06 §5.5.1].
#[derive(Clone, Copy, Debug, Default)]
pub struct DeliveryRound {
    /// Round trips so far.
    pub count: u64,
    /// Whether the last ACK ended one.
    pub started: bool,
    /// Bytes delivered on the connection when the current one began.
    from: u64,
}

impl DeliveryRound {
    /// A round starts now, not counted.
    pub fn restart(&mut self, delivered: u64) {
        self.from = delivered;
    }

    /// A segment was delivered that left when `prior_delivered` bytes were; `delivered` are now.
    pub fn on_ack(&mut self, prior_delivered: u64, delivered: u64) {
        self.started = prior_delivered >= self.from;
        if self.started {
            self.count += 1;
            self.from = delivered;
        }
    }
}
