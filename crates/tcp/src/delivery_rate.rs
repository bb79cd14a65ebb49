//! Delivery-rate samples [draft-ietf-ccwg-bbr §4.1; Linux tcp_rate.c].
//!
//! ```text
//! segment sent   it keeps the state of the connection: bytes delivered and lost so far, when data was last delivered,
//!                when the segment was sent that was delivered last                             (tcp_rate_skb_sent)
//! ACK            the newest segment that it reports gives the sample:                          (tcp_rate_gen)
//!                rs.delivered = C.delivered - P.delivered
//!                rs.interval  = max(its sending - P.first_send_time, now - P.delivered_time)
//! ```
//! The longer of the two times is used because ACKs may arrive faster than the path delivers (compression), and
//! segments may be sent faster than the path accepts them. A sample over less than the smallest RTT results from a
//! wrong guess of the transmission that was acknowledged; it is discarded.
//!
//! All counters are in bytes, as cwnd and the pacing rate are: payload, or full segments where segments count [Linux
//! include/linux/tcp.h struct tcp_sock delivered]. Without SACK duplicate ACKs deliver nothing: the ACK that fills the
//! hole delivers all, over the whole interval.

use dumbbell_cc::{LostEvent, RateSample};
use dumbbell_units::{Dur, Time};

/// State of the connection when a segment was last sent: P.* of the draft.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TxState {
    delivered: u64,
    lost: u64,
    /// Bytes in flight with this segment.
    tx_in_flight: u64,
    delivered_time: Time,
    first_send_time: Time,
    is_app_limited: bool,
}

/// State of the connection: C.* of the draft.
#[derive(Clone, Debug, Default)]
pub struct DeliveryRate {
    delivered: u64,
    lost: u64,
    delivered_time: Time,
    /// When the segment was sent that was delivered last.
    first_send_time: Time,
    /// C.app_limited: samples are marked as application-limited until more than this is delivered; 0: not limited.
    app_limited: u64,
    newest: Option<Newest>,
}

/// The newest segment that the current ACK reports.
#[derive(Clone, Copy, Debug)]
struct Newest {
    tx: TxState,
    end: u64,
    send_elapsed: Dur,
}

impl DeliveryRate {
    /// Bytes delivered so far.
    #[must_use]
    pub fn delivered(&self) -> u64 {
        self.delivered
    }

    /// Bytes marked as lost so far.
    #[must_use]
    pub fn lost(&self) -> u64 {
        self.lost
    }

    /// True if the samples of the data in flight are limited by the application.
    #[must_use]
    pub fn is_app_limited(&self) -> bool {
        self.app_limited > 0
    }

    /// Marks the samples of all data in flight as limited by the application: they show little of the path.
    pub fn set_app_limited(&mut self, in_flight: u64) {
        self.app_limited = (self.delivered + in_flight).max(1);
    }

    /// Returns the state that a segment keeps when it is sent; `in_flight` includes it.
    // DIVERGES [draft-ietf-ccwg-bbr §4.1.2.2]: an interval restarts when nothing is outstanding rather than when
    // nothing is in flight, because the latter is a guess: after a spurious timeout it would restart too late. Linux
    // has the same rule [Linux tcp_rate.c tcp_rate_skb_sent].
    pub fn on_sent(&mut self, nothing_outstanding: bool, in_flight: u64, now: Time) -> TxState {
        if nothing_outstanding {
            self.delivered_time = now;
            self.first_send_time = now;
        }
        TxState {
            delivered: self.delivered,
            lost: self.lost,
            tx_in_flight: in_flight,
            delivered_time: self.delivered_time,
            first_send_time: self.first_send_time,
            is_app_limited: self.app_limited > 0,
        }
    }

    /// Starts the sample of an ACK.
    pub fn begin_ack(&mut self) {
        self.newest = None;
    }

    /// Adds a segment that the ACK delivers; it was last sent at `xmit_ts` and ends at `end`.
    pub fn on_delivered(&mut self, tx: TxState, xmit_ts: Time, end: u64, bytes: u32, now: Time) {
        self.delivered += u64::from(bytes);
        self.delivered_time = now;
        let newer = match &self.newest {
            None => true,
            Some(newest) => xmit_ts > self.first_send_time || (xmit_ts == self.first_send_time && end > newest.end),
        };
        if newer {
            self.newest = Some(Newest { tx, end, send_elapsed: xmit_ts.since(tx.first_send_time) });
            self.first_send_time = xmit_ts;
        }
    }

    /// Counts delivered bytes where no samples are needed.
    pub(crate) fn count(&mut self, bytes: u64) {
        self.delivered += bytes;
    }

    /// Counts lost bytes where no samples are needed.
    #[inline]
    pub(crate) fn count_lost(&mut self, bytes: u64) {
        self.lost += bytes;
    }

    /// Ends the marking of samples when all data is delivered that was in flight when it began.
    #[inline]
    pub(crate) fn end_app_limited(&mut self) {
        if self.delivered > self.app_limited {
            self.app_limited = 0;
        }
    }

    /// Returns the sample of the current ACK.
    #[inline]
    pub fn sample(&mut self, min_rtt: Option<Dur>, now: Time) -> Option<RateSample> {
        self.end_app_limited();
        let Newest { tx, send_elapsed, .. } = self.newest?;
        let interval = send_elapsed.max(now.since(tx.delivered_time));
        if interval == Dur::ZERO || min_rtt.is_some_and(|min_rtt| interval < min_rtt) {
            return None;
        }
        Some(RateSample {
            delivered: self.delivered - tx.delivered,
            interval,
            prior_delivered: tx.delivered,
            total_delivered: self.delivered,
            sent_in_flight: tx.tx_in_flight,
            lost: self.lost - tx.lost,
            app_limited: tx.is_app_limited,
        })
    }

    /// Counts a transmission that is marked as lost.
    pub fn on_lost(&mut self, tx: &TxState, start: u64, bytes: u32) -> LostEvent {
        let bytes = u64::from(bytes);
        self.lost += bytes;
        LostEvent {
            start,
            bytes,
            sent_in_flight: tx.tx_in_flight,
            lost_since: self.lost - tx.lost,
            prior_delivered: tx.delivered,
            app_limited: tx.is_app_limited,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: u64 = 1_000_000;

    fn at(ms: u64) -> Time {
        Time(ms * MS)
    }

    /// Two segments at 0 and 4 ms; the third is sent 10 ms later, when the ACK of the first arrives.
    #[test]
    fn the_longer_of_the_two_intervals_counts() {
        let mut s = DeliveryRate::default();
        let a = s.on_sent(true, 1000, at(0));
        let b = s.on_sent(false, 2000, at(4));
        s.begin_ack();
        s.on_delivered(a, at(0), 1000, 1000, at(10));
        // 1000 bytes: sent over 0 ms, acknowledged over 10 - 0 ms.
        let rate = s.sample(Some(Dur(10 * MS)), at(10)).unwrap();
        assert_eq!((rate.delivered, rate.interval, rate.sent_in_flight), (1000, Dur(10 * MS), 1000));
        let c = s.on_sent(false, 2000, at(10));
        s.begin_ack();
        s.on_delivered(b, at(4), 2000, 1000, at(14));
        // b was sent before anything had been delivered: 2000 bytes from 0 to 14 ms; sending took 4 ms.
        let rate = s.sample(Some(Dur(10 * MS)), at(14)).unwrap();
        assert_eq!((rate.delivered, rate.interval), (2000, Dur(14 * MS)));
        s.begin_ack();
        s.on_delivered(c, at(10), 3000, 1000, at(22));
        // c was sent when 1000 bytes had been delivered at 10 ms: 2000 bytes in 12 ms; sending, from a at 0, took 10
        // ms.
        let rate = s.sample(Some(Dur(10 * MS)), at(22)).unwrap();
        assert_eq!((rate.delivered, rate.interval, rate.prior_delivered), (2000, Dur(12 * MS), 1000));
        assert!((rate.rate() - 2000.0 / 0.012).abs() < 1e-6);
    }

    #[test]
    fn compressed_acks_do_not_raise_the_rate() {
        let mut s = DeliveryRate::default();
        let a = s.on_sent(true, 1000, at(0));
        s.begin_ack();
        s.on_delivered(a, at(0), 1000, 1000, at(10));
        // Ten segments 2 ms apart; all their ACKs arrive at 40 ms.
        let states: Vec<TxState> = (0..10).map(|i| s.on_sent(i == 0, (i + 1) * 1000, at(10 + 2 * i))).collect();
        s.begin_ack();
        for (i, state) in (0..).zip(&states) {
            s.on_delivered(*state, at(10 + 2 * i), 2000 + 1000 * i, 1000, at(40));
        }
        // The newest was sent 18 ms after the first, its ACK arrived 30 ms after the first: all 10,000 bytes in 30 ms.
        let rate = s.sample(None, at(40)).unwrap();
        assert_eq!((rate.delivered, rate.interval), (10_000, Dur(30 * MS)));
    }

    #[test]
    fn too_short_an_interval_gives_no_sample() {
        let mut s = DeliveryRate::default();
        let a = s.on_sent(true, 1000, at(0));
        s.begin_ack();
        assert_eq!(s.sample(None, at(3)), None);
        s.on_delivered(a, at(0), 1000, 1000, at(3));
        assert_eq!(s.sample(Some(Dur(10 * MS)), at(3)), None);
    }

    #[test]
    fn application_limited_until_the_data_in_flight_is_delivered() {
        let mut s = DeliveryRate::default();
        let a = s.on_sent(true, 1000, at(0));
        s.set_app_limited(1000);
        let b = s.on_sent(false, 2000, at(5));
        s.begin_ack();
        s.on_delivered(a, at(0), 1000, 1000, at(10));
        assert!(!s.sample(None, at(10)).unwrap().app_limited);
        assert!(s.is_app_limited()); // 1000 delivered: up to app_limited, not beyond
        s.begin_ack();
        s.on_delivered(b, at(5), 2000, 1000, at(15));
        assert!(s.sample(None, at(15)).unwrap().app_limited);
        assert!(!s.is_app_limited());
    }

    #[test]
    fn losses_are_counted_from_the_transmission() {
        let mut s = DeliveryRate::default();
        let a = s.on_sent(true, 1000, at(0));
        let b = s.on_sent(false, 2000, at(0));
        let c = s.on_sent(false, 3000, at(0));
        assert_eq!(s.on_lost(&a, 1, 1000).lost_since, 1000);
        let again = s.on_sent(false, 3000, at(10));
        let lost = s.on_lost(&b, 1001, 1000);
        assert_eq!((lost.lost_since, lost.sent_in_flight), (2000, 2000));
        s.begin_ack();
        s.on_delivered(c, at(0), 3000, 1000, at(10));
        assert_eq!(s.sample(None, at(10)).unwrap().lost, 2000);
        s.begin_ack();
        s.on_delivered(again, at(10), 1000, 1000, at(20));
        assert_eq!(s.sample(None, at(20)).unwrap().lost, 1000);
    }
}
