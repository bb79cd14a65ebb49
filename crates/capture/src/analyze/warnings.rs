//! Warnings: properties of a capture that make some of its figures doubtful or wrong.
//!
//! Each warning has a kind, the flow that it concerns (if any) and a text. `docs/reference/capture-warnings.md` lists
//! the kinds. They come first in the output, the most severe ones at the top.

use super::connections::Connections;
use super::contents::Content;
use super::dispatch::Dispatcher;
use super::findings::Findings;
use crate::Properties;

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
pub(super) fn warnings(properties: &[Properties], dispatcher: &Dispatcher, connections: &Connections) -> Vec<Warning> {
    let mut warnings = Warnings(Vec::new());
    files(&mut warnings, properties);
    order(&mut warnings, properties);
    frames(&mut warnings, dispatcher);
    let found = &connections.findings;
    directions(&mut warnings, found);
    offload(&mut warnings, found);
    missed(&mut warnings, found);
    copies(&mut warnings, found);
    cut(&mut warnings, found);
    middle(&mut warnings, found);
    vantage(&mut warnings, found);
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
            warnings.add("no time", None, format!("{}: {frames} without a time stamp, counted as of 1970", p.file));
        }
    }
}

/// Files of one capture that were given in another order than that of their times.
fn order(warnings: &mut Warnings, properties: &[Properties]) {
    let timed: Vec<&Properties> = properties.iter().filter(|p| p.first.is_some()).collect();
    let Some(late) = timed.windows(2).find(|pair| pair[1].first < pair[0].first) else { return };
    let mut sorted = timed.clone();
    sorted.sort_by_key(|p| p.first);
    let names: Vec<&str> = sorted.iter().map(|p| p.file.as_str()).collect();
    warnings.add(
        "clock",
        None,
        format!(
            "{} begins before {}, which was given before it: labels and round-trip times follow the order of the files. \
             By time their order is {}",
            late[1].file,
            late[0].file,
            names.join(" ")
        ),
    );
}

fn frames(warnings: &mut Warnings, dispatcher: &Dispatcher) {
    for (content, count) in dispatcher.contents.counts() {
        let words = match content {
            Content::Link(_) => format!("{content}, which is not read"),
            Content::Encrypted => "encrypted by 802.11: their content is not visible".to_owned(),
            Content::Fragment => "with fragments of incomplete datagrams".to_owned(),
            Content::Tunnel(tunnel) if tunnel.is_readable() => {
                format!("{content} (signaling, another version, or the option --no-tunnels)")
            }
            Content::Tunnel(_) => format!("{content}: their content is not visible"),
            Content::Cut => "cut by the snap length before the transport header".to_owned(),
            Content::Malformed => content.to_string(),
            _ => continue,
        };
        warnings.add("unread frames", None, format!("{} {words}", n(count, "frame")));
    }
}

fn directions(warnings: &mut Warnings, found: &Findings) {
    if let Some(first) = found.one_direction.first {
        warnings.add(
            "one direction",
            Some(first),
            format!(
                "{} with one direction only (the first is flow {first}): no round-trip times, no bytes in flight, and most \
                 labels are not possible",
                n(found.one_direction.count, "connection"),
            ),
        );
    }
}

fn offload(warnings: &mut Warnings, found: &Findings) {
    if let Some((longest, flow)) = found.longest {
        warnings.add(
            "offload",
            Some(flow),
            format!(
                "{} with up to {longest} bytes of payload (flow {flow}) were never on the wire: the network card splits \
                 them when it sends (TSO), or the kernel has merged them at reception (GRO). Packet counts, lengths and \
                 retransmitted bytes differ from those in the network",
                n(found.super_packets, "packet"),
            ),
        );
    }
}

fn missed(warnings: &mut Warnings, found: &Findings) {
    let bytes = found.missed_bytes;
    if bytes > 0 {
        let flow = found.most_missed.1;
        warnings.add(
            "capture gaps",
            Some(flow),
            format!(
                "{bytes} acknowledged bytes are not in the capture (most of them in flow {flow}): the capture is \
                 incomplete, and some labels (previous segment not captured, ACKed unseen segment) are due to that, not \
                 to the network",
            ),
        );
    }
}

fn copies(warnings: &mut Warnings, found: &Findings) {
    let (copies, data) = (found.copies, found.totals.data_packets);
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

fn cut(warnings: &mut Warnings, found: &Findings) {
    if found.cut_headers > 0 {
        warnings.add(
            "snap length",
            None,
            format!(
                "the snap length cuts {} inside the TCP header: their options are incomplete, and Wireshark shows no \
                 labels for them",
                n(found.cut_headers, "segment")
            ),
        );
    }
}

fn middle(warnings: &mut Warnings, found: &Findings) {
    if let Some(first) = found.no_handshake.first {
        warnings.add(
            "no handshake",
            Some(first),
            format!(
                "{} without a handshake in the capture (the first is flow {first}): their window scale is unknown, so a \
                 full window is not detected",
                n(found.no_handshake.count, "connection"),
            ),
        );
    }
}

fn vantage(warnings: &mut Warnings, found: &Findings) {
    let Findings { sender, receiver, between, .. } = *found;
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
        warnings.add("limit", None, format!("the intervals of the series were lengthened to {ms} ms to limit memory"));
    }
}
