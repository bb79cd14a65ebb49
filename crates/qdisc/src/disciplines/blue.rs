//! BLUE: one FIFO queue that drops or marks arrivals with a probability which packet loss raises and an idle link
//! lowers [Feng, Shin, Kandlur and Saha 2002].
//!
//! The algorithm is [`crate::aqm::blue`]; this file adds the queue, its limit and ECN.
//!
//! ```text
//! arrival   at a full queue: dropped, which raises the probability
//!           otherwise with the probability: marked if ECN-capable and `ecn` is set, else dropped
//! idle      from the end of the last transmission to the next arrival at the idle link
//! ```
//! DIVERGES [Feng et al. 2002]: an arrival at an idle link with an empty queue is always accepted, as in all
//! disciplines here.

use crate::aqm::blue::{Blue, BlueParams};
use crate::discipline::{Discipline, LIMIT, Limit, LinkInfo, positive_duration};
use crate::fifo::Fifo;
use crate::{Backlog, DropReason, Packet, Qdisc, QdiscContext};
use dumbbell_units::param::{Kind, ParamError, Params, specs};
use dumbbell_units::random::Stream;
use dumbbell_units::{Bytes, Rate, Time};

pub(crate) const ROW: Discipline = Discipline {
    name: "blue",
    title: "a drop probability that packet loss raises and an idle link lowers",
    year: 1999,
    source: "Feng, Shin, Kandlur and Saha 2002",
    doc: "Each packet loss at a full queue raises the probability with which arrivals are dropped (marked); an idle link \
          lowers it; each at most once per freeze_time. The queue length and the delay are not used.",
    params: specs! {
        LIMIT;
        /// increase of the probability at a loss, d1; well above decrement, because queues fill faster than links
        /// become idle
        increment = "0.25 %", Kind::Probability;
        /// decrease on an idle link, d2
        decrement = "0.025 %", Kind::Probability;
        /// minimum time between two changes: about a round-trip time, so that a change can take effect
        freeze_time = "100 ms", Kind::Duration;
        /// ECN-capable packets are marked instead of dropped
        ecn = "false", Kind::Bool;
    },
    columns: &["probability"],
    kernel: None,
    random: true,
    build: |params, link| Ok(Box::new(BlueQdisc::new(params, link)?)),
};

/// The BLUE discipline.
#[derive(Debug)]
pub(crate) struct BlueQdisc {
    blue: Blue,
    random: Stream,
    ecn: bool,
    limit: Limit,
    rate: Rate,
    idle_since: Time,
    queue: Fifo,
}

impl BlueQdisc {
    fn new(params: &Params, link: &LinkInfo) -> Result<BlueQdisc, ParamError> {
        let blue_params = BlueParams {
            increment: params.probability("increment"),
            decrement: params.probability("decrement"),
            freeze_time: positive_duration(params, "freeze_time")?,
        };
        Ok(BlueQdisc {
            blue: Blue::new(blue_params),
            random: link.stream(),
            ecn: params.bool("ecn"),
            limit: link.limit(params.length("limit")),
            rate: link.rate,
            idle_since: Time::ZERO,
            queue: Fifo::default(),
        })
    }
}

impl Qdisc for BlueQdisc {
    fn enqueue(&mut self, mut packet: Packet, cx: &mut QdiscContext) {
        if self.queue.is_empty() && !cx.link_busy {
            self.blue.on_idle(self.idle_since.min(cx.now), cx.now);
            self.queue.push(packet);
        } else if !self.limit.admits(self.queue.backlog(), &packet) {
            self.blue.on_loss(cx.now);
            cx.drop_packet(packet, DropReason::Full);
        } else if self.random.uniform() < self.blue.p_m() && !(self.ecn && cx.mark(&mut packet)) {
            cx.drop_packet(packet, DropReason::Early);
        } else {
            self.queue.push(packet);
        }
    }

    fn dequeue(&mut self, cx: &mut QdiscContext) -> Option<Packet> {
        let packet = self.queue.pop()?;
        // The link is idle from the end of this transmission on, unless another packet is sent before.
        self.idle_since = cx.now + self.rate.time_for(Bytes(u64::from(packet.bytes)));
        Some(packet)
    }

    fn first(&self) -> Option<&Packet> {
        self.queue.first()
    }

    fn backlog(&self) -> Backlog {
        self.queue.backlog()
    }

    fn observe(&self, row: &mut Vec<f64>) {
        row.push(self.blue.p_m());
    }
}
