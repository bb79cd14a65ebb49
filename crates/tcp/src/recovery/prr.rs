//! Proportional rate reduction: during recovery the window comes down to its new size in step with what ACKs report, so
//! that sending goes on at an even pace [RFC 9937 §6].
//!
//! ```text
//! pipe above target    sent = ceil(delivered * target / flight at the start)           all since recovery began
//! pipe at or below it  as much as this ACK delivers and what was missed so far (conservation of packets), one segment
//!                      more if snd_una moves and nothing further is lost; never beyond the target
//! first ACK            one segment at least: the retransmission
//! end                  the window is the target
//! ```

/// See the top of this file. Bytes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Prr {
    mss: u64,
    target: u64,
    /// What may be delivered until recovery is over (RecoverFS).
    flight: u64,
    delivered: u64,
    out: u64,
    cwnd: u64,
}

impl Prr {
    /// Recovery begins with `flight` bytes that may still be delivered, those of the ACK that began it included.
    pub(crate) fn new(target: u64, flight: u64, mss: u64, pipe: u64) -> Prr {
        Prr { mss, target, flight: flight.max(mss), delivered: 0, out: 0, cwnd: pipe }
    }

    /// The window, bytes.
    pub(crate) fn cwnd(&self) -> u64 {
        self.cwnd
    }

    /// What the window will be.
    pub(crate) fn target(&self) -> u64 {
        self.target
    }

    /// An ACK delivers something; `safe`: it moves snd_una and tells of no further loss.
    // DIVERGES [RFC 9937 §6.2]: the proportion is rounded up to whole segments rather than to whole bytes. In bytes the
    // forced retransmission would not come, as a fraction of a segment is more than nothing and less than one.
    pub(crate) fn on_ack(&mut self, delivered: u64, safe: bool, pipe: u64) {
        self.delivered += delivered;
        let send = if pipe > self.target {
            let segments = (self.delivered * self.target).div_ceil(self.flight * self.mss);
            (segments * self.mss).saturating_sub(self.out)
        } else {
            let conserved = self.delivered.saturating_sub(self.out).max(delivered);
            (conserved + if safe { self.mss } else { 0 }).min(self.target - pipe)
        };
        let least = if self.out == 0 { self.mss } else { 0 };
        self.cwnd = pipe + send.max(least);
    }

    /// Something leaves.
    pub(crate) fn on_sent(&mut self, payload: u64) {
        self.out += payload;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Plays the sender to the figures of RFC 9937 §8: 20 segments in flight, the target 10. Each ACK delivers one segment;
    /// gives the window before and the pipe after each ACK, and what is sent.
    fn play(acks: usize, lost: u64, safe: bool) -> Vec<(u64, u64, u64)> {
        // The third SACKed segment begins recovery: two new ones are out by limited transmit.
        let mut pipe = 22 - 3 + 1 - lost;
        let mut prr = Prr::new(10, 20, 1, pipe);
        (0..acks)
            .map(|_| {
                pipe -= 1;
                prr.on_ack(1, safe, pipe);
                let sent = prr.cwnd().saturating_sub(pipe);
                prr.on_sent(sent);
                let row = (prr.cwnd(), pipe, sent);
                pipe += sent;
                row
            })
            .collect()
    }

    #[test]
    fn one_loss_figure_1() {
        // ACKs 3 to 21 of the first example. With ACK 19 pipe is at the target, where the text has nothing sent; the figure
        // goes on with the proportion for one more ACK, sends with it and not with the next, and is where this is.
        let rows = play(19, 1, false);
        let cwnd: Vec<u64> = rows.iter().map(|r| r.0).collect();
        let pipe: Vec<u64> = rows.iter().map(|r| r.1).collect();
        let sent: Vec<u64> = rows.iter().map(|r| r.2).collect();
        assert_eq!(cwnd, [19, 18, 18, 17, 17, 16, 16, 15, 15, 14, 14, 13, 13, 12, 12, 11, 10, 10, 10]);
        assert_eq!(pipe, [18, 18, 17, 17, 16, 16, 15, 15, 14, 14, 13, 13, 12, 12, 11, 11, 10, 9, 9]);
        assert_eq!(sent, [1, 0, 1, 0, 1, 0, 1, 0, 1, 0, 1, 0, 1, 0, 1, 0, 0, 1, 1]);
    }

    #[test]
    fn fifteen_losses_figure_2() {
        // ACKs 17 to 19 of the second example: a pipe of 4, and each ACK lets out one segment.
        assert_eq!(play(3, 15, false), [(5, 4, 1), (5, 4, 1), (5, 4, 1)]);
    }

    #[test]
    fn good_progress_adds_a_segment_up_to_the_target() {
        // Pipe 4, target 10: each ACK that moves snd_una sends two, until the pipe is at the target.
        let pipes: Vec<u64> = play(8, 15, true).iter().map(|r| r.1).collect();
        assert_eq!(pipes, [4, 5, 6, 7, 8, 9, 9, 9]);
    }

    #[test]
    fn the_first_answer_is_a_segment_at_least() {
        // ceil(1 * 1 / 100) = 1 in segments; of 1000 bytes, with a target of 10 in 1000, all the same.
        let mut prr = Prr::new(10_000, 1_000_000, 1000, 998_000);
        prr.on_ack(1000, false, 997_000);
        assert_eq!(prr.cwnd(), 998_000);
        prr.on_sent(1000);
        prr.on_ack(1000, false, 996_000);
        assert_eq!(prr.cwnd(), 996_000);
    }
}
