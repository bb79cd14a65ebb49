//! Two endpoints and a wire between them whose faults the test decides: the endpoint's fixture.
//!
//! The wire has one fixed delay and no rate. Payload has no content in an endpoint, so the wire keeps a model of it:
//! the ranges that have reached the receiver. What the receiver says it delivered must at every moment be the length of
//! the model's gapless beginning, which is what "every byte once, in order" means.

use dumbbell_cc::CongestionControl;
use dumbbell_tcp::{Config, Endpoint, Segment, State, Transmit};
use dumbbell_units::{Dur, Time};
use dumbbell_wire::{Ecn, Seq, TcpFlags};

/// What happens to a segment on the wire.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fate {
    /// It arrives after the wire's delay.
    Arrives,
    /// It is lost.
    Lost,
    /// It arrives later by this much, and may be overtaken.
    Late(Dur),
    /// It arrives twice, the copy later by this much.
    Twice(Dur),
    /// It arrives, marked "congestion experienced" if it is ECN-capable.
    Marked,
}

/// A data segment that left the sender.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sent {
    /// When.
    pub at: Time,
    /// Its number: offset of its payload in full segments.
    pub number: u64,
    /// Whether its data had been sent before.
    pub again: bool,
}

/// Decides the fate of a segment: whether it comes from the data sender, how many data segments that one has sent
/// before, the segment.
pub type Faults<'a> = Box<dyn FnMut(bool, u64, &Segment) -> Fate + 'a>;

/// A segment on the wire.
struct Flying {
    at: Time,
    order: u64,
    forward: bool,
    segment: Segment,
    /// Where its payload begins.
    offset: u64,
    ecn: Ecn,
}

/// See the top of this file.
pub struct Wire<'a> {
    /// Where data comes from.
    pub sender: Endpoint,
    /// Where it goes.
    pub receiver: Endpoint,
    /// Now.
    pub now: Time,
    /// Every data segment that left the sender.
    pub sent: Vec<Sent>,
    /// When each segment without payload left the receiver, and what it acknowledged, in full segments.
    pub acks: Vec<(Time, u64)>,
    delay: Dur,
    faults: Faults<'a>,
    in_flight: Vec<Flying>,
    order: u64,
    arrived: Vec<(u64, u64)>,
    total: u64,
}

impl<'a> Wire<'a> {
    /// A connection of `variant` on the stack `preset` with changes, not yet opened; the wire's one-way delay is 50 ms.
    ///
    /// # Panics
    /// If the names or values are wrong: a broken test.
    #[must_use]
    pub fn new(variant: &str, preset: &str, changes: &[(&str, &str)], faults: Faults<'a>) -> Wire<'a> {
        let build = |config: &Config| dumbbell_cc::build(variant, &[], &config.cc_setup()).unwrap();
        Wire::with_cc(variant, build, preset, changes, faults)
    }

    /// The same with a law of the test's own in the place of the variant's.
    ///
    /// # Panics
    /// As [`Wire::new`].
    #[must_use]
    pub fn with_cc(
        variant: &str,
        law: impl Fn(&Config) -> Box<dyn CongestionControl>,
        preset: &str,
        changes: &[(&str, &str)],
        faults: Faults<'a>,
    ) -> Wire<'a> {
        let row = dumbbell_cc::find(variant).unwrap();
        let config = Config::read(preset, &crate::given(changes), row).unwrap();
        Wire {
            // Numbers that wrap on the wire within the first few segments.
            sender: Endpoint::new(config, law(&config), Seq(u32::MAX - 5_000)),
            receiver: Endpoint::new(config, law(&config), Seq(u32::MAX - 2)),
            now: Time::ZERO,
            sent: Vec::new(),
            acks: Vec::new(),
            delay: Dur::millis(50),
            faults,
            in_flight: Vec::new(),
            order: 0,
            arrived: Vec::new(),
            total: 0,
        }
    }

    /// Opens the connection and gives the sender `segments` full segments and then its close.
    #[must_use]
    pub fn send(mut self, segments: u64) -> Self {
        self.total = segments * self.sender.config().mss();
        self.sender.write(self.total);
        self.sender.close();
        self.receiver.listen();
        self.sender.connect();
        self
    }

    /// Lets time pass until both ends are done.
    ///
    /// # Panics
    /// If something is delivered wrongly, or nothing can happen any more before the end, or it takes a day.
    #[must_use]
    pub fn until_done(mut self) -> Self {
        loop {
            if self.receiver.peer_has_closed() {
                self.receiver.close();
            }
            self.transmit(true);
            self.transmit(false);
            if self.sender.state() == State::Done && self.receiver.peer_has_closed() {
                assert_eq!(self.receiver.delivered(), self.total);
                return self;
            }
            self.step();
            assert!(self.now.as_secs() < 86_400.0, "not done after a day: {self:?}");
        }
    }

    /// Lets time pass up to `seconds` after the start.
    pub fn run_until(&mut self, seconds: f64) {
        loop {
            self.transmit(true);
            self.transmit(false);
            match self.next_event() {
                Some(at) if at.as_secs() <= seconds => self.step(),
                _ => break,
            }
        }
        self.now = self.now.max(Time((seconds * 1e9) as u64));
    }

    fn next_event(&mut self) -> Option<Time> {
        self.in_flight.sort_by_key(|f| (f.at, f.order));
        let arrival = self.in_flight.first().map(|f| f.at);
        let timers = [self.sender.next_timer(self.now), self.receiver.next_timer(self.now)];
        arrival.into_iter().chain(timers.into_iter().flatten()).min()
    }

    /// Goes on to the next arrival or timer.
    fn step(&mut self) {
        let Some(next) = self.next_event() else { panic!("nothing can happen any more: {self:?}") };
        let arrival = self.in_flight.first().map(|f| f.at);
        self.now = self.now.max(next);
        if arrival == Some(next) {
            let Flying { forward, segment, offset, ecn, .. } = self.in_flight.remove(0);
            if forward {
                self.arrive(offset, &segment, ecn);
            } else {
                self.sender.on_segment(&segment, ecn, self.now);
            }
        } else {
            self.sender.on_timer(self.now);
            self.receiver.on_timer(self.now);
        }
    }

    fn arrive(&mut self, offset: u64, segment: &Segment, ecn: Ecn) {
        let before = self.receiver.delivered();
        self.receiver.on_segment(segment, ecn, self.now);
        if segment.payload > 0 && (self.receiver.is_open() || self.receiver.state() == State::Done) {
            self.arrived.push((offset, offset + u64::from(segment.payload)));
        }
        self.arrived.sort_unstable();
        let gapless =
            self.arrived.iter().fold(0, |end, (from, to)| if *from <= end { end.max(*to) } else { end });
        assert_eq!(
            self.receiver.delivered(),
            gapless,
            "delivered is not the gapless beginning of what arrived"
        );
        assert!(self.receiver.delivered() >= before);
        // What lies within the beginning needs no place any more.
        self.arrived.retain(|(_, to)| *to > gapless);
        self.arrived.push((0, gapless));
    }

    fn transmit(&mut self, forward: bool) {
        let mut segment = Segment::default();
        loop {
            let endpoint = if forward { &mut self.sender } else { &mut self.receiver };
            let Some(how) = endpoint.poll(self.now, &mut segment) else { return };
            let fate = (self.faults)(forward, self.sent.len() as u64, &segment);
            if forward && segment.payload > 0 {
                self.note(&how);
            } else if !forward && !segment.flags.contains(TcpFlags::SYN) {
                self.acks.push((self.now, self.receiver.delivered() / self.sender.config().mss()));
            }
            let mark = fate == Fate::Marked && how.ecn.is_capable();
            let ecn = if mark { Ecn::CE } else { how.ecn };
            let mut fly = |extra: Dur| {
                self.order += 1;
                let at = self.now + self.delay + extra;
                let (order, offset) = (self.order, how.payload_offset);
                self.in_flight.push(Flying { at, order, forward, segment, offset, ecn });
            };
            match fate {
                Fate::Lost => {}
                Fate::Arrives | Fate::Marked => fly(Dur::ZERO),
                Fate::Late(extra) => fly(extra),
                Fate::Twice(extra) => {
                    fly(Dur::ZERO);
                    fly(extra);
                }
            }
        }
    }

    fn note(&mut self, how: &Transmit) {
        let mss = self.sender.config().mss();
        let sent = Sent { at: self.now, number: how.payload_offset / mss, again: how.retransmission };
        self.sent.push(sent);
        let window = self.sender.config().buffer.window;
        assert!(
            self.sender.snapshot().snd_nxt - self.sender.snapshot().snd_una <= window,
            "beyond the window offered"
        );
    }

    /// Numbers of the segments that were sent again, in order.
    #[must_use]
    pub fn resent(&self) -> Vec<u64> {
        self.sent.iter().filter(|s| s.again).map(|s| s.number).collect()
    }
}

impl std::fmt::Debug for Wire<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "at {} delivered {} of {}; ", self.now, self.receiver.delivered(), self.total)?;
        write!(f, "{:?} / {:?}, in flight {}", self.sender, self.receiver, self.in_flight.len())
    }
}

/// A wire that loses the data segments of these numbers (counted as they leave, from 0, retransmissions too).
#[must_use]
pub fn losing(numbers: &[u64]) -> Faults<'static> {
    let numbers = numbers.to_vec();
    Box::new(move |forward, count, segment| {
        if forward && segment.payload > 0 && numbers.contains(&count) { Fate::Lost } else { Fate::Arrives }
    })
}
