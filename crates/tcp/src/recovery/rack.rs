//! RACK: losses are found by the time at which segments were sent [RFC 8985 §6].
//!
//! ```text
//! edge      the newest transmission that was delivered (when it was sent, where it ends), rtt its round trip
//! lost      sent before the edge, and rtt + reordering window ago or longer; retransmissions just so
//! window    0 in recovery or with DupThresh segments SACKed, if segments have never been seen out of order;
//!           else mult * min_rtt / 4, srtt at most. mult grows by one in each round trip with a DSACK and is 1 again after
//!           16 recoveries without
//! timer     when what was sent before the edge will be lost
//! ```

use super::Mode;
use crate::config::Config;
use crate::sender::{Sender, Timer};
use crate::sent::Sent;
use dumbbell_units::{Dur, Time};

/// Recoveries for which a wider window is kept.
const PERSIST: u32 = 16;

/// See the top of this file.
#[derive(Clone, Debug)]
pub(crate) struct Rack {
    mss: u64,
    edge: (Time, u64),
    rtt: Dur,
    /// End of the highest segment that was delivered, and the same before the ACK that is being taken in.
    fack: u64,
    fack_before: u64,
    reordering_seen: bool,
    /// How far out of order segments have come, in segments, and the most that is believed.
    reordering: u64,
    mult: u64,
    persist: u32,
    /// With this ACK the timer has been set to the end of a reordering window.
    pub(super) waits: bool,
    /// Within this round trip a DSACK has been answered.
    dsack_round: Option<u64>,
}

/// The largest degree of reordering that is believed (tcp_max_reordering).
const MOST_REORDERING: u64 = 300;

impl Rack {
    pub(crate) fn new(config: &Config) -> Rack {
        Rack {
            mss: u64::from(config.mss),
            edge: (Time::ZERO, 0),
            rtt: Dur::ZERO,
            fack: 0,
            fack_before: 0,
            reordering_seen: false,
            reordering: u64::from(config.dupack_threshold),
            mult: 1,
            persist: 0,
            waits: false,
            dsack_round: None,
        }
    }

    /// How far out of order segments have come, in segments.
    pub(crate) fn reordering(&self) -> u64 {
        self.reordering
    }

    /// A transmission was delivered.
    pub(crate) fn on_delivered(&mut self, s: &Sent, rtt: Dur) {
        self.rtt = rtt;
        self.edge = self.edge.max((s.last_at, s.end));
    }

    /// An ACK begins.
    pub(crate) fn begin(&mut self) {
        self.fack_before = self.fack;
    }

    /// Whether a segment was delivered after one that had been sent later [RFC 8985 §6.2 step 3]. What one ACK tells of is
    /// in order.
    pub(crate) fn note_order(&mut self, s: &Sent, once: bool) {
        if s.end > self.fack_before {
            self.fack = self.fack.max(s.end);
        } else if once {
            self.out_of_order(s.start);
        }
    }

    /// What starts at `low` came after what ends at `fack`.
    pub(crate) fn out_of_order(&mut self, low: u64) {
        self.reordering_seen = true;
        let degree = self.fack.saturating_sub(low).div_ceil(self.mss).min(MOST_REORDERING);
        self.reordering = self.reordering.max(degree);
    }

    /// A DSACK: the window may be too small [RFC 8985 §6.2 step 4].
    pub(crate) fn on_dsack(&mut self, una: u64, nxt: u64) {
        if self.dsack_round.is_none_or(|end| una >= end) {
            self.dsack_round = Some(nxt);
            self.mult += 1;
            self.persist = PERSIST;
        }
    }

    /// A recovery has ended.
    pub(crate) fn on_recovery_exit(&mut self) {
        self.persist = self.persist.saturating_sub(1);
        if self.persist == 0 {
            self.mult = 1;
        }
    }

    /// The reordering window; `strict`: in recovery, or DupThresh segments are SACKed.
    fn window(&self, strict: bool, min_rtt: Dur, srtt: Dur) -> Dur {
        if strict && !self.reordering_seen { Dur::ZERO } else { (min_rtt * self.mult / 4).min(srtt) }
    }
}

impl Sender {
    fn reordering_window(&self) -> Dur {
        let strict = matches!(self.recovery.mode, Mode::Recovery | Mode::Loss)
            || self.sent.sacked_segments() >= u64::from(self.config.dupack_threshold);
        let srtt = self.rtt.srtt().unwrap_or(Dur::ZERO);
        self.rack.window(strict, self.min_rtt().unwrap_or(Dur::ZERO), srtt)
    }

    /// Finds what is lost by now and sets the timer for what will be. Whether a retransmission was among it.
    pub(super) fn find_overdue(&mut self, now: Time) -> bool {
        let wait = self.rack.rtt + self.reordering_window();
        let resent = self.sent.resent_segments();
        let next = self.sent.lose_overdue(self.rack.edge, wait, now);
        if let Some(at) = next {
            self.rack.waits = true;
            let span = at.since(now) + self.least_span();
            (self.timer, self.timer_at) = (Timer::Reorder, Some(self.expiry(span, now)));
        }
        self.sent.resent_segments() < resent
    }

    /// A timeout: the oldest segment is lost, and what was sent a round trip and more ago [RFC 8985 §6.3].
    pub(super) fn lose_for_timeout(&mut self, now: Time) {
        self.sent.lose_old(self.rack.rtt + self.reordering_window(), now);
    }

    /// The reordering timer has expired.
    pub(crate) fn on_reorder_timer(&mut self, now: Time) {
        self.timer_at = None;
        self.find_overdue(now);
        if self.sent.has_waiting() && self.recovery.mode != Mode::Recovery {
            self.enter_by_time(0, now);
            if let Some(prr) = &mut self.recovery.prr {
                prr.on_ack(self.rack.mss, false, self.sent.pipe());
            }
        }
        if self.timer_at.is_none() {
            self.restart_timer_from_front(now);
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
    fn the_window_is_zero_in_recovery_until_order_is_broken() {
        let mut r = rack();
        assert_eq!(r.window(true, RTT, RTT), Dur::ZERO);
        assert_eq!(r.window(false, RTT, RTT), Dur::millis(25)); // min_rtt / 4
        r.out_of_order(0);
        assert_eq!(r.window(true, RTT, RTT), Dur::millis(25));
    }

    #[test]
    fn each_round_trip_with_a_dsack_widens_it_by_a_quarter() {
        let mut r = rack();
        r.on_dsack(100, 1000);
        assert_eq!(r.window(false, RTT, Dur::secs(1)), Dur::millis(50));
        r.on_dsack(999, 2000); // the same round trip
        assert_eq!(r.window(false, RTT, Dur::secs(1)), Dur::millis(50));
        r.on_dsack(1000, 2000);
        assert_eq!(r.window(false, RTT, Dur::secs(1)), Dur::millis(75));
        assert_eq!(r.window(false, RTT, Dur::millis(60)), Dur::millis(60)); // never above srtt
        // Sixteen recoveries without, and it is what it was.
        (0..15).for_each(|_| r.on_recovery_exit());
        assert_eq!(r.window(false, RTT, Dur::secs(1)), Dur::millis(75));
        r.on_recovery_exit();
        assert_eq!(r.window(false, RTT, Dur::secs(1)), Dur::millis(25));
    }

    #[test]
    fn the_degree_of_reordering_counts_segments_up_to_the_highest_delivered() {
        let mut r = rack();
        r.fack = 1 + 10 * r.mss;
        r.out_of_order(1 + 3 * r.mss); // 7 segments lie between
        assert_eq!(r.reordering(), 7);
        r.out_of_order(1 + 9 * r.mss);
        assert_eq!(r.reordering(), 7);
        r.fack = 1 + 5000 * r.mss;
        r.out_of_order(1);
        assert_eq!(r.reordering(), 300);
    }
}
