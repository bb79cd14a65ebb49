//! PI2: one FIFO queue whose arrivals are dropped or marked at random, the delay held by a linear PI controller
//! [De Schepper et al., CoNEXT 2016].
//!
//! The law is [`crate::aqm::pi2`]; here are the queue, its limit, ECN.
//!
//! ```text
//! update       every tupdate, with the time that the first packet has waited by then (nothing: no delay)
//! arrival      dropped if the limit would be passed; let through if fewer than two full packets wait; else
//!              ECT(1), CE    as a scalable sender's, if `ecn` is set
//!              other         as a classic sender's; ECN-capable ones are marked if `ecn` is set
//! full packet  the largest packet seen so far
//! ```

use crate::aqm::Verdict;
use crate::aqm::pi2::{Config, Pi2 as Law};
use crate::discipline::{Discipline, Limit, LinkInfo, period, span};
use crate::fifo::Fifo;
use crate::ticks::Ticks;
use crate::{Backlog, DropReason, Ecn, Packet, Qdisc, QdiscContext};
use dumbbell_units::Dur;
use dumbbell_units::param::{Kind, ParamError, Params, Spec};
use dumbbell_units::random::Stream;

pub(crate) const COUPLING: Spec = Spec {
    name: "coupling_factor",
    kind: Kind::Float { min: 1.0, max: 255.0 },
    default: "2",
    doc: "k: scalable packets are marked with k times the base probability [RFC 9332 §2.1]",
};

pub(crate) const ROW: Discipline = Discipline {
    name: "pi2",
    title: "PI improved with a square: a linear controller, squared for classic senders",
    year: 2016,
    source: "De Schepper, Bondarenko, Tsang and Briscoe 2016",
    doc: "Every tupdate a base probability moves by the delay's distance from the target and by its change. Classic \
          arrivals are dropped (marked) with its square, ECT(1) ones marked with coupling_factor times it.",
    params: &[
        Spec {
            name: "limit",
            kind: Kind::Length,
            default: "1000 packets",
            doc: "how much may wait: packets, wire bytes, a time at the link's rate, or bdp (link rate x largest base RTT)",
        },
        Spec { name: "target", kind: Kind::Duration, default: "20 ms", doc: "delay to keep" },
        Spec {
            name: "tupdate",
            kind: Kind::Duration,
            default: "32 ms",
            doc: "from one update of the probability to the next",
        },
        Spec {
            name: "alpha",
            kind: Kind::Float { min: 0.0, max: 1000.0 },
            default: "0.3125",
            doc: "weight of the distance from the target, 1/s for each update (5/16)",
        },
        Spec {
            name: "beta",
            kind: Kind::Float { min: 0.0, max: 1000.0 },
            default: "3.125",
            doc: "weight of the change of the delay, 1/s (50/16)",
        },
        COUPLING,
        Spec {
            name: "ecn",
            kind: Kind::Bool,
            default: "true",
            doc: "ECN-capable packets are marked instead of dropped; false: all are classic and dropped",
        },
    ],
    columns: &["p", "qdelay_ns"],
    build: |params, link| Ok(Box::new(Pi2::new(params, link)?)),
};

/// The controller's settings.
pub(crate) fn config(params: &Params, drops: bool) -> Result<Config, ParamError> {
    Ok(Config {
        target: span(params, "target")?,
        alpha: params.float("alpha"),
        beta: params.float("beta"),
        coupling: params.float("coupling_factor"),
        drops,
    })
}

/// See the top of this file.
#[derive(Debug)]
pub(crate) struct Pi2 {
    law: Law,
    ticks: Ticks,
    draws: Stream,
    ecn: bool,
    limit: Limit,
    waiting: Fifo,
    full_packet: u32,
    delay: Dur,
}

impl Pi2 {
    fn new(params: &Params, link: &LinkInfo) -> Result<Pi2, ParamError> {
        Ok(Pi2 {
            law: Law::new(config(params, true)?),
            ticks: Ticks::new(period(params, "tupdate")?),
            draws: link.stream(),
            ecn: params.bool("ecn"),
            limit: link.limit(params.length("limit")),
            waiting: Fifo::default(),
            full_packet: 0,
            delay: Dur::ZERO,
        })
    }

    fn update(&mut self, cx: &QdiscContext) {
        let Pi2 { law, waiting, delay, .. } = self;
        self.ticks.run(cx.now, |at| {
            *delay = waiting.first().map_or(Dur::ZERO, |p| at.since(p.enqueued));
            law.update(*delay)
        });
    }

    fn verdict(&mut self, packet: &Packet) -> Verdict {
        if self.waiting.bytes() < 2 * u64::from(self.full_packet) {
            return Verdict::Pass;
        }
        let draw = || self.draws.uniform();
        match packet.ecn {
            Ecn::ECT1 | Ecn::CE if self.ecn => self.law.scalable(draw),
            _ if self.ecn => self.law.classic(draw),
            _ if self.law.classic(draw) == Verdict::Pass => Verdict::Pass,
            _ => Verdict::Drop,
        }
    }
}

impl Qdisc for Pi2 {
    fn enqueue(&mut self, packet: Packet, cx: &mut QdiscContext) {
        self.update(cx);
        self.full_packet = self.full_packet.max(packet.bytes);
        let straight_on = self.waiting.is_empty() && !cx.link_busy; // goes into service, however small the limit
        if !straight_on && !self.limit.has_room(self.waiting.backlog(), &packet) {
            cx.drop_packet(packet, DropReason::Full);
            return;
        }
        if let Some(packet) = cx.apply(self.verdict(&packet), packet) {
            self.waiting.push(packet);
        }
    }

    fn dequeue(&mut self, cx: &mut QdiscContext) -> Option<Packet> {
        self.update(cx);
        self.waiting.pop()
    }

    fn backlog(&self) -> Backlog {
        self.waiting.backlog()
    }

    fn observe(&self, row: &mut Vec<f64>) {
        row.extend([self.law.p(), self.delay.0 as f64]);
    }
}
