//! min_rtt and PROBE_RTT: the window is reduced to four segments to measure the RTT without a queue.
//!
//! Source: Linux 6.12 [Linux tcp_bbr.c bbr_update_min_rtt]; each function names its counterpart. Times are in ticks of
//! 4 ms, because bbr_update_min_rtt compares jiffies.

use super::{Bbr1, Mode, micros};
use crate::AckEvent;
use crate::common::floor_to_jiffy;
use dumbbell_units::Time;

impl Bbr1 {
    /// [Linux tcp_bbr.c bbr_update_min_rtt]
    pub(super) fn update_min_rtt(&mut self, ev: &AckEvent, now: Time) {
        let stamp = *self.min_rtt_stamp.get_or_insert(floor_to_jiffy(now));
        let filter_expired = floor_to_jiffy(now) > stamp + self.set.min_rtt_window;
        // The receiver may have delayed the ACK of a single segment that is not full
        // [Linux tcp_input.c tcp_clean_rtx_queue, FLAG_ACK_MAYBE_DELAYED].
        let is_ack_delayed = ev.flight == ev.delivered && (ev.flight as f64) < self.mss;
        if let Some(rtt) = ev.rtt.map(|rtt| micros(rtt) * 1e-6)
            && (self.min_rtt.is_none_or(|min| rtt < min) || (filter_expired && !is_ack_delayed))
        {
            (self.min_rtt, self.min_rtt_stamp) = (Some(rtt), Some(floor_to_jiffy(now)));
        }
        if filter_expired && !self.idle_restart && self.mode != Mode::ProbeRtt {
            self.mode = Mode::ProbeRtt;
            self.window.save(true);
            self.probe_rtt_done_stamp = None;
        }
        if self.mode == Mode::ProbeRtt {
            self.probe_rtt(ev, now);
        }
        if ev.delivered > 0 {
            self.idle_restart = false;
        }
    }

    /// Stays in PROBE_RTT for 200 ms and a round trip with at most four segments in flight. Bandwidth samples of this
    /// time count as limited by the application.
    fn probe_rtt(&mut self, ev: &AckEvent, now: Time) {
        self.app_limited_interval.mark(self.delivered, ev.inflight);
        if self.probe_rtt_done_stamp.is_some() {
            self.probe_rtt_round_done |= self.round.round_start;
            if self.probe_rtt_round_done {
                self.check_probe_rtt_done(now);
            }
        } else if ev.inflight as f64 <= self.set.min_cwnd * self.mss {
            self.probe_rtt_done_stamp = Some(floor_to_jiffy(now) + self.set.probe_rtt_duration);
            self.probe_rtt_round_done = false;
            self.round.start_round(self.delivered);
        }
    }

    /// [Linux tcp_bbr.c bbr_check_probe_rtt_done, bbr_reset_mode]
    pub(super) fn check_probe_rtt_done(&mut self, now: Time) {
        if self.probe_rtt_done_stamp.is_none_or(|done| floor_to_jiffy(now) <= done) {
            return;
        }
        self.min_rtt_stamp = Some(floor_to_jiffy(now)); // the next PROBE_RTT is a whole min_rtt_window away
        self.window.restore();
        if self.full_bw_reached {
            self.reset_probe_bw_mode(now);
        } else {
            self.mode = Mode::Startup;
        }
    }
}
