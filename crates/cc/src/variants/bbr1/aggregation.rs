//! How much more is acknowledged at once than the path's rate explains: what a link or receiver that collects packets or
//! ACKs needs in flight to stay busy meanwhile.

use dumbbell_units::Time;

/// Round trips that each of the two windows of the maximum lasts.
const WINDOW: u32 = 5;
/// Segments in an epoch after which a new one begins.
const EPOCH: f64 = 1_048_576.0;
/// The longest silence that is provided for, s.
const LONGEST: f64 = 0.1;

/// The largest excess of the last five to ten round trips [Linux 6.12 tcp_bbr.c].
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Aggregation {
    /// When the epoch began and the segments acknowledged in it.
    since: Option<Time>,
    acked: f64,
    /// The maxima of the current window and the one before, segments.
    extra: [f64; 2],
    rounds: u32,
}

impl Aggregation {
    /// A new epoch, as after a pause.
    pub(super) fn restart(&mut self, now: Time) {
        self.since = Some(now);
        self.acked = 0.0;
    }

    /// Takes in an ACK for so many segments; `bw` is the rate expected, segments/s.
    pub(super) fn on_ack(&mut self, segments: f64, bw: f64, cwnd: f64, round_start: bool, now: Time) {
        if round_start {
            self.rounds += 1;
            if self.rounds >= WINDOW {
                self.rounds = 0;
                self.extra = [0.0, self.extra[0]];
            }
        }
        let since = *self.since.get_or_insert(now);
        let mut expected = (bw * now.since(since).as_secs()).floor(); // whole segments [Linux 6.12]
        if self.acked <= expected || self.acked + segments >= EPOCH {
            self.restart(now);
            expected = 0.0;
        }
        self.acked += segments;
        let extra = (self.acked - expected).min(cwnd);
        self.extra[0] = self.extra[0].max(extra);
    }

    /// Segments to be had in flight beyond what rate and delay explain.
    pub(super) fn extra(&self, bw: f64) -> f64 {
        self.extra[0].max(self.extra[1]).min(bw * LONGEST)
    }
}
