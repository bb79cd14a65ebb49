//! Proportional rate reduction: during recovery the window shrinks to its new size in proportion to the data that ACKs
//! report, so that sending continues at an even rate [RFC 9937 §6; Linux tcp_input.c tcp_cwnd_reduction].
//!
//! ```text
//! pipe above ssthresh    sndcnt = ceil(prr_delivered * ssthresh / RecoverFS) - prr_out
//! pipe at or below it    as much as this ACK delivers and was not used so far (PRR-CRB: conservation of packets), one
//!                        segment more if snd_una moves and no further loss is found (PRR-SSRB); never beyond ssthresh
//! first ACK              at least one segment: the retransmission
//! end                    cwnd = ssthresh
//! ```

/// The state of one reduction, in bytes. The names are those of RFC 9937.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Prr {
    mss: u64,
    ssthresh: u64,
    /// RecoverFS: bytes that may be delivered until the end of recovery.
    recover_fs: u64,
    prr_delivered: u64,
    prr_out: u64,
    cwnd: u64,
}

impl Prr {
    /// Starts a reduction. `recover_fs` includes the bytes of the ACK that starts it.
    pub(crate) fn new(ssthresh: u64, recover_fs: u64, mss: u64, pipe: u64) -> Prr {
        Prr { mss, ssthresh, recover_fs: recover_fs.max(mss), prr_delivered: 0, prr_out: 0, cwnd: pipe }
    }

    /// The window, bytes.
    pub(crate) fn cwnd(&self) -> u64 {
        self.cwnd
    }

    /// The window at the end, bytes.
    pub(crate) fn ssthresh(&self) -> u64 {
        self.ssthresh
    }

    /// Handles an ACK that delivers data; `safe_ack`: it moves snd_una and reports no further loss (SafeACK).
    // DIVERGES [RFC 9937 §6.2]: the proportion is rounded up to whole segments rather than to whole bytes. In bytes the
    // first retransmission would not be forced, as a fraction of a segment is more than nothing and less than one.
    pub(crate) fn on_ack(&mut self, delivered: u64, safe_ack: bool, pipe: u64) {
        self.prr_delivered += delivered;
        let sndcnt = if pipe > self.ssthresh {
            let segments = (self.prr_delivered * self.ssthresh).div_ceil(self.recover_fs * self.mss);
            (segments * self.mss).saturating_sub(self.prr_out)
        } else {
            let conserved = self.prr_delivered.saturating_sub(self.prr_out).max(delivered);
            (conserved + if safe_ack { self.mss } else { 0 }).min(self.ssthresh - pipe)
        };
        let least = if self.prr_out == 0 { self.mss } else { 0 };
        self.cwnd = pipe + sndcnt.max(least);
    }

    /// Counts the bytes of a segment that is sent.
    pub(crate) fn on_sent(&mut self, bytes: u64) {
        self.prr_out += bytes;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Repeats the examples of RFC 9937 §8: 20 segments in flight, ssthresh 10, each ACK delivers one segment. Returns
    /// cwnd, pipe and the segments sent after each ACK.
    fn play(acks: usize, lost: u64, safe_ack: bool) -> Vec<(u64, u64, u64)> {
        // The third SACKed segment starts recovery: limited transmit has sent two new ones.
        let mut pipe = 22 - 3 + 1 - lost;
        let mut prr = Prr::new(10, 20, 1, pipe);
        (0..acks)
            .map(|_| {
                pipe -= 1;
                prr.on_ack(1, safe_ack, pipe);
                let sent = prr.cwnd().saturating_sub(pipe);
                prr.on_sent(sent);
                let row = (prr.cwnd(), pipe, sent);
                pipe += sent;
                row
            })
            .collect()
    }

    #[test]
    fn one_loss_as_in_rfc_9937_figure_1() {
        // ACKs 3 to 21 of the first example. With ACK 19 pipe is at ssthresh, where the text sends nothing. The figure
        // applies the proportion to one more ACK: it sends with this ACK and not with the next one, and then agrees
        // again.
        let rows = play(19, 1, false);
        let cwnd: Vec<u64> = rows.iter().map(|r| r.0).collect();
        let pipe: Vec<u64> = rows.iter().map(|r| r.1).collect();
        let sent: Vec<u64> = rows.iter().map(|r| r.2).collect();
        assert_eq!(cwnd, [19, 18, 18, 17, 17, 16, 16, 15, 15, 14, 14, 13, 13, 12, 12, 11, 10, 10, 10]);
        assert_eq!(pipe, [18, 18, 17, 17, 16, 16, 15, 15, 14, 14, 13, 13, 12, 12, 11, 11, 10, 9, 9]);
        assert_eq!(sent, [1, 0, 1, 0, 1, 0, 1, 0, 1, 0, 1, 0, 1, 0, 1, 0, 0, 1, 1]);
    }

    #[test]
    fn fifteen_losses_as_in_rfc_9937_figure_2() {
        // ACKs 17 to 19 of the second example: a pipe of 4, and each ACK allows one segment.
        assert_eq!(play(3, 15, false), [(5, 4, 1), (5, 4, 1), (5, 4, 1)]);
    }

    #[test]
    fn a_safe_ack_adds_a_segment_up_to_ssthresh() {
        // Pipe 4, ssthresh 10: each ACK that moves snd_una sends two, until the pipe is at ssthresh.
        let pipes: Vec<u64> = play(8, 15, true).iter().map(|r| r.1).collect();
        assert_eq!(pipes, [4, 5, 6, 7, 8, 9, 9, 9]);
    }

    #[test]
    fn the_first_ack_allows_at_least_one_segment() {
        // ceil(1 * 10 / 1000) = 1 segment of 1000 bytes.
        let mut prr = Prr::new(10_000, 1_000_000, 1000, 998_000);
        prr.on_ack(1000, false, 997_000);
        assert_eq!(prr.cwnd(), 998_000);
        prr.on_sent(1000);
        prr.on_ack(1000, false, 996_000);
        assert_eq!(prr.cwnd(), 996_000);
    }
}
