//! DualPI2: two queues, one for classic and one for L4S senders, coupled so that they share the link as one [RFC 9332].
//!
//! The law is [`crate::aqm::pi2`]; here are the queues, the scheduler, the L4S queue's own marking.
//!
//! ```text
//! ECT(1), CE -> L4S queue     -> k p (coupled), or waited > step_thresh: marked -> 90 %
//!                                                                                 > weighted round robin -> link
//! other      -> classic queue -> p^2: dropped or marked                         -> 10 %
//!
//! arrival     dropped if both queues together would pass the limit; in the queue that its ECN field says     [§2.3]
//! update      every tupdate, with the longer of the times that the two first packets have waited by then    [App. A.2]
//! departure   the scheduler picks a queue, PI2 decides on its first packet, and again until one may go
//! marks       an L4S packet that PI2 lets pass unmarked is marked if it has waited for longer than step_thresh
//! scheduler   while both queues have packets a balance decides: not above zero, the L4S queue sends and the balance
//!             grows by its bytes x classic_protection; above, the classic one does and it falls by its bytes x the
//!             rest. It starts below zero, so the L4S queue goes first; the classic one has its share at worst.
//! spared      PI2 leaves packets alone while fewer than two full packets are left behind                       [Linux]
//! ```
//! A full packet is the largest one seen so far. DIVERGES [RFC 9332, App. A.1]: the document's example has a ramp from
//! 0.8 to 1.2 ms where a step is here, as in Linux.

use super::pi2::{COUPLING, config};
use crate::aqm::Verdict;
use crate::aqm::pi2::Pi2 as Law;
use crate::discipline::{Discipline, Limit, LinkInfo, period};
use crate::fifo::Fifo;
use crate::ticks::Ticks;
use crate::{Backlog, DropReason, Ecn, Packet, Qdisc, QdiscContext};
use dumbbell_units::Dur;
use dumbbell_units::param::{Kind, ParamError, Params, Spec};
use dumbbell_units::random::Stream;

pub(crate) const ROW: Discipline = Discipline {
    name: "dualpi2",
    title: "two coupled queues: L4S senders get theirs short, classic ones no less of the link",
    year: 2023,
    source: "RFC 9332, RFC 9331 (ECT(1)), De Schepper et al. 2016 (PI2)",
    doc: "ECT(1) and CE packets wait in the L4S queue, which mostly goes first, the others in the classic one. PI2 sets a \
          base probability by the classic delay: classic packets are dropped (ECT(0) ones marked) with its square, L4S \
          ones marked with coupling_factor times it, and also if they have waited for longer than step_thresh.",
    params: &[
        Spec {
            name: "limit",
            kind: Kind::Length,
            default: "10000 packets",
            doc: "how much may wait in both queues together",
        },
        Spec {
            name: "target",
            kind: Kind::Duration,
            default: "15 ms",
            doc: "delay to keep [RFC 9332, App. A.1]",
        },
        Spec {
            name: "tupdate",
            kind: Kind::Duration,
            default: "16 ms",
            doc: "from one update of the probability to the next [RFC 9332, App. A.1]",
        },
        Spec {
            name: "alpha",
            kind: Kind::Float { min: 0.0, max: 1000.0 },
            default: "0.16",
            doc: "weight of the distance from the target, 1/s for each update [RFC 9332, App. A.1]",
        },
        Spec {
            name: "beta",
            kind: Kind::Float { min: 0.0, max: 1000.0 },
            default: "3.2",
            doc: "weight of the change of the delay, 1/s [RFC 9332, App. A.1]",
        },
        COUPLING,
        Spec {
            name: "step_thresh",
            kind: Kind::Duration,
            default: "1 ms",
            doc: "an L4S packet that has waited for longer is marked",
        },
        Spec {
            name: "min_qlen_step",
            kind: Kind::Int { min: 0, max: 1_000_000 },
            default: "0",
            doc: "... if it leaves so many L4S packets or more behind it",
        },
        Spec {
            name: "drop_overload",
            kind: Kind::Bool,
            default: "true",
            doc: "once all L4S packets are marked both queues drop; false: the limit has to do",
        },
        Spec {
            name: "drop_early",
            kind: Kind::Bool,
            default: "false",
            doc: "PI2 decides when packets arrive, not when they leave",
        },
        Spec {
            name: "classic_protection",
            kind: Kind::Probability,
            default: "10 %",
            doc: "the classic queue's share of the link at worst",
        },
        Spec {
            name: "ecn_mask",
            kind: Kind::Choice(&["l4s_ect", "any_ect"]),
            default: "l4s_ect",
            doc: "what goes into the L4S queue: ECT(1) and CE, or every ECN-capable packet (DCTCP in a data centre)",
        },
    ],
    columns: &["p", "classic_packets", "classic_qdelay_ns", "l4s_packets", "l4s_qdelay_ns"],
    build: |params, link| Ok(Box::new(DualPi2::new(params, link)?)),
};

/// See the top of this file.
#[derive(Debug)]
pub(crate) struct DualPi2 {
    law: Law,
    ticks: Ticks,
    draws: Stream,
    classic: Fifo,
    l4s: Fifo,
    limit: Limit,
    any_ect: bool,
    early: bool,
    step: Dur,
    step_behind: u64,
    share: f64,
    balance: f64,
    full_packet: u32,
    /// Of the last update: classic, L4S.
    delays: [Dur; 2],
}

impl DualPi2 {
    fn new(params: &Params, link: &LinkInfo) -> Result<DualPi2, ParamError> {
        Ok(DualPi2 {
            law: Law::new(config(params, params.bool("drop_overload"))?),
            ticks: Ticks::new(period(params, "tupdate")?),
            draws: link.stream(),
            classic: Fifo::default(),
            l4s: Fifo::default(),
            limit: link.limit(params.length("limit")),
            any_ect: params.choice("ecn_mask") == "any_ect",
            early: params.bool("drop_early"),
            step: params.duration("step_thresh"),
            step_behind: params.int("min_qlen_step"),
            share: params.probability("classic_protection"),
            balance: 0.0,
            full_packet: 0,
            delays: [Dur::ZERO; 2],
        })
    }

    fn is_l4s(&self, packet: &Packet) -> bool {
        matches!(packet.ecn, Ecn::ECT1 | Ecn::CE) || (self.any_ect && packet.ecn.is_capable())
    }

    fn update(&mut self, cx: &QdiscContext) {
        let DualPi2 { law, classic, l4s, delays, .. } = self;
        self.ticks.run(cx.now, |at| {
            *delays = [&*classic, l4s].map(|q| q.first().map_or(Dur::ZERO, |p| at.since(p.enqueued)));
            law.update(delays[0].max(delays[1]))
        });
    }

    /// PI2's verdict on a packet, which is not among those that wait.
    fn verdict(&mut self, is_l4s: bool) -> Verdict {
        if self.backlog().bytes < 2 * u64::from(self.full_packet) {
            return Verdict::Pass;
        }
        let draw = || self.draws.uniform();
        if is_l4s { self.law.scalable(draw) } else { self.law.classic(draw) }
    }

    /// Takes the packet that the scheduler chooses, with whether it comes from the L4S queue and what that does to the
    /// balance if it is sent.
    fn pick(&mut self) -> Option<(Packet, bool, f64)> {
        let both = !self.classic.is_empty() && !self.l4s.is_empty();
        let is_l4s = if both { self.balance <= 0.0 } else { self.classic.is_empty() };
        let packet = if is_l4s { self.l4s.pop() } else { self.classic.pop() }?;
        let weight = if is_l4s { self.share } else { self.share - 1.0 };
        let change = if both { f64::from(packet.bytes) * weight } else { 0.0 };
        Some((packet, is_l4s, change))
    }
}

impl Qdisc for DualPi2 {
    fn enqueue(&mut self, packet: Packet, cx: &mut QdiscContext) {
        self.update(cx);
        self.full_packet = self.full_packet.max(packet.bytes);
        let waiting = self.backlog();
        let straight_on = waiting.packets == 0 && !cx.link_busy; // goes into service, however small the limit
        if !straight_on && !self.limit.has_room(waiting, &packet) {
            cx.drop_packet(packet, DropReason::Full);
            return;
        }
        if waiting.packets == 0 {
            self.balance = f64::from(self.full_packet) * (2.0 * self.share - 1.0);
        }
        let is_l4s = self.is_l4s(&packet);
        let verdict = if self.early { self.verdict(is_l4s) } else { Verdict::Pass };
        if let Some(packet) = cx.apply(verdict, packet) {
            if is_l4s { self.l4s.push(packet) } else { self.classic.push(packet) }
        }
    }

    fn dequeue(&mut self, cx: &mut QdiscContext) -> Option<Packet> {
        self.update(cx);
        loop {
            let (packet, is_l4s, change) = self.pick()?;
            let verdict = if self.early { Verdict::Pass } else { self.verdict(is_l4s) };
            let Some(mut packet) = cx.apply(verdict, packet) else { continue };
            if is_l4s && cx.now.since(packet.enqueued) > self.step && self.l4s.packets() >= self.step_behind {
                let _ = cx.mark(&mut packet);
            }
            self.balance += change;
            return Some(packet);
        }
    }

    fn backlog(&self) -> Backlog {
        let (classic, l4s) = (self.classic.backlog(), self.l4s.backlog());
        Backlog { packets: classic.packets + l4s.packets, bytes: classic.bytes + l4s.bytes }
    }

    fn observe(&self, row: &mut Vec<f64>) {
        let [classic, l4s] = self.delays.map(|d| d.0 as f64);
        row.extend([self.law.p(), self.classic.packets() as f64, classic, self.l4s.packets() as f64, l4s]);
    }
}
