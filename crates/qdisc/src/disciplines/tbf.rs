//! Token bucket filter: a FIFO queue whose packets leave at a rate, with bursts up to a bucket's size [Linux's tbf].
//!
//! The bucket is [`crate::aqm::token_bucket`].
//!
//! ```text
//! arrival     dropped if the limit would be passed; nothing is held against the bucket here
//! departure   the first packet, once the bucket holds its bytes
//! limit       or latency: the longest that a packet may wait; the queue then holds rate x latency + burst
//! inner       another discipline in place of the queue, with a limit of its own. The packet that it gives is held here
//!             until it may go; an AQM inside therefore decides one packet ahead              [Linux's tbf likewise]
//! ```
//! A link at a rate well above this one sends bursts of up to burst bytes at its own rate. DIVERGES [Linux's tbf]: a
//! packet larger than the bucket goes when that is full and leaves a debt; Linux drops every such packet, and a flow of
//! them starves for a parameter.

use crate::aqm::token_bucket::TokenBucket;
use crate::discipline::{Discipline, Limit, LinkInfo, some_bytes};
use crate::fifo::Fifo;
use crate::registry::build;
use crate::{Backlog, DropReason, Packet, Qdisc, QdiscContext};
use dumbbell_units::param::{Kind, ParamError, Params, Part, Spec};
use dumbbell_units::parse::Length;
use dumbbell_units::{Bytes, Packets, Rate, Time};

pub(crate) const ROW: Discipline = Discipline {
    name: "tbf",
    title: "token bucket filter: shapes to a rate, lets bursts through",
    year: 1999,
    source: "Linux (tc-tbf)",
    doc: "Tokens come in at the rate and are kept up to burst bytes; a packet leaves once there are enough for it. On a \
          link that is faster, a queue forms here instead of before it. Never marks.",
    params: &[
        Spec {
            name: "rate",
            kind: Kind::Or("link", &Kind::Rate),
            default: "link",
            doc: "at which tokens come in",
        },
        Spec {
            name: "burst",
            kind: Kind::Bytes,
            default: "10 kB",
            doc: "size of the bucket; below the largest packet, packets leave one by one at the rate",
        },
        Spec {
            name: "limit",
            kind: Kind::Or("none", &Kind::Length),
            default: "none",
            doc: "how much may wait; times and bdp at this discipline's rate. Neither limit nor latency: 1000 packets",
        },
        Spec {
            name: "latency",
            kind: Kind::Or("none", &Kind::Duration),
            default: "none",
            doc: "instead of limit: the longest that a packet may wait here; rate x latency + burst may wait",
        },
        Spec {
            name: "inner",
            kind: Kind::Or("none", &Kind::Part(&Part { what: "a queue discipline", key: "discipline" })),
            default: "none",
            doc: "what the packets wait in, in place of a FIFO queue; limit and latency are then its matter",
        },
    ],
    columns: &["tokens"],
    build: |params, link| Ok(Box::new(Tbf::new(params, link)?)),
};

/// What packets wait in.
#[derive(Debug)]
enum Waiting {
    Fifo(Fifo, Limit),
    /// A discipline, and the packet that it has given and that may not go yet.
    Inner(Box<dyn Qdisc>, Option<Packet>),
}

/// See the top of this file.
#[derive(Debug)]
pub(crate) struct Tbf {
    bucket: TokenBucket,
    waiting: Waiting,
    ready: Time,
}

impl Tbf {
    fn new(params: &Params, link: &LinkInfo) -> Result<Tbf, ParamError> {
        let error = |name: &str, message: &str| ParamError { name: name.into(), message: message.into() };
        let rate = params.unless_word("rate", Params::rate).unwrap_or(link.rate);
        if rate == Rate(0) {
            return Err(error("rate", "zero given: must be above"));
        }
        let burst = Bytes(some_bytes(params, "burst")?);
        let limit = params.unless_word("limit", Params::length);
        let latency = params.unless_word("latency", Params::duration);
        let shaped = LinkInfo { rate, path: format!("{}/inner", link.path), ..link.clone() };
        let waiting = match (params.unless_word("inner", Params::part), limit, latency) {
            (Some(_), Some(_), _) => {
                return Err(error("limit", "there is an inner discipline: give the limit to it"));
            }
            (Some(_), _, Some(_)) => {
                return Err(error("latency", "there is an inner discipline: give a limit to it"));
            }
            (_, Some(_), Some(_)) => {
                return Err(error("latency", "limit is given too, which says the same: remove one"));
            }
            (Some(inner), None, None) => {
                let within = |e: ParamError| ParamError { name: format!("inner.{}", e.name), ..e };
                Waiting::Inner(build(&inner.name, &inner.params, &shaped).map_err(within)?, None)
            }
            (None, limit, latency) => {
                let by_latency = |l| Length::Bytes(Bytes(rate.bytes_in(l).0 + burst.0));
                let limit = limit.or_else(|| latency.map(by_latency));
                Waiting::Fifo(Fifo::default(), shaped.limit(limit.unwrap_or(Length::Packets(Packets(1000)))))
            }
        };
        Ok(Tbf { bucket: TokenBucket::new(rate, burst), waiting, ready: Time::ZERO })
    }
}

impl Qdisc for Tbf {
    fn enqueue(&mut self, packet: Packet, cx: &mut QdiscContext) {
        match &mut self.waiting {
            Waiting::Fifo(waiting, limit) => {
                let straight_on = waiting.is_empty() && !cx.link_busy; // is the next to go, however small the limit
                if straight_on || limit.has_room(waiting.backlog(), &packet) {
                    waiting.push(packet);
                } else {
                    cx.drop_packet(packet, DropReason::Full);
                }
            }
            Waiting::Inner(qdisc, held) => {
                let link_busy = cx.link_busy;
                cx.link_busy |= held.is_some(); // what comes now doesn't go next
                qdisc.enqueue(packet, cx);
                cx.link_busy = link_busy;
            }
        }
    }

    fn dequeue(&mut self, cx: &mut QdiscContext) -> Option<Packet> {
        let next = match &mut self.waiting {
            Waiting::Fifo(waiting, _) => waiting.first(),
            Waiting::Inner(qdisc, held) => {
                if held.is_none() {
                    *held = qdisc.dequeue(cx);
                }
                held.as_ref()
            }
        };
        if let Err(ready) = self.bucket.take(cx.now, Bytes(u64::from(next?.bytes))) {
            self.ready = ready;
            return None;
        }
        match &mut self.waiting {
            Waiting::Fifo(waiting, _) => waiting.pop(),
            Waiting::Inner(_, held) => held.take(),
        }
    }

    fn classes(&self) -> Option<u16> {
        match &self.waiting {
            Waiting::Fifo(..) => None,
            Waiting::Inner(qdisc, _) => qdisc.classes(),
        }
    }

    fn next_ready(&self) -> Option<Time> {
        let own = (self.backlog().packets > 0).then_some(self.ready);
        match &self.waiting {
            Waiting::Inner(qdisc, None) => qdisc.next_ready().or(own),
            _ => own,
        }
    }

    fn backlog(&self) -> Backlog {
        match &self.waiting {
            Waiting::Fifo(waiting, _) => waiting.backlog(),
            Waiting::Inner(qdisc, held) => {
                let Backlog { packets, bytes } = qdisc.backlog();
                let held = held.as_ref().map_or(0, |p| u64::from(p.bytes));
                Backlog { packets: packets + u64::from(held > 0), bytes: bytes + held }
            }
        }
    }

    fn observe(&self, row: &mut Vec<f64>) {
        row.push(self.bucket.level());
    }
}
