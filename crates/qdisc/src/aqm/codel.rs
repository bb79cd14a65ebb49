//! The CoDel algorithm: which packets to drop or mark at the head of a persistent queue [RFC 8289].
//!
//! ```text
//! dodequeue   ok_to_drop becomes true once the sojourn time has been target or longer for a whole interval, with more
//!             than one full packet left in the queue at each departure                             [RFC 8289 §5.6]
//! not dropping and ok_to_drop: enter the dropping state                                            [RFC 8289 §5.5]
//!             drop (or mark) one packet; drop_next = control_law(now)
//!             count restarts at count - lastcount if that is above 1 and the last dropping state ended less than 16
//!             intervals ago; otherwise at 1
//! dropping    at each drop_next: count += 1, drop (or mark), drop_next = control_law(drop_next)    [RFC 8289 §5.5]
//!             ends at the first packet with ok_to_drop false
//! control_law(t) = t + interval / sqrt(count)                                                      [RFC 8289 §5.6]
//! rec_inv_sqrt  1 / sqrt(count) as Linux computes it: one step of Newton's method for each new count, in 16 bits. The
//!             second drop follows after half an interval instead of 0.71        [Linux codel_impl.h codel_Newton_step]
//! ```
//! A marked packet is sent. After a drop the next packet is examined at once and may be dropped too. The names are
//! those of RFC 8289 §5; the rules for marks are those of [Linux codel_impl.h codel_dequeue]. The algorithm does not
//! know packets: a [`PacketSource`] supplies them and carries out the mark or the drop.

use dumbbell_units::{Dur, Time};

/// Intervals without a drop after which the drop rate of the last dropping state is forgotten [RFC 8289 §5.5].
const MEMORY: u64 = 16;

/// The parameters of CoDel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CodelParams {
    /// Acceptable persistent sojourn time.
    pub target: Dur,
    /// Time for which the sojourn time must reach the target before the first drop: about the largest round-trip time.
    pub interval: Dur,
    /// True if 1 / sqrt(count) is approximated [Linux codel_impl.h codel_Newton_step].
    pub newton: bool,
}

/// A packet taken from the head of the queue.
#[derive(Clone, Copy, Debug)]
pub struct Head<P> {
    /// The packet.
    pub packet: P,
    /// Its time in the queue.
    pub sojourn: Dur,
    /// True if at most one full packet is left in the queue. Dropping could then idle the link [RFC 8289 §4.1].
    pub last: bool,
}

/// The queue that CoDel controls.
pub trait PacketSource {
    /// A packet.
    type Packet;
    /// Takes the first packet out of the queue.
    fn dequeue(&mut self) -> Option<Head<Self::Packet>>;
    /// Signals congestion with this packet: returns it marked, or drops it and returns None.
    fn mark_or_drop(&mut self, packet: Self::Packet) -> Option<Self::Packet>;
}

/// The state of CoDel for one queue.
#[derive(Clone, Debug, Default)]
pub struct Codel {
    /// When the sojourn time will have been at or above target for an interval; None while it is below.
    first_above_time: Option<Time>,
    /// Time of the next drop in the dropping state.
    drop_next: Time,
    /// Drops since the dropping state began, plus the value it started from.
    count: u32,
    /// `count` at the beginning of the dropping state.
    lastcount: u32,
    dropping: bool,
    /// Linux's 1 / sqrt(count), in units of 2^-16 [Linux codel.h codel_vars.rec_inv_sqrt].
    rec_inv_sqrt: u16,
    /// Sojourn time of the last packet that was dequeued.
    ldelay: Dur,
}

impl Codel {
    /// True in the dropping state.
    #[must_use]
    pub fn dropping(&self) -> bool {
        self.dropping
    }

    /// Returns `count`, which sets the time between drops: interval / sqrt(count).
    #[must_use]
    pub fn count(&self) -> u32 {
        self.count
    }

    /// Returns the sojourn time of the last packet that was dequeued [Linux codel.h codel_vars.ldelay].
    #[must_use]
    pub fn ldelay(&self) -> Dur {
        self.ldelay
    }

    /// Returns the next packet to send, after dropping the packets before it that are due [RFC 8289 §5.5].
    pub fn dequeue<S: PacketSource>(&mut self, params: &CodelParams, now: Time, source: &mut S) -> Option<S::Packet> {
        let (mut packet, mut ok_to_drop) = self.dodequeue(params, now, source);
        if self.dropping {
            self.dropping = ok_to_drop;
            while self.dropping && now >= self.drop_next {
                self.count = self.count.saturating_add(1);
                self.newton_step();
                if let Some(marked) = source.mark_or_drop(packet?) {
                    self.drop_next = self.control_law(params, self.drop_next);
                    return Some(marked);
                }
                (packet, ok_to_drop) = self.dodequeue(params, now, source);
                self.dropping = ok_to_drop;
                if ok_to_drop {
                    self.drop_next = self.control_law(params, self.drop_next);
                }
            }
        } else if ok_to_drop {
            packet = source.mark_or_drop(packet?);
            if packet.is_none() {
                packet = self.dodequeue(params, now, source).0;
            }
            self.enter_dropping(params, now);
        }
        packet
    }

    /// Counts packets that were dropped because of a limit, so that CoDel drops more often afterwards
    /// [Linux sch_fq_codel.c fq_codel_drop].
    pub fn add_to_count(&mut self, dropped: u32) {
        self.count = self.count.saturating_add(dropped);
    }

    /// Takes a packet and returns it with `ok_to_drop` [RFC 8289 §5.6].
    fn dodequeue<S: PacketSource>(
        &mut self,
        params: &CodelParams,
        now: Time,
        source: &mut S,
    ) -> (Option<S::Packet>, bool) {
        let Some(head) = source.dequeue() else {
            self.first_above_time = None;
            return (None, false);
        };
        self.ldelay = head.sojourn;
        if head.sojourn < params.target || head.last {
            self.first_above_time = None;
            return (Some(head.packet), false);
        }
        let first_above_time = *self.first_above_time.get_or_insert(now + params.interval);
        (Some(head.packet), now >= first_above_time)
    }

    /// Enters the dropping state [RFC 8289 §5.5].
    fn enter_dropping(&mut self, params: &CodelParams, now: Time) {
        self.dropping = true;
        let delta = self.count.saturating_sub(self.lastcount);
        // Before the first dropping state `drop_next` is no time: `count` may be above 1 by drops at a limit.
        let recent = self.lastcount > 0 && now < self.drop_next + params.interval * MEMORY;
        if delta > 1 && recent {
            self.count = delta;
            self.newton_step();
        } else {
            self.count = 1;
            self.rec_inv_sqrt = u16::MAX;
        }
        self.lastcount = self.count;
        self.drop_next = self.control_law(params, now);
    }

    /// The control law: the time of the next drop after one at `t` [RFC 8289 §5.6].
    fn control_law(&self, params: &CodelParams, t: Time) -> Time {
        if params.newton {
            let product = u128::from(params.interval.0) * u128::from(self.rec_inv_sqrt);
            return t + Dur((product >> 16) as u64);
        }
        t + params.interval.scale(1.0 / f64::from(self.count).sqrt())
    }

    /// Takes one step of Newton's method towards 1 / sqrt(count): x (3 - count x^2) / 2, in Linux's integers, which
    /// overflow where `count` has grown by a multiple since the last step [Linux codel_impl.h codel_Newton_step].
    fn newton_step(&mut self) {
        let x = u64::from(self.rec_inv_sqrt) << 16;
        let square = (x * x) >> 32;
        let rest = (3u64 << 32).wrapping_sub(u64::from(self.count) * square);
        let next = (rest >> 2).wrapping_mul(x) >> 31;
        self.rec_inv_sqrt = (next >> 16) as u16;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PARAMS: CodelParams = CodelParams { target: Dur::millis(5), interval: Dur::millis(100), newton: false };

    /// A link that sends a packet each millisecond from a queue in which every packet has waited `sojourn`.
    struct Link {
        now: Time,
        sojourn: Dur,
        last: bool,
        empty: bool,
        marks: bool,
        signaled: Vec<u64>,
    }

    impl Link {
        fn new() -> Link {
            let sojourn = Dur::millis(20);
            Link { now: Time::ZERO, sojourn, last: false, empty: false, marks: false, signaled: Vec::new() }
        }

        /// Sends until `until` ms and returns the milliseconds at which a packet was dropped or marked.
        fn run(&mut self, codel: &mut Codel, until: u64) -> Vec<u64> {
            self.run_with(&PARAMS, codel, until)
        }

        fn run_with(&mut self, params: &CodelParams, codel: &mut Codel, until: u64) -> Vec<u64> {
            while self.now < Time::ZERO + Dur::millis(until) {
                assert_eq!(codel.dequeue(params, self.now, self).is_some(), !self.empty);
                self.now += Dur::millis(1);
            }
            std::mem::take(&mut self.signaled)
        }
    }

    impl PacketSource for Link {
        type Packet = ();

        fn dequeue(&mut self) -> Option<Head<()>> {
            (!self.empty).then_some(Head { packet: (), sojourn: self.sojourn, last: self.last })
        }

        fn mark_or_drop(&mut self, (): ()) -> Option<()> {
            self.signaled.push(self.now.0 / 1_000_000);
            self.marks.then_some(())
        }
    }

    #[test]
    fn drops_are_spaced_by_interval_over_the_square_root_of_count() {
        // Above target from 0 on: first drop at 100, the next 100 later. Then count 2, 3, 4, 5, ...: 200, 200 + 70.71 =
        // 270.71, + 57.74 = 328.45, + 50 = 378.45, + 44.72 = 423.17, + 40.82 = 463.99, + 37.80 = 501.79; rounded up to
        // the next packet's time.
        let due = [100, 200, 271, 329, 379, 424, 464, 502];
        for marks in [false, true] {
            let (mut link, mut codel) = (Link::new(), Codel::default());
            link.marks = marks;
            assert_eq!(link.run(&mut codel, 503), due);
            assert!(codel.dropping());
            assert_eq!(codel.count(), 8);
        }
    }

    #[test]
    fn linux_spaces_drops_by_one_step_of_newton_for_each_count() {
        // x (3 - n x^2) / 2 from x = 1: 0.5 (n = 2), 0.5625 (3), 0.4878 (4), 0.4416 (5), 0.4084 (6). So 100, 200, then
        // 250, 306.25, 355.03, 399.19, 440.0; rounded up to the next packet's time.
        let linux = CodelParams { newton: true, ..PARAMS };
        let (mut link, mut codel) = (Link::new(), Codel::default());
        assert_eq!(link.run_with(&linux, &mut codel, 441), [100, 200, 250, 307, 356, 400, 441 - 1]);
        // A new dropping state with count 7 - 1 = 6 takes a step from 1 / sqrt(7), about 0.378, to 0.405.
        link.sojourn = Dur::ZERO;
        link.run_with(&linux, &mut codel, 500);
        link.sojourn = Dur::millis(20);
        assert_eq!(link.run_with(&linux, &mut codel, 642), [600, 641]);
    }

    #[test]
    fn newtons_step_overflows_as_in_linux() {
        // Dropped packets can raise count to many times the one of the last step: 3 - 200 / 4 is below zero.
        let mut codel = Codel { count: 200, rec_inv_sqrt: 1 << 15, ..Codel::default() };
        codel.newton_step();
        // x = 2^31, x^2 / 2^32 = 2^30; (3 * 2^32 - 200 * 2^30) / 4 = 2^62 - 47 * 2^30 as an unsigned number; times 2^31
        // modulo 2^64: -47 * 2^61 = 2^61 (mod 2^64); / 2^31 = 2^30; / 2^16 = 2^14.
        assert_eq!(codel.rec_inv_sqrt, 1 << 14);
    }

    #[test]
    fn drops_at_a_limit_before_the_first_dropping_state_do_not_raise_its_rate() {
        let (mut link, mut codel) = (Link::new(), Codel::default());
        codel.add_to_count(64);
        // As without them: the second drop an interval after the first.
        assert_eq!(link.run(&mut codel, 201), [100, 200]);
    }

    #[test]
    fn one_packet_below_target_restarts_the_interval() {
        let (mut link, mut codel) = (Link::new(), Codel::default());
        assert_eq!(link.run(&mut codel, 99), []);
        link.sojourn = Dur(4_999_999);
        assert_eq!(link.run(&mut codel, 100), []);
        // Exactly the target counts as above, from 100 on: ok_to_drop at 200.
        link.sojourn = Dur::millis(5);
        assert_eq!(link.run(&mut codel, 201), [200]);
        // The dropping state ends at a packet below target, or at one that leaves too little in the queue.
        link.last = true;
        link.run(&mut codel, 202);
        assert!(!codel.dropping());
        link.last = false;
        assert_eq!(link.run(&mut codel, 303), [302]);
        link.empty = true;
        link.run(&mut codel, 304);
        assert!(!codel.dropping());
    }

    #[test]
    fn a_dropping_state_soon_after_the_last_continues_its_rate() {
        let (mut link, mut codel) = (Link::new(), Codel::default());
        // As above: eight drops by 503, count 8 from 1. A packet below target ends the dropping state.
        link.run(&mut codel, 503);
        link.sojourn = Dur::ZERO;
        link.run(&mut codel, 600);
        link.sojourn = Dur::millis(20);
        // Above target from 600, ok_to_drop at 700, within 16 intervals: count = 8 - 1 = 7, next 100/sqrt(7) = 37.80
        // later; then count 8: 737.80 + 35.36 = 773.15; count 9: 806.48.
        assert_eq!(link.run(&mut codel, 801), [700, 738, 774]);
        assert_eq!(codel.count(), 9);
        // This dropping state began with 7: 9 - 7 = 2.
        link.sojourn = Dur::ZERO;
        link.run(&mut codel, 900);
        link.sojourn = Dur::millis(20);
        link.run(&mut codel, 1001);
        assert_eq!(codel.count(), 2);
        // Count restarts at 1 after a dropping state with a single drop (2 - 2 = 0), and after one that ended long ago:
        // its drop_next of 1071 is more than 1600 ms past.
        let mut late = codel.clone();
        late.add_to_count(7);
        for codel in [&mut codel, &mut late] {
            link.now = Time::ZERO + Dur::millis(1050);
            link.sojourn = Dur::ZERO;
            link.run(codel, 2700);
            link.sojourn = Dur::millis(20);
            assert_eq!(link.run(codel, 2801), [2800]);
            assert_eq!(codel.count(), 1);
        }
    }

    #[test]
    fn overdue_drops_follow_at_once() {
        // A link that stalls from 101 to 500 ms has missed the drops at 200, 270.7, 328.5, 378.5, 423.2 and 464.0;
        // count grows from 2 to 7, and the next drop follows at 501.8.
        let (mut link, mut codel) = (Link::new(), Codel::default());
        link.run(&mut codel, 101);
        link.now = Time::ZERO + Dur::millis(500);
        assert_eq!(link.run(&mut codel, 501), [500; 6]);
        // A marked packet is sent, so each departure carries at most one mark.
        let (mut link, mut codel) = (Link::new(), Codel::default());
        link.marks = true;
        link.run(&mut codel, 101);
        link.now = Time::ZERO + Dur::millis(500);
        assert_eq!(link.run(&mut codel, 506), [500, 501, 502, 503, 504, 505]);
    }
}
