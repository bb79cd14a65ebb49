//! What one has to know before one believes the rest, in words.

use super::back::{Back, Told};
use super::front::Front;
use super::run::Warning;
use crate::Properties;
use crate::dissect::Unread;
use crate::flow::side::Side;

/// A connection with fewer segments is no evidence that a direction is missing.
const ENOUGH: u64 = 10;
/// Nearer to an end of the path than this share of the round trip: captured there.
const NEAR: f64 = 0.1;

fn n(count: u64, what: &str) -> String {
    if count == 1 { format!("1 {what}") } else { format!("{count} {what}s") }
}

/// Collects warnings.
struct Traps(Vec<Warning>);

impl Traps {
    fn say(&mut self, kind: &'static str, flow: Option<u64>, text: String) {
        self.0.push(Warning { kind, flow, text });
    }
}

/// All warnings, the ones that spoil the most first.
pub(super) fn warnings(properties: &[Properties], front: &Front, back: &Back) -> Vec<Warning> {
    let mut traps = Traps(Vec::new());
    files(&mut traps, properties);
    frames(&mut traps, front);
    let told = &back.told;
    directions(&mut traps, told);
    offload(&mut traps, told);
    missed(&mut traps, told);
    copies(&mut traps, told);
    cut(&mut traps, told);
    middle(&mut traps, told);
    vantage(&mut traps, told);
    limits(&mut traps, front, back);
    traps.0
}

fn files(traps: &mut Traps, properties: &[Properties]) {
    for p in properties {
        for i in &p.interfaces {
            if let Some(dropped) = i.dropped.filter(|&d| d > 0) {
                let name = i.name.clone().unwrap_or_else(|| p.file.clone());
                traps.say(
                    "capture drops",
                    None,
                    format!(
                        "the capture on {name} lost {}: gaps and ACKs of unseen data come from that, not from the network",
                        n(dropped, "frame")
                    ),
                );
            }
        }
        if p.backwards > 0 {
            traps.say(
                "clock",
                None,
                format!(
                    "{}: the time goes back at {}: intervals, round trips and orders around them are doubtful (several \
                     interfaces, or a clock that was set)",
                    p.file,
                    n(p.backwards, "frame")
                ),
            );
        }
        if p.untimed > 0 {
            let frames = n(p.untimed, "frame");
            traps.say("no time", None, format!("{}: {frames} without a time stamp count as of 1970", p.file));
        }
    }
}

fn frames(traps: &mut Traps, front: &Front) {
    let told = [
        (Unread::LinkType, "of a link type that isn't known here"),
        (Unread::Encrypted, "encrypted by 802.11: nothing in them can be seen"),
        (Unread::Fragment, "with fragments of datagrams that aren't complete"),
        (Unread::Tunnel, "in tunnels that weren't entered (there is an option for it)"),
        (Unread::Cut, "cut by the snap length before the transport header"),
        (Unread::Malformed, "with headers that contradict themselves"),
    ];
    for (why, words) in told {
        let count = front.unread(why);
        if count > 0 {
            traps.say("unread frames", None, format!("{} {words}", n(count, "frame")));
        }
    }
}

fn directions(traps: &mut Traps, told: &[Told]) {
    let one_sided = |t: &&Told| {
        let [a, b] = &t.sides;
        a.packets.max(b.packets) >= ENOUGH && a.packets.min(b.packets) == 0
    };
    let all: Vec<&Told> = told.iter().filter(one_sided).collect();
    if let Some(first) = all.first() {
        traps.say(
            "one direction",
            Some(first.number),
            format!(
                "{} with one direction only (the first is flow {}): no round trips, no bytes in flight, and most labels \
                 can't be given",
                n(all.len() as u64, "connection"),
                first.number
            ),
        );
    }
}

fn offload(traps: &mut Traps, told: &[Told]) {
    let mut longest: Option<(u32, &Told)> = None;
    let mut count = 0;
    for t in told {
        for s in &t.sides {
            count += s.super_packets;
            if s.super_packets > 0 && longest.is_none_or(|(l, _)| s.payload_max > l) {
                longest = Some((s.payload_max, t));
            }
        }
    }
    if let Some((longest, t)) = longest {
        traps.say(
            "offload",
            Some(t.number),
            format!(
                "{} with up to {longest} bytes of payload (flow {}) were never on the wire: the network card cuts them on \
                 the way out (TSO) or the kernel has joined them on the way in (GRO). Packet counts, lengths and \
                 retransmitted bytes differ from what the network carried",
                n(count, "packet"),
                t.number
            ),
        );
    }
}

fn missed(traps: &mut Traps, told: &[Told]) {
    let bytes: u64 = told.iter().flat_map(|t| &t.sides).map(|s| s.missed_bytes).sum();
    let worst = told.iter().max_by_key(|t| t.sides.iter().map(|s| s.missed_bytes).sum::<u64>());
    if let Some(worst) = worst.filter(|_| bytes > 0) {
        traps.say(
            "capture gaps",
            Some(worst.number),
            format!(
                "{bytes} bytes were acknowledged that the capture doesn't have (most of them in flow {}): the capture is \
                 incomplete, and some labels (previous segment not captured, ACKed unseen segment) speak of it, not of \
                 the network",
                worst.number
            ),
        );
    }
}

fn copies(traps: &mut Traps, told: &[Told]) {
    let sum = |f: fn(&Side) -> u64| told.iter().flat_map(|t| &t.sides).map(|s| f(s)).sum::<u64>();
    let (copies, data) = (sum(|s| s.copies), sum(|s| s.data_packets));
    if copies > 0 && copies * 20 >= data {
        traps.say(
            "copies",
            None,
            format!(
                "{copies} of {data} data segments are exact copies of one just before: captured twice on their way \
                 (several interfaces, a mirror port). Wireshark calls them retransmissions"
            ),
        );
    }
}

fn cut(traps: &mut Traps, told: &[Told]) {
    let count: u64 = told.iter().flat_map(|t| &t.sides).map(|s| s.cut_headers).sum();
    if count > 0 {
        traps.say(
            "snap length",
            None,
            format!(
                "the snap length cuts {} inside the TCP header: options are missing there, and Wireshark shows no labels \
                 for them",
                n(count, "segment")
            ),
        );
    }
}

fn middle(traps: &mut Traps, told: &[Told]) {
    let late: Vec<&Told> = told
        .iter()
        .filter(|t| t.opener.is_none() && t.sides.iter().map(|s| s.data_packets).sum::<u64>() > 0)
        .collect();
    if let Some(first) = late.first() {
        traps.say(
            "no handshake",
            Some(first.number),
            format!(
                "{} without a handshake in the capture (the first is flow {}): their windows are not scaled, so a full \
                 window can't be told",
                n(late.len() as u64, "connection"),
                first.number
            ),
        );
    }
}

fn vantage(traps: &mut Traps, told: &[Told]) {
    let (mut sender, mut receiver, mut between) = (0_u64, 0_u64, 0_u64);
    for t in told {
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
        traps.say(
            "sender side",
            None,
            format!(
                "{} captured at the sender: every retransmission is seen, losses show as repeats and duplicate ACKs; \
                 \"out of order\" there is nearly always a retransmission, and \"previous segment not captured\" a fault of \
                 the capture",
                n(sender, "transfer")
            ),
        );
    }
    if receiver > 0 {
        traps.say(
            "receiver side",
            None,
            format!(
                "{} captured at the receiver: losses show as gaps, round trips of the data and bytes in flight are close \
                 to nothing there; retransmissions of what was lost look like reordering",
                n(receiver, "transfer")
            ),
        );
    }
    if between > 0 {
        traps.say(
            "between",
            None,
            format!(
                "{} captured between sender and receiver: round trips are those from here on",
                n(between, "transfer")
            ),
        );
    }
}

fn limits(traps: &mut Traps, front: &Front, back: &Back) {
    if front.tcp.evictions > 0 {
        traps.say(
            "limit",
            None,
            format!(
                "{} gave up their place in memory to others before they had ended; what came later of them counts as \
                 further connections",
                n(front.tcp.evictions, "connection")
            ),
        );
    }
    let rest = back.rest;
    if rest.connections > 0 {
        traps.say(
            "limit",
            None,
            format!(
                "the {} with the fewest bytes are not in the tables: {} packets, {} bytes",
                n(rest.connections, "connection"),
                rest.packets,
                rest.bytes
            ),
        );
    }
    if front.udp.untold > 0 {
        traps.say(
            "limit",
            None,
            format!("{} belong to UDP conversations beyond the limit", n(front.udp.untold, "datagram")),
        );
    }
    if back.doubled {
        let ms = back.ticks.length() as f64 / 1e6;
        traps.say(
            "limit",
            None,
            format!("the intervals of the series were lengthened to {ms} ms to save memory"),
        );
    }
}
