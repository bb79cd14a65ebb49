//! Token bucket filter: a FIFO queue whose packets leave at a rate, with bursts up to the size of the bucket
//! [Linux sch_tbf.c tbf_dequeue].
//!
//! The bucket is [`crate::aqm::token_bucket`].
//!
//! ```text
//! arrival     dropped if it would exceed the limit; the bucket is not used here               [tbf_enqueue]
//! departure   the first packet, once the bucket holds its bytes                               [tbf_dequeue]
//! limit       or latency: the longest time in the queue; the limit is then rate x latency + burst
//! inner       another discipline instead of the queue, with its own limit. A discipline that drops or marks at the
//!             departure, or chooses the next packet, decides one packet ahead: its packet is held here until the
//!             bucket permits it. Its limit counts this packet    [tbf_dequeue; sch_generic.h qdisc_peek_dequeued]
//! ```
//! A link with a much higher rate sends bursts of up to burst bytes at its own rate. DIVERGES [Linux sch_tbf.c
//! tbf_enqueue]: a packet larger than the bucket is sent when the bucket is full, and the tokens become negative. The
//! source drops each such packet (or segments it), so that a flow of large packets would starve because of a parameter.

use crate::aqm::token_bucket::TokenBucket;
use crate::discipline::{Discipline, Limit, LinkInfo, positive_bytes};
use crate::fifo::Fifo;
use crate::registry::build;
use crate::{Backlog, DropReason, Packet, Qdisc, QdiscContext};
use dumbbell_units::param::{Kind, ParamError, Params, Part, specs};
use dumbbell_units::parse::Length;
use dumbbell_units::{Bytes, Packets, Rate, Time};

pub(crate) const ROW: Discipline = Discipline {
    name: "tbf",
    title: "token bucket filter: shapes to a rate and permits bursts",
    year: 1999,
    source: "Linux (tc-tbf)",
    doc: "Tokens accumulate at the rate, up to burst bytes; a packet leaves once the tokens cover its bytes. On a faster \
          link the queue builds up here. Never marks.",
    params: specs! {
        /// rate of the tokens; link: the link's rate
        rate = "link", Kind::Or("link", &Kind::Rate);
        /// size of the bucket; if it is below the largest packet, packets leave one by one at the rate
        burst = "10 kB", Kind::Bytes;
        /// maximum backlog; times and bdp refer to the rate of this discipline; without limit and latency: 1000 packets
        limit = "none", Kind::Or("none", &Kind::Length);
        /// instead of limit: the longest time in the queue; the limit is rate x latency + burst
        latency = "none", Kind::Or("none", &Kind::Duration);
        /// discipline that holds the packets instead of a FIFO queue, with its own limit
        inner = "none", Kind::Or("none", &Kind::Part(&Part { what: "a queue discipline", key: "discipline" }));
    },
    columns: &["tokens"],
    kernel: None,
    random: false,
    build: |params, link| Ok(Box::new(Tbf::new(params, link)?)),
};

/// The queue in which packets wait.
#[derive(Debug)]
enum Inner {
    Fifo(Fifo, Limit),
    /// A discipline, and the packet taken from it that waits for tokens.
    Qdisc(Box<dyn Qdisc>, Option<Packet>),
}

/// The token bucket filter.
#[derive(Debug)]
pub(crate) struct Tbf {
    bucket: TokenBucket,
    inner: Inner,
    /// Time at which the bucket will hold the next packet.
    ready: Time,
}

impl Tbf {
    fn new(params: &Params, link: &LinkInfo) -> Result<Tbf, ParamError> {
        let error = |name: &str, message: &str| ParamError { name: name.into(), message: message.into() };
        let rate = params.unless_word("rate", Params::rate).unwrap_or(link.rate);
        if rate == Rate(0) {
            return Err(error("rate", "0 given, a rate above zero is needed"));
        }
        let burst = Bytes(positive_bytes(params, "burst")?);
        let limit = params.unless_word("limit", Params::length);
        let latency = params.unless_word("latency", Params::duration);
        let shaped = LinkInfo { rate, path: format!("{}/inner", link.path), ..link.clone() };
        let inner = match (params.unless_word("inner", Params::part), limit, latency) {
            (Some(_), Some(_), _) => {
                return Err(error("limit", "an inner discipline is given: set its limit instead"));
            }
            (Some(_), _, Some(_)) => {
                return Err(error("latency", "an inner discipline is given: set its limit instead"));
            }
            (_, Some(_), Some(_)) => {
                return Err(error("latency", "both limit and latency are given: remove one"));
            }
            (Some(inner), None, None) => {
                let within = |e: ParamError| ParamError { name: format!("inner.{}", e.name), ..e };
                Inner::Qdisc(build(&inner.name, &inner.params, &shaped).map_err(within)?, None)
            }
            (None, limit, latency) => {
                let by_latency = |l| Length::Bytes(Bytes(rate.bytes_in(l).0 + burst.0));
                let limit = limit.or_else(|| latency.map(by_latency));
                Inner::Fifo(Fifo::default(), shaped.limit(limit.unwrap_or(Length::Packets(Packets(1000)))))
            }
        };
        Ok(Tbf { bucket: TokenBucket::new(rate, burst), inner, ready: Time::ZERO })
    }
}

impl Qdisc for Tbf {
    fn enqueue(&mut self, packet: Packet, cx: &mut QdiscContext) {
        match &mut self.inner {
            Inner::Fifo(queue, limit) => {
                let sent_at_once = queue.is_empty() && !cx.link_busy; // whatever the limit
                if sent_at_once || limit.admits(queue.backlog(), &packet) {
                    queue.push(packet);
                } else {
                    cx.drop_packet(packet, DropReason::Full);
                }
            }
            Inner::Qdisc(qdisc, held) => {
                let (link_busy, outer) = (cx.link_busy, cx.held);
                cx.link_busy |= held.is_some(); // the arrival is not sent next
                held.iter().for_each(|packet| cx.held.add(packet));
                qdisc.enqueue(packet, cx);
                (cx.link_busy, cx.held) = (link_busy, outer);
            }
        }
    }

    fn dequeue(&mut self, cx: &mut QdiscContext) -> Option<Packet> {
        let next = match &mut self.inner {
            Inner::Fifo(queue, _) => queue.first(),
            Inner::Qdisc(qdisc, held) => {
                if held.is_none() && qdisc.first().is_none() {
                    *held = qdisc.dequeue(cx);
                }
                held.as_ref().or(qdisc.first())
            }
        };
        if let Err(ready) = self.bucket.consume(cx.now, Bytes(u64::from(next?.bytes))) {
            self.ready = ready;
            return None;
        }
        match &mut self.inner {
            Inner::Fifo(queue, _) => queue.pop(),
            Inner::Qdisc(qdisc, held) => held.take().or_else(|| qdisc.dequeue(cx)),
        }
    }

    fn classes(&self) -> Option<u32> {
        match &self.inner {
            Inner::Fifo(..) => None,
            Inner::Qdisc(qdisc, _) => qdisc.classes(),
        }
    }

    fn next_ready(&self) -> Option<Time> {
        let own = (self.backlog().packets > 0).then_some(self.ready);
        match &self.inner {
            Inner::Qdisc(qdisc, None) => qdisc.next_ready().or(own),
            _ => own,
        }
    }

    fn backlog(&self) -> Backlog {
        match &self.inner {
            Inner::Fifo(queue, _) => queue.backlog(),
            Inner::Qdisc(qdisc, held) => {
                let mut backlog = qdisc.backlog();
                held.iter().for_each(|packet| backlog.add(packet));
                backlog
            }
        }
    }

    fn observe(&self, row: &mut Vec<f64>) {
        row.push(self.bucket.tokens());
    }
}
