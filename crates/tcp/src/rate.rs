//! Delivery-rate samples [draft-ietf-ccwg-bbr §4.1].
//!
//! ```text
//! segment leaves      it takes a stamp: what was delivered and lost so far, when something was last delivered, when the
//!                     segment left that was delivered last
//! ACK                 the newest segment that it tells of gives the sample:
//!                     delivered = delivered now - delivered then
//!                     interval  = max(its sending - first_sent_at, now - delivered_at)
//! ```
//! The longer of the two times is taken because ACKs may come faster than the path delivers (compressed) or segments
//! leave faster than it takes them. A sample over less than the smallest RTT comes from a wrong guess at which
//! transmission was acknowledged and is left out.
//!
//! Everything counts payload bytes, as cwnd and the pacing rate do. Without SACK duplicate ACKs deliver nothing: the
//! ACK that fills the hole does, over the whole interval.

use dumbbell_cc::{LostEvent, RateSample};
use dumbbell_units::{Dur, Time};

/// What a segment remembers of the moment at which it was last sent.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Stamp {
    delivered: u64,
    lost: u64,
    /// Bytes in flight just after it left.
    in_flight: u64,
    delivered_at: Time,
    first_sent_at: Time,
    app_limited: bool,
}

/// See the top of this file.
#[derive(Clone, Debug, Default)]
pub(crate) struct Sampler {
    delivered: u64,
    lost: u64,
    delivered_at: Time,
    /// When the segment was sent that was delivered last.
    first_sent_at: Time,
    /// The value of `delivered` up to which samples are marked as application-limited; 0: not limited.
    limited_until: u64,
    newest: Option<Newest>,
}

/// The newest segment that the current ACK tells of.
#[derive(Clone, Copy, Debug)]
struct Newest {
    stamp: Stamp,
    end: u64,
    send_elapsed: Dur,
}

impl Sampler {
    /// Bytes delivered so far.
    pub(crate) fn delivered(&self) -> u64 {
        self.delivered
    }

    /// Bytes taken for lost so far.
    pub(crate) fn lost(&self) -> u64 {
        self.lost
    }

    pub(crate) fn is_app_limited(&self) -> bool {
        self.limited_until > 0
    }

    /// The application holds sending back: what is delivered up to the end of what is in flight says little of the path.
    pub(crate) fn app_limited(&mut self, in_flight: u64) {
        self.limited_until = (self.delivered + in_flight).max(1);
    }

    /// A segment leaves; `in_flight` includes it.
    // DIVERGES [draft-ietf-ccwg-bbr §4.1.2.2]: an interval begins anew when nothing is outstanding rather than when
    // nothing is in flight, which is a guess: after a spurious timeout it would begin too late. Linux does so too.
    pub(crate) fn on_sent(&mut self, nothing_outstanding: bool, in_flight: u64, now: Time) -> Stamp {
        if nothing_outstanding {
            self.delivered_at = now;
            self.first_sent_at = now;
        }
        Stamp {
            delivered: self.delivered,
            lost: self.lost,
            in_flight,
            delivered_at: self.delivered_at,
            first_sent_at: self.first_sent_at,
            app_limited: self.limited_until > 0,
        }
    }

    /// An ACK begins.
    pub(crate) fn begin(&mut self) {
        self.newest = None;
    }

    /// The ACK delivers a segment that was last sent at `sent_at` and ends at `end`.
    pub(crate) fn on_delivered(&mut self, stamp: Stamp, sent_at: Time, end: u64, payload: u32, now: Time) {
        self.delivered += u64::from(payload);
        self.delivered_at = now;
        let newer = match &self.newest {
            None => true,
            Some(newest) => {
                sent_at > self.first_sent_at || (sent_at == self.first_sent_at && end > newest.end)
            }
        };
        if newer {
            self.newest = Some(Newest { stamp, end, send_elapsed: sent_at.since(stamp.first_sent_at) });
            self.first_sent_at = sent_at;
        }
    }

    /// The sample of the ACK that has been taken in.
    pub(crate) fn sample(&mut self, min_rtt: Option<Dur>, now: Time) -> Option<RateSample> {
        if self.delivered > self.limited_until {
            self.limited_until = 0;
        }
        let Newest { stamp, send_elapsed, .. } = self.newest?;
        let interval = send_elapsed.max(now.since(stamp.delivered_at));
        if interval == Dur::ZERO || min_rtt.is_some_and(|least| interval < least) {
            return None;
        }
        Some(RateSample {
            delivered: self.delivered - stamp.delivered,
            interval,
            prior_delivered: stamp.delivered,
            total_delivered: self.delivered,
            sent_in_flight: stamp.in_flight,
            lost: self.lost - stamp.lost,
            app_limited: stamp.app_limited,
        })
    }

    /// A transmission is taken for lost.
    pub(crate) fn on_lost(&mut self, stamp: &Stamp, payload: u32) -> LostEvent {
        let bytes = u64::from(payload);
        self.lost += bytes;
        LostEvent {
            bytes,
            sent_in_flight: stamp.in_flight,
            lost_since: self.lost - stamp.lost,
            prior_delivered: stamp.delivered,
            app_limited: stamp.app_limited,
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

    /// Two segments at once, two more 10 ms later as the ACK of the first comes.
    #[test]
    fn the_longer_of_the_two_intervals_counts() {
        let mut s = Sampler::default();
        let a = s.on_sent(true, 1000, at(0));
        let b = s.on_sent(false, 2000, at(4));
        s.begin();
        s.on_delivered(a, at(0), 1000, 1000, at(10));
        // 1000 bytes: sent over 0 ms, acknowledged over 10 - 0 ms.
        let rate = s.sample(Some(Dur(10 * MS)), at(10)).unwrap();
        assert_eq!((rate.delivered, rate.interval, rate.sent_in_flight), (1000, Dur(10 * MS), 1000));
        let c = s.on_sent(false, 2000, at(10));
        s.begin();
        s.on_delivered(b, at(4), 2000, 1000, at(14));
        // b was sent before anything had been delivered: 2000 bytes from 0 to 14 ms; sending took 4 ms.
        let rate = s.sample(Some(Dur(10 * MS)), at(14)).unwrap();
        assert_eq!((rate.delivered, rate.interval), (2000, Dur(14 * MS)));
        s.begin();
        s.on_delivered(c, at(10), 3000, 1000, at(22));
        // c left when 1000 bytes had been delivered at 10 ms: 2000 bytes in 12 ms; sending, from a at 0, took 10 ms.
        let rate = s.sample(Some(Dur(10 * MS)), at(22)).unwrap();
        assert_eq!((rate.delivered, rate.interval, rate.prior_delivered), (2000, Dur(12 * MS), 1000));
        assert!((rate.rate() - 2000.0 / 0.012).abs() < 1e-6);
    }

    #[test]
    fn compressed_acks_do_not_raise_the_rate() {
        let mut s = Sampler::default();
        let a = s.on_sent(true, 1000, at(0));
        s.begin();
        s.on_delivered(a, at(0), 1000, 1000, at(10));
        // Ten segments 2 ms apart; their ACKs come all at once at 40 ms.
        let stamps: Vec<Stamp> = (0..10).map(|i| s.on_sent(i == 0, (i + 1) * 1000, at(10 + 2 * i))).collect();
        s.begin();
        for (i, stamp) in (0..).zip(&stamps) {
            s.on_delivered(*stamp, at(10 + 2 * i), 2000 + 1000 * i, 1000, at(40));
        }
        // The newest left 18 ms after the first, its ACK came 30 ms after it: all 10,000 bytes in 30 ms.
        let rate = s.sample(None, at(40)).unwrap();
        assert_eq!((rate.delivered, rate.interval), (10_000, Dur(30 * MS)));
    }

    #[test]
    fn too_short_an_interval_gives_no_sample() {
        let mut s = Sampler::default();
        let a = s.on_sent(true, 1000, at(0));
        s.begin();
        assert_eq!(s.sample(None, at(3)), None);
        s.on_delivered(a, at(0), 1000, 1000, at(3));
        assert_eq!(s.sample(Some(Dur(10 * MS)), at(3)), None);
    }

    #[test]
    fn application_limited_until_the_bubble_has_left() {
        let mut s = Sampler::default();
        let a = s.on_sent(true, 1000, at(0));
        s.app_limited(1000);
        let b = s.on_sent(false, 2000, at(5));
        s.begin();
        s.on_delivered(a, at(0), 1000, 1000, at(10));
        assert!(!s.sample(None, at(10)).unwrap().app_limited);
        assert!(s.is_app_limited()); // 1000 delivered: up to the mark, not beyond
        s.begin();
        s.on_delivered(b, at(5), 2000, 1000, at(15));
        assert!(s.sample(None, at(15)).unwrap().app_limited);
        assert!(!s.is_app_limited());
    }

    #[test]
    fn losses_are_counted_from_the_sending() {
        let mut s = Sampler::default();
        let a = s.on_sent(true, 1000, at(0));
        let b = s.on_sent(false, 2000, at(0));
        let c = s.on_sent(false, 3000, at(0));
        assert_eq!(s.on_lost(&a, 1000).lost_since, 1000);
        let again = s.on_sent(false, 3000, at(10));
        let lost = s.on_lost(&b, 1000);
        assert_eq!((lost.lost_since, lost.sent_in_flight), (2000, 2000));
        s.begin();
        s.on_delivered(c, at(0), 3000, 1000, at(10));
        assert_eq!(s.sample(None, at(10)).unwrap().lost, 2000);
        s.begin();
        s.on_delivered(again, at(10), 1000, 1000, at(20));
        assert_eq!(s.sample(None, at(20)).unwrap().lost, 1000);
    }
}
