//! Token bucket filter: a FIFO queue whose packets leave at a rate, with bursts up to a bucket's size [Linux's tbf].
//!
//! The bucket is [`crate::law::token_bucket`].
//!
//! ```text
//! arrival     dropped if the limit would be passed; nothing is held against the bucket here
//! departure   the first packet, once the bucket holds its bytes
//! limit       or latency: the longest that a packet may wait; the queue then holds rate x latency + burst
//! ```
//! A link at a rate well above this one sends bursts of up to burst bytes at its own rate. DIVERGES [Linux's tbf]: a
//! packet larger than the bucket goes when that is full and leaves a debt; Linux drops every such packet, and a flow of
//! them starves for a parameter.

use crate::fifo::Fifo;
use crate::law::token_bucket::TokenBucket;
use crate::registry::{Discipline, Limit, LinkFacts, some_bytes};
use crate::{Backlog, Cx, DropReason, Packet, Qdisc};
use dumbbell_units::param::{Kind, ParamError, Params, Spec};
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
    ],
    columns: &["tokens"],
    build: |params, link| Ok(Box::new(Tbf::new(params, link)?)),
};

/// See the top of this file.
#[derive(Debug)]
pub(crate) struct Tbf {
    bucket: TokenBucket,
    limit: Limit,
    waiting: Fifo,
    ready: Time,
}

/// The rate that a parameter gives: that of the link if it is the word for it.
pub(crate) fn rate(params: &Params, name: &str, link: Rate) -> Result<Rate, ParamError> {
    match params.unless_word(name, Params::rate).unwrap_or(link) {
        Rate(0) => Err(ParamError { name: name.into(), message: "zero given: must be above".into() }),
        rate => Ok(rate),
    }
}

impl Tbf {
    fn new(params: &Params, link: &LinkFacts) -> Result<Tbf, ParamError> {
        let rate = rate(params, "rate", link.rate)?;
        let burst = Bytes(some_bytes(params, "burst")?);
        let limit = params.unless_word("limit", Params::length);
        let latency = params.unless_word("latency", Params::duration);
        let limit = match (limit, latency) {
            (Some(_), Some(_)) => {
                let message = "limit is given too, which says the same: remove one".into();
                return Err(ParamError { name: "latency".into(), message });
            }
            (Some(limit), None) => limit,
            (None, Some(latency)) => Length::Bytes(Bytes(rate.bytes_in(latency).0 + burst.0)),
            (None, None) => Length::Packets(Packets(1000)),
        };
        Ok(Tbf {
            bucket: TokenBucket::new(rate, burst),
            limit: LinkFacts { rate, ..link.clone() }.limit(limit),
            waiting: Fifo::default(),
            ready: Time::ZERO,
        })
    }
}

impl Qdisc for Tbf {
    fn enqueue(&mut self, packet: Packet, cx: &mut Cx) {
        let straight_on = self.waiting.is_empty() && !cx.link_busy; // is the next to go, however small the limit
        if straight_on || self.limit.has_room(self.waiting.backlog(), &packet) {
            self.waiting.push(packet);
        } else {
            cx.drop_packet(packet, DropReason::Full);
        }
    }

    fn dequeue(&mut self, cx: &mut Cx) -> Option<Packet> {
        let bytes = Bytes(u64::from(self.waiting.first()?.bytes));
        match self.bucket.take(cx.now, bytes) {
            Ok(()) => self.waiting.pop(),
            Err(ready) => {
                self.ready = ready;
                None
            }
        }
    }

    fn next_ready(&self) -> Option<Time> {
        (!self.waiting.is_empty()).then_some(self.ready)
    }

    fn backlog(&self) -> Backlog {
        self.waiting.backlog()
    }

    fn observe(&self, row: &mut Vec<f64>) {
        row.push(self.bucket.level());
    }
}
