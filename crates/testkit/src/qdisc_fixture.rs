//! A queue discipline with a link that a test works by hand.

use dumbbell_qdisc::{Backlog, Discipline, DropReason, Ecn, LinkInfo, Packet, Qdisc, QdiscContext, find};
use dumbbell_units::{Dur, Rate, Time};

/// What became of an arrival.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fate {
    /// It waits.
    Queued,
    /// It waits, with a congestion mark.
    Marked,
    /// It was dropped.
    Dropped(DropReason),
    /// It waits, and the packet of that number was dropped for it.
    Displaced(u32),
}

/// A link of 10 Mbit/s whose flows have a base RTT of 60 ms.
#[must_use]
pub fn link() -> LinkInfo {
    LinkInfo { rate: Rate(10_000_000), base_rtt: Dur::millis(60), seed: 1, path: "link/test".into() }
}

/// A discipline under test, on the link of [`link`], which is busy unless a test says otherwise. Packets are numbered
/// from 1 in the order of their arrival.
#[derive(Debug)]
pub struct QdiscFixture {
    row: &'static Discipline,
    qdisc: Box<dyn Qdisc>,
    cx: QdiscContext,
    arrived: u32,
    ecn: Ecn,
}

impl QdiscFixture {
    /// The discipline of that name with these parameters.
    ///
    /// # Panics
    /// If there is no such discipline or a parameter is refused.
    #[must_use]
    pub fn new(name: &str, params: &[(&str, &str)]) -> QdiscFixture {
        QdiscFixture::on(&link(), name, params)
    }

    /// The same on a link of one's own.
    ///
    /// # Panics
    /// As [`QdiscFixture::new`].
    #[must_use]
    pub fn on(link: &LinkInfo, name: &str, params: &[(&str, &str)]) -> QdiscFixture {
        let mut cx = QdiscContext::default();
        cx.link_busy = true;
        QdiscFixture {
            row: find(name).unwrap(),
            qdisc: dumbbell_qdisc::build(name, &crate::given(params), link).unwrap(),
            cx,
            arrived: 0,
            ecn: Ecn::NOT_ECT,
        }
    }

    /// Time passes.
    pub fn advance(&mut self, d: Dur) -> &mut QdiscFixture {
        self.cx.now += d;
        self
    }

    /// The time now.
    #[must_use]
    pub fn now(&self) -> Time {
        self.cx.now
    }

    /// Whether the link sends from here on.
    pub fn busy(&mut self, busy: bool) -> &mut QdiscFixture {
        self.cx.link_busy = busy;
        self
    }

    /// From here on arrivals have this codepoint.
    pub fn ecn(&mut self, ecn: Ecn) -> &mut QdiscFixture {
        self.ecn = ecn;
        self
    }

    /// A packet of that flow arrives; its class is the flow's number too.
    ///
    /// # Panics
    /// If more than one packet was dropped for it.
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

    /// A packet of that flow arrives: the numbers of all packets that are dropped for it, with the reasons.
    pub fn burst(&mut self, flow: u32, bytes: u32) -> Vec<(u32, DropReason)> {
        self.arrived += 1;
        let (body, enqueued) = (self.arrived, self.cx.now);
        let packet = Packet { bytes, flow, class: flow as u16, ecn: self.ecn, body, enqueued };
        self.qdisc.enqueue(packet, &mut self.cx);
        self.dropped()
    }

    /// The number of the next packet that leaves. What is dropped on the way waits for [`QdiscFixture::dropped`].
    pub fn send(&mut self) -> Option<u32> {
        self.send_packet().map(|p| p.body)
    }

    /// The next packet that leaves.
    pub fn send_packet(&mut self) -> Option<Packet> {
        self.qdisc.dequeue(&mut self.cx)
    }

    /// The numbers of packets dropped since the last call, with the reasons.
    pub fn dropped(&mut self) -> Vec<(u32, DropReason)> {
        std::iter::from_fn(|| self.cx.take_dropped().map(|(p, reason)| (p.body, reason))).collect()
    }

    /// The number of packets marked since the last call.
    pub fn marked(&mut self) -> u64 {
        self.cx.take_marked()
    }

    /// When a further packet may leave, if none may now.
    #[must_use]
    pub fn next_ready(&self) -> Option<Time> {
        self.qdisc.next_ready()
    }

    /// The numbers of all packets that leave until none does.
    pub fn drain(&mut self) -> Vec<u32> {
        std::iter::from_fn(|| self.send()).collect()
    }

    /// What waits.
    #[must_use]
    pub fn backlog(&self) -> Backlog {
        self.qdisc.backlog()
    }

    /// A private column.
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
