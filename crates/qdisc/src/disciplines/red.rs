//! RED: one FIFO queue whose arrivals are dropped or marked early, by its average length.
//!
//! The law is [`crate::aqm::red`]; here are the queue, the units and the defaults.
//!
//! ```text
//! arrival: average -> full? drop -> law: accept | mark (ECN-capable, average below max_th) | drop
//! mode     "packets": lengths are packets;  "bytes": lengths are bytes and a packet's probability grows with its size.
//!          A length given in the other unit is turned with mean_packet.
//! "auto"   min_th  max(5 packets, half of target_delay at the link's rate)      [Floyd, Gummadi and Shenker 2001,
//!          max_th  3 min_th                                                      as ns-2 does it]
//!          weight  1 - exp(-1/C), C = mean packets per second of the link
//! ```
//! An arrival that finds the link idle and nothing waiting is always accepted. max_p = 1/linterm of ns-2.
//!
//! ns-2's RED at its defaults is `mode = "bytes"`, `wait = true`, `counting = "ns2"`, `least_waiting = 1` and all else as
//! here: the limit is then bytes (packets x mean_packet), tested without the arrival. With `bytes_` and
//! `queue_in_bytes_` off it is `mode = "packets"`, `least_waiting = 2`; that rule decides much where the queue
//! often runs empty under a high average. What stays different: ns-2 makes no early drop at the first arrival above
//! min_th, counts the arrival itself in the spacing and whole packet times of idling, marks by p_b < 0.1 (here: average
//! below max_th; the same where max_p is 0.1), and lets adaptive max_p fall below 0.01 on links above 8 Mbit/s.

use crate::aqm::red::{Adaptive, Config, Red as Law, Verdict};
use crate::discipline::{Discipline, Limit, LinkInfo, some_bytes};
use crate::{Backlog, DropReason, Packet, Qdisc, QdiscContext};
use dumbbell_units::param::{Kind, ParamError, Params, Spec};
use dumbbell_units::random::Stream;
use dumbbell_units::{Bytes, Rate, Time};
use std::collections::VecDeque;

const PARAMS: &[Spec] = &[
    Spec {
        name: "limit",
        kind: Kind::Length,
        default: "1000 packets",
        doc: "how much may wait: packets, wire bytes, a time at the link's rate, or bdp (link rate x largest base RTT)",
    },
    Spec {
        name: "counting",
        kind: Kind::Choice(&["waiting", "ns2"]),
        default: "waiting",
        doc: "\"waiting\": the limit holds with the arrival counted; \"ns2\": in mode \"bytes\" a limit in packets is so \
              many times mean_packet bytes, and an arrival is only dropped if that much waits already",
    },
    Spec {
        name: "min_th",
        kind: Kind::Or("auto", &Kind::Length),
        default: "auto",
        doc: "average queue from which on packets are dropped or marked [FJ 1993 §IV]",
    },
    Spec {
        name: "max_th",
        kind: Kind::Or("auto", &Kind::Length),
        default: "auto",
        doc: "average queue at which the probability is max_p; auto: 3 min_th [FJ 1993 §IV]",
    },
    Spec {
        name: "target_delay",
        kind: Kind::Duration,
        default: "5 ms",
        doc: "queueing delay that an automatic min_th is half of [ns-2 targetdelay_]",
    },
    Spec {
        name: "weight",
        kind: Kind::Or("auto", &Kind::Float { min: 1e-9, max: 1.0 }),
        default: "auto",
        doc: "weight of one arrival in the average, w_q; 0.002 in FJ 1993 §VI; auto: a time constant of 1 s of full link",
    },
    Spec {
        name: "max_p",
        kind: Kind::Probability,
        default: "10 %",
        doc: "probability at max_th; 1/linterm of ns-2; with adaptive only the start [Floyd 1997: 10 %; FJ 1993 §V: 2 %]",
    },
    Spec {
        name: "gentle",
        kind: Kind::Bool,
        default: "true",
        doc: "from max_p to certainty between max_th and 2 max_th instead of at once at max_th [Floyd 2000]",
    },
    Spec {
        name: "wait",
        kind: Kind::Bool,
        default: "false",
        doc: "at least 1/p packets between two drops or marks [ns-2 wait_]; false: FJ 1993 §VII",
    },
    Spec {
        name: "least_waiting",
        kind: Kind::Int { min: 0, max: 1_000_000 },
        default: "0",
        doc: "no early drop or mark while fewer packets wait, whatever the average, and the spacing starts again; \
              ns-2: 2, in mode \"bytes\" 1; FJ 1993 has no such rule",
    },
    Spec {
        name: "ecn",
        kind: Kind::Bool,
        default: "false",
        doc: "below max_th ECN-capable packets are marked instead of dropped [RFC 3168 §7]",
    },
    Spec {
        name: "mode",
        kind: Kind::Choice(&["packets", "bytes"]),
        default: "packets",
        doc: "what is counted; bytes: the probability is also scaled by size / mean_packet [FJ 1993 §IV, ns-2 bytes_]",
    },
    Spec {
        name: "mean_packet",
        kind: Kind::Bytes,
        default: "500 bytes",
        doc: "the typical packet: unit of idle time, of byte mode and of conversions [ns-2 mean_pktsize_]",
    },
    Spec {
        name: "adaptive",
        kind: Kind::Bool,
        default: "false",
        doc: "max_p follows the average within 1 % .. 50 % [Floyd, Gummadi and Shenker 2001 §4]",
    },
    Spec {
        name: "alpha",
        kind: Kind::Or("auto", &Kind::Float { min: 0.0, max: 0.5 }),
        default: "auto",
        doc: "step up of an adaptive max_p; auto: min(0.01, max_p / 4)",
    },
    Spec {
        name: "beta",
        kind: Kind::Float { min: 0.01, max: 1.0 },
        default: "0.9",
        doc: "factor down of an adaptive max_p",
    },
    Spec {
        name: "interval",
        kind: Kind::Duration,
        default: "500 ms",
        doc: "from one step of an adaptive max_p to the next",
    },
];

pub(crate) const ROW: Discipline = Discipline {
    name: "red",
    title: "random early detection, adaptive RED included",
    year: 1993,
    source: "Floyd and Jacobson 1993; Floyd 2000 (gentle); Floyd, Gummadi and Shenker 2001 (adaptive)",
    doc: "Each arrival moves the average queue. Below min_th nothing happens, from there to max_th (to 2 max_th if \
          gentle) it is dropped or marked with growing probability, evenly spaced, above that always dropped. \
          What finds the queue full is dropped. Idle time lets the average decay as if typical packets had passed.",
    params: PARAMS,
    columns: &["avg", "probability", "max_p"],
    build: |params, link| Ok(Box::new(Red::new(params, link)?)),
};

/// See the top of this file.
#[derive(Debug)]
pub(crate) struct Red {
    law: Law,
    draws: Stream,
    by_bytes: bool,
    mean_packet: f64,
    packets_per_second: f64,
    least_waiting: u64,
    ecn: bool,
    full: Full,
    rate: Rate,
    idle_since: Time,
    waiting: VecDeque<Packet>,
    bytes: u64,
}

/// When a queue is full.
#[derive(Clone, Copy, Debug)]
enum Full {
    /// If the limit would be passed with the arrival.
    With(Limit),
    /// If so many bytes wait without it.
    Without(f64),
}

/// A limit as bytes or as packets.
fn length(limit: Limit, by_bytes: bool, mean_packet: f64) -> f64 {
    match (limit, by_bytes) {
        (Limit::Packets(n), false) => n.0 as f64,
        (Limit::Packets(n), true) => n.0 as f64 * mean_packet,
        (Limit::Bytes(n), true) => n.0 as f64,
        (Limit::Bytes(n), false) => n.0 as f64 / mean_packet,
    }
}

impl Red {
    fn new(params: &Params, link: &LinkInfo) -> Result<Red, ParamError> {
        let error = |name: &str, message| Err(ParamError { name: name.into(), message });
        let by_bytes = params.choice("mode") == "bytes";
        let mean_packet = some_bytes(params, "mean_packet")? as f64;
        let unit = if by_bytes { mean_packet } else { 1.0 };
        let packets_per_second = link.rate.0 as f64 / (8.0 * mean_packet);
        let given = |name: &str| {
            let resolve = |l| length(link.limit(l), by_bytes, mean_packet);
            params.unless_word(name, Params::length).map(resolve)
        };
        let half_target = params.duration("target_delay").as_secs() * packets_per_second / 2.0;
        let min_th = given("min_th").unwrap_or(half_target.max(5.0) * unit);
        let max_th = given("max_th").unwrap_or(3.0 * min_th);
        if max_th <= min_th {
            let word = if by_bytes { "bytes" } else { "packets" };
            return error("max_th", format!("{max_th} {word} is not above min_th, which is {min_th} {word}"));
        }
        let config = Config {
            // 1 - exp(-x), exact for small x.
            weight: params
                .unless_word("weight", Params::float)
                .unwrap_or_else(|| -libm::expm1(-1.0 / packets_per_second)),
            min_th,
            max_th,
            max_p: params.probability("max_p"),
            gentle: params.bool("gentle"),
            wait: params.bool("wait"),
            adaptive: params.bool("adaptive").then(|| Adaptive {
                interval: params.duration("interval"),
                alpha: params.unless_word("alpha", Params::float),
                beta: params.float("beta"),
            }),
        };
        let limit = link.limit(params.length("limit"));
        Ok(Red {
            law: Law::new(config),
            draws: link.stream(),
            by_bytes,
            mean_packet,
            packets_per_second,
            least_waiting: params.int("least_waiting"),
            ecn: params.bool("ecn"),
            full: match params.choice("counting") {
                "ns2" if by_bytes => Full::Without(length(limit, true, mean_packet)),
                _ => Full::With(limit),
            },
            rate: link.rate,
            idle_since: Time::ZERO,
            waiting: VecDeque::new(),
            bytes: 0,
        })
    }

    fn is_full(&self, packet: &Packet) -> bool {
        match self.full {
            Full::With(Limit::Packets(limit)) => self.waiting.len() as u64 >= limit.0,
            Full::With(Limit::Bytes(limit)) => self.bytes + u64::from(packet.bytes) > limit.0,
            Full::Without(limit) => self.bytes as f64 >= limit,
        }
    }

    /// A packet in mean packets, as far as sizes matter.
    fn share(&self, packet: &Packet) -> f64 {
        if self.by_bytes { f64::from(packet.bytes) / self.mean_packet } else { 1.0 }
    }

    /// Takes in a packet that the law has no say in.
    fn accept_unasked(&mut self, packet: Packet) {
        if (self.waiting.len() as u64) < self.least_waiting {
            self.law.restart_spacing();
        } else {
            self.law.pass(self.share(&packet));
        }
        self.push(packet);
    }

    fn push(&mut self, packet: Packet) {
        self.bytes += u64::from(packet.bytes);
        self.waiting.push_back(packet);
    }
}

impl Qdisc for Red {
    fn enqueue(&mut self, mut packet: Packet, cx: &mut QdiscContext) {
        if self.waiting.is_empty() && !cx.link_busy {
            self.law.idle(cx.now.since(self.idle_since).as_secs() * self.packets_per_second);
            self.law.adapt(cx.now);
            self.accept_unasked(packet);
            return;
        }
        self.law.sample(if self.by_bytes { self.bytes as f64 } else { self.waiting.len() as f64 });
        self.law.adapt(cx.now);
        if self.is_full(&packet) {
            self.law.restart_spacing();
            cx.drop_packet(packet, DropReason::Full);
            return;
        }
        if (self.waiting.len() as u64) < self.least_waiting {
            self.accept_unasked(packet);
            return;
        }
        match self.law.decide(self.share(&packet), || self.draws.uniform()) {
            Verdict::Accept => self.push(packet),
            Verdict::Notify if self.ecn && self.law.marks() && cx.mark(&mut packet) => self.push(packet),
            Verdict::Notify => cx.drop_packet(packet, DropReason::Early),
            Verdict::Drop => cx.drop_packet(packet, DropReason::Forced),
        }
    }

    fn dequeue(&mut self, cx: &mut QdiscContext) -> Option<Packet> {
        let packet = self.waiting.pop_front()?;
        self.bytes -= u64::from(packet.bytes);
        // Idle time begins when this packet is out, unless another comes before.
        self.idle_since = cx.now + self.rate.time_for(Bytes(u64::from(packet.bytes)));
        Some(packet)
    }

    fn backlog(&self) -> Backlog {
        Backlog { packets: self.waiting.len() as u64, bytes: self.bytes }
    }

    fn observe(&self, row: &mut Vec<f64>) {
        row.extend([self.law.average(), self.law.probability(), self.law.max_p()]);
    }
}
