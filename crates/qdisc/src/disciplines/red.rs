//! RED: one FIFO queue whose arrivals are dropped or marked early, depending on its average length [Floyd and Jacobson
//! 1993].
//!
//! The algorithm is [`crate::aqm::red`]; this file adds the queue, the units and the defaults.
//!
//! ```text
//! arrival: update avg -> full queue? drop -> RED: accept | mark (ECN-capable, avg below max_th) | drop
//! mode     "packets": lengths are in packets;  "bytes": lengths are in bytes, and the probability grows with the
//!          packet size. A length in the other unit is converted with mean_packet.
//! "auto"   min_th  max(5 packets, half of target_delay at the link's rate)      [Floyd, Gummadi and Shenker 2001;
//!          max_th  3 min_th                                                      ns-2 red.cc REDQueue::initParams]
//!          weight  1 - exp(-1/C), C = mean packets per second of the link
//! ```
//! An arrival at an idle link with an empty queue is always accepted. max_p is 1/linterm_ of ns-2. With `follows =
//! "linux"` the rules of [`crate::aqm::red_linux`] replace those for idle time, the distance of drops and the full
//! queue.
//!
//! RED of ns-2 with its defaults is `mode = "bytes"`, `wait = true`, `counting = "ns2"`, `least_waiting = 1` and the
//! defaults here: the limit is then in bytes (packets x mean_packet) and is compared without the arrival. With `bytes_`
//! and `queue_in_bytes_` off it is `mode = "packets"`, `least_waiting = 2`. The rule of `least_waiting` matters where
//! the queue is often empty although its average is high. The remaining differences: ns-2 makes no early drop at the
//! first arrival above min_th, includes the arrival in the count, counts idle time in whole packets, marks if p_b < 0.1
//! (here: if avg is below max_th, which is equal for max_p = 0.1), and lets adaptive max_p fall below 0.01 on links
//! above 8 Mbit/s.

use crate::aqm::red::{AdaptiveParams, DropType, Red, RedParams};
use crate::aqm::red_linux::{IdleTable, LinuxRed};
use crate::discipline::{Discipline, FOLLOWS, LIMIT, Limit, LinkInfo, positive_bytes};
use crate::fifo::Fifo;
use crate::{Backlog, DropReason, KernelOptions, KernelQdisc, Packet, Qdisc, QdiscContext};
use dumbbell_units::param::{Kind, ParamError, Params, Spec, specs};
use dumbbell_units::random::Stream;
use dumbbell_units::{Bytes, Rate, Time};

const PARAMS: &[Spec] = specs! {
    LIMIT;
    /// "waiting": the limit includes the arrival; "ns2": in mode "bytes" a limit of n packets is n mean_packet bytes,
    /// and an arrival is dropped only if the backlog has reached it already
    counting = "waiting", Kind::Choice(&["waiting", "ns2"]);
    /// average queue above which packets are dropped or marked [FJ 1993 §IV]
    min_th = "auto", Kind::Or("auto", &Kind::Length);
    /// average queue at which the probability is max_p; auto: 3 min_th [FJ 1993 §IV]
    max_th = "auto", Kind::Or("auto", &Kind::Length);
    /// target queueing delay; an automatic min_th is half of it [ns-2 targetdelay_]
    target_delay = "5 ms", Kind::Duration;
    /// weight w_q of one arrival in the average; 0.002 in FJ 1993 §VI; auto: a time constant of 1 s at the link's rate
    weight = "auto", Kind::Or("auto", &Kind::Float { min: 1e-9, max: 1.0 });
    /// probability at max_th; 1/linterm_ in ns-2; with adaptive the initial value [Floyd 1997: 10 %; FJ 1993 §V: 2 %]
    max_p = "10 %", Kind::Probability;
    /// the probability rises from max_p to 1 between max_th and 2 max_th; false: it is 1 from max_th on [Floyd 2000]
    gentle = "true", Kind::Bool;
    /// two drops or marks are at least 1/p packets apart [ns-2 wait_]; false: FJ 1993 §VII
    wait = "false", Kind::Bool;
    /// no early drop or mark while fewer packets wait, whatever the average, and the count restarts; ns-2: 2, in mode
    /// "bytes" 1; FJ 1993 has no such rule
    least_waiting = "0", Kind::Int { min: 0, max: 1_000_000 };
    /// ECN-capable packets are marked instead of dropped while the average is below max_th [RFC 3168 §7]
    ecn = "false", Kind::Bool;
    /// unit of the average; bytes: the probability is also scaled by size / mean_packet [FJ 1993 §IV, ns-2 bytes_]
    mode = "packets", Kind::Choice(&["packets", "bytes"]);
    /// mean packet size, for idle time, byte mode and conversions [ns-2 mean_pktsize_]
    mean_packet = "500 bytes", Kind::Bytes;
    /// max_p adapts to the average within 1 % .. 50 % [Floyd, Gummadi and Shenker 2001 §4]
    adaptive = "false", Kind::Bool;
    /// additive increase of an adaptive max_p; auto: min(0.01, max_p / 4)
    alpha = "auto", Kind::Or("auto", &Kind::Float { min: 0.0, max: 0.5 });
    /// multiplicative decrease of an adaptive max_p
    beta = "0.9", Kind::Float { min: 0.01, max: 1.0 };
    /// time between two changes of an adaptive max_p
    interval = "500 ms", Kind::Duration;
    /// rfc: Floyd and Jacobson's rules for idle time and for the distance of drops; linux: Linux's, without gentle,
    /// wait, least_waiting, mode and counting; auto: linux if none of these is set otherwise than there and a TCP flow
    /// of the scenario has the stack linux or linux-tuned
    FOLLOWS;
};

pub(crate) const ROW: Discipline = Discipline {
    name: "red",
    title: "random early detection, including adaptive RED",
    year: 1993,
    source: "Floyd and Jacobson 1993; Floyd 2000 (gentle); Floyd, Gummadi and Shenker 2001 (adaptive)",
    doc: "Each arrival updates the average queue. Below min_th it is accepted, up to max_th (2 max_th if gentle) it is \
          dropped or marked with growing probability, evenly spaced, above that always dropped. An arrival at a full \
          queue is dropped. During idle time the average decays as if mean packets were sent.",
    params: PARAMS,
    columns: &["avg", "probability", "max_p"],
    kernel: Some(KernelQdisc {
        kinds: &["red"],
        options: KernelOptions::Red,
        only: &[
            ("gentle", "false"),
            ("wait", "false"),
            ("least_waiting", "0"),
            ("counting", "waiting"),
            ("mode", "packets"),
        ],
        overlimit: Some(&[4]), // tc_red_xstats pdrop
        ..KernelQdisc::EMPTY
    }),
    random: true,
    build: |params, link| Ok(Box::new(RedQdisc::new(params, link)?)),
};

/// The RED discipline.
#[derive(Debug)]
pub(crate) struct RedQdisc {
    red: Red,
    random: Stream,
    by_bytes: bool,
    mean_packet: f64,
    packets_per_second: f64,
    least_waiting: u64,
    ecn: bool,
    full: Full,
    rate: Rate,
    idle_since: Time,
    queue: Fifo,
    /// State of Linux's rules [Linux sch_red.c red_enqueue]; None: the rules are those of the publication.
    linux: Option<LinuxRed>,
}

/// The condition for a full queue.
#[derive(Clone, Copy, Debug)]
enum Full {
    /// The arrival would exceed the limit.
    WithArrival(Limit),
    /// The backlog has reached this number of bytes.
    WithoutArrival(f64),
}

/// Converts a limit to bytes or packets.
fn limit_in_mode(limit: Limit, by_bytes: bool, mean_packet: f64) -> f64 {
    match (limit, by_bytes) {
        (Limit::Packets(n), false) => n.0 as f64,
        (Limit::Packets(n), true) => n.0 as f64 * mean_packet,
        (Limit::Bytes(n), true) => n.0 as f64,
        (Limit::Bytes(n), false) => n.0 as f64 / mean_packet,
    }
}

/// Returns true if the rules are Linux's, which lack some of the parameters [Linux sch_red.c red_policy].
fn follows_linux(params: &Params, link: &LinkInfo) -> Result<bool, ParamError> {
    if !link.follows_linux(params) {
        return Ok(false);
    }
    let choices = [("mode", "packets"), ("counting", "waiting")];
    let unknown = ["gentle", "wait"].into_iter().find(|name| params.bool(name));
    let unknown = unknown.or_else(|| (params.int("least_waiting") > 0).then_some("least_waiting"));
    let unknown =
        unknown.or_else(|| choices.into_iter().find(|(name, only)| params.choice(name) != *only).map(|c| c.0));
    match unknown {
        Some(name) if params.choice(FOLLOWS.name) == "linux" => {
            let default = if name == "gentle" { " (the default is true)" } else { "" };
            let message = format!("Linux's RED doesn't have it{default}: unset it, or follow rfc");
            Err(ParamError { name: name.into(), message })
        }
        unknown => Ok(unknown.is_none()),
    }
}

impl RedQdisc {
    fn new(params: &Params, link: &LinkInfo) -> Result<RedQdisc, ParamError> {
        let error = |name: &str, message| Err(ParamError { name: name.into(), message });
        let by_bytes = params.choice("mode") == "bytes";
        let mean_packet = positive_bytes(params, "mean_packet")? as f64;
        let unit = if by_bytes { mean_packet } else { 1.0 };
        let packets_per_second = link.rate.0 as f64 / (8.0 * mean_packet);
        let given = |name: &str| {
            let resolve = |l| limit_in_mode(link.limit(l), by_bytes, mean_packet);
            params.unless_word(name, Params::length).map(resolve)
        };
        let half_target = params.duration("target_delay").as_secs() * packets_per_second / 2.0;
        let min_th = given("min_th").unwrap_or(half_target.max(5.0) * unit);
        let max_th = given("max_th").unwrap_or(3.0 * min_th);
        if max_th <= min_th {
            let word = if by_bytes { "bytes" } else { "packets" };
            return error("max_th", format!("{max_th} {word} is not above min_th, which is {min_th} {word}"));
        }
        let red_params = RedParams {
            // 1 - exp(-x), exact for small x.
            w_q: params.unless_word("weight", Params::float).unwrap_or_else(|| -libm::expm1(-1.0 / packets_per_second)),
            min_th,
            max_th,
            max_p: params.probability("max_p"),
            gentle: params.bool("gentle"),
            wait: params.bool("wait"),
            adaptive: params.bool("adaptive").then(|| AdaptiveParams {
                interval: params.duration("interval"),
                alpha: params.unless_word("alpha", Params::float),
                beta: params.float("beta"),
            }),
        };
        let limit = link.limit(params.length("limit"));
        let linux = follows_linux(params, link)?.then(|| {
            let packet = link.rate.time_for(Bytes(mean_packet as u64));
            LinuxRed::new(IdleTable::new(red_params.w_q, packet))
        });
        Ok(RedQdisc {
            linux,
            red: Red::new(red_params),
            random: link.stream(),
            by_bytes,
            mean_packet,
            packets_per_second,
            least_waiting: params.int("least_waiting"),
            ecn: params.bool("ecn"),
            full: match params.choice("counting") {
                "ns2" if by_bytes => Full::WithoutArrival(limit_in_mode(limit, true, mean_packet)),
                _ => Full::WithArrival(limit),
            },
            rate: link.rate,
            idle_since: Time::ZERO,
            queue: Fifo::default(),
        })
    }

    fn is_full(&self, packet: &Packet) -> bool {
        match self.full {
            Full::WithArrival(Limit::Packets(limit)) => self.queue.packets() >= limit.0,
            Full::WithArrival(Limit::Bytes(limit)) => self.queue.bytes() + u64::from(packet.bytes) > limit.0,
            Full::WithoutArrival(limit) => self.queue.bytes() as f64 >= limit,
        }
    }

    /// Returns the packet size in mean packets in mode "bytes", else 1.
    fn size(&self, packet: &Packet) -> f64 {
        if self.by_bytes { f64::from(packet.bytes) / self.mean_packet } else { 1.0 }
    }

    /// Accepts a packet without a decision of RED.
    fn accept(&mut self, packet: Packet) {
        if self.queue.packets() < self.least_waiting {
            self.red.reset_count();
        } else {
            self.red.count_accepted(self.size(&packet));
        }
        self.queue.push(packet);
    }
}

impl RedQdisc {
    /// Handles an arrival as Linux does [Linux sch_red.c red_enqueue].
    fn enqueue_as_linux(&mut self, mut packet: Packet, cx: &mut QdiscContext) {
        let Some(linux) = &mut self.linux else { return };
        match linux.end_idle(self.red.avg(), cx.now) {
            Some(decayed) => self.red.set_avg(decayed),
            None => self.red.update_avg(self.queue.packets() as f64),
        }
        self.red.adapt_max_p(cx.now);
        let p_b = self.red.p_b();
        let is_between = self.red.is_between();
        if !is_between {
            linux.outside_thresholds();
        }
        if is_between && linux.selects(p_b, || self.random.uniform()) {
            if !(self.ecn && cx.mark(&mut packet)) {
                cx.drop_packet(packet, DropReason::Early);
                return self.ask_if_empty(cx.now);
            }
        } else if !self.red.may_mark() {
            cx.drop_packet(packet, DropReason::Forced);
            return self.ask_if_empty(cx.now);
        }
        if self.is_full(&packet) {
            return cx.drop_packet(packet, DropReason::Full);
        }
        self.queue.push(packet);
    }

    /// An arrival lets the link ask for a packet, also if it was dropped [Linux net/core/dev.c __dev_xmit_skb].
    fn ask_if_empty(&mut self, now: Time) {
        if let Some(linux) = self.linux.as_mut().filter(|_| self.queue.is_empty()) {
            linux.asked_while_empty(now);
        }
    }
}

impl Qdisc for RedQdisc {
    fn enqueue(&mut self, mut packet: Packet, cx: &mut QdiscContext) {
        if self.linux.is_some() {
            return self.enqueue_as_linux(packet, cx);
        }
        if self.queue.is_empty() && !cx.link_busy {
            self.red.update_avg_idle(cx.now.since(self.idle_since).as_secs() * self.packets_per_second);
            self.red.adapt_max_p(cx.now);
            self.accept(packet);
            return;
        }
        let queue = if self.by_bytes { self.queue.bytes() } else { self.queue.packets() };
        self.red.update_avg(queue as f64);
        self.red.adapt_max_p(cx.now);
        if self.is_full(&packet) {
            self.red.reset_count();
            cx.drop_packet(packet, DropReason::Full);
            return;
        }
        if self.queue.packets() < self.least_waiting {
            self.accept(packet);
            return;
        }
        match self.red.decide(self.size(&packet), || self.random.uniform()) {
            DropType::None => self.queue.push(packet),
            DropType::Unforced if self.ecn && self.red.may_mark() && cx.mark(&mut packet) => {
                self.queue.push(packet);
            }
            DropType::Unforced => cx.drop_packet(packet, DropReason::Early),
            DropType::Forced => cx.drop_packet(packet, DropReason::Forced),
        }
    }

    fn dequeue(&mut self, cx: &mut QdiscContext) -> Option<Packet> {
        let packet = self.queue.pop()?;
        // The link is idle from the end of this transmission on, unless another packet is sent before.
        self.idle_since = cx.now + self.rate.time_for(Bytes(u64::from(packet.bytes)));
        self.ask_if_empty(cx.now); // the link asks again at once
        Some(packet)
    }

    fn first(&self) -> Option<&Packet> {
        self.queue.first()
    }

    fn backlog(&self) -> Backlog {
        self.queue.backlog()
    }

    fn observe(&self, row: &mut Vec<f64>) {
        row.extend([self.red.avg(), self.red.p_b(), self.red.max_p()]);
    }
}
