//! CoDel's law: which packets tell of a standing queue, as they leave it [RFC 8289].
//!
//! ```text
//! estimator   a packet is high if it waited for target or longer and more than a full packet is left behind it  [§5.6]
//!             the queue stands once packets have been high for an interval without exception
//! not dropping: the queue stands
//!             tell now, then interval / sqrt(count) later                                                      [§5.5]
//!             count starts from what the last spell told after its first, if that is over for less than 16
//!             intervals and was more than one; else from 1
//! dropping    at each due time: count + 1, tell, next due time interval / sqrt(count) after the last           [§5.5]
//!             ends with the first packet that is not high
//! ```
//! To tell is to mark the packet and send it, or to drop it and look at the next one, which may be due at once. Nothing
//! here knows packets: [`Source`] gives them and takes them back.

use dumbbell_units::{Dur, Time};

/// After so many intervals without a drop the rate of the last spell says nothing any more [RFC 8289 §5.5].
const MEMORY: u64 = 16;

/// What is fixed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Config {
    /// The delay that may stand.
    pub target: Dur,
    /// For how long it has to be passed: about the largest round-trip time.
    pub interval: Dur,
}

/// A packet that leaves the queue.
#[derive(Clone, Copy, Debug)]
pub struct Head<P> {
    /// The packet.
    pub packet: P,
    /// How long it has waited.
    pub sojourn: Dur,
    /// Whether no more than one full packet is left behind it: the link must not run dry [RFC 8289 §4.1].
    pub last: bool,
}

/// The queue, as the law sees it.
pub trait Source {
    /// A packet.
    type Packet;
    /// Takes the first packet out.
    fn take(&mut self) -> Option<Head<Self::Packet>>;
    /// Tells of congestion: gives the packet back, marked, or None if it was dropped.
    fn tell(&mut self, packet: Self::Packet) -> Option<Self::Packet>;
}

/// The law's state.
#[derive(Clone, Debug, Default)]
pub struct Codel {
    /// When packets will have been high for an interval, if they are.
    stands_from: Option<Time>,
    next: Time,
    count: u32,
    /// `count` when this spell of dropping began.
    first_count: u32,
    dropping: bool,
    sojourn: Dur,
}

impl Codel {
    /// Whether it is dropping (or marking).
    #[must_use]
    pub fn dropping(&self) -> bool {
        self.dropping
    }

    /// What the spacing goes by: interval / sqrt(count).
    #[must_use]
    pub fn count(&self) -> u32 {
        self.count
    }

    /// How long the last packet that was looked at had waited.
    #[must_use]
    pub fn sojourn(&self) -> Dur {
        self.sojourn
    }

    /// The next packet to send, if there is one; congestion is told on the way.
    pub fn dequeue<S: Source>(&mut self, config: &Config, now: Time, source: &mut S) -> Option<S::Packet> {
        let (mut packet, mut stands) = self.look(config, now, source);
        if self.dropping {
            self.dropping = stands;
            while self.dropping && now >= self.next {
                self.count = self.count.saturating_add(1);
                if let Some(marked) = source.tell(packet?) {
                    self.next = self.after(config, self.next);
                    return Some(marked);
                }
                (packet, stands) = self.look(config, now, source);
                self.dropping = stands;
                if stands {
                    self.next = self.after(config, self.next);
                }
            }
        } else if stands {
            packet = source.tell(packet?);
            if packet.is_none() {
                packet = self.look(config, now, source).0;
            }
            self.begin(config, now);
        }
        packet
    }

    /// Counts packets that were dropped for another reason: the signal has to become stronger all the same.
    pub fn add(&mut self, dropped: u32) {
        self.count = self.count.saturating_add(dropped);
    }

    /// Takes a packet; whether the queue stands [RFC 8289 §5.6].
    fn look<S: Source>(&mut self, config: &Config, now: Time, source: &mut S) -> (Option<S::Packet>, bool) {
        let Some(head) = source.take() else {
            self.stands_from = None;
            return (None, false);
        };
        self.sojourn = head.sojourn;
        if head.sojourn < config.target || head.last {
            self.stands_from = None;
            return (Some(head.packet), false);
        }
        let from = *self.stands_from.get_or_insert(now + config.interval);
        (Some(head.packet), now >= from)
    }

    /// A spell of dropping begins.
    fn begin(&mut self, config: &Config, now: Time) {
        self.dropping = true;
        let told = self.count.saturating_sub(self.first_count);
        let remembered = now < self.next + config.interval * MEMORY;
        self.count = if told > 1 && remembered { told } else { 1 };
        self.first_count = self.count;
        self.next = self.after(config, now);
    }

    /// The control law [RFC 8289 §5.6].
    fn after(&self, config: &Config, time: Time) -> Time {
        time + config.interval.scale(1.0 / f64::from(self.count).sqrt())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const CONFIG: Config = Config { target: Dur::millis(5), interval: Dur::millis(100) };

    /// A link that sends a packet each millisecond from a queue in which every packet has waited `sojourn`.
    struct Link {
        now: Time,
        sojourn: Dur,
        last: bool,
        empty: bool,
        marks: bool,
        told: Vec<u64>,
    }

    impl Link {
        fn new() -> Link {
            let sojourn = Dur::millis(20);
            Link { now: Time::ZERO, sojourn, last: false, empty: false, marks: false, told: Vec::new() }
        }

        /// Sends until `until` ms; at which milliseconds congestion was told.
        fn run(&mut self, law: &mut Codel, until: u64) -> Vec<u64> {
            while self.now < Time::ZERO + Dur::millis(until) {
                assert_eq!(law.dequeue(&CONFIG, self.now, self).is_some(), !self.empty);
                self.now += Dur::millis(1);
            }
            std::mem::take(&mut self.told)
        }
    }

    impl Source for Link {
        type Packet = ();

        fn take(&mut self) -> Option<Head<()>> {
            (!self.empty).then_some(Head { packet: (), sojourn: self.sojourn, last: self.last })
        }

        fn tell(&mut self, (): ()) -> Option<()> {
            self.told.push(self.now.0 / 1_000_000);
            self.marks.then_some(())
        }
    }

    #[test]
    fn drops_come_at_interval_over_the_root_of_their_count() {
        // High from 0 on: stands at 100, first drop; due 100 later. Then count 2, 3, 4, 5, ...: 200, 200 + 70.71 = 270.71,
        // + 57.74 = 328.45, + 50 = 378.45, + 44.72 = 423.17, + 40.82 = 463.99, + 37.80 = 501.79; the next packet's time each.
        let due = [100, 200, 271, 329, 379, 424, 464, 502];
        for marks in [false, true] {
            let (mut link, mut law) = (Link::new(), Codel::default());
            link.marks = marks;
            assert_eq!(link.run(&mut law, 503), due);
            assert!(law.dropping());
            assert_eq!(law.count(), 8);
        }
    }

    #[test]
    fn one_low_packet_starts_the_interval_again() {
        let (mut link, mut law) = (Link::new(), Codel::default());
        assert_eq!(link.run(&mut law, 99), []);
        link.sojourn = Dur(4_999_999);
        assert_eq!(link.run(&mut law, 100), []);
        // High at exactly the target, from 100 on: it stands at 200.
        link.sojourn = Dur::millis(5);
        assert_eq!(link.run(&mut law, 201), [200]);
        // The spell ends with a low packet, or with one that leaves too little behind it.
        link.last = true;
        link.run(&mut law, 202);
        assert!(!law.dropping());
        link.last = false;
        assert_eq!(link.run(&mut law, 303), [302]);
        link.empty = true;
        link.run(&mut law, 304);
        assert!(!law.dropping());
    }

    #[test]
    fn a_spell_soon_after_the_last_starts_where_that_ended() {
        let (mut link, mut law) = (Link::new(), Codel::default());
        // As above: eight told by 503, count 8 from 1. A low packet ends it.
        link.run(&mut law, 503);
        link.sojourn = Dur::ZERO;
        link.run(&mut law, 600);
        link.sojourn = Dur::millis(20);
        // High from 600, stands at 700, within 16 intervals: count = 8 - 1 = 7, due 100/sqrt(7) = 37.80 later; then count 8:
        // 737.80 + 35.36 = 773.15; count 9: 806.48.
        assert_eq!(link.run(&mut law, 801), [700, 738, 774]);
        assert_eq!(law.count(), 9);
        // Now the spell began with 7: 9 - 7 = 2.
        link.sojourn = Dur::ZERO;
        link.run(&mut law, 900);
        link.sojourn = Dur::millis(20);
        link.run(&mut law, 1001);
        assert_eq!(law.count(), 2);
        // A spell that told of congestion once leaves nothing (2 - 2 = 0), nor does one that is long over: the due time
        // of 1071 is more than 1600 ms past.
        let mut late = law.clone();
        late.add(7);
        for law in [&mut law, &mut late] {
            link.now = Time::ZERO + Dur::millis(1050);
            link.sojourn = Dur::ZERO;
            link.run(law, 2700);
            link.sojourn = Dur::millis(20);
            assert_eq!(link.run(law, 2801), [2800]);
            assert_eq!(law.count(), 1);
        }
    }

    #[test]
    fn what_is_overdue_is_told_at_once() {
        // A link that stalls from 101 to 500 ms has the drops due at 200, 270.7, 328.5, 378.5, 423.2, 464.0 to make up for;
        // count 2..7, the next is due at 501.8.
        let (mut link, mut law) = (Link::new(), Codel::default());
        link.run(&mut law, 101);
        link.now = Time::ZERO + Dur::millis(500);
        assert_eq!(link.run(&mut law, 501), [500; 6]);
        // A mark goes out with its packet: one each.
        let (mut link, mut law) = (Link::new(), Codel::default());
        link.marks = true;
        link.run(&mut law, 101);
        link.now = Time::ZERO + Dur::millis(500);
        assert_eq!(link.run(&mut law, 506), [500, 501, 502, 503, 504, 505]);
    }
}
