//! CoDel: one FIFO queue that drops or marks at its head while the queueing delay persists [RFC 8289].
//!
//! The algorithm is [`crate::aqm::codel`]; this file adds the queue, its limit and ECN.
//!
//! ```text
//! arrival      dropped if it would exceed the limit; nothing else happens at arrival                 [RFC 8289 §5.4]
//! departure    CoDel drops packets at the head until one may be sent; ECN-capable ones are marked if `ecn` is set
//! full packet  the largest packet so far (maxpacket)                                                 [RFC 8289 §4.1]
//! ce_threshold a packet with a longer sojourn time is marked whatever CoDel decides, for congestion control like DCTCP
//!              [Linux codel_impl.h codel_dequeue]
//! ```

use crate::aqm::codel::{Codel, CodelParams, Head, PacketSource};
use crate::discipline::{Discipline, FOLLOWS, LIMIT, Limit, LinkInfo, positive_duration};
use crate::fifo::Fifo;
use crate::{Backlog, DropReason, Ecn, KernelOptions, KernelQdisc, Packet, Qdisc, QdiscContext, kernel};
use dumbbell_units::Dur;
use dumbbell_units::param::{Kind, ParamError, Params, Spec, specs};

pub(crate) const TARGET: Spec = Spec {
    name: "target",
    kind: Kind::Duration,
    default: "5 ms",
    doc: "acceptable persistent queueing delay [RFC 8289 §4.3]",
};
pub(crate) const INTERVAL: Spec = Spec {
    name: "interval",
    kind: Kind::Duration,
    default: "100 ms",
    doc: "time for which the delay must reach the target before the first drop, and initial time between drops: about the \
          largest round-trip time [RFC 8289 §4.2]",
};
pub(crate) const CE_THRESHOLD: Spec = Spec {
    name: "ce_threshold",
    kind: Kind::Or("none", &Kind::Duration),
    default: "none",
    doc: "ECN-capable packets with a longer sojourn time are marked, whatever `ecn` is [RFC 8290 §5.2.7]",
};

pub(crate) const ROW: Discipline = Discipline {
    name: "codel",
    title: "controlled delay: drops at the head while the queueing delay persists",
    year: 2012,
    source: "RFC 8289",
    doc: "The sojourn time of a packet is measured when it leaves. Once it has been target or longer for a whole \
          interval, a packet is dropped (marked). Further drops follow at times that shrink with interval / sqrt(count), \
          until a sojourn time is below target. No packet is dropped if at most one full packet is left in the queue.",
    params: specs! {
        LIMIT;
        TARGET;
        INTERVAL;
        /// ECN-capable packets are marked instead of dropped [RFC 8289 §1]
        ecn = "false", Kind::Bool;
        CE_THRESHOLD;
        FOLLOWS;
    },
    columns: &["qdelay_ns", "dropping", "count"],
    kernel: Some(KernelQdisc {
        kinds: &["codel"],
        options: KernelOptions::Attributes(&[
            kernel::micros(1, "target"),                   // TCA_CODEL_TARGET
            kernel::packets(2, "limit"),                   // TCA_CODEL_LIMIT
            kernel::micros(3, "interval"),                 // TCA_CODEL_INTERVAL
            kernel::flag(4, "ecn"),                        // TCA_CODEL_ECN
            kernel::micros_unless_word(5, "ce_threshold"), // TCA_CODEL_CE_THRESHOLD
        ]),
        overlimit: Some(&[20]), // tc_codel_xstats drop_overlimit
        ..KernelQdisc::EMPTY
    }),
    random: false,
    build: |params, link| Ok(Box::new(CodelQdisc::new(params, link)?)),
};

/// The settings that CoDel and FQ-CoDel share: the parameters of the algorithm and the rules for marks.
#[derive(Clone, Debug)]
pub(crate) struct Settings {
    pub(crate) codel: CodelParams,
    pub(crate) ecn: bool,
    ce_threshold: Option<Dur>,
    /// The only codepoint to which `ce_threshold` applies; None: all.
    ce_threshold_selector: Option<Ecn>,
}

impl Settings {
    pub(crate) fn new(params: &Params, link: &LinkInfo) -> Result<Settings, ParamError> {
        Ok(Settings {
            codel: CodelParams {
                target: positive_duration(params, "target")?,
                interval: positive_duration(params, "interval")?,
                newton: link.follows_linux(params),
            },
            ecn: params.bool("ecn"),
            ce_threshold: params.unless_word("ce_threshold", Params::duration),
            ce_threshold_selector: None,
        })
    }

    /// Restricts `ce_threshold` to packets of one codepoint.
    pub(crate) fn with_selector(self, ce_threshold_selector: Option<Ecn>) -> Settings {
        Settings { ce_threshold_selector, ..self }
    }

    /// Marks a departing packet if its sojourn time is above `ce_threshold`.
    pub(crate) fn mark_above_ce_threshold(&self, packet: &mut Packet, cx: &mut QdiscContext) {
        let above = self.ce_threshold.is_some_and(|t| cx.now.since(packet.enqueued) > t);
        if above && self.ce_threshold_selector.is_none_or(|ecn| ecn == packet.ecn) {
            let _ = cx.mark(packet);
        }
    }

    /// Signals congestion by a mark, and returns the packet, or by a drop.
    pub(crate) fn mark_or_drop(&self, mut packet: Packet, cx: &mut QdiscContext) -> Option<Packet> {
        if self.ecn && cx.mark(&mut packet) {
            return Some(packet);
        }
        cx.drop_packet(packet, DropReason::Early);
        None
    }
}

/// The CoDel discipline.
#[derive(Debug)]
pub(crate) struct CodelQdisc {
    codel: Codel,
    settings: Settings,
    limit: Limit,
    queue: Fifo,
    maxpacket: u32,
}

impl CodelQdisc {
    fn new(params: &Params, link: &LinkInfo) -> Result<CodelQdisc, ParamError> {
        Ok(CodelQdisc {
            codel: Codel::default(),
            settings: Settings::new(params, link)?,
            limit: link.limit(params.length("limit")),
            queue: Fifo::default(),
            maxpacket: 0,
        })
    }
}

/// The queue as a source of packets for the algorithm.
struct Source<'a> {
    queue: &'a mut Fifo,
    settings: &'a Settings,
    maxpacket: u32,
    cx: &'a mut QdiscContext,
}

impl PacketSource for Source<'_> {
    type Packet = Packet;

    fn dequeue(&mut self) -> Option<Head<Packet>> {
        let packet = self.queue.pop()?;
        let sojourn = self.cx.now.since(packet.enqueued);
        Some(Head { packet, sojourn, last: self.queue.bytes() <= u64::from(self.maxpacket) })
    }

    fn mark_or_drop(&mut self, packet: Packet) -> Option<Packet> {
        self.settings.mark_or_drop(packet, self.cx)
    }
}

impl Qdisc for CodelQdisc {
    fn enqueue(&mut self, packet: Packet, cx: &mut QdiscContext) {
        self.maxpacket = self.maxpacket.max(packet.bytes);
        let sent_at_once = self.queue.is_empty() && !cx.link_busy; // whatever the limit
        if sent_at_once || self.limit.admits(self.queue.backlog() + cx.held, &packet) {
            self.queue.push(packet);
        } else {
            cx.drop_packet(packet, DropReason::Full);
        }
    }

    fn dequeue(&mut self, cx: &mut QdiscContext) -> Option<Packet> {
        let CodelQdisc { codel, settings, queue, maxpacket, .. } = self;
        let now = cx.now;
        let mut source = Source { queue, settings, maxpacket: *maxpacket, cx };
        let mut packet = codel.dequeue(&settings.codel, now, &mut source)?;
        settings.mark_above_ce_threshold(&mut packet, cx);
        Some(packet)
    }

    fn backlog(&self) -> Backlog {
        self.queue.backlog()
    }

    fn observe(&self, row: &mut Vec<f64>) {
        let CodelQdisc { codel, .. } = self;
        row.extend([codel.ldelay().0 as f64, f64::from(u8::from(codel.dropping())), f64::from(codel.count())]);
    }
}
