//! Long-term bandwidth ("LT bw"): detects a token-bucket policer and estimates the rate that it allows.
//!
//! A sampling interval begins with a loss, when the bucket is empty. It ends with a loss after 4 to 16 round trips
//! in which at least a fifth as much was lost as was delivered. If two consecutive intervals have bandwidths within
//! 1/8 (or 4 kbit/s) of each other, a policer is assumed: their mean is the bandwidth estimate for 48 round trips,
//! without probing.
//!
//! Sources: Linux 6.12 [Linux tcp_bbr.c bbr_lt_bw_sampling, bbr_lt_bw_interval_done]; policers: Flach et al., An
//! Internet-Wide Analysis of Traffic Policing, SIGCOMM 2016.

use dumbbell_units::Time;

/// The shortest sampling interval, in round trips; four times as many are too long [Linux tcp_bbr.c
/// bbr_lt_intvl_min_rtts].
const INTVL_MIN_RTTS: u64 = 4;
/// Bytes lost for each byte delivered that make an interval lossy [Linux tcp_bbr.c bbr_lt_loss_thresh].
const LOSS_THRESH: f64 = 50.0 / 256.0;
/// Two bandwidths are consistent if they differ by at most this part of the first [Linux tcp_bbr.c bbr_lt_bw_ratio].
const BW_RATIO: f64 = 1.0 / 8.0;
/// Or by at most this many bytes/s (4 kbit/s) [Linux tcp_bbr.c bbr_lt_bw_diff].
const BW_DIFF: f64 = 500.0;
/// Round trips for which lt_bw is used [Linux tcp_bbr.c bbr_lt_bw_max_rtts].
const BW_MAX_RTTS: u64 = 48;

/// The counters of the connection at an ACK.
#[derive(Clone, Copy, Debug)]
pub(super) struct AckSample {
    pub(super) now: Time,
    /// Bytes delivered on the connection.
    pub(super) delivered: u64,
    /// Bytes marked lost on the connection.
    pub(super) lost: u64,
    /// True if this ACK marked segments lost.
    pub(super) losses: bool,
    /// True if this ACK ended a round trip.
    pub(super) round_start: bool,
    /// True if the rate sample was limited by the application.
    pub(super) app_limited: bool,
}

/// The state of the detector. Bandwidths in bytes/s.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct LongTermBw {
    /// The current sampling interval; None unless sampling (lt_is_sampling).
    interval: Option<Interval>,
    /// The bandwidth of the previous interval.
    previous_bw: Option<f64>,
    /// lt_bw while it is used (lt_use_bw), and the round trips since then (lt_rtt_cnt).
    lt_bw: Option<(f64, u64)>,
}

/// The counters at the start of a sampling interval (lt_last_stamp, lt_last_delivered, lt_last_lost).
#[derive(Clone, Copy, Debug)]
struct Interval {
    stamp: Time,
    delivered: u64,
    lost: u64,
    rtt_cnt: u64,
}

impl LongTermBw {
    /// Returns the policed bandwidth while a policer is assumed.
    pub(super) fn get(&self) -> Option<f64> {
        self.lt_bw.map(|(bw, _)| bw)
    }

    /// Restarts the detection [Linux tcp_bbr.c bbr_reset_lt_bw_sampling].
    pub(super) fn reset(&mut self) {
        *self = LongTermBw::default();
    }

    /// Counts an ACK. Returns true if lt_bw was used for long enough and gain cycling has to restart.
    /// [Linux tcp_bbr.c bbr_lt_bw_sampling]
    pub(super) fn on_ack(&mut self, sample: &AckSample, in_probe_bw: bool) -> bool {
        if let Some((_, rtt_cnt)) = &mut self.lt_bw {
            *rtt_cnt += u64::from(in_probe_bw && sample.round_start);
            let expired = *rtt_cnt >= BW_MAX_RTTS;
            if expired {
                self.reset();
            }
            return expired;
        }
        if self.interval.is_none() && !sample.losses {
            return false;
        }
        if sample.app_limited {
            self.reset(); // an idle sender doesn't measure the policer's rate
            return false;
        }
        let interval = self.interval.get_or_insert_with(|| Interval::new(sample));
        interval.rtt_cnt += u64::from(sample.round_start);
        let interval = *interval;
        if interval.rtt_cnt > 4 * INTVL_MIN_RTTS {
            self.reset();
        } else if interval.rtt_cnt >= INTVL_MIN_RTTS && sample.losses {
            self.end_interval(&interval, sample);
        }
        false
    }

    /// Ends a sampling interval if it is lossy [Linux tcp_bbr.c bbr_lt_bw_interval_done].
    fn end_interval(&mut self, interval: &Interval, sample: &AckSample) {
        let (delivered, lost) = (sample.delivered - interval.delivered, sample.lost - interval.lost);
        let ms = sample.now.0 / 1_000_000 - interval.stamp.0 / 1_000_000; // lt_last_stamp counts milliseconds
        if delivered == 0 || (lost as f64) < LOSS_THRESH * delivered as f64 || ms == 0 {
            return;
        }
        let bw = delivered as f64 * 1e3 / ms as f64;
        if let Some(previous) = self.previous_bw {
            let diff = (bw - previous).abs();
            if diff <= BW_RATIO * previous || diff <= BW_DIFF {
                self.lt_bw = Some(((bw + previous) / 2.0, 0));
                return;
            }
        }
        self.previous_bw = Some(bw);
        self.interval = Some(Interval::new(sample));
    }
}

impl Interval {
    fn new(sample: &AckSample) -> Interval {
        Interval { stamp: sample.now, delivered: sample.delivered, lost: sample.lost, rtt_cnt: 0 }
    }
}
