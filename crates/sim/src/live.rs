//! The network without simulated flows, for packets of a real stack: the same links, queues and routes. The caller runs
//! the clock.
//!
//! The caller keeps the packets' contents under the handles that [`Live::enter`] returns. A packet's path depends only
//! on the time at which it enters; a late call changes nothing for other packets.

use crate::capture::Capture;
use crate::error::SimError;
use crate::flows::FlowInfo;
use crate::network::{Disciplines, Injected, Network, Pace, PacketFate};
use dumbbell_cc::Failure;
use dumbbell_plan::Plan;
use dumbbell_plan::QueueResult;
use dumbbell_trace::Trace;
use dumbbell_units::Time;
use dumbbell_units::flow_number::{LANES, direction_of};
use dumbbell_wire::{Ecn, checksum};

/// A packet of a real stack.
#[derive(Clone, Copy, Debug)]
pub struct ExternalPacket<'a> {
    /// Twice the flow's index; plus 1 from the data receiver to the data sender.
    pub direction: u32,
    /// Payload, bytes; the whole packet for a datagram.
    pub payload: u32,
    /// Number of the connection within its flow: queue disciplines that separate flows separate the connections.
    pub connection: u32,
    /// Stream offset of its first payload byte; sequence number of a datagram.
    pub number: u64,
    /// True for a retransmission.
    pub retransmission: bool,
    /// Length of the IP packet, bytes.
    pub bytes: u32,
    /// The IP packet: its IP header at least, all of it if the plan has captures.
    pub packet: &'a [u8],
}

/// The fate of a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Event {
    /// It reached its destination. The handle is free after the callback.
    Arrived {
        /// The packet.
        handle: u32,
        /// The direction with which it entered.
        direction: u32,
        /// Arrival time.
        at: Time,
        /// ECN field on arrival.
        ecn: Ecn,
    },
    /// A link duplicated it.
    Copied {
        /// The packet.
        of: u32,
        /// The duplicate.
        to: u32,
    },
    /// It was dropped or lost; the handle is free.
    Dropped {
        /// The packet.
        handle: u32,
        /// True if no other copy of it has arrived or is on its path.
        lost: bool,
    },
}

/// The results of a run that the network measures; the hosts measure the rest.
#[derive(Debug)]
pub struct LiveOutput {
    /// One row per direction of each link.
    pub queues: Vec<QueueResult>,
    /// Series that the plan requests.
    pub trace: Trace,
    /// Captures that the plan requests.
    pub captures: Vec<Capture>,
    /// Duplicates of packets with payload that each flow's data sender sent in the measured time.
    pub duplicated: Vec<u64>,
}

/// See the top of this file.
pub struct Live {
    net: Network,
    flows: Vec<FlowInfo>,
}

impl Live {
    /// The network of a plan.
    ///
    /// # Errors
    /// The plan names an unknown discipline or parameter, or holds an invalid value.
    pub fn new(plan: &Plan) -> Result<Live, SimError> {
        dumbbell_plan::check(plan)?;
        let mut net = Network::new(plan, Pace::Live, false, &Disciplines::new(), &Failure::default())?;
        net.fates = Some(Vec::new());
        let flows = (0..plan.flows.len()).map(|i| FlowInfo::new(plan, i, Time(plan.flows[i].start_ns)));
        Ok(Live { net, flows: flows.collect() })
    }

    /// Sends a packet at `now`, which is not before the time of the last call, and returns its handle. `each` receives
    /// the events that were due before; [`Live::drain_events`] has those that this packet caused at once.
    pub fn enter(&mut self, packet: &ExternalPacket<'_>, now: Time, mut each: impl FnMut(Event)) -> u32 {
        self.advance(now, &mut each);
        self.net.now = now;
        let ExternalPacket { direction, payload, connection, number, retransmission, bytes, packet } = *packet;
        let ecn = ecn_of(packet);
        let injected = Injected { direction, bytes, payload, ecn, connection, number, retransmission, frame: packet };
        let flow = &mut self.flows[direction as usize / 2];
        flow.is_measured = (flow.measure_from..flow.stop).contains(&now);
        flow.lane = connection % LANES;
        self.net.inject(flow, &injected)
    }

    /// Passes on the drops and duplications caused by [`Live::enter`], once the packet's handle is known.
    pub fn drain_events(&mut self, mut each: impl FnMut(Event)) {
        for fate in self.net.fates.iter_mut().flat_map(|f| f.drain(..)) {
            each(match fate {
                PacketFate::Copied { of, to } => Event::Copied { of, to },
                PacketFate::Dropped { handle, lost } => Event::Dropped { handle, lost },
            });
        }
    }

    /// Time of the next event, if no packet enters before.
    pub fn next_time(&mut self) -> Option<Time> {
        self.net.events.next_time()
    }

    /// Processes all events up to and including `until`.
    pub fn advance(&mut self, until: Time, mut each: impl FnMut(Event)) {
        while let Some((at, slot)) = self.net.events.pop_by(until) {
            self.net.now = at;
            let arrived = self.net.on_link_event(slot);
            self.drain_events(&mut each);
            if let Some(p) = arrived {
                let direction = direction_of(p.flow);
                each(Event::Arrived { handle: p.body, direction, at, ecn: p.ecn });
                self.net.free(p.body);
            }
        }
    }

    /// The results at the end of the run.
    #[must_use]
    pub fn finish(mut self, end: Time) -> LiveOutput {
        self.net.now = end;
        let (queues, tables) = self.net.finish();
        self.net.trace.tables.extend(tables);
        LiveOutput {
            queues,
            captures: self.net.captures(),
            duplicated: (0..self.flows.len()).map(|f| self.net.duplicated(f)).collect(),
            trace: std::mem::take(&mut self.net.trace),
        }
    }
}

/// Returns the ECN field of an IP packet [RFC 3168 §5, RFC 8200 §7].
#[must_use]
pub fn ecn_of(packet: &[u8]) -> Ecn {
    let first = packet.first().copied().unwrap_or(0);
    let second = packet.get(1).copied().unwrap_or(0);
    // The traffic class of IPv6 begins in the middle of the first byte.
    Ecn::from_bits(if first >> 4 == 6 { second >> 4 } else { second })
}

/// Sets the ECN field of an IP packet; in IPv4, it updates the header checksum [RFC 1624 §3], which IPv6 doesn't have.
pub fn set_ecn(packet: &mut [u8], ecn: Ecn) {
    if packet.len() < 20 || ecn_of(packet) == ecn {
        return;
    }
    match packet[0] >> 4 {
        4 => {
            let word = |p: &[u8], at: usize| u16::from_be_bytes([p[at], p[at + 1]]);
            let (sum, old) = (word(packet, 10), word(packet, 0));
            packet[1] = packet[1] & !3 | ecn.bits();
            let sum = checksum::update(sum, old, word(packet, 0));
            packet[10..12].copy_from_slice(&sum.to_be_bytes());
        }
        6 => packet[1] = packet[1] & !0x30 | ecn.bits() << 4,
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A bottleneck of 8 Mbit/s and 10 ms between two nodes, whose queue holds one packet; 1000 bytes take 1 ms.
    fn plan() -> Plan {
        let link = |name: &str, from: usize, to: usize| {
            serde_json::json!({
                "name": name, "from": from, "to": to, "rate_bps": 8_000_000, "delay_ns": 10_000_000,
                "overhead_bytes": 0, "base_rtt_ns": 20_000_000,
                "queue": {"name": "droptail", "params": {"limit": "1 packets"}},
            })
        };
        Plan::from_value(serde_json::json!({
            "seed": 1, "duration_ns": 1_000_000_000, "measure_from_ns": 0, "start_jitter_ns": 0,
            "nodes": ["a", "b"], "links": [link("a->b", 0, 1), link("b->a", 1, 0)],
            "flows": [{
                "name": "f", "from": 0, "to": 1, "start_ns": 0, "stop_ns": null, "class": 0,
                "application": {"kind": "ping", "interval_ns": 1, "packet_bytes": 1, "count": 0, "timeout_ns": 1},
                "transport": {"kind": "udp"},
            }],
            "trace": {"series": true, "interval_ns": 0, "packets": false},
        }))
        .unwrap()
    }

    fn external(direction: u32, packet: &[u8]) -> ExternalPacket<'_> {
        let bytes = packet.len() as u32;
        ExternalPacket { direction, payload: bytes, connection: 0, number: 0, retransmission: false, bytes, packet }
    }

    #[test]
    fn packets_wait_cross_the_link_and_are_dropped() {
        let mut live = Live::new(&plan()).unwrap();
        let bytes = [0x45; 1000];
        let mut events = Vec::new();
        let handles: Vec<u32> = (0..3)
            .map(|_| {
                let h = live.enter(&external(0, &bytes), Time(5_000_000), |e| events.push(e));
                live.drain_events(|e| events.push(e));
                h
            })
            .collect();
        // One is sent, one waits, the third is dropped.
        assert_eq!(events, [Event::Dropped { handle: handles[2], lost: true }]);
        events.clear();
        // Transmissions end at 6 ms and 7 ms; then 10 ms on the wire.
        assert_eq!(live.next_time(), Some(Time(6_000_000)));
        live.advance(Time(16_500_000), |e| events.push(e));
        let arrived = |n: usize, ms: u64| Event::Arrived {
            handle: handles[n],
            direction: 0,
            at: Time(ms * 1_000_000),
            ecn: Ecn::ECT1, // the test's packets are 0x45 throughout: bits 01
        };
        assert_eq!(std::mem::take(&mut events), [arrived(0, 16)]);
        live.advance(Time(1_000_000_000), |e| events.push(e));
        assert_eq!(std::mem::take(&mut events), [arrived(1, 17)]);
        let output = live.finish(Time(1_000_000_000));
        let q = &output.queues[0];
        assert_eq!((q.arrivals, q.departures, q.delivered, q.drops_full), (3, 2, 2, 1));
        assert_eq!(q.max_sojourn_ms, Some(1.0));
    }

    #[test]
    fn marking_updates_the_checksum() {
        // RFC 1071's sum over a header that includes its checksum is 0xffff.
        let sum = |p: &[u8]| {
            let all: u32 = p.chunks(2).map(|w| u32::from(u16::from_be_bytes([w[0], w[1]]))).sum();
            (all & 0xffff) + (all >> 16)
        };
        let mut p = vec![0x45, 0x02, 0, 20, 0x12, 0x34, 0, 0, 64, 6, 0, 0, 10, 1, 0, 0, 10, 2, 0, 0];
        let check = !(sum(&p) as u16);
        p[10..12].copy_from_slice(&check.to_be_bytes());
        assert_eq!(sum(&p), 0xffff);
        set_ecn(&mut p, Ecn::CE);
        assert_eq!((p[1], sum(&p)), (0x03, 0xffff));
    }

    #[test]
    fn the_ecn_field_of_ipv6_is_in_the_middle_of_the_first_two_bytes() {
        let mut p = vec![0; 40];
        (p[0], p[1]) = (0x6a, 0x8f); // class 0xa8: ECN 00; flow label 0xf....
        assert_eq!(ecn_of(&p), Ecn::NOT_ECT);
        set_ecn(&mut p, Ecn::CE);
        assert_eq!((p[0], p[1], ecn_of(&p)), (0x6a, 0xbf, Ecn::CE));
        assert!(p[2..].iter().all(|b| *b == 0), "no header checksum exists");
    }
}
