//! Round trips, counted by delivered data, for BBR [draft-ietf-ccwg-bbr-06 §5.5.1; Linux tcp_bbr.c bbr_update_bw].

/// A packet-timed round trip: it ends when a segment that was sent after its start is delivered.
#[derive(Clone, Copy, Debug, Default)]
pub struct DeliveryRound {
    /// Completed round trips.
    pub round_count: u64,
    /// True if the last ACK ended one.
    pub round_start: bool,
    /// Bytes delivered on the connection when the current one began.
    next_round_delivered: u64,
}

impl DeliveryRound {
    /// Starts a round trip now, without counting the current one.
    pub fn start_round(&mut self, delivered: u64) {
        self.next_round_delivered = delivered;
    }

    /// A segment was delivered. `prior_delivered` bytes were delivered when it was sent, and `delivered` are now.
    pub fn on_ack(&mut self, prior_delivered: u64, delivered: u64) {
        self.round_start = prior_delivered >= self.next_round_delivered;
        if self.round_start {
            self.round_count += 1;
            self.next_round_delivered = delivered;
        }
    }
}
