//! RACK: losses are found by the time at which segments were sent [RFC 8985 §6; Linux tcp_recovery.c].
//!
//! ```text
//! newest    RACK.xmit_ts, RACK.end_seq: the newest transmission that was delivered; RACK.rtt: its round trip
//! lost      sent before it, and RACK.rtt + RACK.reo_wnd ago or longer; the same for retransmissions
//! reo_wnd   0 in recovery or with DupThresh segments SACKed, if no reordering was observed;
//!           else reo_wnd_mult * min_RTT / 4, at most SRTT. reo_wnd_mult grows by one in each round trip with a D-SACK
//!           and is 1 again after 16 recoveries without
//! timer     when the segments sent before the newest will be lost
//! ```

use super::{Recovery, RecoveryCx};
use crate::config::Config;
use crate::scoreboard::SentSegment;
use crate::send_timer::TimerKind;
use dumbbell_cc::CaState;
use dumbbell_units::{Dur, Time};

/// Recoveries for which a larger reordering window is kept [RFC 8985 §6.2 step 4 RACK.reo_wnd_persist].
const REO_WND_PERSIST: u32 = 16;
/// The largest degree of reordering that is accepted [Linux tcp_ipv4.c tcp_sk_init: sysctl_tcp_max_reordering].
const MAX_REORDERING: u64 = 300;

/// RACK's variables of a connection; the names are those of RFC 8985 §5.3.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Rack {
    mss: u64,
    /// RACK.xmit_ts, RACK.end_seq.
    newest: (Time, u64),
    rtt: Dur,
    /// RACK.fack: end of the highest segment delivered.
    fack: u64,
    /// RACK.fack before the current ACK.
    fack_before: u64,
    reordering_seen: bool,
    /// Degree of reordering in segments [Linux tcp_input.c tcp_check_sack_reordering].
    reordering: u64,
    reo_wnd_mult: u64,
    reo_wnd_persist: u32,
    /// True if this ACK has set the timer to the end of the reordering window.
    pub(super) timer_armed: bool,
    /// RACK.dsack_round: snd_nxt at the last D-SACK that enlarged the window.
    dsack_round: Option<u64>,
}

impl Rack {
    pub(crate) fn new(config: &Config) -> Rack {
        Rack {
            mss: config.mss(),
            newest: (Time::ZERO, 0),
            rtt: Dur::ZERO,
            fack: 0,
            fack_before: 0,
            reordering_seen: false,
            reordering: u64::from(config.recovery.dupack_threshold),
            reo_wnd_mult: 1,
            reo_wnd_persist: 0,
            timer_armed: false,
            dsack_round: None,
        }
    }

    /// Degree of reordering observed so far, in segments.
    pub(crate) fn reordering(&self) -> u64 {
        self.reordering
    }

    /// Notes that a transmission was delivered [RFC 8985 §6.2 step 2 RACK_update].
    pub(crate) fn update(&mut self, s: &SentSegment, rtt: Dur) {
        self.rtt = rtt;
        self.newest = self.newest.max((s.xmit_ts, s.end));
    }

    /// Starts an ACK.
    pub(crate) fn begin_ack(&mut self) {
        self.fack_before = self.fack;
    }

    /// Checks whether a segment was delivered after one that had been sent later [RFC 8985 §6.2 step 3
    /// RACK_detect_reordering]. The segments that one ACK reports count as in order.
    pub(crate) fn detect_reordering(&mut self, s: &SentSegment, sent_once: bool) {
        if s.end > self.fack_before {
            self.fack = self.fack.max(s.end);
        } else if sent_once {
            self.on_reordering(s.start);
        }
    }

    /// Notes that segments were delivered in order that were sent once, up to the one that was sent at and ends at
    /// `newest`.
    #[inline]
    pub(crate) fn on_in_order(&mut self, newest: (Time, u64), now: Time) {
        self.rtt = now.since(newest.0);
        self.newest = self.newest.max(newest);
        self.fack = self.fack.max(newest.1);
    }

    /// True if a segment was sent before the newest that was delivered.
    #[inline]
    pub(super) fn precedes_newest(&self, s: &SentSegment) -> bool {
        (s.xmit_ts, s.end) < self.newest
    }

    /// Notes that the segment at `low` was delivered after one that ends at RACK.fack [Linux tcp_input.c
    /// tcp_check_sack_reordering].
    pub(crate) fn on_reordering(&mut self, low: u64) {
        self.reordering_seen = true;
        let degree = self.fack.saturating_sub(low).div_ceil(self.mss).min(MAX_REORDERING);
        self.reordering = self.reordering.max(degree);
    }

    /// Enlarges the reordering window after a D-SACK, once in a round trip [RFC 8985 §6.2 step 4; Linux tcp_recovery.c
    /// tcp_rack_update_reo_wnd].
    pub(crate) fn on_dsack(&mut self, snd_una: u64, snd_nxt: u64) {
        if self.dsack_round.is_none_or(|end| snd_una >= end) {
            self.dsack_round = Some(snd_nxt);
            self.reo_wnd_mult += 1;
            self.reo_wnd_persist = REO_WND_PERSIST;
        }
    }

    /// Notes the end of a recovery.
    pub(crate) fn on_recovery_exit(&mut self) {
        self.reo_wnd_persist = self.reo_wnd_persist.saturating_sub(1);
        if self.reo_wnd_persist == 0 {
            self.reo_wnd_mult = 1;
        }
    }

    /// Returns RACK.reo_wnd; `strict`: in recovery, or DupThresh segments are SACKed [RFC 8985 §6.2 step 4
    /// RACK_update_reo_wnd].
    fn reo_wnd(&self, strict: bool, min_rtt: Dur, srtt: Dur) -> Dur {
        if strict && !self.reordering_seen { Dur::ZERO } else { (min_rtt * self.reo_wnd_mult / 4).min(srtt) }
    }
}

impl Recovery {
    /// The time after which a segment that was sent before the newest delivered one is lost.
    fn rack_timeout(&self, cx: &RecoveryCx<'_>) -> Dur {
        let strict = matches!(self.state, CaState::Recovery | CaState::Loss)
            || cx.scoreboard.sacked_out() >= u64::from(cx.config.recovery.dupack_threshold);
        let srtt = cx.rtt.srtt().unwrap_or(Dur::ZERO);
        self.rack.rtt + self.rack.reo_wnd(strict, cx.min_rtt.unwrap_or(Dur::ZERO), srtt)
    }

    /// Marks the segments that are lost by now, and sets the timer for the next ones. Returns true if a retransmission
    /// was lost [RFC 8985 §6.2 step 5 RACK_detect_loss_and_arm_timer].
    pub(super) fn detect_loss_and_arm_timer(&mut self, cx: &mut RecoveryCx<'_>) -> bool {
        let wait = self.rack_timeout(cx);
        let retrans_out = cx.scoreboard.retrans_out();
        if let Some(at) = cx.scoreboard.rack_detect_loss(self.rack.newest, wait, cx.now) {
            self.rack.timer_armed = true;
            let span = at.since(cx.now) + cx.timer.least_span();
            cx.timer.start(TimerKind::Reorder, span, cx.now);
        }
        cx.scoreboard.retrans_out() < retrans_out
    }

    /// Marks losses after a timeout [RFC 8985 §6.3].
    pub(super) fn rack_mark_losses_on_rto(&mut self, cx: &mut RecoveryCx<'_>) {
        let wait = self.rack_timeout(cx);
        cx.scoreboard.rack_mark_losses_on_rto(wait, cx.now);
    }

    /// The reordering timer has expired [Linux tcp_recovery.c tcp_rack_reo_timeout].
    pub(super) fn on_reorder_timer(&mut self, cx: &mut RecoveryCx<'_>) {
        cx.timer.expires = None;
        self.detect_loss_and_arm_timer(cx);
        if cx.scoreboard.needs_retransmission() && self.state != CaState::Recovery {
            self.enter_rack_recovery(0, cx);
            if let Some(prr) = &mut self.prr {
                prr.on_ack(self.rack.mss, false, cx.scoreboard.pipe());
            }
        }
        if cx.timer.expires.is_none() {
            cx.rearm_rto();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rack() -> Rack {
        let config = Config::read("linux", &[], dumbbell_cc::find("reno").unwrap()).unwrap();
        Rack::new(&config)
    }

    const RTT: Dur = Dur::millis(100);

    #[test]
    fn the_window_is_zero_in_recovery_until_reordering_is_observed() {
        let mut r = rack();
        assert_eq!(r.reo_wnd(true, RTT, RTT), Dur::ZERO);
        assert_eq!(r.reo_wnd(false, RTT, RTT), Dur::millis(25)); // min_rtt / 4
        r.on_reordering(0);
        assert_eq!(r.reo_wnd(true, RTT, RTT), Dur::millis(25));
    }

    #[test]
    fn each_round_trip_with_a_dsack_widens_it_by_a_quarter() {
        let mut r = rack();
        r.on_dsack(100, 1000);
        assert_eq!(r.reo_wnd(false, RTT, Dur::secs(1)), Dur::millis(50));
        r.on_dsack(999, 2000); // the same round trip
        assert_eq!(r.reo_wnd(false, RTT, Dur::secs(1)), Dur::millis(50));
        r.on_dsack(1000, 2000);
        assert_eq!(r.reo_wnd(false, RTT, Dur::secs(1)), Dur::millis(75));
        assert_eq!(r.reo_wnd(false, RTT, Dur::millis(60)), Dur::millis(60)); // never above srtt
        // After sixteen recoveries without a D-SACK the multiplier is 1 again.
        (0..15).for_each(|_| r.on_recovery_exit());
        assert_eq!(r.reo_wnd(false, RTT, Dur::secs(1)), Dur::millis(75));
        r.on_recovery_exit();
        assert_eq!(r.reo_wnd(false, RTT, Dur::secs(1)), Dur::millis(25));
    }

    #[test]
    fn the_degree_of_reordering_counts_segments_up_to_the_highest_delivered() {
        let mut r = rack();
        r.fack = 1 + 10 * r.mss;
        r.on_reordering(1 + 3 * r.mss); // 7 segments lie between
        assert_eq!(r.reordering(), 7);
        r.on_reordering(1 + 9 * r.mss);
        assert_eq!(r.reordering(), 7);
        r.fack = 1 + 5000 * r.mss;
        r.on_reordering(1);
        assert_eq!(r.reordering(), 300);
    }
}
