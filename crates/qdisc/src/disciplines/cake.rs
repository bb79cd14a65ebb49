//! CAKE-like: a shaper, flow queues that hardly ever collide, COBALT on each [Høiland-Jørgensen, Täht and Morton, Piece of
//! CAKE: A Comprehensive Queue Management Solution for Home Gateways, LANMAN 2018; Linux's tc-cake].
//!
//! The shaper is [`crate::aqm::deficit_shaper`], the law [`crate::aqm::cobalt`], the scheduler [`crate::flows`], from whose
//! lists an empty queue leaves at once.
//!
//! ```text
//! arrival    into a queue of the eight that its hash says: the one that the flow had, else one that nobody uses, else
//!            that of its hash, with whoever is there
//! full       the queue with the most bytes loses its first packet until all fits; BLUE of that queue hears of it
//! departure  once the shaper lets one go: COBALT decides; the last packet of a queue is never dropped
//! from rtt   target = rtt / 20, at least 1.5 full packets; interval = rtt, more by as much as the target is, at least
//!            two targets
//! from bandwidth  quantum = bandwidth / 4096 in bytes and seconds, within 300..1514; limit = four times what rtt
//!            holds, at least 4 MiB; at most 10240 full packets
//! ```
//! A full packet has 1514 bytes. Of CAKE this has one tin and no host isolation, see its page.

use crate::aqm::Verdict;
use crate::aqm::cobalt::{Cobalt as Law, Config};
use crate::aqm::deficit_shaper::DeficitShaper;
use crate::discipline::{Discipline, Limit, LinkInfo, span};
use crate::flows::{Empty, Flow, Flows, hash, pop};
use crate::{Backlog, DropReason, Packet, Qdisc, QdiscContext};
use dumbbell_units::param::{Kind, ParamError, Params, Spec};
use dumbbell_units::random::Stream;
use dumbbell_units::{Bytes, Dur, Rate, Time};

/// Queues, and those among them that one hash can mean.
const QUEUES: usize = 1024;
const WAYS: usize = 8;
/// Bytes of a full packet: an Ethernet frame, as Linux counts it.
const FULL_PACKET: u64 = 1514;

pub(crate) const ROW: Discipline = Discipline {
    name: "cake",
    title: "CAKE-like: a shaper, a queue for each flow that hardly ever collides, COBALT",
    year: 2018,
    source: "Høiland-Jørgensen, Täht and Morton 2018, Linux (tc-cake)",
    doc: "Packets leave at the bandwidth, without bursts. Flows have queues by an 8-way set-associative hash, which take \
          turns; on each runs COBALT: CoDel, and BLUE for flows that don't answer. ECN-capable packets are marked.",
    params: &[
        Spec {
            name: "limit",
            kind: Kind::Or("auto", &Kind::Length),
            default: "auto",
            doc: "how much may wait in all queues together (tc's memlimit, in wire bytes); times and bdp at the bandwidth",
        },
        Spec {
            name: "bandwidth",
            kind: Kind::Or("unlimited", &Kind::Rate),
            default: "unlimited",
            doc: "rate of the shaper; unlimited: the link's pace",
        },
        Spec {
            name: "rtt",
            kind: Kind::Duration,
            default: "100 ms",
            doc: "round-trip time that the AQM is tuned for: its interval, 20 times its target",
        },
        Spec {
            name: "isolation",
            kind: Kind::Choice(&["flows", "flowblind"]),
            default: "flows",
            doc: "flows: a queue for each direction of each flow; flowblind: one queue",
        },
        Spec {
            name: "overhead",
            kind: Kind::Bytes,
            default: "0 bytes",
            doc: "counted by the shaper with each packet",
        },
        Spec {
            name: "mpu",
            kind: Kind::Bytes,
            default: "0 bytes",
            doc: "the least that the shaper counts for a packet, overhead included",
        },
    ],
    columns: &["active", "new", "old", "fattest", "dropping", "blue"],
    build: |params, link| Ok(Box::new(Cake::new(params, link)?)),
};

/// What a queue has besides its packets.
#[derive(Debug, Default)]
struct State {
    law: Law,
    /// The hash of the flow that it is for.
    tag: Option<u32>,
    empty_since: Time,
}

/// See the top of this file.
#[derive(Debug)]
pub(crate) struct Cake {
    flows: Flows<State>,
    flowblind: bool,
    law: Config,
    limit: Limit,
    shaper: Option<DeficitShaper>,
    overhead: u64,
    mpu: u64,
    random: Stream,
    salt: u64,
}

impl Cake {
    fn new(params: &Params, link: &LinkInfo) -> Result<Cake, ParamError> {
        let bandwidth = params.unless_word("bandwidth", Params::rate);
        if bandwidth == Some(Rate(0)) {
            let message = "zero given: must be above, or \"unlimited\"".into();
            return Err(ParamError { name: "bandwidth".into(), message });
        }
        let rtt = span(params, "rtt")?;
        let quantum = bandwidth.map_or(FULL_PACKET, |r| (r.0 / 8 / 4096).clamp(300, FULL_PACKET));
        let facts = LinkInfo { rate: bandwidth.unwrap_or(link.rate), ..link.clone() };
        let limit = params.unless_word("limit", Params::length).map(|l| facts.limit(l));
        let mut random = link.stream();
        Ok(Cake {
            flows: Flows::new(QUEUES, quantum, Empty::Leave),
            flowblind: params.choice("isolation") == "flowblind",
            law: config(bandwidth, rtt),
            limit: limit.unwrap_or_else(|| automatic_limit(bandwidth, rtt)),
            shaper: bandwidth.map(DeficitShaper::new),
            overhead: params.bytes("overhead").0,
            mpu: params.bytes("mpu").0,
            salt: random.next_u64(),
            random,
        })
    }

    /// The queue for a flow.
    fn place(&mut self, flow: u32, now: Time) -> usize {
        if self.flowblind {
            return 0;
        }
        let tag = hash(flow, self.salt);
        let home = tag as usize % QUEUES;
        let ways = move || (0..WAYS).map(move |n| home - home % WAYS + (home + n) % WAYS);
        let known = ways().find(|&place| self.flows.flow(place).state.tag == Some(tag));
        let found = known.or_else(|| ways().find(|&place| self.is_free(place, now)));
        let place = found.unwrap_or(home);
        self.flows.flow(place).state.tag = Some(tag);
        place
    }

    /// Whether nobody uses a queue: it is in no list and has nothing to remember.
    fn is_free(&mut self, place: usize, now: Time) -> bool {
        let flow = self.flows.flow(place);
        if flow.is_listed() {
            return false;
        }
        flow.state.law.empty(&self.law, flow.state.empty_since, now);
        flow.state.law.is_at_rest(now)
    }

    fn drop_from_fattest(&mut self, cx: &mut QdiscContext) -> bool {
        let Some(fattest) = self.flows.fattest() else { return false };
        let Some(packet) = self.flows.pop(fattest) else { return false };
        cx.drop_packet(packet, DropReason::Full);
        let flow = self.flows.flow(fattest);
        flow.state.law.overflow(&self.law, cx.now);
        flow.state.empty_since = cx.now; // meant if it is
        true
    }
}

/// The law's settings at a bandwidth (none: without bound) and for a round-trip time.
fn config(bandwidth: Option<Rate>, rtt: Dur) -> Config {
    let packet = bandwidth.map_or(Dur::ZERO, |r| r.time_for(Bytes(FULL_PACKET)));
    let ideal = rtt / 20;
    let target = ideal.max(packet * 3 / 2).max(Dur(1));
    let interval = (rtt + target.saturating_sub(ideal)).max(target * 2);
    Config { target, interval, four_packets: packet * 4 }
}

fn automatic_limit(bandwidth: Option<Rate>, rtt: Dur) -> Limit {
    let most = 10_240 * FULL_PACKET;
    let bytes = bandwidth.map_or(most, |r| (4 * r.bytes_in(rtt).0).max(4 << 20).min(most));
    Limit::Bytes(Bytes(bytes))
}

impl Qdisc for Cake {
    fn enqueue(&mut self, packet: Packet, cx: &mut QdiscContext) {
        let none_waits = self.flows.backlog().packets == 0;
        if let Some(shaper) = self.shaper.as_mut().filter(|_| none_waits) {
            shaper.wake(cx.now);
        }
        let place = self.place(packet.flow, cx.now);
        let flow = self.flows.flow(place);
        if flow.fifo.is_empty() {
            flow.state.law.empty(&self.law, flow.state.empty_since, cx.now);
        }
        self.flows.push(place, packet);
        if none_waits && !cx.link_busy {
            return; // is the next to go, however small the limit
        }
        while self.limit.is_below(self.flows.backlog().packets, self.flows.backlog().bytes) {
            if !self.drop_from_fattest(cx) {
                return;
            }
        }
    }

    fn dequeue(&mut self, cx: &mut QdiscContext) -> Option<Packet> {
        if self.shaper.as_ref().is_some_and(|shaper| shaper.next() > cx.now) {
            return None;
        }
        let Cake { flows, law: config, random, .. } = self;
        let packet = flows.next(|flow, total| {
            loop {
                let Flow { fifo, state, .. } = &mut *flow;
                let packet = pop(fifo, total)?;
                let sojourn = cx.now.since(packet.enqueued);
                let capable = packet.ecn.is_capable();
                let verdict = state.law.decide(config, cx.now, sojourn, capable, || random.uniform());
                if fifo.is_empty() {
                    state.empty_since = cx.now;
                    if verdict == Verdict::Drop {
                        return Some(packet);
                    }
                }
                if let Some(packet) = cx.apply(verdict, packet) {
                    return Some(packet);
                }
            }
        })?;
        if let Some(shaper) = &mut self.shaper {
            shaper.send(Bytes((u64::from(packet.bytes) + self.overhead).max(self.mpu)));
        }
        Some(packet)
    }

    fn next_ready(&self) -> Option<Time> {
        self.shaper.as_ref().filter(|_| self.flows.backlog().packets > 0).map(DeficitShaper::next)
    }

    fn backlog(&self) -> Backlog {
        self.flows.backlog()
    }

    fn observe(&self, row: &mut Vec<f64>) {
        let (new, old) = self.flows.list_lengths();
        let active = self.flows.listed().filter(|f| !f.fifo.is_empty()).count();
        let fattest = self.flows.listed().map(|f| f.fifo.bytes()).max().unwrap_or(0);
        let dropping = self.flows.listed().filter(|f| f.state.law.dropping()).count();
        row.extend([active, new, old, fattest as usize, dropping].map(|n| n as f64));
        row.push(self.flows.listed().map(|f| f.state.law.p()).fold(0.0, f64::max));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn settings_follow_from_bandwidth_and_rtt() {
        let ms = Dur::millis;
        let all = |bandwidth: Option<u64>, rtt| {
            let Config { target, interval, four_packets } = config(bandwidth.map(Rate), rtt);
            (target, interval, four_packets)
        };
        assert_eq!(all(None, ms(100)), (ms(5), ms(100), Dur::ZERO));
        // 100 Mbit/s: 1514 bytes take 121.12 us.
        assert_eq!(all(Some(100_000_000), ms(100)), (ms(5), ms(100), Dur(484_480)));
        // 1 Mbit/s: 12.112 ms; target 18.168 ms, interval 100 + 13.168 ms.
        assert_eq!(all(Some(1_000_000), ms(100)), (Dur(18_168_000), Dur(113_168_000), Dur(48_448_000)));
        // Two targets at least: 10 + 17.668 ms are less.
        assert_eq!(all(Some(1_000_000), ms(10)).1, Dur(36_336_000));
        // 1 Gbit/s x 100 ms = 12.5 MB, four times that is more than 10240 full packets; 10 Mbit/s: 500 kB.
        let bytes = |bandwidth: Option<u64>| match automatic_limit(bandwidth.map(Rate), ms(100)) {
            Limit::Bytes(b) => b.0,
            Limit::Packets(_) => 0,
        };
        assert_eq!(bytes(Some(1_000_000_000)), 15_503_360);
        assert_eq!(bytes(Some(10_000_000)), 4 << 20);
        assert_eq!(bytes(Some(200_000_000)), 10_000_000);
        assert_eq!(bytes(None), 15_503_360);
    }
}
