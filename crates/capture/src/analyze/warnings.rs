//! Warnings: properties of a capture that make some of its figures doubtful or wrong.
//!
//! Each warning has a kind, the flow that it concerns (if any) and a text. `docs/reference/capture-warnings.md` lists the kinds.
//! They come first in the output, the most severe ones at the top.

use super::connections::{ConnectionRecord, Connections};
use super::dispatch::Dispatcher;
use crate::Properties;
use crate::dissect::Unread;
use crate::flow::side::Side;

/// A warning.
#[derive(Clone, Debug, PartialEq)]
pub struct Warning {
    /// Its kind, a short name.
    pub kind: &'static str,
    /// The flow that it concerns, if it concerns one.
    pub flow: Option<u64>,
    /// The message.
    pub text: String,
}

/// Segments of a connection from which on a missing direction is reported.
const ENOUGH: u64 = 10;
/// Share of the round trip: a capture point nearer to an end of the path counts as being at that end.
const NEAR: f64 = 0.1;

fn n(count: u64, what: &str) -> String {
    if count == 1 { format!("1 {what}") } else { format!("{count} {what}s") }
}

/// Collects the warnings.
struct Warnings(Vec<Warning>);

impl Warnings {
    fn add(&mut self, kind: &'static str, flow: Option<u64>, text: String) {
        self.0.push(Warning { kind, flow, text });
    }
}

/// All warnings, the most severe first.
pub(super) fn warnings(
    properties: &[Properties],
    dispatcher: &Dispatcher,
    connections: &Connections,
) -> Vec<Warning> {
    let mut warnings = Warnings(Vec::new());
    files(&mut warnings, properties);
    frames(&mut warnings, dispatcher);
    let records = &connections.records;
    directions(&mut warnings, records);
    offload(&mut warnings, records);
    missed(&mut warnings, records);
    copies(&mut warnings, records);
    cut(&mut warnings, records);
    middle(&mut warnings, records);
    vantage(&mut warnings, records);
    limits(&mut warnings, dispatcher, connections);
    warnings.0
}

fn files(warnings: &mut Warnings, properties: &[Properties]) {
    for p in properties {
        for i in &p.interfaces {
            if let Some(dropped) = i.dropped.filter(|&d| d > 0) {
                let name = i.name.clone().unwrap_or_else(|| p.file.clone());
                warnings.add(
                    "capture drops",
                    None,
                    format!(
                        "the capture on {name} dropped {}: gaps and ACKs of unseen segments are due to that, not to the network",
                        n(dropped, "frame")
                    ),
                );
            }
        }
        if p.backwards > 0 {
            warnings.add(
                "clock",
                None,
                format!(
                    "{}: time stamps go backwards at {}: intervals, round-trip times and the order of packets near \
                     them are doubtful (several interfaces, or a clock that was set)",
                    p.file,
                    n(p.backwards, "frame")
                ),
            );
        }
        if p.untimed > 0 {
            let frames = n(p.untimed, "frame");
            warnings.add(
                "no time",
                None,
                format!("{}: {frames} without a time stamp, counted as of 1970", p.file),
            );
        }
    }
}

fn frames(warnings: &mut Warnings, dispatcher: &Dispatcher) {
    let reasons = [
        (Unread::LinkType, "of an unknown link type"),
        (Unread::Encrypted, "encrypted by 802.11: their content is not visible"),
        (Unread::Fragment, "with fragments of incomplete datagrams"),
        (Unread::Tunnel, "in tunnels that were not decapsulated (an option does that)"),
        (Unread::Cut, "cut by the snap length before the transport header"),
        (Unread::Malformed, "with inconsistent headers"),
    ];
    for (why, words) in reasons {
        let count = dispatcher.unread(why);
        if count > 0 {
            warnings.add("unread frames", None, format!("{} {words}", n(count, "frame")));
        }
    }
}

fn directions(warnings: &mut Warnings, records: &[ConnectionRecord]) {
    let one_sided = |t: &&ConnectionRecord| {
        let [a, b] = &t.sides;
        a.packets.max(b.packets) >= ENOUGH && a.packets.min(b.packets) == 0
    };
    let all: Vec<&ConnectionRecord> = records.iter().filter(one_sided).collect();
    if let Some(first) = all.first() {
        warnings.add(
            "one direction",
            Some(first.number),
            format!(
                "{} with one direction only (the first is flow {}): no round-trip times, no bytes in flight, and most \
                 labels are not possible",
                n(all.len() as u64, "connection"),
                first.number
            ),
        );
    }
}

fn offload(warnings: &mut Warnings, records: &[ConnectionRecord]) {
    let mut longest: Option<(u32, &ConnectionRecord)> = None;
    let mut count = 0;
    for t in records {
        for s in &t.sides {
            count += s.super_packets;
            if s.super_packets > 0 && longest.is_none_or(|(l, _)| s.payload_max > l) {
                longest = Some((s.payload_max, t));
            }
        }
    }
    if let Some((longest, t)) = longest {
        warnings.add(
            "offload",
            Some(t.number),
            format!(
                "{} with up to {longest} bytes of payload (flow {}) were never on the wire: the network card splits them \
                 when it sends (TSO), or the kernel has merged them at reception (GRO). Packet counts, lengths and \
                 retransmitted bytes differ from those in the network",
                n(count, "packet"),
                t.number
            ),
        );
    }
}

fn missed(warnings: &mut Warnings, records: &[ConnectionRecord]) {
    let bytes: u64 = records.iter().flat_map(|t| &t.sides).map(|s| s.missed_bytes).sum();
    let worst = records.iter().max_by_key(|t| t.sides.iter().map(|s| s.missed_bytes).sum::<u64>());
    if let Some(worst) = worst.filter(|_| bytes > 0) {
        warnings.add(
            "capture gaps",
            Some(worst.number),
            format!(
                "{bytes} acknowledged bytes are not in the capture (most of them in flow {}): the capture is incomplete, \
                 and some labels (previous segment not captured, ACKed unseen segment) are due to that, not to the \
                 network",
                worst.number
            ),
        );
    }
}

fn copies(warnings: &mut Warnings, records: &[ConnectionRecord]) {
    let sum = |f: fn(&Side) -> u64| records.iter().flat_map(|t| &t.sides).map(|s| f(s)).sum::<u64>();
    let (copies, data) = (sum(|s| s.copies), sum(|s| s.data_packets));
    if copies > 0 && copies * 20 >= data {
        warnings.add(
            "copies",
            None,
            format!(
                "{copies} of {data} data segments are exact copies of a recent one: captured twice (several interfaces, \
                 a mirror port). Wireshark labels them as retransmissions"
            ),
        );
    }
}

fn cut(warnings: &mut Warnings, records: &[ConnectionRecord]) {
    let count: u64 = records.iter().flat_map(|t| &t.sides).map(|s| s.cut_headers).sum();
    if count > 0 {
        warnings.add(
            "snap length",
            None,
            format!(
                "the snap length cuts {} inside the TCP header: their options are incomplete, and Wireshark shows no \
                 labels for them",
                n(count, "segment")
            ),
        );
    }
}

fn middle(warnings: &mut Warnings, records: &[ConnectionRecord]) {
    let late: Vec<&ConnectionRecord> = records
        .iter()
        .filter(|t| t.opener.is_none() && t.sides.iter().map(|s| s.data_packets).sum::<u64>() > 0)
        .collect();
    if let Some(first) = late.first() {
        warnings.add(
            "no handshake",
            Some(first.number),
            format!(
                "{} without a handshake in the capture (the first is flow {}): their window scale is unknown, so a full \
                 window is not detected",
                n(late.len() as u64, "connection"),
                first.number
            ),
        );
    }
}

fn vantage(warnings: &mut Warnings, records: &[ConnectionRecord]) {
    let (mut sender, mut receiver, mut between) = (0_u64, 0_u64, 0_u64);
    for t in records {
        for (s, v) in t.sides.iter().zip(t.vantage) {
            match v.filter(|_| s.new_bytes > 10_000) {
                Some(v) if v <= NEAR => sender += 1,
                Some(v) if v >= 1.0 - NEAR => receiver += 1,
                Some(_) => between += 1,
                None => {}
            }
        }
    }
    if sender > 0 {
        warnings.add(
            "sender side",
            None,
            format!(
                "{} captured at the sender: all retransmissions are in the capture, losses appear as retransmissions and \
                 duplicate ACKs; \"out of order\" there is nearly always a retransmission, and \"previous segment not \
                 captured\" a drop of the capture",
                n(sender, "transfer")
            ),
        );
    }
    if receiver > 0 {
        warnings.add(
            "receiver side",
            None,
            format!(
                "{} captured at the receiver: losses appear as gaps; round-trip times of the data and bytes in flight are \
                 close to zero there; retransmissions of lost segments look like reordering",
                n(receiver, "transfer")
            ),
        );
    }
    if between > 0 {
        warnings.add(
            "between",
            None,
            format!(
                "{} captured between sender and receiver: round-trip times are those from the capture point to the \
                 receiver and back",
                n(between, "transfer")
            ),
        );
    }
}

fn limits(warnings: &mut Warnings, dispatcher: &Dispatcher, connections: &Connections) {
    if dispatcher.tcp.evictions > 0 {
        warnings.add(
            "limit",
            None,
            format!(
                "{} were evicted from memory before they ended; their later segments count as further connections",
                n(dispatcher.tcp.evictions, "connection")
            ),
        );
    }
    let unlisted = connections.unlisted;
    if unlisted.connections > 0 {
        warnings.add(
            "limit",
            None,
            format!(
                "{} with the fewest bytes are not in the tables: {} packets, {} bytes",
                n(unlisted.connections, "connection"),
                unlisted.packets,
                unlisted.bytes
            ),
        );
    }
    if dispatcher.udp.unlisted > 0 {
        warnings.add(
            "limit",
            None,
            format!(
                "{} belong to UDP conversations beyond the limit of the table",
                n(dispatcher.udp.unlisted, "datagram")
            ),
        );
    }
    if connections.doubled {
        let ms = connections.ticks.length().0 as f64 / 1e6;
        warnings.add(
            "limit",
            None,
            format!("the intervals of the series were lengthened to {ms} ms to limit memory"),
        );
    }
}
