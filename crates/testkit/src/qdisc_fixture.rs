//! A queue discipline with a link that a test controls: arrivals, departures, time and the state of the link.

use dumbbell_qdisc::{Backlog, Discipline, DropReason, Ecn, LinkInfo, Packet, Qdisc, QdiscContext, find};
use dumbbell_units::param::Raw;
use dumbbell_units::{Dur, Rate, Time};

/// The fate of an arrival.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fate {
    /// It was enqueued.
    Queued,
    /// It was enqueued with a congestion mark.
    Marked,
    /// It was dropped.
    Dropped(DropReason),
    /// It was enqueued, and the packet with this number was dropped instead.
    Displaced(u32),
}

/// Returns a link of 10 Mbit/s whose flows have a base RTT of 60 ms.
#[must_use]
pub fn link() -> LinkInfo {
    LinkInfo { seed: 1, path: "link/test".into(), ..LinkInfo::new(Rate(10_000_000), Dur::millis(60)) }
}

/// A discipline under test on the link of [`link`], which is busy unless a test changes that. Packets are numbered from
/// 1 in the order of their arrival.
#[derive(Debug)]
pub struct QdiscFixture {
    row: &'static Discipline,
    qdisc: Box<dyn Qdisc>,
    cx: QdiscContext,
    arrived: u32,
    ecn: Ecn,
}

impl QdiscFixture {
    /// Returns the discipline of that name with these parameters.
    ///
    /// # Panics
    /// If the name is unknown or a parameter is refused.
    #[must_use]
    pub fn new(name: &str, params: &[(&str, &str)]) -> QdiscFixture {
        QdiscFixture::on(&link(), name, params)
    }

    /// Like [`QdiscFixture::new`], on another link.
    ///
    /// # Panics
    /// See [`QdiscFixture::new`].
    #[must_use]
    pub fn on(link: &LinkInfo, name: &str, params: &[(&str, &str)]) -> QdiscFixture {
        QdiscFixture::with(link, name, &crate::given(params))
    }

    /// Like [`QdiscFixture::on`], with parameters that aren't all text.
    ///
    /// # Panics
    /// See [`QdiscFixture::new`].
    #[must_use]
    pub fn with(link: &LinkInfo, name: &str, params: &[(String, Raw)]) -> QdiscFixture {
        let mut cx = QdiscContext::default();
        cx.link_busy = true;
        QdiscFixture {
            row: find(name).unwrap(),
            qdisc: dumbbell_qdisc::build(name, params, link).unwrap(),
            cx,
            arrived: 0,
            ecn: Ecn::NOT_ECT,
        }
    }

    /// Advances the time.
    pub fn advance(&mut self, d: Dur) -> &mut QdiscFixture {
        self.cx.now += d;
        self
    }

    /// Returns the current time.
    #[must_use]
    pub fn now(&self) -> Time {
        self.cx.now
    }

    /// Sets whether the link is transmitting.
    pub fn busy(&mut self, busy: bool) -> &mut QdiscFixture {
        self.cx.link_busy = busy;
        self
    }

    /// Sets the ECN codepoint of the next arrivals.
    pub fn ecn(&mut self, ecn: Ecn) -> &mut QdiscFixture {
        self.ecn = ecn;
        self
    }

    /// A packet of that flow arrives; its class is the flow number too.
    ///
    /// # Panics
    /// If more than one packet is dropped.
    pub fn arrive(&mut self, flow: u32, bytes: u32) -> Fate {
        let dropped = self.burst(flow, bytes);
        match dropped[..] {
            [] if self.cx.take_marked() > 0 => Fate::Marked,
            [] => Fate::Queued,
            [(number, reason)] if number == self.arrived => Fate::Dropped(reason),
            [(number, _)] => Fate::Displaced(number),
            _ => panic!("more than one packet was dropped: {dropped:?}"),
        }
    }

    /// A packet of that flow arrives. Returns the numbers of all packets that are dropped at its arrival, with the
    /// reasons.
    pub fn burst(&mut self, flow: u32, bytes: u32) -> Vec<(u32, DropReason)> {
        self.arrived += 1;
        let (body, enqueued) = (self.arrived, self.cx.now);
        let packet = Packet { bytes, flow, class: flow as u16, ecn: self.ecn, body, enqueued };
        self.qdisc.enqueue(packet, &mut self.cx);
        self.dropped()
    }

    /// Dequeues a packet and returns its number. [`QdiscFixture::dropped`] returns the packets that were dropped before
    /// it.
    pub fn send(&mut self) -> Option<u32> {
        self.send_packet().map(|p| p.body)
    }

    /// Dequeues a packet.
    pub fn send_packet(&mut self) -> Option<Packet> {
        self.qdisc.dequeue(&mut self.cx)
    }

    /// Returns the numbers of the packets dropped since the last call, with the reasons.
    pub fn dropped(&mut self) -> Vec<(u32, DropReason)> {
        std::iter::from_fn(|| self.cx.take_dropped().map(|(p, reason)| (p.body, reason))).collect()
    }

    /// Returns the number of packets marked since the last call.
    pub fn marked(&mut self) -> u64 {
        self.cx.take_marked()
    }

    /// Returns the time at which a further packet can leave, if none can now.
    #[must_use]
    pub fn next_ready(&self) -> Option<Time> {
        self.qdisc.next_ready()
    }

    /// Dequeues packets until none leaves and returns their numbers.
    pub fn drain(&mut self) -> Vec<u32> {
        std::iter::from_fn(|| self.send()).collect()
    }

    /// Returns the backlog.
    #[must_use]
    pub fn backlog(&self) -> Backlog {
        self.qdisc.backlog()
    }

    /// Returns the value of a private column.
    ///
    /// # Panics
    /// If the discipline has no such column.
    #[must_use]
    pub fn column(&self, name: &str) -> f64 {
        let at = self.row.columns.iter().position(|c| *c == name).expect("a column of this discipline");
        let mut row = Vec::new();
        self.qdisc.observe(&mut row);
        row[at]
    }
}
