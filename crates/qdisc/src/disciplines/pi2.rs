//! PI2: one FIFO queue whose arrivals are dropped or marked at random; a linear PI controller sets the probability
//! [De Schepper et al., CoNEXT 2016].
//!
//! The algorithm is [`crate::aqm::pi2`]; this file adds the queue, its limit and ECN.
//!
//! ```text
//! update       every tupdate, with the time that the first packet has waited (zero for an empty queue)
//! arrival      dropped if it would exceed the limit; accepted if the backlog is below two full packets; otherwise
//!              ECT(1), CE    decided as a scalable packet, if `ecn` is set
//!              other         decided as a classic packet; ECN-capable ones are marked if `ecn` is set
//! full packet  the largest packet so far
//! ```

use crate::aqm::Verdict;
use crate::aqm::pi2::{Pi2, Pi2Params};
use crate::discipline::{Discipline, LIMIT, Limit, LinkInfo, positive_duration, update_interval};
use crate::fifo::Fifo;
use crate::update_timer::UpdateTimer;
use crate::{Backlog, DropReason, Ecn, Packet, Qdisc, QdiscContext};
use dumbbell_units::Dur;
use dumbbell_units::param::{Kind, ParamError, Params, Spec, specs};
use dumbbell_units::random::Stream;

pub(crate) const COUPLING: Spec = Spec {
    name: "coupling_factor",
    kind: Kind::Float { min: 1.0, max: 255.0 },
    default: "2",
    doc: "k: the probability for scalable packets is k times the base probability [RFC 9332 §2.1]",
};

pub(crate) const ROW: Discipline = Discipline {
    name: "pi2",
    title: "PI improved with a square: a linear PI controller, its output squared for classic packets",
    year: 2016,
    source: "De Schepper, Bondarenko, Tsang and Briscoe 2016",
    doc: "Every tupdate a base probability changes with the delay's deviation from the target and with the change of the \
          delay. Classic arrivals are dropped (marked) with its square, ECT(1) arrivals are marked with coupling_factor \
          times it.",
    params: specs! {
        LIMIT;
        /// target queueing delay
        target = "20 ms", Kind::Duration;
        /// time between two updates of the probability
        tupdate = "32 ms", Kind::Duration;
        /// weight of the deviation from the target, 1/s per update (5/16)
        alpha = "0.3125", Kind::Float { min: 0.0, max: 1000.0 };
        /// weight of the change of the delay, 1/s (50/16)
        beta = "3.125", Kind::Float { min: 0.0, max: 1000.0 };
        COUPLING;
        /// ECN-capable packets are marked instead of dropped; false: all packets are classic and are dropped
        ecn = "true", Kind::Bool;
    },
    columns: &["p", "qdelay_ns"],
    kernel: None,
    random: true,
    build: |params, link| Ok(Box::new(Pi2Qdisc::new(params, link)?)),
};

/// Reads the parameters of the algorithm.
pub(crate) fn read_pi2(params: &Params, drop_overload: bool) -> Result<Pi2Params, ParamError> {
    Ok(Pi2Params {
        target: positive_duration(params, "target")?,
        alpha: params.float("alpha"),
        beta: params.float("beta"),
        coupling_factor: params.float("coupling_factor"),
        drop_overload,
    })
}

/// The PI2 discipline.
#[derive(Debug)]
pub(crate) struct Pi2Qdisc {
    pi2: Pi2,
    update_timer: UpdateTimer,
    random: Stream,
    ecn: bool,
    limit: Limit,
    queue: Fifo,
    full_packet: u32,
    qdelay: Dur,
}

impl Pi2Qdisc {
    fn new(params: &Params, link: &LinkInfo) -> Result<Pi2Qdisc, ParamError> {
        Ok(Pi2Qdisc {
            pi2: Pi2::new(read_pi2(params, true)?),
            update_timer: UpdateTimer::new(update_interval(params, "tupdate")?),
            random: link.stream(),
            ecn: params.bool("ecn"),
            limit: link.limit(params.length("limit")),
            queue: Fifo::default(),
            full_packet: 0,
            qdelay: Dur::ZERO,
        })
    }

    fn update(&mut self, cx: &QdiscContext) {
        let Pi2Qdisc { pi2, queue, qdelay, .. } = self;
        self.update_timer.run(cx.now, |at| {
            *qdelay = queue.first().map_or(Dur::ZERO, |p| at.since(p.enqueued));
            pi2.update(*qdelay)
        });
    }

    fn verdict(&mut self, packet: &Packet) -> Verdict {
        if self.queue.bytes() < 2 * u64::from(self.full_packet) {
            return Verdict::Pass;
        }
        let draw = || self.random.uniform();
        match packet.ecn {
            Ecn::ECT1 | Ecn::CE if self.ecn => self.pi2.scalable(draw),
            _ if self.ecn => self.pi2.classic(draw),
            _ if self.pi2.classic(draw) == Verdict::Pass => Verdict::Pass,
            _ => Verdict::Drop,
        }
    }
}

impl Qdisc for Pi2Qdisc {
    fn enqueue(&mut self, packet: Packet, cx: &mut QdiscContext) {
        self.update(cx);
        self.full_packet = self.full_packet.max(packet.bytes);
        let sent_at_once = self.queue.is_empty() && !cx.link_busy; // whatever the limit
        if !sent_at_once && !self.limit.admits(self.queue.backlog() + cx.held, &packet) {
            cx.drop_packet(packet, DropReason::Full);
            return;
        }
        if let Some(packet) = cx.apply(self.verdict(&packet), packet) {
            self.queue.push(packet);
        }
    }

    fn dequeue(&mut self, cx: &mut QdiscContext) -> Option<Packet> {
        self.update(cx);
        self.queue.pop()
    }

    fn backlog(&self) -> Backlog {
        self.queue.backlog()
    }

    fn observe(&self, row: &mut Vec<f64>) {
        row.extend([self.pi2.p(), self.qdelay.0 as f64]);
    }
}
