//! CAKE: a shaper, flow queues that rarely collide, and COBALT on each queue [Høiland-Jørgensen, Täht and Morton, Piece
//! of CAKE: A Comprehensive Queue Management Solution for Home Gateways, LANMAN 2018; Linux sch_cake.c].
//!
//! The shaper is [`crate::aqm::deficit_shaper`], the AQM algorithm [`crate::aqm::cobalt`], the scheduler
//! `decaying_queues.rs`. The model has one tin and no host isolation; its page in
//! the docs lists the rest.
//!
//! ```text
//! arrival    into one of the eight queues of its hash set: the queue of the same flow, else an unused one, else the
//!            queue of the hash itself, which it then shares. A queue is unused if it has no set
//!                                                                                              [cake_hash]
//! full       packets are dropped from the head of the queue with the most bytes until the limit holds; BLUE of that
//!            queue counts each drop                                                            [cake_drop]
//! departure  when the shaper permits: COBALT decides; the last packet of a queue is never dropped       [cake_dequeue]
//! from rtt   target = max(rtt / 20, 1.5 full packets);
//!            interval = max(rtt + target - rtt / 20, 2 target)                                 [cake_set_rate]
//! from bandwidth  quantum = bandwidth / 4096 in bytes and seconds, limited to 300..1514        [cake_set_rate]
//!            limit = 4 bandwidth x rtt, at least 4 MiB, at most 10240 full packets             [cake_reconfigure]
//! ```
//! A full packet has 1514 bytes.

use crate::aqm::Verdict;
use crate::aqm::cobalt::{Cobalt, CobaltParams};
use crate::aqm::deficit_shaper::DeficitShaper;
use crate::decaying_queues::{DecayingQueues, Flow, Visit};
use crate::discipline::{Discipline, Limit, LinkInfo, positive_duration};
use crate::flow_queues::flow_hash;
use crate::{Backlog, DropReason, KernelOptions, KernelQdisc, Packet, Qdisc, QdiscContext};
use dumbbell_units::param::{Kind, ParamError, Params, specs};
use dumbbell_units::random::Stream;
use dumbbell_units::{Bytes, Dur, Rate, Time};

/// Number of queues [Linux sch_cake.c CAKE_QUEUES].
const QUEUES: usize = 1024;
/// Queues in one set of the set-associative hash [Linux sch_cake.c CAKE_SET_WAYS].
const SET_WAYS: usize = 8;
/// Bytes of a full packet: an Ethernet frame without its checksum.
const FULL_PACKET: u64 = 1514;

pub(crate) const ROW: Discipline = Discipline {
    name: "cake",
    title: "CAKE-like: a shaper, a queue for each flow with rare collisions, COBALT",
    year: 2018,
    source: "Høiland-Jørgensen, Täht and Morton 2018, Linux (tc-cake)",
    doc: "Packets leave at the bandwidth, without bursts. An 8-way set-associative hash assigns flows to queues, which are \
          served by deficit round robin. COBALT runs on each: CoDel, and BLUE for unresponsive flows. ECN-capable packets \
          are marked.",
    params: specs! {
        /// maximum backlog of all queues together (memlimit of tc, in wire bytes); times and bdp refer to the bandwidth
        limit = "auto", Kind::Or("auto", &Kind::Length);
        /// rate of the shaper; unlimited: no shaper, the link sets the rate
        bandwidth = "unlimited", Kind::Or("unlimited", &Kind::Rate);
        /// round-trip time for which the AQM is tuned: the interval, and 20 times the target
        rtt = "100 ms", Kind::Duration;
        /// flows: a queue for each direction of each flow; flowblind: one queue
        isolation = "flows", Kind::Choice(&["flows", "flowblind"]);
        /// bytes that the shaper adds to each packet
        overhead = "0 bytes", Kind::Bytes;
        /// minimum size that the shaper counts for a packet, including the overhead
        mpu = "0 bytes", Kind::Bytes;
    },
    columns: &["active", "new", "old", "fattest", "dropping", "blue"],
    kernel: Some(KernelQdisc {
        kinds: &["cake"],
        options: KernelOptions::Cake,
        overlimit: Some(&[]),        // its memory is never full before COBALT drops
        separates_connections: true, // [Linux sch_cake.c cake_hash]
        ..KernelQdisc::EMPTY
    }),
    random: true,
    build: |params, link| Ok(Box::new(Cake::new(params, link)?)),
};

/// The state of a queue besides its packets.
#[derive(Debug, Default)]
struct QueueState {
    cobalt: Cobalt,
    /// Hash of the flow to which the queue is assigned.
    tag: Option<u32>,
}

/// The CAKE discipline.
#[derive(Debug)]
pub(crate) struct Cake {
    flows: DecayingQueues<QueueState>,
    flowblind: bool,
    cobalt: CobaltParams,
    limit: Limit,
    shaper: Option<DeficitShaper>,
    overhead: u64,
    mpu: u64,
    random: Stream,
    perturbation: u64,
}

impl Cake {
    fn new(params: &Params, link: &LinkInfo) -> Result<Cake, ParamError> {
        let bandwidth = params.unless_word("bandwidth", Params::rate);
        if bandwidth == Some(Rate(0)) {
            let message = "0 given, a rate above zero or \"unlimited\" is needed".into();
            return Err(ParamError { name: "bandwidth".into(), message });
        }
        let rtt = positive_duration(params, "rtt")?;
        let quantum = bandwidth.map_or(FULL_PACKET, |r| (r.0 / 8 / 4096).clamp(300, FULL_PACKET));
        let shaped_link = LinkInfo { rate: bandwidth.unwrap_or(link.rate), ..link.clone() };
        let limit = params.unless_word("limit", Params::length).map(|l| shaped_link.limit(l));
        let mut random = link.stream();
        Ok(Cake {
            flows: DecayingQueues::new(QUEUES, quantum),
            flowblind: params.choice("isolation") == "flowblind",
            cobalt: cobalt_params(bandwidth, rtt),
            limit: limit.unwrap_or_else(|| automatic_limit(bandwidth, rtt)),
            shaper: bandwidth.map(DeficitShaper::new),
            overhead: params.bytes("overhead").0,
            mpu: params.bytes("mpu").0,
            perturbation: random.next_u64(),
            random,
        })
    }

    /// Returns the queue of a flow [Linux sch_cake.c cake_hash].
    fn queue_of(&mut self, flow: u32) -> usize {
        if self.flowblind {
            return 0;
        }
        let tag = flow_hash(flow, self.perturbation);
        let direct = tag as usize % QUEUES;
        let set = move || (0..SET_WAYS).map(move |n| direct - direct % SET_WAYS + (direct + n) % SET_WAYS);
        let same_flow = set().find(|&index| self.flows.queues.flow(index).aqm.tag == Some(tag));
        let found = same_flow.or_else(|| set().find(|&index| self.flows.is_unused(index)));
        let index = found.unwrap_or(direct);
        self.flows.queues.flow(index).aqm.tag = Some(tag);
        index
    }

    /// Drops the first packet of the queue with the most bytes; false if all are empty [Linux sch_cake.c cake_drop].
    fn drop_from_fattest(&mut self, cx: &mut QdiscContext) -> bool {
        let Some(fattest) = self.flows.queues.fattest() else { return false };
        let Some(packet) = self.flows.queues.dequeue_head(fattest) else { return false };
        cx.drop_packet(packet, DropReason::Full);
        self.flows.queues.flow(fattest).aqm.cobalt.queue_full(&self.cobalt, cx.now);
        true
    }
}

/// The bytes that the shaper and the scheduler count for a packet [Linux sch_cake.c cake_calc_overhead].
#[derive(Clone, Copy, Debug)]
struct Framing {
    overhead: u64,
    mpu: u64,
}

impl Framing {
    fn bytes(self, packet: &Packet) -> u64 {
        (u64::from(packet.bytes) + self.overhead).max(self.mpu)
    }
}

/// The work of COBALT on the queue whose turn it is.
struct Turn<'a> {
    params: &'a CobaltParams,
    random: &'a mut Stream,
    framing: Framing,
    cx: &'a mut QdiscContext,
}

impl Visit<QueueState> for Turn<'_> {
    fn send(&mut self, flow: &mut Flow<QueueState>, backlog: &mut Backlog) -> Option<Packet> {
        loop {
            let packet = flow.queue.pop()?;
            backlog.remove(&packet);
            let sojourn = self.cx.now.since(packet.enqueued);
            let (capable, draw) = (packet.ecn.is_capable(), || self.random.uniform());
            let verdict = flow.aqm.cobalt.should_drop(self.params, self.cx.now, sojourn, capable, draw);
            if verdict == Verdict::Drop && flow.queue.is_empty() {
                return Some(packet); // the last packet may be marked, but not dropped
            }
            if let Some(packet) = self.cx.apply(verdict, packet) {
                return Some(packet);
            }
        }
    }

    fn decay(&mut self, state: &mut QueueState) -> bool {
        state.cobalt.queue_empty(self.params, self.cx.now);
        state.cobalt.has_decayed(self.cx.now)
    }

    fn cost(&self, packet: &Packet) -> u64 {
        self.framing.bytes(packet)
    }
}

/// Returns the parameters of COBALT for a bandwidth (None: unlimited) and a round-trip time
/// [Linux sch_cake.c cake_set_rate].
fn cobalt_params(bandwidth: Option<Rate>, rtt: Dur) -> CobaltParams {
    let mtu_time = bandwidth.map_or(Dur::ZERO, |r| r.time_for(Bytes(FULL_PACKET)));
    let ideal = rtt / 20;
    let target = ideal.max(mtu_time * 3 / 2).max(Dur(1));
    let interval = (rtt + target.saturating_sub(ideal)).max(target * 2);
    CobaltParams { target, interval, four_mtu_time: mtu_time * 4 }
}

/// Returns the limit for a bandwidth and a round-trip time [Linux sch_cake.c cake_reconfigure].
fn automatic_limit(bandwidth: Option<Rate>, rtt: Dur) -> Limit {
    let most = 10_240 * FULL_PACKET;
    let bytes = bandwidth.map_or(most, |r| (4 * r.bytes_in(rtt).0).max(4 << 20).min(most));
    Limit::Bytes(Bytes(bytes))
}

impl Qdisc for Cake {
    fn enqueue(&mut self, packet: Packet, cx: &mut QdiscContext) {
        let was_empty = self.flows.queues.backlog().packets == 0;
        if let Some(shaper) = self.shaper.as_mut().filter(|_| was_empty) {
            shaper.on_arrival_at_empty_queue(cx.now);
        }
        let index = self.queue_of(packet.flow);
        self.flows.enqueue(index, packet);
        if was_empty && !cx.link_busy {
            return; // sent next, whatever the limit
        }
        while self.limit.is_exceeded_by(self.flows.queues.backlog() + cx.held) {
            if !self.drop_from_fattest(cx) {
                return;
            }
        }
    }

    fn dequeue(&mut self, cx: &mut QdiscContext) -> Option<Packet> {
        if self.shaper.as_ref().is_some_and(|shaper| shaper.time_next_packet() > cx.now) {
            return None;
        }
        let framing = Framing { overhead: self.overhead, mpu: self.mpu };
        let packet = self.flows.dequeue(&mut Turn { params: &self.cobalt, random: &mut self.random, framing, cx })?;
        if let Some(shaper) = &mut self.shaper {
            shaper.advance(Bytes(framing.bytes(&packet)));
        }
        Some(packet)
    }

    fn next_ready(&self) -> Option<Time> {
        self.shaper.as_ref().filter(|_| self.flows.queues.backlog().packets > 0).map(DeficitShaper::time_next_packet)
    }

    fn backlog(&self) -> Backlog {
        self.flows.queues.backlog()
    }

    fn observe(&self, row: &mut Vec<f64>) {
        self.flows.queues.observe(row);
        row.push(self.flows.queues.listed().filter(|f| f.aqm.cobalt.dropping()).count() as f64);
        row.push(self.flows.queues.listed().map(|f| f.aqm.cobalt.p_drop()).fold(0.0, f64::max));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parameters_follow_from_bandwidth_and_rtt() {
        let ms = Dur::millis;
        let all = |bandwidth: Option<u64>, rtt| {
            let CobaltParams { target, interval, four_mtu_time } = cobalt_params(bandwidth.map(Rate), rtt);
            (target, interval, four_mtu_time)
        };
        assert_eq!(all(None, ms(100)), (ms(5), ms(100), Dur::ZERO));
        // 100 Mbit/s: 1514 bytes take 121.12 us.
        assert_eq!(all(Some(100_000_000), ms(100)), (ms(5), ms(100), Dur(484_480)));
        // 1 Mbit/s: 12.112 ms; target 18.168 ms, interval 100 + 13.168 ms.
        assert_eq!(all(Some(1_000_000), ms(100)), (Dur(18_168_000), Dur(113_168_000), Dur(48_448_000)));
        // At least two targets: 10 + 17.668 ms are less.
        assert_eq!(all(Some(1_000_000), ms(10)).1, Dur(36_336_000));
        // 1 Gbit/s x 100 ms = 12.5 MB, four times that exceeds 10240 full packets; 10 Mbit/s: 500 kB.
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
