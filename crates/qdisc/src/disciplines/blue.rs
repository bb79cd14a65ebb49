//! BLUE: one FIFO queue that drops or marks arrivals with a probability which losses raise and idle time lowers
//! [Feng, Shin, Kandlur and Saha 2002].
//!
//! The law is [`crate::aqm::blue`]; here are the queue, its limit, ECN.
//!
//! ```text
//! arrival   full: dropped, a loss for the law; else told with the law's probability: marked if ECN-capable and `ecn`
//!           is set, dropped if not
//! idle      from the end of the last transmission to the next arrival that finds the link idle
//! ```
//! DIVERGES [Feng et al. 2002]: an arrival that finds the link idle and nothing waiting is always accepted, as
//! everywhere here.

use crate::aqm::blue::{Blue as Law, Config};
use crate::discipline::{Discipline, Limit, LinkInfo, span};
use crate::fifo::Fifo;
use crate::{Backlog, DropReason, Packet, Qdisc, QdiscContext};
use dumbbell_units::param::{Kind, ParamError, Params, Spec};
use dumbbell_units::random::Stream;
use dumbbell_units::{Bytes, Rate, Time};

pub(crate) const ROW: Discipline = Discipline {
    name: "blue",
    title: "a drop probability that losses raise and idle time lowers",
    year: 1999,
    source: "Feng, Shin, Kandlur and Saha 2002",
    doc: "Each loss to a full queue raises the probability with which arrivals are dropped (marked), each idle link \
          lowers it, either at most once in freeze_time. Neither the queue's length nor its delay plays a part.",
    params: &[
        Spec {
            name: "limit",
            kind: Kind::Length,
            default: "1000 packets",
            doc: "how much may wait: packets, wire bytes, a time at the link's rate, or bdp (link rate x largest base RTT)",
        },
        Spec {
            name: "increment",
            kind: Kind::Probability,
            default: "0.25 %",
            doc: "step up at a loss, d1: well above decrement, since queues fill faster than links run idle",
        },
        Spec {
            name: "decrement",
            kind: Kind::Probability,
            default: "0.025 %",
            doc: "step down on an idle link, d2",
        },
        Spec {
            name: "freeze_time",
            kind: Kind::Duration,
            default: "100 ms",
            doc: "the least time from one step to the next: about a round trip, so that a step can show",
        },
        Spec {
            name: "ecn",
            kind: Kind::Bool,
            default: "false",
            doc: "ECN-capable packets are marked instead of dropped",
        },
    ],
    columns: &["probability"],
    build: |params, link| Ok(Box::new(Blue::new(params, link)?)),
};

/// See the top of this file.
#[derive(Debug)]
pub(crate) struct Blue {
    law: Law,
    draws: Stream,
    ecn: bool,
    limit: Limit,
    rate: Rate,
    idle_since: Time,
    waiting: Fifo,
}

impl Blue {
    fn new(params: &Params, link: &LinkInfo) -> Result<Blue, ParamError> {
        let config = Config {
            increment: params.probability("increment"),
            decrement: params.probability("decrement"),
            freeze_time: span(params, "freeze_time")?,
        };
        Ok(Blue {
            law: Law::new(config),
            draws: link.stream(),
            ecn: params.bool("ecn"),
            limit: link.limit(params.length("limit")),
            rate: link.rate,
            idle_since: Time::ZERO,
            waiting: Fifo::default(),
        })
    }
}

impl Qdisc for Blue {
    fn enqueue(&mut self, mut packet: Packet, cx: &mut QdiscContext) {
        if self.waiting.is_empty() && !cx.link_busy {
            self.law.idle(self.idle_since.min(cx.now), cx.now);
            self.waiting.push(packet);
        } else if !self.limit.has_room(self.waiting.backlog(), &packet) {
            self.law.lost(cx.now);
            cx.drop_packet(packet, DropReason::Full);
        } else if self.draws.uniform() < self.law.probability() && !(self.ecn && cx.mark(&mut packet)) {
            cx.drop_packet(packet, DropReason::Early);
        } else {
            self.waiting.push(packet);
        }
    }

    fn dequeue(&mut self, cx: &mut QdiscContext) -> Option<Packet> {
        let packet = self.waiting.pop()?;
        // Idle time begins when this packet is out, unless another comes before.
        self.idle_since = cx.now + self.rate.time_for(Bytes(u64::from(packet.bytes)));
        Some(packet)
    }

    fn backlog(&self) -> Backlog {
        self.waiting.backlog()
    }

    fn observe(&self, row: &mut Vec<f64>) {
        row.push(self.law.probability());
    }
}
