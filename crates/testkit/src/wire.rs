//! Two endpoints and a wire between them; the test decides the fate of each segment.
//!
//! The wire has a fixed delay and no rate limit. Payload has no content in an endpoint, so the wire records the ranges
//! that have arrived at the receiver. The bytes that the receiver reports as delivered must at all times equal the
//! length of the first range without a gap: each byte is delivered once and in order.

use dumbbell_cc::CongestionControl;
use dumbbell_tcp::{Config, Endpoint, Segment, State, Transmit};
use dumbbell_units::{Dur, Time};
use dumbbell_wire::{Ecn, Seq, TcpFlags};

/// The fate of a segment on the wire.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fate {
    /// It arrives after the delay of the wire.
    Arrives,
    /// It is lost.
    Lost,
    /// It arrives later by this time, and others may overtake it.
    Late(Dur),
    /// It arrives twice, the copy later by this time.
    Twice(Dur),
    /// It arrives, marked "congestion experienced" if it is ECN-capable.
    Marked,
}

/// A data segment sent by the sender.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sent {
    /// Time of sending.
    pub at: Time,
    /// Number: offset of the payload in full segments.
    pub number: u64,
    /// True if it is a retransmission.
    pub again: bool,
}

/// Decides the fate of a segment. Arguments: true if it is from the data sender; the number of data segments that the
/// sender has sent before; the segment.
pub type Faults<'a> = Box<dyn FnMut(bool, u64, &Segment) -> Fate + 'a>;

/// A segment on the wire.
struct Flying {
    at: Time,
    order: u64,
    forward: bool,
    segment: Segment,
    /// Offset of its payload.
    offset: u64,
    ecn: Ecn,
}

/// The network of two endpoints.
pub struct Wire<'a> {
    /// The sender of data.
    pub sender: Endpoint,
    /// The receiver of data.
    pub receiver: Endpoint,
    /// The current time.
    pub now: Time,
    /// All data segments that the sender has sent.
    pub sent: Vec<Sent>,
    /// Time of each segment without payload from the receiver, and the bytes it acknowledged, in full segments.
    pub acks: Vec<(Time, u64)>,
    delay: Dur,
    faults: Faults<'a>,
    in_flight: Vec<Flying>,
    order: u64,
    arrived: Vec<(u64, u64)>,
    total: u64,
}

/// Returns a preset with changed parameters, for a variant.
///
/// # Panics
/// If the preset or the variant is unknown, or a change is refused.
#[must_use]
pub fn config(variant: &str, preset: &str, changes: &[(&str, &str)]) -> Config {
    Config::read(preset, &crate::given(changes), dumbbell_cc::find(variant).unwrap()).unwrap()
}

impl<'a> Wire<'a> {
    /// Returns a connection of `variant` on the stack `preset` with changes, not yet opened; the one-way delay is 50
    /// ms.
    ///
    /// # Panics
    /// If a name or value is wrong: an error in the test.
    #[must_use]
    pub fn new(variant: &str, preset: &str, changes: &[(&str, &str)], faults: Faults<'a>) -> Wire<'a> {
        let build = |config: &Config| dumbbell_cc::build(variant, &[], &config.cc_setup()).unwrap();
        Wire::with_cc(variant, build, preset, changes, faults)
    }

    /// Like [`Wire::new`], with an algorithm of the test instead of that of the variant.
    ///
    /// # Panics
    /// See [`Wire::new`].
    #[must_use]
    pub fn with_cc(
        variant: &str,
        build_cc: impl Fn(&Config) -> Box<dyn CongestionControl>,
        preset: &str,
        changes: &[(&str, &str)],
        faults: Faults<'a>,
    ) -> Wire<'a> {
        Wire::with_config(config(variant, preset, changes), build_cc, faults)
    }

    /// Like [`Wire::with_cc`], with any configuration: tests change properties that a preset fixes.
    #[must_use]
    pub fn with_config(
        config: Config,
        build_cc: impl Fn(&Config) -> Box<dyn CongestionControl>,
        faults: Faults<'a>,
    ) -> Wire<'a> {
        Wire {
            // Initial sequence numbers that wrap within the first segments.
            sender: Endpoint::new(config, build_cc(&config), Seq(u32::MAX - 5_000)),
            receiver: Endpoint::new(config, build_cc(&config), Seq(u32::MAX - 2)),
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

    /// Opens the connection; the application writes `segments` full segments and closes it.
    #[must_use]
    pub fn send(mut self, segments: u64) -> Self {
        self.total = segments * self.sender.config().mss();
        self.sender.write(self.total);
        self.sender.close();
        self.receiver.listen();
        self.sender.connect();
        self
    }

    /// Runs until both endpoints are done.
    ///
    /// # Panics
    /// If bytes are delivered wrongly, if no event remains before the end, or if the run takes a day.
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

    /// Runs until `seconds` after the start.
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

    /// Processes the next arrival or timer.
    fn step(&mut self) {
        let Some(next) = self.next_event() else { panic!("no event remains: {self:?}") };
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
        let gapless = self.arrived.iter().fold(0, |end, (from, to)| if *from <= end { end.max(*to) } else { end });
        assert_eq!(
            self.receiver.delivered(),
            gapless,
            "the delivered bytes differ from the first range that arrived without a gap"
        );
        assert!(self.receiver.delivered() >= before);
        // Ranges within the first one are no longer needed.
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
        assert!(self.sender.snapshot().snd_nxt - self.sender.snapshot().snd_una <= window, "beyond the offered window");
    }

    /// Returns the numbers of the retransmitted segments, in order.
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

/// Returns faults that lose the data segments with these numbers, counted from 0 in the order of sending, including
/// retransmissions.
#[must_use]
pub fn losing(numbers: &[u64]) -> Faults<'static> {
    let numbers = numbers.to_vec();
    Box::new(
        move |forward, count, segment| {
            if forward && segment.payload > 0 && numbers.contains(&count) { Fate::Lost } else { Fate::Arrives }
        },
    )
}
