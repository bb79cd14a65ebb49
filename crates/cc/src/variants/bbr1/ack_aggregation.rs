//! ACK aggregation: how many more segments are acknowledged at once than the estimated bandwidth explains.
//!
//! Some links and receivers collect packets or ACKs. The sender then needs this many more segments in flight; otherwise
//! it is idle until the next batch of ACKs. Source: Linux 6.12 [Linux tcp_bbr.c bbr_update_ack_aggregation,
//! bbr_ack_aggregation_cwnd].

use dumbbell_units::Time;

/// Round trips of each of the two windows of the maximum [Linux tcp_bbr.c bbr_extra_acked_win_rtts].
const EXTRA_ACKED_WIN_RTTS: u32 = 5;
/// Segments in an epoch at which a new epoch begins [Linux tcp_bbr.c bbr_ack_epoch_acked_reset_thresh].
const ACK_EPOCH_ACKED_RESET_THRESH: f64 = 1_048_576.0;
/// The longest gap between batches of ACKs that the window provides for, s [Linux tcp_bbr.c bbr_extra_acked_max_us].
const EXTRA_ACKED_MAX: f64 = 0.1;

/// The maximum of extra_acked over the last 5 to 10 round trips, segments.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct AckAggregation {
    /// The start of the epoch (ack_epoch_mstamp).
    ack_epoch_stamp: Option<Time>,
    /// Segments acknowledged in the epoch.
    ack_epoch_acked: f64,
    /// The maxima of the current and of the previous window, segments.
    extra_acked: [f64; 2],
    /// Round trips in the current window.
    extra_acked_win_rtts: u32,
}

impl AckAggregation {
    /// Begins a new epoch.
    pub(super) fn reset_epoch(&mut self, now: Time) {
        self.ack_epoch_stamp = Some(now);
        self.ack_epoch_acked = 0.0;
    }

    /// Counts an ACK that delivers `acked` segments; `bw` is the estimated bandwidth, segments/s.
    /// [Linux tcp_bbr.c bbr_update_ack_aggregation]
    pub(super) fn update(&mut self, acked: f64, bw: f64, cwnd: f64, round_start: bool, now: Time) {
        if round_start {
            self.extra_acked_win_rtts += 1;
            if self.extra_acked_win_rtts >= EXTRA_ACKED_WIN_RTTS {
                self.extra_acked_win_rtts = 0;
                self.extra_acked = [0.0, self.extra_acked[0]];
            }
        }
        let epoch_stamp = *self.ack_epoch_stamp.get_or_insert(now);
        // Whole segments: the source computes in integers [Linux tcp_bbr.c bbr_update_ack_aggregation].
        let mut expected_acked = (bw * now.since(epoch_stamp).as_secs()).floor();
        if self.ack_epoch_acked <= expected_acked || self.ack_epoch_acked + acked >= ACK_EPOCH_ACKED_RESET_THRESH {
            self.reset_epoch(now);
            expected_acked = 0.0;
        }
        self.ack_epoch_acked += acked;
        let extra_acked = (self.ack_epoch_acked - expected_acked).min(cwnd);
        self.extra_acked[0] = self.extra_acked[0].max(extra_acked);
    }

    /// Returns the segments to add to the window, at most 100 ms of `bw`.
    /// [Linux tcp_bbr.c bbr_extra_acked, bbr_ack_aggregation_cwnd]
    pub(super) fn cwnd(&self, bw: f64) -> f64 {
        self.extra_acked[0].max(self.extra_acked[1]).min(bw * EXTRA_ACKED_MAX)
    }
}
