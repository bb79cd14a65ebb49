//! PIE: one FIFO queue whose arrivals are dropped or marked at random, so that the delay stays near a target [RFC 8033].
//!
//! The law is [`crate::aqm::pie`]; here are the queue, its limit, ECN, byte mode.
//!
//! ```text
//! arrival      dropped if the limit would be passed; else the law decides
//! ECN          a capable packet is marked instead while the probability is below 10 %               [RFC 8033 §5.1]
//! byte mode    the probability counts in full for a full packet, less for a smaller one in proportion
//! full packet  the largest packet seen so far
//! delay        that of the packet which left last, zero once nothing waits; or estimated             [RFC 8033 §4.3]
//! ```

use crate::aqm::pie::{Config, Pie as Law};
use crate::discipline::{Discipline, Limit, LinkInfo, period, span};
use crate::fifo::Fifo;
use crate::ticks::Ticks;
use crate::{Backlog, DropReason, Packet, Qdisc, QdiscContext};
use dumbbell_units::Bytes;
use dumbbell_units::param::{Kind, ParamError, Params, Spec};
use dumbbell_units::random::Stream;

pub(crate) const TARGET: Spec =
    Spec { name: "target", kind: Kind::Duration, default: "15 ms", doc: "delay to keep [RFC 8033 §4.2]" };
pub(crate) const TUPDATE: Spec = Spec {
    name: "tupdate",
    kind: Kind::Duration,
    default: "15 ms",
    doc: "from one update of the probability to the next [RFC 8033 §4.2]",
};
pub(crate) const ALPHA: Spec = Spec {
    name: "alpha",
    kind: Kind::Float { min: 0.0, max: 32.0 },
    default: "2",
    doc: "weight of the distance from the target, in sixteenths of 1/s as tc has it (2: RFC 8033's 1/8)",
};
pub(crate) const BETA: Spec = Spec {
    name: "beta",
    kind: Kind::Float { min: 0.0, max: 32.0 },
    default: "20",
    doc: "weight of the change of the delay, in sixteenths of 1/s (20: RFC 8033's 1 1/4)",
};
pub(crate) const ECN: Spec = Spec {
    name: "ecn",
    kind: Kind::Bool,
    default: "false",
    doc: "ECN-capable packets are marked instead of dropped while the probability is low [RFC 8033 §5.1]",
};
pub(crate) const BYTEMODE: Spec = Spec {
    name: "bytemode",
    kind: Kind::Bool,
    default: "false",
    doc: "the probability grows with a packet's size",
};
pub(crate) const DQ_RATE_ESTIMATOR: Spec = Spec {
    name: "dq_rate_estimator",
    kind: Kind::Bool,
    default: "false",
    doc: "the delay is what waits over an estimate of the departure rate [RFC 8033 §5.2], not the last packet's",
};

pub(crate) const ROW: Discipline = Discipline {
    name: "pie",
    title: "proportional integral controller enhanced: random drops that hold the delay at a target",
    year: 2013,
    source: "RFC 8033",
    doc: "Every tupdate the drop probability moves by the delay's distance from the target and by its change, in steps \
          that suit its size. Arrivals are dropped (marked) with that probability, evenly spread, but not in the first \
          150 ms of a burst.",
    params: &[
        Spec {
            name: "limit",
            kind: Kind::Length,
            default: "1000 packets",
            doc: "how much may wait: packets, wire bytes, a time at the link's rate, or bdp (link rate x largest base RTT)",
        },
        TARGET,
        TUPDATE,
        ALPHA,
        BETA,
        ECN,
        BYTEMODE,
        DQ_RATE_ESTIMATOR,
    ],
    columns: &["probability", "qdelay_ns", "burst_ns"],
    build: |params, link| Ok(Box::new(Pie::new(params, link)?)),
};

/// What the disciplines around the law share: its settings, and what becomes of a packet that is told of congestion.
#[derive(Debug)]
pub(crate) struct Settings {
    pub(crate) law: Config,
    pub(crate) limit: Limit,
    ecn: bool,
    /// Probability from which on marks are not enough.
    ecn_below: f64,
    bytemode: bool,
    pub(crate) draws: Stream,
    full_packet: u32,
}

impl Settings {
    pub(crate) fn new(params: &Params, link: &LinkInfo, ecn_below: f64) -> Result<Settings, ParamError> {
        Ok(Settings {
            law: Config {
                target: span(params, "target")?,
                tupdate: period(params, "tupdate")?,
                alpha: params.float("alpha") / 16.0,
                beta: params.float("beta") / 16.0,
                estimates: params.bool("dq_rate_estimator"),
            },
            limit: link.limit(params.length("limit")),
            ecn: params.bool("ecn"),
            ecn_below,
            bytemode: params.bool("bytemode"),
            draws: link.stream(),
            full_packet: 0,
        })
    }

    /// An arrival at a queue in which so much waits: gives it back, maybe marked, unless it is dropped.
    pub(crate) fn admit(
        &mut self,
        law: &mut Law,
        waiting: Bytes,
        mut packet: Packet,
        cx: &mut QdiscContext,
    ) -> Option<Packet> {
        self.full_packet = self.full_packet.max(packet.bytes);
        let full = f64::from(self.full_packet);
        let share = if self.bytemode { f64::from(packet.bytes) / full } else { 1.0 };
        let short = waiting.0 <= 2 * u64::from(self.full_packet);
        if law.arrive(&self.law, short, share, || self.draws.uniform()) {
            let marks = self.ecn && law.probability() < self.ecn_below && cx.mark(&mut packet);
            if !marks {
                cx.drop_packet(packet, DropReason::Early);
                return None;
            }
        }
        Some(packet)
    }

    /// Drops an arrival that finds no room.
    pub(crate) fn refuse(&self, law: &mut Law, packet: Packet, cx: &mut QdiscContext) {
        law.lost();
        cx.drop_packet(packet, DropReason::Full);
    }
}

/// See the top of this file.
#[derive(Debug)]
pub(crate) struct Pie {
    law: Law,
    settings: Settings,
    ticks: Ticks,
    waiting: Fifo,
}

impl Pie {
    fn new(params: &Params, link: &LinkInfo) -> Result<Pie, ParamError> {
        let settings = Settings::new(params, link, 0.1)?;
        Ok(Pie {
            law: Law::default(),
            ticks: Ticks::new(settings.law.tupdate),
            settings,
            waiting: Fifo::default(),
        })
    }

    fn update(&mut self, cx: &QdiscContext) {
        let waiting = self.waiting.bytes();
        self.ticks.run(cx.now, |_| self.law.update(&self.settings.law, waiting));
    }
}

impl Qdisc for Pie {
    fn enqueue(&mut self, packet: Packet, cx: &mut QdiscContext) {
        self.update(cx);
        let straight_on = self.waiting.is_empty() && !cx.link_busy; // goes into service, however small the limit
        if !straight_on && !self.settings.limit.has_room(self.waiting.backlog(), &packet) {
            self.settings.refuse(&mut self.law, packet, cx);
        } else if let Some(packet) =
            self.settings.admit(&mut self.law, Bytes(self.waiting.bytes()), packet, cx)
        {
            self.waiting.push(packet);
        }
    }

    fn dequeue(&mut self, cx: &mut QdiscContext) -> Option<Packet> {
        self.update(cx);
        let packet = self.waiting.pop()?;
        let sojourn = cx.now.since(packet.enqueued);
        self.law.depart(&self.settings.law, cx.now, sojourn, packet.bytes, self.waiting.bytes());
        Some(packet)
    }

    fn backlog(&self) -> Backlog {
        self.waiting.backlog()
    }

    fn observe(&self, row: &mut Vec<f64>) {
        let Pie { law, .. } = self;
        row.extend([law.probability(), law.delay().0 as f64, law.burst().0 as f64]);
    }
}
