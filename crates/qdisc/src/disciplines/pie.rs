//! PIE: one FIFO queue whose arrivals are dropped or marked at random, so that the delay stays near a target [RFC
//! 8033].
//!
//! The algorithm is [`crate::aqm::pie`]; this file adds the queue, its limit, ECN and byte mode.
//!
//! ```text
//! arrival      dropped if it would exceed the limit; otherwise PIE decides         [Linux sch_pie.c pie_qdisc_enqueue]
//! ECN          an ECN-capable packet is marked instead of dropped while drop_prob is below 10 %      [RFC 8033 §5.1]
//! bytemode     drop_prob is scaled by packet size / full packet                    [Linux sch_pie.c pie_drop_early]
//! full packet  the largest packet so far
//! qdelay       sojourn time of the last departed packet, zero with an empty queue; or estimated     [RFC 8033 §4.3]
//! ```

use crate::aqm::pie::{Pie, PieParams};
use crate::discipline::{Discipline, FOLLOWS, LIMIT, Limit, LinkInfo, positive_duration, update_interval};
use crate::fifo::Fifo;
use crate::update_timer::UpdateTimer;
use crate::{Backlog, DropReason, KernelOptions, KernelQdisc, Packet, Qdisc, QdiscContext, kernel};
use dumbbell_units::Bytes;
use dumbbell_units::param::{Kind, ParamError, Params, Spec};
use dumbbell_units::random::Stream;

pub(crate) const TARGET: Spec =
    Spec { name: "target", kind: Kind::Duration, default: "15 ms", doc: "target queueing delay [RFC 8033 §4.2]" };
pub(crate) const TUPDATE: Spec = Spec {
    name: "tupdate",
    kind: Kind::Duration,
    default: "15 ms",
    doc: "time between two updates of the probability [RFC 8033 §4.2]",
};
pub(crate) const ALPHA: Spec = Spec {
    name: "alpha",
    kind: Kind::Float { min: 0.0, max: 32.0 },
    default: "2",
    doc: "weight of the deviation from the target, in units of 1/16 per second as in tc-pie(8) (2: RFC 8033's 1/8)",
};
pub(crate) const BETA: Spec = Spec {
    name: "beta",
    kind: Kind::Float { min: 0.0, max: 32.0 },
    default: "20",
    doc: "weight of the change of the delay, in units of 1/16 per second (20: RFC 8033's 1 1/4)",
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
    doc: "the probability is proportional to the packet size",
};
pub(crate) const DQ_RATE_ESTIMATOR: Spec = Spec {
    name: "dq_rate_estimator",
    kind: Kind::Bool,
    default: "false",
    doc: "the delay is the backlog divided by the estimated departure rate [RFC 8033 §5.2]; false: the last packet's sojourn time",
};

pub(crate) const ROW: Discipline = Discipline {
    name: "pie",
    title: "proportional integral controller enhanced: random drops that keep the delay at a target",
    year: 2013,
    source: "RFC 8033",
    doc: "Every tupdate the drop probability changes with the delay's deviation from the target and with the change of \
          the delay, in steps scaled to the probability. Arrivals are dropped (marked) with that probability, evenly \
          spread, but not in the first 150 ms of a burst.",
    params: &[LIMIT, TARGET, TUPDATE, ALPHA, BETA, ECN, BYTEMODE, DQ_RATE_ESTIMATOR, FOLLOWS],
    columns: &["probability", "qdelay_ns", "burst_ns"],
    kernel: Some(KernelQdisc {
        kinds: &["pie"],
        options: KernelOptions::Attributes(&[
            kernel::micros(1, "target"),          // TCA_PIE_TARGET
            kernel::packets(2, "limit"),          // TCA_PIE_LIMIT
            kernel::micros(3, "tupdate"),         // TCA_PIE_TUPDATE
            kernel::whole(4, "alpha"),            // TCA_PIE_ALPHA
            kernel::whole(5, "beta"),             // TCA_PIE_BETA
            kernel::flag(6, "ecn"),               // TCA_PIE_ECN
            kernel::flag(7, "bytemode"),          // TCA_PIE_BYTEMODE
            kernel::flag(8, "dq_rate_estimator"), // TCA_PIE_DQ_RATE_ESTIMATOR
        ]),
        overlimit: Some(&[28]), // tc_pie_xstats overlimit
        ..KernelQdisc::EMPTY
    }),
    random: true,
    build: |params, link| Ok(Box::new(PieQdisc::new(params, link)?)),
};

/// The settings that PIE and FQ-PIE share: the parameters of the algorithm, the limit and the rules for marks.
#[derive(Debug)]
pub(crate) struct Settings {
    pub(crate) pie: PieParams,
    pub(crate) limit: Limit,
    ecn: bool,
    /// Probability from which on ECN-capable packets are dropped too (MARK_ECNTH in RFC 8033 §5.1).
    ecn_prob: f64,
    bytemode: bool,
    pub(crate) random: Stream,
    full_packet: u32,
}

impl Settings {
    pub(crate) fn new(params: &Params, link: &LinkInfo, ecn_prob: f64) -> Result<Settings, ParamError> {
        Ok(Settings {
            pie: PieParams {
                target: positive_duration(params, "target")?,
                tupdate: update_interval(params, "tupdate")?,
                alpha: params.float("alpha") / 16.0,
                beta: params.float("beta") / 16.0,
                dq_rate_estimator: params.bool("dq_rate_estimator"),
                linux: link.follows_linux(params),
                overhead: link.overhead,
            },
            limit: link.limit(params.length("limit")),
            ecn: params.bool("ecn"),
            ecn_prob,
            bytemode: params.bool("bytemode"),
            random: link.stream(),
            full_packet: 0,
        })
    }

    /// Decides on an arrival at a queue with this backlog: returns it, marked if necessary, unless it is dropped.
    pub(crate) fn admit(
        &mut self,
        pie: &mut Pie,
        backlog: Bytes,
        mut packet: Packet,
        cx: &mut QdiscContext,
    ) -> Option<Packet> {
        self.full_packet = self.full_packet.max(packet.bytes);
        let full_packet = f64::from(self.full_packet);
        let size_factor = if self.bytemode { f64::from(packet.bytes) / full_packet } else { 1.0 };
        let short_queue = self.pie.is_short(backlog.0, self.full_packet);
        if pie.drop_early(&self.pie, short_queue, size_factor, || self.random.uniform()) {
            let marked = self.ecn && self.pie.marks(pie.drop_prob(), self.ecn_prob) && cx.mark(&mut packet);
            if !marked {
                pie.on_drop();
                cx.drop_packet(packet, DropReason::Early);
                return None;
            }
        }
        Some(packet)
    }

    /// Drops an arrival at a full queue.
    pub(crate) fn tail_drop(&self, pie: &mut Pie, packet: Packet, cx: &mut QdiscContext) {
        pie.on_drop();
        cx.drop_packet(packet, DropReason::Full);
    }
}

/// The PIE discipline.
#[derive(Debug)]
pub(crate) struct PieQdisc {
    pie: Pie,
    settings: Settings,
    update_timer: UpdateTimer,
    queue: Fifo,
}

impl PieQdisc {
    fn new(params: &Params, link: &LinkInfo) -> Result<PieQdisc, ParamError> {
        let settings = Settings::new(params, link, 0.1)?;
        Ok(PieQdisc {
            pie: Pie::default(),
            update_timer: UpdateTimer::new(settings.pie.period()),
            settings,
            queue: Fifo::default(),
        })
    }

    fn update(&mut self, cx: &QdiscContext) {
        let backlog = self.queue.bytes();
        self.update_timer.run(cx.now, |_| self.pie.calculate_probability(&self.settings.pie, backlog));
    }
}

impl Qdisc for PieQdisc {
    fn enqueue(&mut self, packet: Packet, cx: &mut QdiscContext) {
        self.update(cx);
        let sent_at_once = self.queue.is_empty() && !cx.link_busy; // whatever the limit
        if !sent_at_once && !self.settings.limit.admits(self.queue.backlog(), &packet) {
            self.settings.tail_drop(&mut self.pie, packet, cx);
        } else if let Some(packet) = self.settings.admit(&mut self.pie, Bytes(self.queue.bytes()), packet, cx) {
            self.queue.push(packet);
        }
    }

    fn dequeue(&mut self, cx: &mut QdiscContext) -> Option<Packet> {
        self.update(cx);
        let packet = self.queue.pop()?;
        let sojourn = cx.now.since(packet.enqueued);
        self.pie.on_dequeue(&self.settings.pie, cx.now, sojourn, packet.bytes, self.queue.bytes());
        Some(packet)
    }

    fn first(&self) -> Option<&Packet> {
        self.queue.first()
    }

    fn backlog(&self) -> Backlog {
        self.queue.backlog()
    }

    fn observe(&self, row: &mut Vec<f64>) {
        let PieQdisc { pie, .. } = self;
        row.extend([pie.drop_prob(), pie.qdelay().0 as f64, pie.burst_allowance().0 as f64]);
    }
}
