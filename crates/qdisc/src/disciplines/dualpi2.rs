//! DualPI2: two coupled queues, one for classic and one for L4S traffic, which share the capacity of the link [RFC
//! 9332].
//!
//! The algorithm is [`crate::aqm::pi2`]; this file adds the queues, the scheduler and the native AQM of the L4S queue.
//!
//! ```text
//! ECT(1), CE -> L4S queue     -> k p' (coupled), or sojourn > step_thresh: marked -> 90 %
//!                                                                                   > weighted round robin -> link
//! other      -> classic queue -> p'^2: dropped or marked                          -> 10 %
//!
//! arrival     dropped if both queues together would exceed the limit; the ECN field selects the queue       [§2.3]
//! update      every tupdate, with the longer of the two times that the first packets have waited        [App. A.2]
//! departure   the scheduler selects a queue, PI2 decides on its first packet; repeated until a packet may be sent
//! step        an L4S packet that PI2 leaves unmarked is marked if its sojourn time is above step_thresh
//! scheduler   while both queues have packets c_protection.credit decides: at or below zero the L4S queue sends and the
//!             credit grows by its bytes x classic_protection; above zero the classic queue sends and the credit falls
//!             by its bytes x (1 - classic_protection). The initial credit is negative, so the L4S queue is first.
//! no drop     PI2 passes packets while less than two full packets are left in the queues
//! ```
//! Names, defaults, credit scheduler, step and the rule of two packets are those of Linux [Linux 6.17 sch_dualpi2.c]. A
//! full packet is the largest one so far. DIVERGES [RFC 9332, App. A.1]: the example of the RFC has a ramp from 0.8 to
//! 1.2 ms instead of the step.

use super::pi2::{COUPLING, read_pi2};
use crate::aqm::Verdict;
use crate::aqm::pi2::Pi2;
use crate::discipline::{Discipline, Limit, LinkInfo, update_interval};
use crate::fifo::Fifo;
use crate::update_timer::UpdateTimer;
use crate::{Backlog, DropReason, Ecn, Packet, Qdisc, QdiscContext};
use dumbbell_units::Dur;
use dumbbell_units::param::{Kind, ParamError, Params, specs};
use dumbbell_units::random::Stream;

pub(crate) const ROW: Discipline = Discipline {
    name: "dualpi2",
    title: "two coupled queues: low delay for L4S traffic, an equal share of the link for classic traffic",
    year: 2023,
    source: "RFC 9332, RFC 9331 (ECT(1)), De Schepper et al. 2016 (PI2)",
    doc: "ECT(1) and CE packets wait in the L4S queue, which has priority most of the time, other packets in the classic \
          queue. PI2 controls a base probability by the queueing delay: classic packets are dropped (ECT(0) marked) with \
          its square, L4S packets are marked with coupling_factor times it, and if they waited longer than step_thresh.",
    params: specs! {
        /// maximum backlog of both queues together
        limit = "10000 packets", Kind::Length;
        /// target queueing delay [RFC 9332, App. A.1]
        target = "15 ms", Kind::Duration;
        /// time between two updates of the probability [RFC 9332, App. A.1]
        tupdate = "16 ms", Kind::Duration;
        /// weight of the deviation from the target, 1/s per update [RFC 9332, App. A.1]
        alpha = "0.16", Kind::Float { min: 0.0, max: 1000.0 };
        /// weight of the change of the delay, 1/s [RFC 9332, App. A.1]
        beta = "3.2", Kind::Float { min: 0.0, max: 1000.0 };
        COUPLING;
        /// L4S packets with a longer sojourn time are marked
        step_thresh = "1 ms", Kind::Duration;
        /// the step applies only if at least so many packets are left in the L4S queue
        min_qlen_step = "0", Kind::Int { min: 0, max: 1_000_000 };
        /// packets are dropped once all L4S packets are marked; false: only the limit drops
        drop_overload = "true", Kind::Bool;
        /// PI2 decides at the arrival of a packet instead of its departure
        drop_early = "false", Kind::Bool;
        /// minimum share of the link for the classic queue
        classic_protection = "10 %", Kind::Probability;
        /// packets for the L4S queue: ECT(1) and CE, or all ECN-capable packets (DCTCP in a data center)
        ecn_mask = "l4s_ect", Kind::Choice(&["l4s_ect", "any_ect"]);
    },
    columns: &["p", "classic_packets", "classic_qdelay_ns", "l4s_packets", "l4s_qdelay_ns"],
    kernel: None,
    random: true,
    build: |params, link| Ok(Box::new(DualPi2::new(params, link)?)),
};

/// The DualPI2 discipline.
#[derive(Debug)]
pub(crate) struct DualPi2 {
    pi2: Pi2,
    update_timer: UpdateTimer,
    random: Stream,
    classic: Fifo,
    l4s: Fifo,
    limit: Limit,
    any_ect: bool,
    drop_early: bool,
    step_thresh: Dur,
    min_qlen_step: u64,
    classic_protection: f64,
    credit: f64,
    full_packet: u32,
    /// Delays of the classic and the L4S queue at the last update.
    qdelays: [Dur; 2],
}

impl DualPi2 {
    fn new(params: &Params, link: &LinkInfo) -> Result<DualPi2, ParamError> {
        Ok(DualPi2 {
            pi2: Pi2::new(read_pi2(params, params.bool("drop_overload"))?),
            update_timer: UpdateTimer::new(update_interval(params, "tupdate")?),
            random: link.stream(),
            classic: Fifo::default(),
            l4s: Fifo::default(),
            limit: link.limit(params.length("limit")),
            any_ect: params.choice("ecn_mask") == "any_ect",
            drop_early: params.bool("drop_early"),
            step_thresh: params.duration("step_thresh"),
            min_qlen_step: params.int("min_qlen_step"),
            classic_protection: params.probability("classic_protection"),
            credit: 0.0,
            full_packet: 0,
            qdelays: [Dur::ZERO; 2],
        })
    }

    fn is_l4s(&self, packet: &Packet) -> bool {
        matches!(packet.ecn, Ecn::ECT1 | Ecn::CE) || (self.any_ect && packet.ecn.is_capable())
    }

    fn update(&mut self, cx: &QdiscContext) {
        let DualPi2 { pi2, classic, l4s, qdelays, .. } = self;
        self.update_timer.run(cx.now, |at| {
            *qdelays = [&*classic, l4s].map(|q| q.first().map_or(Dur::ZERO, |p| at.since(p.enqueued)));
            pi2.update(qdelays[0].max(qdelays[1]))
        });
    }

    /// Returns PI2's verdict on a packet that is not in the queues.
    fn verdict(&mut self, is_l4s: bool) -> Verdict {
        if self.backlog().bytes < 2 * u64::from(self.full_packet) {
            return Verdict::Pass;
        }
        let draw = || self.random.uniform();
        if is_l4s { self.pi2.scalable(draw) } else { self.pi2.classic(draw) }
    }

    /// Takes the packet that the scheduler selects. Returns it, true if it is from the L4S queue, and the change of the
    /// credit if it is sent.
    fn dequeue_packet(&mut self) -> Option<(Packet, bool, f64)> {
        let both = !self.classic.is_empty() && !self.l4s.is_empty();
        let is_l4s = if both { self.credit <= 0.0 } else { self.classic.is_empty() };
        let packet = if is_l4s { self.l4s.pop() } else { self.classic.pop() }?;
        let weight = if is_l4s { self.classic_protection } else { self.classic_protection - 1.0 };
        let change = if both { f64::from(packet.bytes) * weight } else { 0.0 };
        Some((packet, is_l4s, change))
    }
}

impl Qdisc for DualPi2 {
    fn enqueue(&mut self, packet: Packet, cx: &mut QdiscContext) {
        self.update(cx);
        self.full_packet = self.full_packet.max(packet.bytes);
        let backlog = self.backlog();
        let sent_at_once = backlog.packets == 0 && !cx.link_busy; // whatever the limit
        if !sent_at_once && !self.limit.admits(backlog + cx.held, &packet) {
            cx.drop_packet(packet, DropReason::Full);
            return;
        }
        if backlog.packets == 0 {
            self.credit = f64::from(self.full_packet) * (2.0 * self.classic_protection - 1.0);
        }
        let is_l4s = self.is_l4s(&packet);
        let verdict = if self.drop_early { self.verdict(is_l4s) } else { Verdict::Pass };
        if let Some(packet) = cx.apply(verdict, packet) {
            if is_l4s { self.l4s.push(packet) } else { self.classic.push(packet) }
        }
    }

    fn dequeue(&mut self, cx: &mut QdiscContext) -> Option<Packet> {
        self.update(cx);
        loop {
            let (packet, is_l4s, change) = self.dequeue_packet()?;
            let verdict = if self.drop_early { Verdict::Pass } else { self.verdict(is_l4s) };
            let Some(mut packet) = cx.apply(verdict, packet) else { continue };
            if is_l4s && cx.now.since(packet.enqueued) > self.step_thresh && self.l4s.packets() >= self.min_qlen_step {
                let _ = cx.mark(&mut packet);
            }
            self.credit += change;
            return Some(packet);
        }
    }

    fn backlog(&self) -> Backlog {
        let (classic, l4s) = (self.classic.backlog(), self.l4s.backlog());
        Backlog { packets: classic.packets + l4s.packets, bytes: classic.bytes + l4s.bytes }
    }

    fn observe(&self, row: &mut Vec<f64>) {
        let [classic, l4s] = self.qdelays.map(|d| d.0 as f64);
        row.extend([self.pi2.p(), self.classic.packets() as f64, classic, self.l4s.packets() as f64, l4s]);
    }
}
