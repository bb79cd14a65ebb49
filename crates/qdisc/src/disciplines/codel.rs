//! CoDel: one FIFO queue that drops or marks at its head while the delay stands [RFC 8289].
//!
//! The law is [`crate::aqm::codel`]; here are the queue, its limit, ECN.
//!
//! ```text
//! arrival      dropped if the limit would be passed; nothing else happens here                       [RFC 8289 §5.4]
//! departure    the law decides on packets at the head until one may go; ECN-capable ones are marked if `ecn` is set
//! full packet  the largest packet seen so far                                                        [RFC 8289 §4.1]
//! ce_threshold a packet that has waited for longer is marked whatever the law says (for DCTCP's kind of control)
//! ```

use crate::aqm::codel::{Codel as Law, Config, Head, Source};
use crate::discipline::{Discipline, Limit, LinkInfo, span};
use crate::fifo::Fifo;
use crate::{Backlog, DropReason, Ecn, Packet, Qdisc, QdiscContext};
use dumbbell_units::Dur;
use dumbbell_units::param::{Kind, ParamError, Params, Spec};

pub(crate) const TARGET: Spec = Spec {
    name: "target",
    kind: Kind::Duration,
    default: "5 ms",
    doc: "delay that may stand [RFC 8289 §4.3]",
};
pub(crate) const INTERVAL: Spec = Spec {
    name: "interval",
    kind: Kind::Duration,
    default: "100 ms",
    doc: "for how long the target has to be passed, and the first spacing of drops: about the largest round-trip time \
          [RFC 8289 §4.2]",
};
pub(crate) const CE_THRESHOLD: Spec = Spec {
    name: "ce_threshold",
    kind: Kind::Or("none", &Kind::Duration),
    default: "none",
    doc: "every ECN-capable packet that has waited for longer than this is marked, `ecn` or not [RFC 8290 §5.2.7]",
};

pub(crate) const ROW: Discipline = Discipline {
    name: "codel",
    title: "controlled delay: drops at the head while the delay stands",
    year: 2012,
    source: "RFC 8289",
    doc: "A packet's delay is known when it leaves. Once every packet of an interval has waited for target or longer, \
          one is dropped (marked), the next interval / sqrt(2) after that, interval / sqrt(3), ... until one has waited \
          for less. Nothing is dropped that would let the link run dry.",
    params: &[
        Spec {
            name: "limit",
            kind: Kind::Length,
            default: "1000 packets",
            doc: "how much may wait: packets, wire bytes, a time at the link's rate, or bdp (link rate x largest base RTT)",
        },
        TARGET,
        INTERVAL,
        Spec {
            name: "ecn",
            kind: Kind::Bool,
            default: "false",
            doc: "ECN-capable packets are marked instead of dropped [RFC 8289 §1]",
        },
        CE_THRESHOLD,
    ],
    columns: &["qdelay_ns", "dropping", "count"],
    build: |params, link| Ok(Box::new(Codel::new(params, link)?)),
};

/// What the disciplines around the law share: its settings and ECN's.
#[derive(Clone, Debug)]
pub(crate) struct Settings {
    pub(crate) law: Config,
    pub(crate) ecn: bool,
    ce_threshold: Option<Dur>,
    /// The only codepoint that `ce_threshold` is meant for, if it is one.
    selected: Option<Ecn>,
}

impl Settings {
    pub(crate) fn new(params: &Params) -> Result<Settings, ParamError> {
        Ok(Settings {
            law: Config { target: span(params, "target")?, interval: span(params, "interval")? },
            ecn: params.bool("ecn"),
            ce_threshold: params.unless_word("ce_threshold", Params::duration),
            selected: None,
        })
    }

    /// The same with `ce_threshold` for packets of one codepoint only.
    pub(crate) fn with_selected(self, selected: Option<Ecn>) -> Settings {
        Settings { selected, ..self }
    }

    /// Marks a packet that leaves if it has waited for longer than `ce_threshold`.
    pub(crate) fn mark_late(&self, packet: &mut Packet, cx: &mut QdiscContext) {
        let late = self.ce_threshold.is_some_and(|t| cx.now.since(packet.enqueued) > t);
        if late && self.selected.is_none_or(|ecn| ecn == packet.ecn) {
            let _ = cx.mark(packet);
        }
    }

    /// Tells of congestion by a mark, which gives the packet back, or by a drop.
    pub(crate) fn tell(&self, mut packet: Packet, cx: &mut QdiscContext) -> Option<Packet> {
        if self.ecn && cx.mark(&mut packet) {
            return Some(packet);
        }
        cx.drop_packet(packet, DropReason::Early);
        None
    }
}

/// See the top of this file.
#[derive(Debug)]
pub(crate) struct Codel {
    law: Law,
    settings: Settings,
    limit: Limit,
    waiting: Fifo,
    full_packet: u32,
}

impl Codel {
    fn new(params: &Params, link: &LinkInfo) -> Result<Codel, ParamError> {
        Ok(Codel {
            law: Law::default(),
            settings: Settings::new(params)?,
            limit: link.limit(params.length("limit")),
            waiting: Fifo::default(),
            full_packet: 0,
        })
    }
}

/// The queue for the law.
struct Queue<'a> {
    waiting: &'a mut Fifo,
    settings: &'a Settings,
    full_packet: u32,
    cx: &'a mut QdiscContext,
}

impl Source for Queue<'_> {
    type Packet = Packet;

    fn take(&mut self) -> Option<Head<Packet>> {
        let packet = self.waiting.pop()?;
        let sojourn = self.cx.now.since(packet.enqueued);
        Some(Head { packet, sojourn, last: self.waiting.bytes() <= u64::from(self.full_packet) })
    }

    fn tell(&mut self, packet: Packet) -> Option<Packet> {
        self.settings.tell(packet, self.cx)
    }
}

impl Qdisc for Codel {
    fn enqueue(&mut self, packet: Packet, cx: &mut QdiscContext) {
        self.full_packet = self.full_packet.max(packet.bytes);
        let straight_on = self.waiting.is_empty() && !cx.link_busy; // goes into service, however small the limit
        if straight_on || self.limit.has_room(self.waiting.backlog(), &packet) {
            self.waiting.push(packet);
        } else {
            cx.drop_packet(packet, DropReason::Full);
        }
    }

    fn dequeue(&mut self, cx: &mut QdiscContext) -> Option<Packet> {
        let Codel { law, settings, waiting, full_packet, .. } = self;
        let now = cx.now;
        let mut queue = Queue { waiting, settings, full_packet: *full_packet, cx };
        let mut packet = law.dequeue(&settings.law, now, &mut queue)?;
        settings.mark_late(&mut packet, cx);
        Some(packet)
    }

    fn backlog(&self) -> Backlog {
        self.waiting.backlog()
    }

    fn observe(&self, row: &mut Vec<f64>) {
        let Codel { law, .. } = self;
        row.extend([law.sojourn().0 as f64, f64::from(u8::from(law.dropping())), f64::from(law.count())]);
    }
}
